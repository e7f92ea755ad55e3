// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#define XXH_INLINE_ALL  // libxxhash is not linked
#include <xxhash.h>
