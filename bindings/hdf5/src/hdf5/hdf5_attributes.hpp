#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hdf5/hdf5_handle.hpp"

namespace syncyte::hdf5 {

/// Attributes of an HDF5 object. The caller holds hdf5_lock.
void write_attribute(hid_t object, const char* name, std::int64_t value);
void write_attribute(hid_t object, const char* name, const std::string& text);
void write_attribute(hid_t object, const char* name, const std::vector<std::int64_t>& values);

/// Creates an attribute of unsigned 32-bit numbers, whose values are written in place later.
void create_attribute(hid_t object, const char* name, std::size_t count);
void rewrite_attribute(hid_t object, const char* name, const std::vector<std::uint32_t>& values);

std::int64_t read_integer_attribute(hid_t object, const char* name);
std::string read_text_attribute(hid_t object, const char* name);
std::vector<std::uint32_t> read_array_attribute(hid_t object, const char* name);

}  // namespace syncyte::hdf5
