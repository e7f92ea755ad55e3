// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "checkpoints/entries.hpp"
#include "metadata/manifest.hpp"

namespace syncyte::hdf5 {

/// Describes entries for other programs, each by a list: `parallel_dim` (axes that the ranks that save have cut),
/// `axis_names` and `axis_units` of a field's layout, and `alias_of` (the first replicated entry with the same memory,
/// such as tied weights). Local.
std::vector<attribute_list> attributes_of(const std::vector<entry>& entries);

}  // namespace syncyte::hdf5
