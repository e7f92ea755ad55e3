// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/float_min_max.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <type_traits>

#include "base/dtype.hpp"
#include "mpi/call.hpp"

namespace syncyte::mpi {
namespace {

enum class end { lowest, highest };

/// No branches, so that the compiler can do several elements at once.
template <class T, end which>
[[gnu::always_inline]] inline T further(T a, T b) {
  using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const auto bits_a = std::bit_cast<word>(a);
  const auto bits_b = std::bit_cast<word>(b);
  // Equal numbers have equal bits, but zeros: their signs decide.
  const T equal = std::bit_cast<T>(which == end::highest ? bits_a & bits_b : bits_a | bits_b);
  const T other = (which == end::highest ? b > a : b < a) ? b : equal;
  const T result = (which == end::highest ? a > b : a < b) ? a : other;
  return a != a || b != b ? std::numeric_limits<T>::quiet_NaN() : result;
}

template <class T, end which>
[[gnu::always_inline]] inline void combine_all(const void* given, void* there, int count) {
  const auto* const from = static_cast<const T*>(given);
  auto* const to = static_cast<T*>(there);
  for (int i = 0; i < count; ++i) to[i] = further<T, which>(from[i], to[i]);
}

template <class T, end which>
void combine(void* given, void* there, int* count, MPI_Datatype*) {
  combine_all<T, which>(given, there, *count);
}

using function_list = std::array<MPI_User_function*, 4>;

constexpr function_list portable{&combine<float, end::lowest>, &combine<float, end::highest>,
                                 &combine<double, end::lowest>, &combine<double, end::highest>};

#if defined(__x86_64__) && defined(__GNUC__)
// MPI's own are written for these instructions; without them ours take three times as long.
template <class T, end which>
[[gnu::target("avx2")]] void combine_avx2(void* given, void* there, int* count, MPI_Datatype*) {
  combine_all<T, which>(given, there, *count);
}

const function_list& functions() {
  static constexpr function_list fast{&combine_avx2<float, end::lowest>, &combine_avx2<float, end::highest>,
                                      &combine_avx2<double, end::lowest>, &combine_avx2<double, end::highest>};
  return __builtin_cpu_supports("avx2") ? fast : portable;
}
#else
const function_list& functions() { return portable; }
#endif

/// The ops, in the order of function_list, made at their first use.
struct made_ops {
  std::mutex mutex;
  std::array<MPI_Op, portable.size()> ops{MPI_OP_NULL, MPI_OP_NULL, MPI_OP_NULL, MPI_OP_NULL};
};

made_ops& made = *new made_ops;  // leaked: MPI may end after static objects

}  // namespace

MPI_Op float_min_max_op(syncyte_dtype_t dtype, syncyte_op_t op) {
  const bool is_double = dtype == SYNCYTE_FLOAT64;
  const bool is_floating = is_double || dtype == SYNCYTE_FLOAT32 || base::is_half_precision(dtype);
  if (!is_floating || (op != SYNCYTE_OP_MIN && op != SYNCYTE_OP_MAX)) return MPI_OP_NULL;
  const std::size_t which = (is_double ? 2 : 0) + (op == SYNCYTE_OP_MAX ? 1 : 0);
  const std::lock_guard lock(made.mutex);
  MPI_Op& found = made.ops[which];
  if (found == MPI_OP_NULL) check(MPI_Op_create(functions()[which], /*commute=*/1, &found), "MPI_Op_create");
  return found;
}

void free_float_min_max_ops() {
  const std::lock_guard lock(made.mutex);
  for (MPI_Op& op : made.ops)
    if (op != MPI_OP_NULL) MPI_Op_free(&op);
}

}  // namespace syncyte::mpi
