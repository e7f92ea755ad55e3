// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rows/cuda/update_bodies.hpp"

/// The kernels of an optimizer.
#define SYNCYTE_UPDATE_KERNELS(EACH, optimizer)                                               \
  EACH(optimizer##_float16, update_arguments, update_rows<optim::optimizer, base::float16>)   \
  EACH(optimizer##_bfloat16, update_arguments, update_rows<optim::optimizer, base::bfloat16>) \
  EACH(optimizer##_float32, update_arguments, update_rows<optim::optimizer, float>)           \
  EACH(optimizer##_float64, update_arguments, update_rows<optim::optimizer, double>)

/// EACH(name, arguments, body) for every kernel on rows. The host chooses them by name (device_rows.cpp).
#define SYNCYTE_ROW_KERNELS(EACH)                                                       \
  EACH(gather_1, row_arguments, copy_rows<1, false>)                                    \
  EACH(gather_2, row_arguments, copy_rows<2, false>)                                    \
  EACH(gather_4, row_arguments, copy_rows<4, false>)                                    \
  EACH(gather_8, row_arguments, copy_rows<8, false>)                                    \
  EACH(gather_16, row_arguments, copy_rows<16, false>)                                  \
  EACH(scatter_1, row_arguments, copy_rows<1, true>)                                    \
  EACH(scatter_2, row_arguments, copy_rows<2, true>)                                    \
  EACH(scatter_4, row_arguments, copy_rows<4, true>)                                    \
  EACH(scatter_8, row_arguments, copy_rows<8, true>)                                    \
  EACH(scatter_16, row_arguments, copy_rows<16, true>)                                  \
  EACH(add_int32, row_arguments, add_rows<std::uint32_t>)                               \
  EACH(add_int64, row_arguments, add_rows<unsigned long long>)                          \
  EACH(add_float32, row_arguments, add_rows<float>)                                     \
  EACH(add_float64, row_arguments, add_rows<double>)                                    \
  EACH(add_float16, row_arguments, add_half_rows<base::float16>)                        \
  EACH(add_bfloat16, row_arguments, add_half_rows<base::bfloat16>)                      \
  EACH(float16_to_bfloat16, row_arguments, convert_rows<base::float16, base::bfloat16>) \
  EACH(float16_to_float32, row_arguments, convert_rows<base::float16, float>)           \
  EACH(float16_to_float64, row_arguments, convert_rows<base::float16, double>)          \
  EACH(bfloat16_to_float16, row_arguments, convert_rows<base::bfloat16, base::float16>) \
  EACH(bfloat16_to_float32, row_arguments, convert_rows<base::bfloat16, float>)         \
  EACH(bfloat16_to_float64, row_arguments, convert_rows<base::bfloat16, double>)        \
  EACH(float32_to_float16, row_arguments, convert_rows<float, base::float16>)           \
  EACH(float32_to_bfloat16, row_arguments, convert_rows<float, base::bfloat16>)         \
  EACH(float32_to_float64, row_arguments, convert_rows<float, double>)                  \
  EACH(float64_to_float16, row_arguments, convert_rows<double, base::float16>)          \
  EACH(float64_to_bfloat16, row_arguments, convert_rows<double, base::bfloat16>)        \
  EACH(float64_to_float32, row_arguments, convert_rows<double, float>)                  \
  EACH(list, list_arguments, list_rows)                                                 \
  EACH(merge, merge_arguments, merge_lists)                                             \
  SYNCYTE_UPDATE_KERNELS(EACH, sgd)                                                     \
  SYNCYTE_UPDATE_KERNELS(EACH, momentum_sgd)                                            \
  SYNCYTE_UPDATE_KERNELS(EACH, adagrad)                                                 \
  SYNCYTE_UPDATE_KERNELS(EACH, adam)
