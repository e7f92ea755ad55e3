#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "syncyte/base.h"

namespace syncyte::rows {

/// Exact sums of rows of floating-point or complex numbers, so that the order of additions does not matter. Each sum is
/// a fixed-point number in digits of 32 bits, which are kept in 64-bit integers so that carries can wait (a long
/// accumulator: Kulisch, "Computer Arithmetic and Validity", 2013, chapter 8). A row keeps only the digits that its
/// numbers have used: 32 to 40 bytes for each number where their magnitudes are similar, at most 560.
class exact_rows {
 public:
  /// Whether sums of the type depend on the order of additions; others need no exact_rows.
  static bool needs(syncyte_dtype_t dtype);

  exact_rows(syncyte_dtype_t dtype, std::int64_t row_elements);

  bool empty() const { return sums_.empty(); }

  /// Adds a row of elements.
  void add(std::int64_t row, const std::byte* elements);

  /// Numbers of the rows, ascending.
  std::vector<std::int64_t> numbers() const;

  /// Appends the record of a row, for merge(), and forgets the row. It is {row, first digit, number of digits, 1 if
  /// there are marks}, the digits, and the mark of each number.
  void move_to_record(std::int64_t row, std::vector<std::int64_t>& to);
  static constexpr std::size_t header_words = 4;
  /// Words of a record, from its header.
  std::size_t record_words(const std::int64_t* header) const;
  /// Adds a record of the same type and row length.
  void merge(const std::int64_t* record);

  /// Rounds the sums of a row, once and to nearest even, to elements at `target`, and forgets the row. A sum of zero is
  /// +0.
  void round(std::int64_t row, std::byte* target);

 private:
  /// The sum of a row. Digit d of number n has the weight 2^(32 d - 1074).
  struct sum {
    std::int64_t first = 0;            // digit
    std::int64_t count = 0;            // of digits; the highest one takes carries and the sign
    std::uint32_t additions = 0;       // since carries were propagated
    std::vector<std::int64_t> digits;  // of all numbers: digit by digit
    std::vector<std::uint8_t> marks;   // infinities and NaN that were added to each number; empty: none
  };

  void mark(sum& of, std::size_t number, std::uint8_t with) const;
  void widen(sum& of, std::int64_t first, std::int64_t end) const;
  void count_addition(sum& of) const;
  void propagate(sum& of) const;

  syncyte_dtype_t dtype_;
  std::size_t numbers_;  // of a row; two for each complex element
  std::unordered_map<std::int64_t, sum> sums_;
  std::vector<double> values_;  // of the row that is added
};

}  // namespace syncyte::rows
