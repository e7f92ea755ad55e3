// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file collectives.hpp Collectives: methods of syncyte::communicator (comm.hpp); most are in generated/methods.hpp.
/// syncyte/collectives.h explains their arguments, syncyte/nonblocking.h the started forms, and docs/collectives.md the
/// results.

#include "syncyte/base.hpp"
#include "syncyte/generated/methods.hpp"

namespace syncyte {

/// Check level: how much the ranks compare before data moves.
enum class check_level : std::int32_t { inherit = -1, off = 0, on = 1, full = 2 };

/// Lengths of `parts` parts, as even as possible, the first ones longer. Local; throws status::argument for a negative
/// extent or less than one part.
inline extents even_counts(std::int64_t extent, std::int64_t parts) {
  if (extent < 0 || parts < 1) {
    throw error(status::argument, "even_counts: extent is " + std::to_string(extent) + ", parts is " +
                                      std::to_string(parts) + "; expected 0 or more, and 1 or more");
  }
  extents result(static_cast<std::size_t>(parts), extent / parts);
  std::fill_n(result.begin(), extent % parts, extent / parts + 1);
  return result;
}

namespace detail {

/// The collectives of a communicator.
class collectives : public comm_methods {
 public:
  using counts_view = std::span<const std::int64_t>;

  using comm_methods::comm_methods;

  /// This process's number, 0 to size() - 1. Local.
  std::int32_t rank() const { return fetch<std::int32_t>(syncyte_comm_rank, get()); }
  /// Number of ranks. Local.
  std::int32_t size() const { return fetch<std::int32_t>(syncyte_comm_size, get()); }
  /// The check level. Local.
  check_level level() const { return static_cast<check_level>(fetch<std::int32_t>(syncyte_comm_check_level, get())); }

  /// Reduces one number. Collective.
  template <element T>
  T allreduce_value(T value, op how = op::sum) const {
    allreduce(buffer(std::span<T>(&value, 1)), how);
    return value;
  }

  /// Reduces element by element to root, in place there; the other ranks' arrays stay as they are. Collective.
  void reduce(std::int32_t root, const buffer& array, op how = op::sum) const {
    const bool in_place = rank() == root;
    check(syncyte_comm_reduce(get(), in_place ? nullptr : array.get(), raw(how), root, nullptr,
                              in_place ? array.get() : nullptr));
  }

  /// Reduces input into root's output, which must not overlap it; the other ranks' output is ignored. Collective.
  void reduce(const const_buffer& input, std::int32_t root, const buffer& output, op how = op::sum) const {
    check(syncyte_comm_reduce(get(), input.get(), raw(how), root, nullptr, output.get()));
  }

  /// Moves the rows of some arrays, in place, to the ranks that `destinations` names for the first rows; proc_null: the
  /// row goes nowhere. Rows behind them are room. Returns the number of rows that this rank has then. Collective.
  std::int64_t relocate_rows(std::span<const std::int32_t> destinations, std::span<const buffer> arrays) const {
    std::vector<syncyte_buffer_t> raw;
    for (const buffer& each : arrays) raw.push_back(*each.get());
    std::int64_t rows = 0;
    check(syncyte_comm_relocate_rows(get(), std::ssize(destinations), destinations.data(), std::ssize(raw), raw.data(),
                                     nullptr, raw.data(), &rows));
    return rows;
  }

  /// Collects the counts of all ranks, in rank order. Collective.
  extents counts(std::int64_t count) const {
    extents result(static_cast<std::size_t>(size()));
    check(syncyte_comm_counts(get(), count, nullptr, size(), result.data()));
    return result;
  }
};

}  // namespace detail

}  // namespace syncyte
