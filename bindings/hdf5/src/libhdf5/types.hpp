// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libhdf5/handle.hpp"

namespace syncyte::hdf5 {

/// The type of a dataset's elements in the file: little-endian; complex numbers as h5py stores them (a compound of r
/// and i), bool as its enumeration of int8, bfloat16 as a float of 8 exponent and 7 mantissa bits.
hdf5_handle file_type(syncyte_dtype_t dtype);

}  // namespace syncyte::hdf5
