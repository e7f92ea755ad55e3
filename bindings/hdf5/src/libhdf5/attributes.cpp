// SPDX-License-Identifier: BSD-3-Clause
#include "libhdf5/attributes.hpp"

namespace syncyte::hdf5 {
namespace {

hdf5_handle text_type() {
  hdf5_handle type(H5Tcopy(H5T_C_S1), H5Tclose, "H5Tcopy");
  hdf5_check(H5Tset_size(type.get(), H5T_VARIABLE), "H5Tset_size");
  hdf5_check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "H5Tset_cset");
  return type;
}

// Creates an attribute, and writes its values if they are given: the types in memory and in the file are the same.
void create(hid_t object, const char* name, hid_t type, const std::vector<hsize_t>& extents, const void* values) {
  const hdf5_handle attribute(H5Acreate2(object, name, type, space_of(extents).get(), H5P_DEFAULT, H5P_DEFAULT),
                              H5Aclose, name);
  if (values != nullptr) hdf5_check(H5Awrite(attribute.get(), type, values), name);
}

hdf5_handle open(hid_t object, const char* name) { return {H5Aopen(object, name, H5P_DEFAULT), H5Aclose, name}; }

}  // namespace

hdf5_handle space_of(const std::vector<hsize_t>& extents) {
  if (extents.empty()) return {H5Screate(H5S_SCALAR), H5Sclose, "H5Screate"};
  return {H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose, "H5Screate_simple"};
}

void write_attribute(hid_t object, const char* name, std::int64_t value) {
  create(object, name, H5T_STD_I64LE, {}, &value);
}

void write_attribute(hid_t object, const char* name, const std::string& text) {
  const char* data = text.c_str();
  create(object, name, text_type().get(), {}, &data);
}

void write_attribute(hid_t object, const char* name, const std::vector<std::int64_t>& values) {
  create(object, name, H5T_STD_I64LE, {values.size()}, values.empty() ? nullptr : values.data());
}

void create_attribute(hid_t object, const char* name, std::size_t count) {
  create(object, name, H5T_STD_U32LE, {count}, nullptr);
}

void rewrite_attribute(hid_t object, const char* name, const std::vector<std::uint32_t>& values) {
  if (!values.empty()) hdf5_check(H5Awrite(open(object, name).get(), H5T_STD_U32LE, values.data()), name);
}

std::string read_text(hid_t object, const char* name) {
  char* data = nullptr;
  hdf5_check(H5Aread(open(object, name).get(), text_type().get(), &data), name);
  std::string text = data != nullptr ? data : "";
  H5free_memory(data);
  return text;
}

std::vector<std::uint32_t> read_numbers(hid_t object, const char* name) {
  const hdf5_handle attribute = open(object, name);
  const hdf5_handle space(H5Aget_space(attribute.get()), H5Sclose, "H5Aget_space");
  const auto count = hdf5_check(H5Sget_simple_extent_npoints(space.get()), name);
  std::vector<std::uint32_t> values(static_cast<std::size_t>(count));
  if (!values.empty()) hdf5_check(H5Aread(attribute.get(), H5T_STD_U32LE, values.data()), name);
  return values;
}

}  // namespace syncyte::hdf5
