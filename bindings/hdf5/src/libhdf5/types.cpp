// SPDX-License-Identifier: BSD-3-Clause
#include "libhdf5/types.hpp"

#include "syncyte/element_types.h"

namespace syncyte::hdf5 {
namespace {

hdf5_handle copy_of(hid_t type) { return {H5Tcopy(type), H5Tclose, "H5Tcopy"}; }

// A float type of a sign and these bits. The fields are set before the size, because HDF5 requires them to fit.
hdf5_handle float_of(std::size_t exponent_bits, std::size_t mantissa_bits, std::size_t bias) {
  hdf5_handle type = copy_of(H5T_IEEE_F32LE);
  const std::size_t sign = exponent_bits + mantissa_bits;
  hdf5_check(H5Tset_fields(type.get(), sign, mantissa_bits, exponent_bits, 0, mantissa_bits), "H5Tset_fields");
  hdf5_check(H5Tset_size(type.get(), (sign + 1) / 8), "H5Tset_size");
  hdf5_check(H5Tset_ebias(type.get(), bias), "H5Tset_ebias");
  return type;
}

// A complex number, as h5py has it.
hdf5_handle pair_of(hid_t part) {
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

}  // namespace

hdf5_handle file_type(syncyte_dtype_t dtype) {
  switch (dtype) {
#define SYNCYTE_FILE_TYPE(constant, name, type, mpi_type, scalar_type, hdf5_type, ...) \
  case SYNCYTE_##constant:                                                             \
    return hdf5_type;
    SYNCYTE_ELEMENT_TYPES(SYNCYTE_FILE_TYPE)
#undef SYNCYTE_FILE_TYPE
    default:
      fail(SYNCYTE_ERR_TYPE, "checkpoint: unknown dtype {}", dtype);
  }
}

}  // namespace syncyte::hdf5
