/* SPDX-License-Identifier: BSD-3-Clause */
/* For the generator: a descriptor is a type with a name. */
typedef struct CFI_cdesc_t CFI_cdesc_t;
