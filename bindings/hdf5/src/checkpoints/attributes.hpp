// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "checkpoints/entries.hpp"
#include "metadata/manifest.hpp"

namespace syncyte::hdf5 {

/// What the file tells other programs about an entry: `parallel_dim` (the axes that are cut among the ranks that save),
/// `axis_names` and `axis_units` of a field's layout, and `alias_of` (the first entry with the same memory, such as
/// tied weights). `all`: all entries of the call. Local.
attribute_list attributes_of(const entry& one, const std::vector<entry>& all);

}  // namespace syncyte::hdf5
