/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of <stdint.h> for the generator's parser. */
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef int int32_t;
typedef long int64_t;
