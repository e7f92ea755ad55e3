// SPDX-License-Identifier: BSD-3-Clause
// MIN and MAX of floating-point elements, against a reference with branches.

#include "mpi/float_min_max.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "mpi/call.hpp"
#include "mpi_world.hpp"

namespace {

using namespace syncyte;

template <class T>
T slow(syncyte_op_t op, T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  const bool is_less = a == b ? std::signbit(a) && !std::signbit(b) : a < b;
  return is_less == (op == SYNCYTE_OP_MIN) ? a : b;
}

/// Zeros, infinities, NaN with several bits, the smallest and largest numbers, each with both signs.
template <class T>
std::vector<T> special_values() {
  using limits = std::numeric_limits<T>;
  std::vector<T> result;
  for (const T value : {T(0), T(1), T(2.5), limits::denorm_min(), limits::min(), limits::max(), limits::infinity(),
                        limits::quiet_NaN(), static_cast<T>(std::nan("77")), limits::signaling_NaN()}) {
    result.push_back(value);
    result.push_back(std::copysign(value, T(-1)));
  }
  return result;
}

/// Compares bits: NaN is not equal to itself, and zeros are equal.
template <class T>
void expect_bits(const std::vector<T>& found, const std::vector<T>& expected, const char* what) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(std::memcmp(&found[i], &expected[i], sizeof(T)), 0)
        << what << " " << i << ": " << found[i] << ", expected " << expected[i];
}

template <class T>
class float_min_max : public testing::Test {
 protected:
  static constexpr syncyte_dtype_t dtype = sizeof(T) == 4 ? SYNCYTE_FLOAT32 : SYNCYTE_FLOAT64;
  static constexpr syncyte_op_t ops[] = {SYNCYTE_OP_MIN, SYNCYTE_OP_MAX};
};

using both = testing::Types<float, double>;
TYPED_TEST_SUITE(float_min_max, both, );

TYPED_TEST(float_min_max, is_the_reference_for_all_pairs) {
  const std::vector<TypeParam> values = special_values<TypeParam>();
  for (const syncyte_op_t op : this->ops) {
    std::vector<TypeParam> given, there, expected;
    for (const TypeParam a : values)
      for (const TypeParam b : values) {
        given.push_back(a);
        there.push_back(b);
        expected.push_back(slow(op, a, b));
      }
    MPI_Reduce_local(given.data(), there.data(), static_cast<int>(given.size()), mpi::type_of(this->dtype),
                     mpi::float_min_max_op(this->dtype, op));
    expect_bits(there, expected, "pair");
  }
}

TYPED_TEST(float_min_max, combines_as_many_elements_as_asked) {
  constexpr int most = 40;
  for (const syncyte_op_t op : this->ops)
    for (int count = 0; count <= most; ++count) {
      std::vector<TypeParam> given, there(most);
      for (int i = 0; i < most; ++i) given.push_back(static_cast<TypeParam>(i % 3 - 1));
      std::vector<TypeParam> expected = there;
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) expected[i] = slow(op, given[i], there[i]);
      MPI_Reduce_local(given.data(), there.data(), count, mpi::type_of(this->dtype),
                       mpi::float_min_max_op(this->dtype, op));
      expect_bits(there, expected, "element");
    }
}

TYPED_TEST(float_min_max, gives_all_ranks_the_same_bits) {
  const std::vector<TypeParam> values = special_values<TypeParam>();
  const auto of_rank = [&](int rank, std::size_t i) {
    return values[(i + static_cast<std::size_t>(rank) * (i / values.size() + 1)) % values.size()];
  };
  const std::size_t count = 10 * values.size();
  for (const syncyte_op_t op : this->ops) {
    std::vector<TypeParam> mine, all(count), expected;
    for (std::size_t i = 0; i < count; ++i) {
      mine.push_back(of_rank(test::world_rank(), i));
      TypeParam result = of_rank(0, i);
      for (int rank = 1; rank < test::world_size(); ++rank) result = slow(op, result, of_rank(rank, i));
      expected.push_back(result);
    }
    MPI_Allreduce(mine.data(), all.data(), static_cast<int>(count), mpi::type_of(this->dtype),
                  mpi::float_min_max_op(this->dtype, op), MPI_COMM_WORLD);
    expect_bits(all, expected, "element");
  }
}

TEST(float_min_max_op, halves_are_reduced_as_float32) {
  for (const syncyte_op_t op : {SYNCYTE_OP_MIN, SYNCYTE_OP_MAX})
    for (const syncyte_dtype_t dtype : {SYNCYTE_FLOAT16, SYNCYTE_BFLOAT16})
      EXPECT_EQ(mpi::float_min_max_op(dtype, op), mpi::float_min_max_op(SYNCYTE_FLOAT32, op));
}

TEST(float_min_max_op, is_for_floating_point_minima_and_maxima_alone) {
  for (const syncyte_dtype_t dtype : {SYNCYTE_INT32, SYNCYTE_COMPLEX64, SYNCYTE_BOOL})
    EXPECT_EQ(mpi::float_min_max_op(dtype, SYNCYTE_OP_MAX), MPI_OP_NULL);
  for (const syncyte_op_t op : {SYNCYTE_OP_SUM, SYNCYTE_OP_PROD, SYNCYTE_OP_BAND})
    EXPECT_EQ(mpi::float_min_max_op(SYNCYTE_FLOAT64, op), MPI_OP_NULL);
}

TEST(float_min_max_op, is_made_once_and_anew_after_the_end) {
  const MPI_Op made = mpi::float_min_max_op(SYNCYTE_FLOAT64, SYNCYTE_OP_MIN);
  EXPECT_EQ(mpi::float_min_max_op(SYNCYTE_FLOAT64, SYNCYTE_OP_MIN), made);
  mpi::free_float_min_max_ops();
  mpi::free_float_min_max_ops();
  double given = -1, there = 1;
  MPI_Reduce_local(&given, &there, 1, MPI_DOUBLE, mpi::float_min_max_op(SYNCYTE_FLOAT64, SYNCYTE_OP_MIN));
  EXPECT_EQ(there, -1);
}

}  // namespace
