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

enum mark : std::uint8_t { has_infinity = 1, has_negative_infinity = 2, has_nan = 4 };

/// A finite number as an integer of 53 bits, in units of 2^(position - 1074).
struct parts {
  std::uint64_t integer;
  int position;
  bool is_negative;
};

parts parts_of(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const std::uint64_t implied = exponent == 0 ? 0 : std::uint64_t{1} << 52;
  return {fraction | implied, std::max(exponent, 1) - 1, bits >> 63 != 0};
}

std::uint8_t mark_of(double value) {
  if (std::isnan(value)) return has_nan;
  return value > 0 ? has_infinity : has_negative_infinity;
}

/// Real numbers of elements; a complex element has two.
template <class T>
void read_numbers(const std::byte* elements, std::span<double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, elements + i * sizeof(T), sizeof(T));
    if constexpr (base::is_half<T>)
      values[i] = static_cast<double>(static_cast<float>(value));
    else
      values[i] = static_cast<double>(value);
  }
}

/// Precision and smallest unit, 2^(lowest - 1074), of a floating-point type.
template <class T>
struct format {
  static constexpr int precision = std::numeric_limits<T>::digits;
  static constexpr int lowest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits + 1074;
};
template <>
struct format<base::float16> {
  static constexpr int precision = 11, lowest = 1074 - 24;
};
template <>
struct format<base::bfloat16> {
  static constexpr int precision = 8, lowest = 1074 - 133;
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

/// A sum's magnitude: digits of 32 bits, the lowest first, and the first digit's place.
struct magnitude {
  std::vector<std::uint32_t> digits;
  int first;

  std::uint32_t digit(int place) const { return place < first ? 0 : digits[static_cast<std::size_t>(place - first)]; }

  /// Position of the highest bit that is set: its weight is 2^(position - 1074). -1 if none is.
  int highest() const {
    for (std::size_t d = digits.size(); d-- > 0;)
      if (digits[d] != 0)
        return (first + static_cast<int>(d)) * digit_bits + digit_bits - 1 - std::countl_zero(digits[d]);
    return -1;
  }

  bool has_digits_below(int place) const {
    for (int at = first; at < place; ++at)
      if (digit(at) != 0) return true;
    return false;
  }
};

/// Rounds to the precision of T, to nearest even.
template <class T>
double rounded(const magnitude& of) {
  const int highest = of.highest();
  const int lowest = std::max(highest - format<T>::precision + 1, format<T>::lowest);
  if (highest < 0 || highest + 1 < lowest) return 0;  // less than half of the type's smallest number
  const int last = highest / digit_bits - 2;          // three digits have all bits of the result and the next one
  unsigned __int128 window = 0;
  for (int place = last + 2; place >= last; --place) window = window << digit_bits | of.digit(place);
  const int shift = lowest - last * digit_bits;
  auto integer = static_cast<std::uint64_t>(window >> shift);
  const unsigned __int128 half = static_cast<unsigned __int128>(1) << (shift - 1), rest = window & (2 * half - 1);
  if (rest > half || (rest == half && ((integer & 1) != 0 || of.has_digits_below(last)))) ++integer;
  return std::ldexp(static_cast<double>(integer), lowest - 1074);
}

double special(std::uint8_t marks) {
  const bool has_both = (marks & has_infinity) != 0 && (marks & has_negative_infinity) != 0;
  if ((marks & has_nan) != 0 || has_both) return std::numeric_limits<double>::quiet_NaN();
  return (marks & has_infinity) != 0 ? HUGE_VAL : -HUGE_VAL;
}

template <class T>
void store_number(std::byte* target, double value) {
  T element;
  if constexpr (base::is_half<T>)
    element = T(static_cast<float>(value));
  else
    element = static_cast<T>(value);
  std::memcpy(target, &element, sizeof(T));
}

}  // namespace

bool exact_rows::needs(syncyte_dtype_t dtype) { return !base::is_integer(dtype) && dtype != SYNCYTE_BOOL; }

exact_rows::exact_rows(syncyte_dtype_t dtype, std::int64_t row_elements)
    : dtype_(dtype),
      numbers_(static_cast<std::size_t>(row_elements) * (base::is_complex(dtype) ? 2 : 1)),
      values_(numbers_) {}

void exact_rows::mark(sum& of, std::size_t number, std::uint8_t with) const {
  of.marks.resize(numbers_, 0);
  of.marks[number] |= with;
}

/// Makes room for digits [first, end).
void exact_rows::widen(sum& of, std::int64_t first, std::int64_t end) const {
  if (of.count > 0) {
    if (first >= of.first && end <= of.first + of.count) return;
    first = std::min(first, of.first);
    end = std::max(end, of.first + of.count);
    propagate(of);
  }
  std::vector<std::int64_t> wider(static_cast<std::size_t>(end - first) * numbers_, 0);
  std::copy(of.digits.begin(), of.digits.end(),
            wider.begin() + (of.count > 0 ? (of.first - first) * static_cast<std::int64_t>(numbers_) : 0));
  of.digits = std::move(wider);
  of.first = first;
  of.count = end - first;
}

/// Leaves 0 to 2^32 - 1 in all digits but the highest, which has the sign.
void exact_rows::propagate(sum& of) const {
  for (std::size_t d = 0; d + 1 < static_cast<std::size_t>(of.count); ++d) {
    std::int64_t* const digits = &of.digits[d * numbers_];
    for (std::size_t n = 0; n < numbers_; ++n) {
      const std::int64_t carry = digits[n] >> digit_bits;
      digits[n] -= carry * (std::int64_t{1} << digit_bits);
      digits[numbers_ + n] += carry;
    }
  }
  of.additions = 0;
}

void exact_rows::count_addition(sum& of) const {
  if (++of.additions >= most_additions) propagate(of);
}

void exact_rows::add(std::int64_t row, const std::byte* elements) {
  visit_real(dtype_, [&]<class T>() { read_numbers<T>(elements, values_); });
  sum& to = sums_[row];
  int lowest = std::numeric_limits<int>::max(), highest = -1;
  for (const double value : values_) {
    if (value == 0 || !std::isfinite(value)) continue;
    const int digit = parts_of(value).position / digit_bits;
    lowest = std::min(lowest, digit);
    highest = std::max(highest, digit);
  }
  if (highest >= 0) widen(to, lowest, highest + 4);  // a number spans three digits; one more takes carries
  for (std::size_t n = 0; n < numbers_; ++n) {
    if (!std::isfinite(values_[n])) {
      mark(to, n, mark_of(values_[n]));
      continue;
    }
    if (values_[n] == 0) continue;
    const parts number = parts_of(values_[n]);
    const std::int64_t digit = number.position / digit_bits - to.first;
    auto rest = static_cast<unsigned __int128>(number.integer) << (number.position % digit_bits);
    for (std::int64_t* at = &to.digits[static_cast<std::size_t>(digit) * numbers_ + n]; rest != 0; at += numbers_) {
      const auto low = static_cast<std::int64_t>(rest & 0xffffffffu);
      *at += number.is_negative ? -low : low;
      rest >>= digit_bits;
    }
  }
  count_addition(to);
}

std::vector<std::int64_t> exact_rows::numbers() const {
  std::vector<std::int64_t> result;
  result.reserve(sums_.size());
  for (const auto& each : sums_) result.push_back(each.first);
  std::sort(result.begin(), result.end());
  return result;
}

void exact_rows::move_to_record(std::int64_t row, std::vector<std::int64_t>& to) {
  sum& of = sums_.at(row);
  propagate(of);
  to.insert(to.end(), {row, of.first, of.count, of.marks.empty() ? 0 : 1});
  to.insert(to.end(), of.digits.begin(), of.digits.end());
  to.insert(to.end(), of.marks.begin(), of.marks.end());
  sums_.erase(row);
}

std::size_t exact_rows::record_words(const std::int64_t* header) const {
  return header_words + static_cast<std::size_t>(header[2] + header[3]) * numbers_;
}

void exact_rows::merge(const std::int64_t* record) {
  sum& to = sums_[record[0]];
  const std::int64_t count = record[2];
  if (count > 0) widen(to, record[1], record[1] + count);
  const std::int64_t* const digits = record + header_words;
  const auto words = static_cast<std::size_t>(count) * numbers_;
  const std::size_t place = count > 0 ? static_cast<std::size_t>(record[1] - to.first) * numbers_ : 0;
  for (std::size_t i = 0; i < words; ++i) to.digits[place + i] += digits[i];
  for (std::size_t n = 0; record[3] != 0 && n < numbers_; ++n)
    mark(to, n, static_cast<std::uint8_t>(digits[words + n]));
  count_addition(to);
}

void exact_rows::round(std::int64_t row, std::byte* target) {
  sum& of = sums_.at(row);
  // The highest digit of another rank's record may be negative; behind it there must be room for its carry.
  if (of.count > 0) widen(of, of.first, of.first + of.count + 2);
  propagate(of);
  magnitude size{std::vector<std::uint32_t>(static_cast<std::size_t>(of.count)), static_cast<int>(of.first)};
  visit_real(dtype_, [&]<class T>() {
    for (std::size_t n = 0; n < numbers_; ++n) {
      const auto digit = [&](std::size_t d) { return of.digits[d * numbers_ + n]; };
      const bool is_negative = of.count > 0 && digit(size.digits.size() - 1) < 0;
      std::int64_t carry = 0;  // of the negated number
      for (std::size_t d = 0; d < size.digits.size(); ++d) {
        const std::int64_t value = (is_negative ? -digit(d) : digit(d)) + carry;
        size.digits[d] = static_cast<std::uint32_t>(value);
        carry = value >> digit_bits;
      }
      const std::uint8_t marks = of.marks.empty() ? 0 : of.marks[n];
      const double result = marks != 0 ? special(marks) : rounded<T>(size);
      store_number<T>(target + n * sizeof(T), is_negative && marks == 0 ? -result : result);
    }
  });
  sums_.erase(row);
}

}  // namespace syncyte::rows
