// SPDX-License-Identifier: BSD-3-Clause
#include "rows/add_rows.hpp"

#include <bit>
#include <cstring>

#include "atomics/combine_element.hpp"
#include "base/ops.hpp"
#include "rows/wide_rows.hpp"

namespace syncyte::rows {
namespace {

/// Adds one element atomically; real and imaginary parts of a complex number separately.
template <class T>
void add_atomically(std::byte* target, const std::byte* source) {
  if constexpr (base::is_complex_number<T>) {
    using part = typename T::value_type;
    add_atomically<part>(target, source);
    add_atomically<part>(target + sizeof(part), source + sizeof(part));
  } else {
    T value;
    std::memcpy(&value, source, sizeof value);
    atomics::combine_element<T, SYNCYTE_OP_SUM>(target, value);
  }
}

/// Addresses of packed source rows, in order.
struct packed_source {
  const std::byte* rows;
  std::size_t row_bytes;

  const std::byte* operator()(std::size_t i) const { return rows + i * row_bytes; }
};

/// Addresses of packed source rows, by their positions.
struct chosen_source {
  packed_source packed;
  std::span<const std::int64_t> positions;

  const std::byte* operator()(std::size_t i) const { return packed(static_cast<std::size_t>(positions[i])); }
};

/// `source` is a copy: atomic additions might otherwise change it, as far as the compiler knows.
template <class T, class Source>
void add_block_atomically(const row_block& block, std::size_t begin, Source source) {
  const std::size_t elements = block.row_bytes / sizeof(T);
  for (std::size_t i = 0; i < block.count; ++i) {
    __builtin_prefetch(block.rows[i + prefetch_distance], 1);
    const std::byte* const values = source(begin + i);
    for (std::size_t j = 0; j < elements; ++j) add_atomically<T>(block.rows[i] + j * sizeof(T), values + j * sizeof(T));
  }
}

template <class Source>
void add_atomically(const row_map& map, const row_index& index, const Source& source, syncyte_dtype_t dtype) {
  base::visit_dtype(dtype, [&]<class T>(base::type_tag<T>) {
    for_each_block(map, index,
                   [&](const row_block& block, std::size_t begin) { add_block_atomically<T>(block, begin, source); });
  });
}

/// Rows between a prefetch and the addition: fewer than for copies, since each row also takes the cache line of its
/// lock, and all are for writing.
constexpr std::size_t add_distance = 16;
static_assert(add_distance <= prefetch_distance);

template <class Source>
void add_under_locks(const row_map& map, const row_index& index, const Source& source, syncyte_dtype_t dtype,
                     atomics::lock_table& locks) {
  const add_function add = find_add(dtype);
  const std::size_t bytes = map.row_bytes();
  const std::size_t elements = bytes / base::dtype_size(dtype);
  index.visit([&](auto rows) {
    for_each_block(map, rows, [&](const row_block& block, std::size_t begin) {
      for (std::size_t i = 0; i < block.count; ++i) {
        const std::size_t position = begin + i;
        prefetch_row<true>(block.rows[i + add_distance], bytes);
        locks.prefetch(rows[std::min(position + add_distance, rows.size() - 1)]);
        locks.lock(rows[position]);
        add(block.rows[i], source(position), elements);
        locks.unlock(rows[position]);
      }
    });
  });
}

template <class Source>
void add_from(const Source& source, const row_map& map, const row_index& index, syncyte_dtype_t dtype,
              atomics::lock_table& locks) {
  if (needs_locks(map, dtype))
    add_under_locks(map, index, source, dtype, locks);
  else
    add_atomically(map, index, source, dtype);
}

}  // namespace

add_function find_add(syncyte_dtype_t dtype) {
  if (const add_function wide = wide_add(dtype)) return wide;
  return base::visit_dtype(dtype, []<class T>(base::type_tag<T>) -> add_function {
    return [](std::byte* target, const std::byte* source, std::size_t elements) {
      base::add_elements<T>(target, source, elements);
    };
  });
}

bool needs_locks(const row_map& map, syncyte_dtype_t dtype) {
  const std::size_t element = base::dtype_size(dtype) / (base::is_complex(dtype) ? 2 : 1);
  return map.row_bytes() >= locked_row_bytes ||
         std::any_of(map.ranges().begin(), map.ranges().end(),
                     [&](const row_range& range) { return std::bit_cast<std::uintptr_t>(range.base) % element != 0; });
}

void add_rows(const row_map& map, const row_index& index, const std::byte* source, syncyte_dtype_t dtype,
              atomics::lock_table& locks) {
  add_from(packed_source{source, map.row_bytes()}, map, index, dtype, locks);
}

void add_rows_at(const row_map& map, const row_index& index, std::span<const std::int64_t> positions,
                 const std::byte* source, syncyte_dtype_t dtype, atomics::lock_table& locks) {
  add_from(chosen_source{{source, map.row_bytes()}, positions}, map, index, dtype, locks);
}

}  // namespace syncyte::rows
