#pragma once

#include <array>
#include <cstdint>

namespace syncyte::memory {

/// A random number by which processes of one job, or callers of a shared cache, identify each other.
using nonce = std::array<std::uint64_t, 2>;

}  // namespace syncyte::memory
