/* What the generator's parser needs of <stdint.h>: names only. */
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef int int32_t;
typedef long int64_t;
