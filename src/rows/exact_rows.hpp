// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory/scratch.hpp"
#include "rows/row_map.hpp"
#include "rows/row_places.hpp"
#include "syncyte/base.h"

namespace syncyte::rows {

/// Exact sums of rows of floating-point or complex numbers, so that the order of additions does not matter. A row that
/// was added once is kept as it is. Other sums are fixed-point numbers in digits of 32 bits, which are kept in 64-bit
/// integers so that carries can wait (a long accumulator: Kulisch, "Computer Arithmetic and Validity", 2013, chapter
/// 8). A row keeps only the digits that its numbers have used: 24 to 40 bytes for each number where their magnitudes
/// are similar, at most 560. Its first elements stay in memory until all rows are forgotten.
class exact_rows {
 public:
  /// Whether sums of the type depend on the order of additions; others need no exact_rows.
  static bool needs(syncyte_dtype_t dtype);

  exact_rows(syncyte_dtype_t dtype, std::int64_t row_elements);

  bool empty() const { return live_ == 0; }

  /// Prefetches the sum of a row that will soon be added.
  void prefetch(std::int64_t row) const;

  /// Adds a row of elements.
  void add(std::int64_t row, const std::byte* elements);

  /// The rows that it keeps, in the order in which they were first added.
  std::vector<std::int64_t> rows() const;

  /// Appends the record of a row, for merge(), and forgets the row. It is {row, first digit, number of digits,
  /// content}, the digits or the elements of the only addition, and the mark of each number if there are marks.
  void move_to_record(std::int64_t row, std::vector<std::int64_t>& to);
  static constexpr std::size_t header_words = 4;
  /// Words of a record, from its header.
  std::size_t record_words(const std::int64_t* header) const;
  /// Words of the records of all rows.
  std::size_t record_words() const;
  /// Adds a record of the same type and row length.
  void merge(const std::int64_t* record);

  /// Adds the sums of all rows to the rows of a map, rounds each once and to nearest even, and forgets them. A sum of
  /// zero is +0.
  void add_all_to(const row_map& target);

 private:
  /// Digits [first, end).
  struct digit_range {
    std::int32_t first = 0, end = 0;
    std::int32_t count() const { return end - first; }
  };

  static constexpr std::int64_t no_row = -1;

  /// The sum of a row. Digit d of a number has the weight 2^(32 d - 1074).
  struct sum {
    std::int64_t row = no_row;            // forgotten: no_row
    const std::byte* elements = nullptr;  // of the only addition, in a block; null: digits
    std::uint32_t additions = 0;          // since carries were propagated
    digit_range range;                    // the highest digit takes carries and the sign
    std::vector<std::int64_t> digits;     // of all numbers: digit by digit
    std::vector<std::uint8_t> marks;      // infinities and NaN that were added to each number; empty: none
  };

  sum& find(std::int64_t row) { return sums_.at(places_.find(row)); }
  sum& find_or_create(std::int64_t row);
  void forget(sum& of);
  const std::byte* keep(const std::byte* elements);

  std::size_t element_words() const { return (row_bytes_ + sizeof(std::int64_t) - 1) / sizeof(std::int64_t); }
  void add_to_digits(sum& to, const std::byte* elements) const;
  void expand(sum& of) const;
  template <class T>
  void move_to_marks(sum& of, std::byte* elements) const;
  void mark(sum& of, std::size_t number, std::uint8_t with) const;
  void widen(sum& of, digit_range wanted) const;
  void count_addition(sum& of) const;
  void propagate(sum& of) const;
  template <class T>
  void add_sum(sum& of, std::byte* target) const;

  syncyte_dtype_t dtype_;
  std::size_t row_numbers_;  // numbers in a row; two for each complex element
  std::size_t row_bytes_;
  row_places places_;                    // in sums_
  std::vector<sum> sums_;                // forgotten ones too, until all are
  std::size_t live_ = 0;                 // sums that are not forgotten
  std::vector<memory::scratch> blocks_;  // rows of elements, until all are forgotten
  std::size_t block_used_ = 0;           // bytes of the last one
};

}  // namespace syncyte::rows
