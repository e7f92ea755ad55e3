// SPDX-License-Identifier: BSD-3-Clause
#include "rows/combine_pieces.hpp"

#include "atomics/combine_element.hpp"
#include "atomics/elements.hpp"
#include "base/ops.hpp"
#include "rows/add_rows.hpp"
#include "rows/wide_rows.hpp"

namespace syncyte::rows {
namespace {

/// Combines packed elements with those at `target`.
using combine_function = void (*)(std::byte* target, const std::byte* source, std::size_t elements);

/// The caller holds a lock; neither side need be aligned.
template <class T, syncyte_op_t op>
void combine_locked(std::byte* target, const std::byte* source, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i, target += sizeof(T), source += sizeof(T))
    atomics::store(target, base::combine<T, op>(atomics::load<T>(target), atomics::load<T>(source)));
}

/// The target is aligned to its elements, or to the components of complex numbers.
template <class T, syncyte_op_t op>
void combine_atomically(std::byte* target, const std::byte* source, std::size_t elements) {
  if constexpr (base::is_complex_number<T> && op == SYNCYTE_OP_SUM) {
    combine_atomically<typename T::value_type, op>(target, source, 2 * elements);
  } else {
    for (std::size_t i = 0; i < elements; ++i, target += sizeof(T), source += sizeof(T))
      atomics::combine_element<T, op>(target, atomics::load<T>(source));
  }
}

combine_function choose(syncyte_dtype_t dtype, syncyte_op_t op, bool is_locked) {
  if (is_locked && op == SYNCYTE_OP_SUM)
    if (const add_function wide = wide_add(dtype)) return wide;
  return base::visit_dtype_and_op(dtype, op, [&]<class T, syncyte_op_t which>() -> combine_function {
    return is_locked ? combine_locked<T, which> : combine_atomically<T, which>;
  });
}

/// Combines pieces; `take(row)` gets the row's lock, or returns false to end before the row. Neighbouring pieces of a
/// row are combined under one lock.
template <class Take>
std::size_t combine_under_locks(const row_map& map, const packed_pieces& source, atomics::lock_table& locks,
                                Take&& take) {
  const combine_function combine = choose(source.dtype, source.op, true);
  const std::size_t elements = source.bytes / base::dtype_size(source.dtype);
  std::size_t done = 0;
  while (done < source.pieces.size()) {
    const std::int64_t row = source.pieces[done].row;
    std::byte* const begin = map.find(row);
    if (!take(row)) return done;
    for (; done < source.pieces.size() && source.pieces[done].row == row; ++done)
      combine(begin + source.pieces[done].inset, source.values + done * source.bytes, elements);
    locks.unlock(row);
  }
  return done;
}

void combine_without_locks(const row_map& map, const packed_pieces& source) {
  const combine_function combine = choose(source.dtype, source.op, false);
  const std::size_t elements = source.bytes / base::dtype_size(source.dtype);
  const std::byte* values = source.values;
  for (const row_piece& piece : source.pieces) {
    combine(map.find(piece.row) + piece.inset, values, elements);
    values += source.bytes;
  }
}

}  // namespace

void require_combining(syncyte_dtype_t dtype, syncyte_op_t op) {
  atomics::find_combine(dtype, op);
  base::expect(op != SYNCYTE_OP_REPLACE, SYNCYTE_ERR_ARGUMENT, "op", "SYNCYTE_OP_REPLACE",
               "an operation that combines elements; put_box() replaces them");
  // Rows of one complex64 have no locks: the two components are updated one at a time, which cannot express a
  // product.
  base::expect(!base::is_complex(dtype) || op == SYNCYTE_OP_SUM, SYNCYTE_ERR_UNSUPPORTED, "op", base::op_name(op),
               "SYNCYTE_OP_SUM, the only operation that is atomic for {}", base::dtype_name(dtype));
}

void combine_pieces(const row_map& map, const packed_pieces& source, atomics::lock_table& locks) {
  if (!needs_locks(map, source.dtype)) return combine_without_locks(map, source);
  combine_under_locks(map, source, locks, [&](std::int64_t row) {
    locks.lock(row);
    return true;
  });
}

std::size_t try_combine_pieces(const row_map& map, const packed_pieces& source, atomics::lock_table& locks) {
  if (needs_locks(map, source.dtype))
    return combine_under_locks(map, source, locks, [&](std::int64_t row) { return locks.try_lock(row); });
  combine_without_locks(map, source);
  return source.pieces.size();
}

void scale_elements(std::byte* values, std::size_t elements, const std::byte* factor, syncyte_dtype_t dtype) {
  base::visit_dtype(dtype, [&]<class T>(base::type_tag<T>) {
    const T by = atomics::load<T>(factor);
    for (std::size_t i = 0; i < elements; ++i, values += sizeof(T))
      atomics::store(values, base::combine<T, SYNCYTE_OP_PROD>(by, atomics::load<T>(values)));
  });
}

}  // namespace syncyte::rows
