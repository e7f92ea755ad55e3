// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "collectives/block_arrays.hpp"
#include "collectives/checks.hpp"
#include "comm/communicator.hpp"

namespace syncyte::collectives {

/// Arguments of collect().
struct collection_request {
  syncyte_dtype_t dtype;
  const block_arrays& from;
  int root;
  std::int64_t slab_bytes;  // of a slab at most; it has one element at least
};

/// Gets a slab on root: its first point in the whole array, and its elements, until it returns. It may throw.
using slab_visitor = std::function<void(std::span<const std::int64_t> first, const syncyte_buffer_t& slab)>;

/// Collects an array in row-major order. No rank has more of it than its own blocks, and a slab on root. If the visitor
/// throws, all ranks get the error. Collective.
void collect(comm::communicator& comm, const char* operation, const caller_facts& caller,
             const collection_request& asked, const slab_visitor& visit);

}  // namespace syncyte::collectives
