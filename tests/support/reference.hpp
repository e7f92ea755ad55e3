// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The oracle: slow, simple implementations of the library's operations, without MPI and without the library.
//
// Random data is a function of (seed, rank, position), so every rank can compute the data of every other rank, and the
// expected result of any collective. Values are small whole numbers: sums of some thousands of them are exact in every
// element type, in any order.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace syncyte::reference {

// ---- random data

/// A well-mixed number for (seed, rank, position): the output function of splitmix64.
inline std::uint64_t random_bits(std::uint64_t seed, int rank, std::int64_t position) {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(rank) * 0xd1342543de82ef95u +
                    static_cast<std::uint64_t>(position);
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A whole number in [low, high].
inline std::int64_t random_integer(std::uint64_t seed, int rank, std::int64_t position, std::int64_t low,
                                   std::int64_t high) {
  const auto range = static_cast<std::uint64_t>(high - low) + 1;
  return low + static_cast<std::int64_t>(random_bits(seed, rank, position) % range);
}

/// An element from 0 to 3, which every type can represent; bool becomes 0 or 1.
template <typename T>
T random_value(std::uint64_t seed, int rank, std::int64_t position) {
  return static_cast<T>(static_cast<float>(random_integer(seed, rank, position, 0, 3)));
}

/// A rank's contribution: count elements.
template <typename T>
std::vector<T> random_values(std::uint64_t seed, int rank, std::int64_t count) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(random_value<T>(seed, rank, i));
  return values;
}

/// Row numbers in [0, rows), with repetitions; none if there are no rows.
template <typename Index = std::int64_t>
std::vector<Index> random_rows(std::uint64_t seed, int rank, std::int64_t count, std::int64_t rows) {
  std::vector<Index> index;
  for (std::int64_t i = 0; rows > 0 && i < count; ++i) {
    index.push_back(static_cast<Index>(random_integer(seed, rank, i, 0, rows - 1)));
  }
  return index;
}

// ---- partitions: lengths of the ranks' parts

using lengths = std::vector<std::int64_t>;

/// Parts as equal as possible, with the remainder on the first ranks.
inline lengths equal_lengths(std::int64_t total, int ranks) {
  lengths parts(static_cast<std::size_t>(ranks), 0);
  for (std::int64_t row = 0; row < total; ++row) ++parts[static_cast<std::size_t>(row % ranks)];
  return parts;
}

/// Assigns each row to a random rank: parts are uneven, and sometimes empty.
inline lengths uneven_lengths(std::uint64_t seed, std::int64_t total, int ranks) {
  lengths parts(static_cast<std::size_t>(ranks), 0);
  for (std::int64_t row = 0; row < total; ++row) {
    ++parts[static_cast<std::size_t>(random_integer(seed, 0, row, 0, ranks - 1))];
  }
  return parts;
}

/// All rows on one rank; the other parts are empty.
inline lengths lengths_on_one(std::int64_t total, int ranks, int owner) {
  lengths parts(static_cast<std::size_t>(ranks), 0);
  parts[static_cast<std::size_t>(owner)] = total;
  return parts;
}

/// Odd ranks' parts are empty, even ranks' equal.
inline lengths lengths_with_gaps(std::int64_t total, int ranks) {
  const lengths dense = equal_lengths(total, (ranks + 1) / 2);
  lengths parts(static_cast<std::size_t>(ranks), 0);
  for (std::size_t i = 0; i < dense.size(); ++i) parts[2 * i] = dense[i];
  return parts;
}

/// First row of a rank's part.
inline std::int64_t first_row(const lengths& parts, int rank) {
  std::int64_t first = 0;
  for (int i = 0; i < rank; ++i) first += parts[static_cast<std::size_t>(i)];
  return first;
}

/// The rank that owns a row, found by a search of all parts; -1 if there is none.
inline int owner(const lengths& parts, std::int64_t row) {
  std::int64_t end = 0;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    end += parts[rank];
    if (row >= 0 && row < end) return static_cast<int>(rank);
  }
  return -1;
}

// ---- arithmetic

/// Sum of two elements: storage-only types (float16, bfloat16) are added as float, bool by logical or.
template <typename T>
T sum(const T& a, const T& b) {
  if constexpr (requires { static_cast<T>(a + b); }) {
    return static_cast<T>(a + b);
  } else {
    return static_cast<T>(static_cast<float>(a) + static_cast<float>(b));
  }
}

// ---- whole tensors: a table is all rows of all ranks, row after row

/// The table in which row r, element e is random_value(seed, 0, r * row_elements + e).
template <typename T>
std::vector<T> random_table(std::uint64_t seed, std::int64_t rows, std::int64_t row_elements) {
  return random_values<T>(seed, 0, rows * row_elements);
}

/// result[i] = table[index[i]].
template <typename T, typename Index>
std::vector<T> gather_rows(const std::vector<T>& table, std::int64_t row_elements, const std::vector<Index>& index) {
  std::vector<T> result;
  for (const Index row : index) {
    for (std::int64_t e = 0; e < row_elements; ++e) {
      result.push_back(table[static_cast<std::size_t>(static_cast<std::int64_t>(row) * row_elements + e)]);
    }
  }
  return result;
}

/// table[index[i]] = source[i]; if a row repeats, the last value stays.
template <typename T, typename Index>
void scatter_rows(std::vector<T>& table, std::int64_t row_elements, const std::vector<Index>& index,
                  const std::vector<T>& source) {
  std::size_t from = 0;
  for (const Index row : index) {
    for (std::int64_t e = 0; e < row_elements; ++e) {
      table[static_cast<std::size_t>(static_cast<std::int64_t>(row) * row_elements + e)] = source[from++];
    }
  }
}

/// table[index[i]] += source[i].
template <typename T, typename Index>
void scatter_add_rows(std::vector<T>& table, std::int64_t row_elements, const std::vector<Index>& index,
                      const std::vector<T>& source) {
  std::size_t from = 0;
  for (const Index row : index) {
    for (std::int64_t e = 0; e < row_elements; ++e) {
      const auto to = static_cast<std::size_t>(static_cast<std::int64_t>(row) * row_elements + e);
      table[to] = sum<T>(table[to], source[from++]);
    }
  }
}

// ---- collectives, of ranks that contribute random_values(seed, rank, ...)

/// Element-wise combination of all ranks' values, in the order of ranks; combine(a, b) is the operation.
template <typename T, typename Combine>
std::vector<T> reduce(std::uint64_t seed, int ranks, std::int64_t count, Combine combine) {
  std::vector<T> result = random_values<T>(seed, 0, count);
  for (int rank = 1; rank < ranks; ++rank) {
    const std::vector<T> other = random_values<T>(seed, rank, count);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<T>(combine(result[i], other[i]));
  }
  return result;
}

/// Sum over all ranks.
template <typename T>
std::vector<T> allreduce(std::uint64_t seed, int ranks, std::int64_t count) {
  return reduce<T>(seed, ranks, count, [](const T& a, const T& b) { return sum<T>(a, b); });
}

/// All ranks' values one after another; counts[rank] elements each.
template <typename T>
std::vector<T> allgatherv(std::uint64_t seed, const lengths& counts) {
  std::vector<T> result;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    for (const T& value : random_values<T>(seed, static_cast<int>(rank), counts[rank])) result.push_back(value);
  }
  return result;
}

/// Number of elements that rank `from` sends to rank `to` in an alltoallv: 0 to most, many of them 0.
inline std::int64_t alltoallv_count(std::uint64_t seed, int from, int to, std::int64_t most) {
  const std::int64_t count = random_integer(seed + 1, from, to, -most / 2, most);
  return count > 0 ? count : 0;
}

/// Elements that a rank sends: the parts for ranks 0, 1, ... one after another are random_values(seed, rank, sum of
/// counts).
inline lengths alltoallv_send_counts(std::uint64_t seed, int rank, int ranks, std::int64_t most) {
  lengths counts;
  for (int to = 0; to < ranks; ++to) counts.push_back(alltoallv_count(seed, rank, to, most));
  return counts;
}

inline lengths alltoallv_receive_counts(std::uint64_t seed, int rank, int ranks, std::int64_t most) {
  lengths counts;
  for (int from = 0; from < ranks; ++from) counts.push_back(alltoallv_count(seed, from, rank, most));
  return counts;
}

/// Elements that a rank receives: the parts from ranks 0, 1, ... one after another.
template <typename T>
std::vector<T> alltoallv(std::uint64_t seed, int rank, int ranks, std::int64_t most) {
  std::vector<T> result;
  for (int from = 0; from < ranks; ++from) {
    const std::int64_t begin = first_row(alltoallv_send_counts(seed, from, ranks, most), rank);
    for (std::int64_t i = 0; i < alltoallv_count(seed, from, rank, most); ++i) {
      result.push_back(random_value<T>(seed, from, begin + i));
    }
  }
  return result;
}

}  // namespace syncyte::reference
