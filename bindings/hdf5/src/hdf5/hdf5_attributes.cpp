#include "hdf5/hdf5_attributes.hpp"

namespace syncyte::hdf5 {
namespace {

hdf5_handle scalar() { return {H5Screate(H5S_SCALAR), H5Sclose, "H5Screate"}; }

hdf5_handle line(hsize_t count) { return {H5Screate_simple(1, &count, nullptr), H5Sclose, "H5Screate_simple"}; }

hdf5_handle text_type() {
  hdf5_handle type(H5Tcopy(H5T_C_S1), H5Tclose, "H5Tcopy");
  hdf5_check(H5Tset_size(type.get(), H5T_VARIABLE), "H5Tset_size");
  hdf5_check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "H5Tset_cset");
  return type;
}

hdf5_handle create(hid_t object, const char* name, hid_t type, const hdf5_handle& space) {
  return {H5Acreate2(object, name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name};
}

hdf5_handle open(hid_t object, const char* name) { return {H5Aopen(object, name, H5P_DEFAULT), H5Aclose, name}; }

}  // namespace

void write_attribute(hid_t object, const char* name, std::int64_t value) {
  const hdf5_handle attribute = create(object, name, H5T_STD_I64LE, scalar());
  hdf5_check(H5Awrite(attribute.get(), H5T_NATIVE_INT64, &value), name);
}

void write_attribute(hid_t object, const char* name, const std::string& text) {
  const hdf5_handle type = text_type();
  const hdf5_handle attribute = create(object, name, type.get(), scalar());
  const char* data = text.c_str();
  hdf5_check(H5Awrite(attribute.get(), type.get(), &data), name);
}

void write_attribute(hid_t object, const char* name, const std::vector<std::int64_t>& values) {
  const hdf5_handle attribute = create(object, name, H5T_STD_I64LE, line(values.size()));
  if (!values.empty()) hdf5_check(H5Awrite(attribute.get(), H5T_NATIVE_INT64, values.data()), name);
}

void create_attribute(hid_t object, const char* name, std::size_t count) {
  create(object, name, H5T_STD_U32LE, line(count));
}

void rewrite_attribute(hid_t object, const char* name, const std::vector<std::uint32_t>& values) {
  if (values.empty()) return;
  const hdf5_handle attribute = open(object, name);
  hdf5_check(H5Awrite(attribute.get(), H5T_NATIVE_UINT32, values.data()), name);
}

std::int64_t read_integer_attribute(hid_t object, const char* name) {
  const hdf5_handle attribute = open(object, name);
  std::int64_t value = 0;
  hdf5_check(H5Aread(attribute.get(), H5T_NATIVE_INT64, &value), name);
  return value;
}

std::string read_text_attribute(hid_t object, const char* name) {
  const hdf5_handle attribute = open(object, name);
  char* data = nullptr;
  hdf5_check(H5Aread(attribute.get(), text_type().get(), &data), name);
  std::string text = data != nullptr ? data : "";
  H5free_memory(data);
  return text;
}

std::vector<std::uint32_t> read_array_attribute(hid_t object, const char* name) {
  const hdf5_handle attribute = open(object, name);
  const hdf5_handle space(H5Aget_space(attribute.get()), H5Sclose, "H5Aget_space");
  std::vector<std::uint32_t> values(
      static_cast<std::size_t>(hdf5_check(H5Sget_simple_extent_npoints(space.get()), name)));
  if (!values.empty()) hdf5_check(H5Aread(attribute.get(), H5T_NATIVE_UINT32, values.data()), name);
  return values;
}

}  // namespace syncyte::hdf5
