/* What the generator's parser needs of <stddef.h>: names only. */
#define NULL ((void*)0)
typedef unsigned long size_t;
