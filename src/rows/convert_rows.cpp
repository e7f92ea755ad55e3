#include "rows/convert_rows.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/dtype.hpp"
#include "rows/wide_rows.hpp"

namespace syncyte::rows {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t most_prefetched = 512;  // of a row

template <class T>
constexpr bool is_float = std::is_same_v<T, base::float16> || std::is_same_v<T, base::bfloat16> ||
                          std::is_same_v<T, float> || std::is_same_v<T, double>;

bool is_real(syncyte_dtype_t dtype) {
  return base::visit_dtype(dtype, []<class T>(base::type_tag<T>) { return is_float<T>; });
}

template <class From, class To>
To converted(From value) {
  if constexpr (std::is_arithmetic_v<From> && std::is_arithmetic_v<To>)
    return static_cast<To>(value);
  else
    return static_cast<To>(static_cast<float>(value));
}

template <class From, class To>
void convert(std::byte* target, const std::byte* source, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) {
    From value;
    std::memcpy(&value, source + i * sizeof value, sizeof value);
    const To result = converted<From, To>(value);
    std::memcpy(target + i * sizeof result, &result, sizeof result);
  }
}

convert_function portable_convert(syncyte_dtype_t from, syncyte_dtype_t to) {
  return base::visit_dtype(from, [&]<class From>(base::type_tag<From>) -> convert_function {
    return base::visit_dtype(to, []<class To>(base::type_tag<To>) -> convert_function {
      if constexpr (is_float<From> && is_float<To>)
        return convert<From, To>;
      else
        return nullptr;
    });
  });
}

}  // namespace

bool can_convert(syncyte_dtype_t from, syncyte_dtype_t to) { return from == to || (is_real(from) && is_real(to)); }

void gather_converted_rows(const row_map& map, const row_index& index, std::byte* output, syncyte_dtype_t from,
                           syncyte_dtype_t to) {
  const convert_function wide = wide_convert(from, to);
  const convert_function convert = wide != nullptr ? wide : portable_convert(from, to);
  const std::size_t elements = map.row_bytes() / base::dtype_size(from);
  const std::size_t output_bytes = elements * base::dtype_size(to);
  const std::size_t prefetched = std::min(map.row_bytes(), most_prefetched);
  for_each_block(map, index, [&](const row_block& block, std::size_t begin) {
    for (std::size_t i = 0; i < block.count; ++i) {
      const std::byte* const ahead = block.rows[i + prefetch_distance];
      for (std::size_t at = 0; at < prefetched; at += line_bytes) __builtin_prefetch(ahead + at);
      convert(output + (begin + i) * output_bytes, block.rows[i], elements);
    }
  });
}

}  // namespace syncyte::rows
