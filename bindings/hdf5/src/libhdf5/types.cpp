#include "libhdf5/types.hpp"

namespace syncyte::hdf5 {
namespace {

hdf5_handle copy_of(hid_t type) { return {H5Tcopy(type), H5Tclose, "H5Tcopy"}; }

// A 16-bit float type. The fields are set before the size, because HDF5 requires them to fit.
hdf5_handle half_type(std::size_t exponent_bits, std::size_t mantissa_bits, std::size_t bias) {
  hdf5_handle type = copy_of(H5T_IEEE_F32LE);
  hdf5_check(H5Tset_fields(type.get(), 15, mantissa_bits, exponent_bits, 0, mantissa_bits), "H5Tset_fields");
  hdf5_check(H5Tset_size(type.get(), 2), "H5Tset_size");
  hdf5_check(H5Tset_ebias(type.get(), bias), "H5Tset_ebias");
  return type;
}

hdf5_handle complex_type(hid_t part) {
  const std::size_t bytes = H5Tget_size(part);
  hdf5_handle type(H5Tcreate(H5T_COMPOUND, 2 * bytes), H5Tclose, "H5Tcreate");
  hdf5_check(H5Tinsert(type.get(), "r", 0, part), "H5Tinsert");
  hdf5_check(H5Tinsert(type.get(), "i", bytes, part), "H5Tinsert");
  return type;
}

hdf5_handle bool_type() {
  hdf5_handle type(H5Tenum_create(H5T_STD_I8LE), H5Tclose, "H5Tenum_create");
  const signed char values[] = {0, 1};
  hdf5_check(H5Tenum_insert(type.get(), "FALSE", &values[0]), "H5Tenum_insert");
  hdf5_check(H5Tenum_insert(type.get(), "TRUE", &values[1]), "H5Tenum_insert");
  return type;
}

// A type that HDF5 itself has.
hdf5_handle standard_type(syncyte_dtype_t dtype) {
  const std::pair<syncyte_dtype_t, hid_t> types[] = {
      {SYNCYTE_FLOAT32, H5T_IEEE_F32LE}, {SYNCYTE_FLOAT64, H5T_IEEE_F64LE}, {SYNCYTE_INT8, H5T_STD_I8LE},
      {SYNCYTE_INT16, H5T_STD_I16LE},    {SYNCYTE_INT32, H5T_STD_I32LE},    {SYNCYTE_INT64, H5T_STD_I64LE},
      {SYNCYTE_UINT8, H5T_STD_U8LE},     {SYNCYTE_UINT16, H5T_STD_U16LE},   {SYNCYTE_UINT32, H5T_STD_U32LE},
      {SYNCYTE_UINT64, H5T_STD_U64LE}};
  for (const auto& [each, type] : types)
    if (each == dtype) return copy_of(type);
  fail(SYNCYTE_ERR_TYPE, "checkpoint: unknown dtype {}", dtype);
}

}  // namespace

hdf5_handle file_type(syncyte_dtype_t dtype) {
  switch (dtype) {
    case SYNCYTE_FLOAT16:
      return half_type(5, 10, 15);
    case SYNCYTE_BFLOAT16:
      return half_type(8, 7, 127);
    case SYNCYTE_COMPLEX64:
      return complex_type(H5T_IEEE_F32LE);
    case SYNCYTE_COMPLEX128:
      return complex_type(H5T_IEEE_F64LE);
    case SYNCYTE_BOOL:
      return bool_type();
    default:
      return standard_type(dtype);
  }
}

}  // namespace syncyte::hdf5
