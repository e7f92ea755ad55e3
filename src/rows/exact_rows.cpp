// SPDX-License-Identifier: BSD-3-Clause
#include "rows/exact_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/dtype.hpp"
#include "base/ops.hpp"

namespace syncyte::rows {
namespace {

constexpr int digit_bits = 32;
/// Additions of less than 2^32 each that a 64-bit digit holds before carries are propagated.
constexpr std::uint32_t most_additions = 1u << 30;

/// Bytes of a block of rows that were added once, unless a row is longer.
constexpr std::size_t block_bytes = std::size_t{1} << 18;

enum mark : std::uint8_t { has_infinity = 1, has_negative_infinity = 2, has_nan = 4 };

/// Content of a record, behind its header.
enum content : std::int64_t { digits_only = 0, digits_and_marks = 1, elements_only = 2 };

/// A type of real numbers. They are read and rounded as `real`, which is float for half precision.
template <class T>
struct format {
  using real = std::conditional_t<std::same_as<T, double>, double, float>;
  using word = std::conditional_t<std::same_as<T, double>, std::uint64_t, std::uint32_t>;  // its bits
  static constexpr int fraction_bits = std::numeric_limits<real>::digits - 1;
  static constexpr word fraction = (word{1} << fraction_bits) - 1;
  static constexpr word infinity = std::bit_cast<word>(std::numeric_limits<real>::infinity());
  /// The smallest number is 2^(lowest - 1074).
  static constexpr int lowest = std::numeric_limits<real>::min_exponent - std::numeric_limits<real>::digits + 1074;
  /// Digits of 32 bits that a number can have bits in.
  static constexpr int spanned = std::same_as<T, double> ? 3 : 2;
  /// Bits of a sum that are enough to round it if the last one says whether bits behind it are set.
  static constexpr int kept_bits = base::is_half<T> ? fraction_bits : 62;

  static real load(const std::byte* elements, std::size_t n) {
    T value;
    std::memcpy(&value, elements + n * sizeof(T), sizeof(T));
    return static_cast<real>(value);
  }
  static void store(std::byte* elements, std::size_t n, real value) {
    const T element(value);
    std::memcpy(elements + n * sizeof(T), &element, sizeof(T));
  }

  /// Bits without the sign: they order numbers by their magnitudes.
  static word magnitude(real value) { return std::bit_cast<word>(value) & (static_cast<word>(~word{0}) >> 1); }
  /// A magnitude is a whole number of units of 2^(position - 1074).
  static int position(std::uint64_t magnitude) {
    return std::max(static_cast<int>(magnitude >> fraction_bits), 1) - 1 + lowest;
  }
};

/// Calls visitor.operator()<T>() with the type of a type's real numbers.
template <class Visitor>
void visit_real(syncyte_dtype_t dtype, Visitor&& visitor) {
  base::visit_dtype(dtype, [&]<class T>(base::type_tag<T>) {
    if constexpr (base::is_complex_number<T>)
      visitor.template operator()<typename T::value_type>();
    else if constexpr (std::floating_point<T> || base::is_half<T>)
      visitor.template operator()<T>();
  });
}

/// Smallest and largest magnitude of the numbers that are not zero; lowest > highest: all are zero.
struct magnitude_range {
  std::uint64_t lowest, highest;
};

template <class T>
magnitude_range find_magnitudes(const std::byte* elements, std::size_t numbers) {
  using of = format<T>;
  // Signed, because SSE2 compares signed integers only.
  using signed_word = std::make_signed_t<typename of::word>;
  signed_word lowest = std::numeric_limits<signed_word>::max(), highest = 0;
  for (std::size_t n = 0; n < numbers; ++n) {
    const auto magnitude = static_cast<signed_word>(of::magnitude(of::load(elements, n)));
    lowest = std::min(lowest, magnitude == 0 ? std::numeric_limits<signed_word>::max() : magnitude);
    highest = std::max(highest, magnitude);
  }
  return {static_cast<std::uint64_t>(lowest), static_cast<std::uint64_t>(highest)};
}

/// Adds finite numbers to digits, of which `first` is the first one.
template <class T>
void add_numbers(const std::byte* elements, std::size_t numbers, int first, std::int64_t* digits) {
  using of = format<T>;
  for (std::size_t n = 0; n < numbers; ++n) {
    const typename of::real value = of::load(elements, n);
    const typename of::word magnitude = of::magnitude(value);
    const bool is_normal = magnitude > of::fraction;
    const std::uint64_t integer = (magnitude & of::fraction) | std::uint64_t{is_normal} << of::fraction_bits;
    const int position = of::position(magnitude), shift = position % digit_bits;
    const std::int64_t sign = -static_cast<std::int64_t>(std::bit_cast<typename of::word>(value) != magnitude);
    const auto with_sign = [&](std::uint64_t digit) { return (static_cast<std::int64_t>(digit) ^ sign) - sign; };
    // A zero may be below all digits; it is added to any one.
    std::int64_t* const to =
        digits + static_cast<std::size_t>(std::max(position / digit_bits - first, 0)) * numbers + n;
    const std::uint64_t low = integer << shift;
    to[0] += with_sign(low & 0xffffffffu);
    to[numbers] += with_sign(low >> digit_bits);
    if constexpr (of::spanned == 3) to[2 * numbers] += with_sign(integer >> 1 >> (63 - shift));
  }
}

/// Bits of a number in two's complement, without the sign.
int width(__int128 number) {
  const __int128 bits = number ^ (number >> 127);
  const auto low = static_cast<std::uint64_t>(bits), high = static_cast<std::uint64_t>(bits >> 64);
  return high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(low);
}

/// 2^exponent, if a double holds it.
double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52); }

/// Rounds a sum of numbers of type T. `digits`: its lowest digit; the others follow at distances of `numbers`. Carries
/// have been propagated.
template <class T>
typename format<T>::real rounded(const std::int64_t* digits, std::size_t numbers, int first, int count) {
  using real = typename format<T>::real;
  __int128 window = 0;  // the highest digits
  int place = count;
  while (place > 0 && width(window) < 95) window = (window << digit_bits) + digits[--place * numbers];
  bool has_rest = false;
  for (int below = 0; below < place; ++below) has_rest |= digits[below * numbers] != 0;
  const int shift = std::max(width(window) - format<T>::kept_bits, 0);
  has_rest |= (window & ((static_cast<__int128>(1) << shift) - 1)) != 0;
  const auto kept = static_cast<std::int64_t>(window >> shift) | has_rest;
  // Sums are whole numbers of units of the smallest number: results that are too small for all bits are exact.
  const int exponent = (first + place) * digit_bits + shift - 1074;
  // In two steps, because 2^exponent may be subnormal.
  const double half_way = static_cast<double>(static_cast<real>(kept)) * power_of_two(exponent / 2);
  return static_cast<real>(half_way * power_of_two(exponent - exponent / 2));
}

std::uint8_t mark_of(double value) {
  if (std::isnan(value)) return has_nan;
  return value > 0 ? has_infinity : has_negative_infinity;
}

double special(std::uint8_t marks) {
  const bool has_both = (marks & has_infinity) != 0 && (marks & has_negative_infinity) != 0;
  if ((marks & has_nan) != 0 || has_both) return std::numeric_limits<double>::quiet_NaN();
  return (marks & has_infinity) != 0 ? HUGE_VAL : -HUGE_VAL;
}

/// Adds one row to another: a sum of two numbers is rounded once. NaN and zero have one form.
template <class T>
void add_row(std::byte* target, const std::byte* elements, std::size_t numbers) {
  using of = format<T>;
  for (std::size_t n = 0; n < numbers; ++n) {
    const typename of::real total = of::load(target, n) + of::load(elements, n);
    of::store(target, n, std::isnan(total) ? std::numeric_limits<typename of::real>::quiet_NaN() : total + 0);
  }
}

}  // namespace

bool exact_rows::needs(syncyte_dtype_t dtype) { return !base::is_integer(dtype) && dtype != SYNCYTE_BOOL; }

exact_rows::exact_rows(syncyte_dtype_t dtype, std::int64_t row_elements)
    : dtype_(dtype),
      row_numbers_(static_cast<std::size_t>(row_elements) * (base::is_complex(dtype) ? 2 : 1)),
      row_bytes_(static_cast<std::size_t>(row_elements) * base::dtype_size(dtype)) {}

exact_rows::sum& exact_rows::find_or_create(std::int64_t row) {
  std::size_t& place = places_[row];
  if (place != row_places::none && sums_[place].row == row) return sums_[place];
  sums_.emplace_back().row = row;
  place = sums_.size() - 1;
  ++live_;
  return sums_[place];
}

void exact_rows::forget(sum& of) {
  of = {};
  if (--live_ > 0) return;
  sums_ = {};
  places_.clear();
  blocks_.clear();
}

void exact_rows::prefetch(std::int64_t row) const {
  const std::size_t place = places_.find(row);
  if (place == row_places::none) return;
  const sum& of = sums_[place];
  if (of.elements != nullptr) return prefetch_row(of.elements, row_bytes_);
  constexpr std::size_t line_words = 8, most_lines = 64;
  const std::size_t end = std::min(of.digits.size(), line_words * most_lines);
  for (std::size_t at = 0; at < end; at += line_words) __builtin_prefetch(of.digits.data() + at, 1);
}

void exact_rows::add(std::int64_t row, const std::byte* elements) {
  sum& to = find_or_create(row);
  if (to.elements == nullptr && to.digits.empty() && to.marks.empty())  // the sum is new, or zero
    to.elements = keep(elements);
  else
    add_to_digits(to, elements);
}

/// Copies a row to the last block.
const std::byte* exact_rows::keep(const std::byte* elements) {
  if (blocks_.empty() || block_used_ + row_bytes_ > block_bytes) {
    blocks_.emplace_back(std::max(block_bytes, row_bytes_));
    block_used_ = 0;
  }
  std::byte* const place = blocks_.back().data() + block_used_;
  block_used_ += row_bytes_;
  std::memcpy(place, elements, row_bytes_);
  return place;
}

/// Turns the elements of the only addition to digits.
void exact_rows::expand(sum& of) const {
  if (of.elements == nullptr) return;
  sum digits;
  digits.row = of.row;
  add_to_digits(digits, of.elements);
  of = std::move(digits);
}

void exact_rows::add_to_digits(sum& to, const std::byte* elements) const {
  expand(to);
  visit_real(dtype_, [&]<class T>() {
    magnitude_range found = find_magnitudes<T>(elements, row_numbers_);
    std::vector<std::byte> finite;
    if (found.highest >= format<T>::infinity) {
      finite.assign(elements, elements + row_bytes_);
      move_to_marks<T>(to, finite.data());
      elements = finite.data();
      found = find_magnitudes<T>(elements, row_numbers_);
    }
    if (found.lowest > found.highest) return;
    const auto digit_of = [](std::uint64_t magnitude) { return format<T>::position(magnitude) / digit_bits; };
    widen(to, {digit_of(found.lowest), digit_of(found.highest) + format<T>::spanned + 1});  // one more takes carries
    add_numbers<T>(elements, row_numbers_, to.range.first, to.digits.data());
  });
  count_addition(to);
}

/// Marks infinities and NaN, and leaves zeros in their place.
template <class T>
void exact_rows::move_to_marks(sum& of, std::byte* elements) const {
  for (std::size_t n = 0; n < row_numbers_; ++n) {
    const auto value = format<T>::load(elements, n);
    if (std::isfinite(value)) continue;
    mark(of, n, mark_of(value));
    format<T>::store(elements, n, 0);
  }
}

void exact_rows::mark(sum& of, std::size_t number, std::uint8_t with) const {
  of.marks.resize(row_numbers_, 0);
  of.marks[number] |= with;
}

/// Makes room for digits.
void exact_rows::widen(sum& of, digit_range wanted) const {
  const digit_range before = of.range;
  if (before.count() > 0) {
    if (wanted.first >= before.first && wanted.end <= before.end) return;
    wanted = {std::min(wanted.first, before.first), std::max(wanted.end, before.end)};
    propagate(of);
  }
  std::vector<std::int64_t> wider(static_cast<std::size_t>(wanted.count()) * row_numbers_);
  const std::size_t inset =
      before.count() > 0 ? static_cast<std::size_t>(before.first - wanted.first) * row_numbers_ : 0;
  std::copy(of.digits.begin(), of.digits.end(), wider.begin() + static_cast<std::ptrdiff_t>(inset));
  of.digits = std::move(wider);
  of.range = wanted;
}

/// Leaves 0 to 2^32 - 1 in all digits but the highest, which has the sign.
void exact_rows::propagate(sum& of) const {
  for (std::size_t d = 0; d + 1 < static_cast<std::size_t>(of.range.count()); ++d) {
    std::int64_t* const digits = &of.digits[d * row_numbers_];
    for (std::size_t n = 0; n < row_numbers_; ++n) {
      digits[row_numbers_ + n] += digits[n] >> digit_bits;
      digits[n] &= 0xffffffff;
    }
  }
  of.additions = 0;
}

void exact_rows::count_addition(sum& of) const {
  if (++of.additions >= most_additions) propagate(of);
}

std::vector<std::int64_t> exact_rows::rows() const {
  std::vector<std::int64_t> result;
  result.reserve(live_);
  for (const sum& each : sums_)
    if (each.row != no_row) result.push_back(each.row);
  return result;
}

void exact_rows::move_to_record(std::int64_t row, std::vector<std::int64_t>& to) {
  sum& of = find(row);
  if (of.elements != nullptr) {
    to.insert(to.end(), {row, 0, 0, elements_only});
    to.resize(to.size() + element_words());
    std::memcpy(to.data() + to.size() - element_words(), of.elements, row_bytes_);
  } else {
    propagate(of);
    to.insert(to.end(), {row, of.range.first, of.range.count(), of.marks.empty() ? digits_only : digits_and_marks});
    to.insert(to.end(), of.digits.begin(), of.digits.end());
    to.insert(to.end(), of.marks.begin(), of.marks.end());
  }
  forget(of);
}

std::size_t exact_rows::record_words(const std::int64_t* header) const {
  if (header[3] == elements_only) return header_words + element_words();
  return header_words + static_cast<std::size_t>(header[2] + header[3]) * row_numbers_;
}

std::size_t exact_rows::record_words() const {
  std::size_t words = 0;
  for (const sum& each : sums_)
    if (each.row != no_row)
      words += header_words + (each.elements != nullptr ? element_words() : each.digits.size()) + each.marks.size();
  return words;
}

void exact_rows::merge(const std::int64_t* record) {
  const std::int64_t* const words = record + header_words;
  if (record[3] == elements_only) return add(record[0], reinterpret_cast<const std::byte*>(words));
  sum& to = find_or_create(record[0]);
  expand(to);
  const auto first = static_cast<std::int32_t>(record[1]), count = static_cast<std::int32_t>(record[2]);
  const std::size_t length = static_cast<std::size_t>(count) * row_numbers_;
  if (count > 0) {
    widen(to, {first, first + count});
    std::int64_t* const digits = &to.digits[static_cast<std::size_t>(first - to.range.first) * row_numbers_];
    for (std::size_t i = 0; i < length; ++i) digits[i] += words[i];
  }
  for (std::size_t n = 0; record[3] == digits_and_marks && n < row_numbers_; ++n)
    mark(to, n, static_cast<std::uint8_t>(words[length + n]));
  count_addition(to);
}

void exact_rows::add_all_to(const row_map& target) {
  constexpr std::size_t ahead = 8;
  visit_real(dtype_, [&]<class T>() {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const std::int64_t next = sums_[std::min(i + ahead, sums_.size() - 1)].row;
      if (next != no_row) prefetch_row<true>(target.find(next), row_bytes_);
      if (sums_[i].row == no_row) continue;
      add_sum<T>(sums_[i], target.find(sums_[i].row));
      forget(sums_[i]);
    }
  });
}

template <class T>
void exact_rows::add_sum(sum& of, std::byte* target) const {
  if (of.elements != nullptr) return add_row<T>(target, of.elements, row_numbers_);
  add_to_digits(of, target);
  propagate(of);
  for (std::size_t n = 0; n < row_numbers_; ++n)
    format<T>::store(target, n, rounded<T>(of.digits.data() + n, row_numbers_, of.range.first, of.range.count()));
  for (std::size_t n = 0; n < of.marks.size(); ++n)
    if (of.marks[n] != 0) format<T>::store(target, n, static_cast<typename format<T>::real>(special(of.marks[n])));
}

}  // namespace syncyte::rows
