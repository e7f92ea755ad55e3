#pragma once

#include <cstdint>
#include <cstring>

#include "base/dtype.hpp"

namespace syncyte::collectives {

/// Moves the elements of a collective of one rank; from and to may be the same.
inline void copy_alone(const void* from, void* to, std::int64_t count, syncyte_dtype_t dtype) {
  if (count > 0 && from != to) std::memmove(to, from, static_cast<std::size_t>(count) * base::dtype_size(dtype));
}

}  // namespace syncyte::collectives
