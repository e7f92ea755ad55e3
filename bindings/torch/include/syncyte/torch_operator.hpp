// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file torch_operator.hpp How the functions of torch.hpp find and call torch's operators.

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/SymIntArrayRef.h>

#include <cstdint>
#include <optional>

#include "syncyte/base.h"

/// Version of libsyncyte_torch, as of syncyte_version(); no argument may be null.
extern "C" syncyte_status_t syncyte_torch_version(std::int32_t* major, std::int32_t* minor, std::int32_t* patch,
                                                  std::int32_t* abi);

namespace syncyte::detail {

/// The operator of this name. The call of a function of libsyncyte_torch, which registers the operators, makes every
/// linker keep that library.
template <typename Signature>
c10::TypedOperatorHandle<Signature> find_operator(const char* name, const char* overload) {
  std::int32_t part = 0;
  static_cast<void>(syncyte_torch_version(&part, &part, &part, &part));
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).template typed<Signature>();
}

/// The number that stands for an object in schemas; 0 for an empty one.
template <typename Object>
std::int64_t schema_number(const Object& object) noexcept {
  return reinterpret_cast<std::int64_t>(object.get());
}

/// A shape as schemas have it.
inline at::OptionalSymIntArrayRef symbolic(const at::OptionalIntArrayRef& shape) {
  if (!shape.has_value()) return std::nullopt;
  return c10::fromIntArrayRefSlow(*shape);
}

}  // namespace syncyte::detail
