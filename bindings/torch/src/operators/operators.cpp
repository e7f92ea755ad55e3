// SPDX-License-Identifier: BSD-3-Clause
#include "operators/operators.hpp"

#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <string>
#include <vector>

#include "operators/dispatched.hpp"

namespace syncyte::torch_binding {
namespace {

/// Lines of the table that the Python package reads, one for each operator: name with overload, whether it is
/// effectful, how it is batched, and the positions of arguments that are axes, and shapes.
std::vector<std::string> described() {
  std::vector<std::string> result;
  for (const operator_row& row : operator_table())
    result.push_back(c10::str(name_of(row), ",", row.is_effectful ? "effectful" : "", ",", row.batch, ",", row.axes,
                              ",", row.shapes));
  return result;
}

void ticket_meta(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack& stack) {
  const auto first = stack.end() - static_cast<std::ptrdiff_t>(op.schema().arguments().size());
  const at::Tensor ticket = at::empty({}, first->toTensor().options().dtype(at::kDouble));
  stack.erase(first, stack.end());
  stack.emplace_back(ticket);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(syncyte, library) {
  for (const operator_row& row : operator_table()) {
    const std::vector<at::Tag> tags(row.is_effectful ? 1 : 0, at::Tag::pt2_compliant_tag);
    library.def(row.schema, tags);
  }
}
TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) { library.impl("operator_table", described); }
TORCH_LIBRARY_IMPL(syncyte, Meta, library) {
  for (const operator_row& row : operator_table())
    if (row.gives_ticket) library.impl(name_of(row).c_str(), boxed(ticket_meta));
}

}  // namespace syncyte::torch_binding
