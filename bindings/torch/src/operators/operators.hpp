// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The table of all operators: torch.ops.syncyte, which bindings/torch/operators.schemas describes. Their kernels for
// devices and for refused layouts, the effects that torch.compile knows and the rules of torch.vmap follow from its
// rows; the Python package asks for them (torch.ops.syncyte.operator_table).

#include <c10/util/ArrayRef.h>

#include <cstring>
#include <string>

namespace syncyte::torch_binding {

/// Memory of tensors on a device that an operator's CPU kernel is given. It may be given the device's own memory only
/// if it does nothing with that but to pass it to MPI: not if it reduces, which MPI libraries do on the host after
/// copies of their own, and not if it packs, as it does along other axes than the first.
enum class device_use {
  no_kernel,               ///< the operator is made of others, or its tensors have no data
  through_host,            ///< copies in pinned host memory
  direct,                  ///< the device's own memory, if MPI takes it
  direct_along_first_axis  ///< direct if all axes are 0, otherwise through_host
};

/// bindings/generate/schemas.py repeats the members and their values.
struct operator_row {
  const char* schema = "";
  /// It communicates: torch.compile must neither move it past other such operators nor drop it if its result is unused.
  bool is_effectful = false;
  device_use device = device_use::no_kernel;
  /// torch.vmap runs the operator so: by_parts (as torch runs what it is made of), once (for the whole batch, whose
  /// dimension is in front), in_place (once, and returns nothing), each (once for each element, in their order),
  /// first_tensor (as the identity of its first argument), refused.
  const char* batch = "by_parts";
  bool ignores_elements = false;  ///< it needs only the shape and dtype of its first tensor
  bool gives_ticket = false;      ///< of an operation that is in flight
  bool takes_ticket = false;
  bool fails_alone = false;  ///< no other rank waits for it, or it can no longer tell the others
  const char* axes = "";     ///< positions of arguments that are axes, a digit each
  const char* shapes = "";   ///< and of those that are shapes
};

c10::ArrayRef<operator_row> operator_table();

/// The operator's name with its overload: "gather_along.counts".
inline std::string name_of(const operator_row& row) { return std::string(row.schema, std::strchr(row.schema, '(')); }

}  // namespace syncyte::torch_binding
