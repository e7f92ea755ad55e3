/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of <stddef.h> for the generator's parser. */
#define NULL ((void*)0)
typedef unsigned long size_t;
