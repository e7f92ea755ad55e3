#pragma once
// Tensors of which every rank has a copy, or a part: operations whose results count as one variable, from which all
// ranks compute the same loss. What they do on one rank alone is agreed on all the same, because backward is
// collective.

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>

#include "collectives/agreement.hpp"

namespace syncyte::torch_binding {

/// Runs a step that sends nothing; if it fails on one rank, or ranks differ in `asked` or in the input's shape (with
/// SYNCYTE_CHECK=full also in its elements, but not in backward passes), all ranks fail. While a graph is traced, and
/// with SYNCYTE_CHECK=off, it is this rank's alone.
void run_agreed(const char* operation, std::int64_t comm, const at::Tensor& input, derivatives asked, fact_list facts,
                c10::function_ref<void()> step);

}  // namespace syncyte::torch_binding
