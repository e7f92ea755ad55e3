/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The element types: one table for the core, its bindings and libraries on top. A user needs the headers of the columns
 * that it expands.
 */
#ifndef SYNCYTE_ELEMENT_TYPES_H
#define SYNCYTE_ELEMENT_TYPES_H

/* clang-format off */
/**
 * Expands X for each element type, in the order of their numbers, with these arguments:
 *
 *   1  the constant without SYNCYTE_
 *   2  the name, as numpy and torch have it
 *   3  the type of src/ that stores an element (src/base/dtype.hpp)
 *   4  MPI's type without MPI_: of the same arithmetic, or where MPI has none of the same bits
 *   5  torch's scalar type without at::k
 *   6  the call of bindings/hdf5 that makes HDF5's type in a checkpoint
 *   7  the element type of Fortran's arrays of it: itself, or the integer that holds the bits
 */
#define SYNCYTE_ELEMENT_TYPES(X)                                                                                       \
 X(FLOAT16,    float16,    float16,              UINT16_T,         Half,          float_of(5, 10, 15),     INT16)      \
 X(BFLOAT16,   bfloat16,   bfloat16,             UINT16_T,         BFloat16,      float_of(8, 7, 127),     INT16)      \
 X(FLOAT32,    float32,    float,                FLOAT,            Float,         copy_of(H5T_IEEE_F32LE), FLOAT32)    \
 X(FLOAT64,    float64,    double,               DOUBLE,           Double,        copy_of(H5T_IEEE_F64LE), FLOAT64)    \
 X(COMPLEX64,  complex64,  std::complex<float>,  C_FLOAT_COMPLEX,  ComplexFloat,  pair_of(H5T_IEEE_F32LE), COMPLEX64)  \
 X(COMPLEX128, complex128, std::complex<double>, C_DOUBLE_COMPLEX, ComplexDouble, pair_of(H5T_IEEE_F64LE), COMPLEX128) \
 X(INT8,       int8,       std::int8_t,          INT8_T,           Char,          copy_of(H5T_STD_I8LE),   INT8)       \
 X(INT16,      int16,      std::int16_t,         INT16_T,          Short,         copy_of(H5T_STD_I16LE),  INT16)      \
 X(INT32,      int32,      std::int32_t,         INT32_T,          Int,           copy_of(H5T_STD_I32LE),  INT32)      \
 X(INT64,      int64,      std::int64_t,         INT64_T,          Long,          copy_of(H5T_STD_I64LE),  INT64)      \
 X(UINT8,      uint8,      std::uint8_t,         UINT8_T,          Byte,          copy_of(H5T_STD_U8LE),   INT8)       \
 X(BOOL,       bool,       boolean,              UINT8_T,          Bool,          bool_type(),             INT8)       \
 X(UINT16,     uint16,     std::uint16_t,        UINT16_T,         UInt16,        copy_of(H5T_STD_U16LE),  INT16)      \
 X(UINT32,     uint32,     std::uint32_t,        UINT32_T,         UInt32,        copy_of(H5T_STD_U32LE),  INT32)      \
 X(UINT64,     uint64,     std::uint64_t,        UINT64_T,         UInt64,        copy_of(H5T_STD_U64LE),  INT64)
/* clang-format on */

#endif
