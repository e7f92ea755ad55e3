#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hdf5_handle.hpp"

namespace syncyte::hdf5 {

/// Attributes of an object of HDF5. All under hdf5_lock.
void write_attribute(hid_t object, const char* name, std::int64_t value);
void write_attribute(hid_t object, const char* name, const std::string& text);
void write_attribute(hid_t object, const char* name, const std::vector<std::int64_t>& values);

/// Space for unsigned 32-bit numbers, to be written later in place.
void create_attribute(hid_t object, const char* name, std::size_t count);
void rewrite_attribute(hid_t object, const char* name, const std::vector<std::uint32_t>& values);

std::int64_t read_integer_attribute(hid_t object, const char* name);
std::string read_text_attribute(hid_t object, const char* name);
std::vector<std::uint32_t> read_array_attribute(hid_t object, const char* name);

}  // namespace syncyte::hdf5
