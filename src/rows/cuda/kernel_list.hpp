// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rows/cuda/bodies.hpp"

/// EACH(name, body) for every kernel on rows. The host chooses them by name (device_rows.cpp).
#define SYNCYTE_ROW_KERNELS(EACH)                                        \
  EACH(gather_1, copy_rows<1, false>)                                    \
  EACH(gather_2, copy_rows<2, false>)                                    \
  EACH(gather_4, copy_rows<4, false>)                                    \
  EACH(gather_8, copy_rows<8, false>)                                    \
  EACH(gather_16, copy_rows<16, false>)                                  \
  EACH(scatter_1, copy_rows<1, true>)                                    \
  EACH(scatter_2, copy_rows<2, true>)                                    \
  EACH(scatter_4, copy_rows<4, true>)                                    \
  EACH(scatter_8, copy_rows<8, true>)                                    \
  EACH(scatter_16, copy_rows<16, true>)                                  \
  EACH(add_int32, add_rows<std::uint32_t>)                               \
  EACH(add_int64, add_rows<unsigned long long>)                          \
  EACH(add_float32, add_rows<float>)                                     \
  EACH(add_float64, add_rows<double>)                                    \
  EACH(add_float16, add_half_rows<base::float16>)                        \
  EACH(add_bfloat16, add_half_rows<base::bfloat16>)                      \
  EACH(float16_to_bfloat16, convert_rows<base::float16, base::bfloat16>) \
  EACH(float16_to_float32, convert_rows<base::float16, float>)           \
  EACH(float16_to_float64, convert_rows<base::float16, double>)          \
  EACH(bfloat16_to_float16, convert_rows<base::bfloat16, base::float16>) \
  EACH(bfloat16_to_float32, convert_rows<base::bfloat16, float>)         \
  EACH(bfloat16_to_float64, convert_rows<base::bfloat16, double>)        \
  EACH(float32_to_float16, convert_rows<float, base::float16>)           \
  EACH(float32_to_bfloat16, convert_rows<float, base::bfloat16>)         \
  EACH(float32_to_float64, convert_rows<float, double>)                  \
  EACH(float64_to_float16, convert_rows<double, base::float16>)          \
  EACH(float64_to_bfloat16, convert_rows<double, base::bfloat16>)        \
  EACH(float64_to_float32, convert_rows<double, float>)
