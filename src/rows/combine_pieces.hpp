// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "atomics/lock_table.hpp"
#include "rows/row_map.hpp"

namespace syncyte::rows {

/// A part of a row: bytes from `inset` on.
struct row_piece {
  std::int64_t row;
  std::size_t inset;
};

/// Packed elements to combine with pieces of rows. All pieces have the same length, and lie one after another in
/// `values`.
struct packed_pieces {
  std::span<const row_piece> pieces;
  std::size_t bytes;  // of each
  const std::byte* values;
  syncyte_dtype_t dtype;
  syncyte_op_t op;  // one that require_combining() accepts
};

/// Throws SYNCYTE_ERR_ARGUMENT for an unknown op or SYNCYTE_OP_REPLACE, SYNCYTE_ERR_UNSUPPORTED if the op is not
/// defined for the dtype, or a product of complex numbers.
void require_combining(syncyte_dtype_t dtype, syncyte_op_t op);

/// Combines each element with its packed one. Atomic for each element, as add_rows() is and with the same locks; sums
/// of complex numbers in rows without locks are atomic for each component. Every row must be mapped. Throws
/// SYNCYTE_ERR_PEER_DIED, naming the row; rows before it are combined.
void combine_pieces(const row_map& map, const packed_pieces& source, atomics::lock_table& locks);

/// Combines pieces as combine_pieces() does, but ends before a row whose lock another process or thread holds for
/// lock_table::longest_try. Returns the number of pieces that it combined, from the first.
std::size_t try_combine_pieces(const row_map& map, const packed_pieces& source, atomics::lock_table& locks);

/// values[i] = values[i] * factor, for packed elements; `factor` is one element.
void scale_elements(std::byte* values, std::size_t elements, const std::byte* factor, syncyte_dtype_t dtype);

}  // namespace syncyte::rows
