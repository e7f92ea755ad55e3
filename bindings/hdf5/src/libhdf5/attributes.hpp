// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libhdf5/handle.hpp"

namespace syncyte::hdf5 {

/// A dataspace of these extents; a scalar one if there are none.
hdf5_handle space_of(const std::vector<hsize_t>& extents);

/// Attributes of an HDF5 object. The caller holds hdf5_lock.
void write_attribute(hid_t object, const char* name, std::int64_t value);
void write_attribute(hid_t object, const char* name, const std::string& text);
void write_attribute(hid_t object, const char* name, const std::vector<std::int64_t>& values);

/// Creates an attribute of unsigned 32-bit numbers, whose values are written in place later.
void create_attribute(hid_t object, const char* name, std::size_t count);
void rewrite_attribute(hid_t object, const char* name, const std::vector<std::uint32_t>& values);

std::string read_text(hid_t object, const char* name);
std::vector<std::uint32_t> read_numbers(hid_t object, const char* name);

}  // namespace syncyte::hdf5
