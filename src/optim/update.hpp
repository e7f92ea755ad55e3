// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "optim/formulas.hpp"
#include "syncyte/base.h"
#include "syncyte/tensor.h"

/// Optimizers that act on single rows of a table, where the rows live. They are lazy: an update changes the values and
/// the state of the rows that have a gradient, and of no others.
namespace syncyte::optim {

/// An optimizer with its hyperparameters; it ignores other optimizers' hyperparameters.
struct rule {
  syncyte_optimizer_t optimizer = SYNCYTE_OPTIMIZER_SGD;
  double lr = 0.0;
  double momentum = 0.0;  ///< of SGD
  double beta1 = 0.9;     ///< of Adam
  double beta2 = 0.999;   ///< of Adam
  double eps = 0.0;       ///< of AdaGrad and Adam
};

/// Throws SYNCYTE_ERR_ARGUMENT, naming the hyperparameter, for an unknown optimizer or a number out of range.
void check(const rule& by);

/// Throws SYNCYTE_ERR_TYPE unless elements of this type can be optimized: float16, bfloat16, float32 and float64.
void check(syncyte_dtype_t values);

/// Numbers of state that the optimizer has for each element of a row: 0, 1 or 2.
int state_slots(const rule& by);

/// Name of the optimizer's formula, in names of kernels.
const char* name_of(const rule& by);

/// Element type of the state: float64 for float64, otherwise float32.
syncyte_dtype_t state_dtype(syncyte_dtype_t values);

/// Whether updates depend on their number.
bool counts_steps(const rule& by);

/// The coefficients of update `number`, from 1.
step step_of(const rule& by, std::int64_t number);

/// Elements of one row, or a part of them, that are updated.
struct row_part {
  std::byte* values;          ///< aligned to their elements
  const std::byte* gradient;  ///< of the values' type, of any alignment
  std::byte* state;           ///< the first slot's elements; aligned
  std::size_t slot_elements;  ///< elements from one slot to the next
  std::size_t elements;
};

using update_function = void (*)(const step& by, const row_part& row);

/// The function that updates rows of this element type; check() holds for both.
update_function find_update(const rule& by, syncyte_dtype_t values);

}  // namespace syncyte::optim
