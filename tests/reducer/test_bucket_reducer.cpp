// SPDX-License-Identifier: BSD-3-Clause
// Sums in place, in many rounds, against sums by hand; and rounds that a rank gives up.

#include "reducer/bucket_reducer.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/buffer.hpp"
#include "base/half.hpp"
#include "collectives/collectives.hpp"
#include "core_world.hpp"
#include "reference.hpp"

namespace {

using namespace syncyte;
using reducer::bucket_reducer;
using reducer::description;
using test::expect_error;
using test::outcome_of;
using test::shared_world;
using test::world;

constexpr std::int64_t chunk = 1 << 15;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

description described(std::vector<std::int64_t> elements, syncyte_dtype_t dtype, double scale = 1) {
  return {std::vector<syncyte_dtype_t>(elements.size(), dtype), std::move(elements), scale, {}};
}

/// Numbers of all buckets, in a different order on each rank.
std::vector<int> shuffled_buckets(const bucket_reducer& sums, std::uint64_t seed) {
  std::vector<int> order(at(sums.buckets()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return reference::random_bits(seed, world().rank(), a) < reference::random_bits(seed, world().rank(), b);
  });
  return order;
}

template <class T>
void fill(const bucket_reducer& sums, std::uint64_t seed) {
  for (int bucket = 0; bucket < sums.buckets(); ++bucket) {
    const auto values = reference::random_values<T>(seed + at(bucket), world().rank(), sums.elements(bucket));
    std::memcpy(sums.data(bucket), values.data(), values.size() * sizeof(T));
  }
}

template <class T>
void expect_sums(const bucket_reducer& sums, std::uint64_t seed, float scale) {
  for (int bucket = 0; bucket < sums.buckets(); ++bucket) {
    std::vector<T> expected(static_cast<std::size_t>(sums.elements(bucket)), static_cast<T>(0.0f));
    for (int rank = 0; rank < world().size(); ++rank) {
      const auto values = reference::random_values<T>(seed + at(bucket), rank, sums.elements(bucket));
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = reference::sum(expected[i], values[i]);
    }
    for (auto& value : expected) {
      if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
        value *= scale;
      else
        value = static_cast<T>(static_cast<float>(value) * scale);
    }
    EXPECT_EQ(std::memcmp(sums.data(bucket), expected.data(), expected.size() * sizeof(T)), 0)
        << "bucket " << bucket << " of " << expected.size();
  }
}

template <class T>
void check_rounds(syncyte_dtype_t dtype) {
  const float scale = 0.5f;  // exact
  const auto sums = bucket_reducer::create(shared_world(), described({1, chunk, 0, 3 * chunk + 7, 5}, dtype, scale));
  for (std::uint64_t round = 1; round <= 4; ++round) {
    fill<T>(*sums, 100 * round);
    for (const int bucket : shuffled_buckets(*sums, round)) sums->start(bucket);
    sums->wait();
    expect_sums<T>(*sums, 100 * round, scale);
  }
}

TEST(reducer, rounds_of_floats) { check_rounds<float>(SYNCYTE_FLOAT32); }
TEST(reducer, rounds_of_doubles) { check_rounds<double>(SYNCYTE_FLOAT64); }
TEST(reducer, rounds_of_complex_numbers) { check_rounds<std::complex<float>>(SYNCYTE_COMPLEX64); }
TEST(reducer, rounds_of_double_complex_numbers) { check_rounds<std::complex<double>>(SYNCYTE_COMPLEX128); }
TEST(reducer, rounds_of_halves) { check_rounds<base::float16>(SYNCYTE_FLOAT16); }
TEST(reducer, rounds_of_bfloats) { check_rounds<base::bfloat16>(SYNCYTE_BFLOAT16); }

TEST(reducer, sixteen_bit_sums_are_rounded_once_after_scaling) {
  // Each sum exceeds float16's range, or would lose the small addends if it was rounded after each addition.
  const auto sums = bucket_reducer::create(shared_world(), described({1, 1}, SYNCYTE_FLOAT16, 1.0 / world().size()));
  auto* const large = reinterpret_cast<base::float16*>(sums->data(0));
  auto* const mixed = reinterpret_cast<base::float16*>(sums->data(1));
  *large = base::float16(60000.0f);
  const float mine = world().rank() == 0 ? 2048.0f : 1.0f;  // 2048 + 1 is not a float16
  *mixed = base::float16(mine);
  sums->start(1);
  sums->start(0);
  sums->wait();
  EXPECT_EQ(static_cast<float>(*large), 60000.0f);
  const float exact = (2048.0f + static_cast<float>(world().size() - 1)) / static_cast<float>(world().size());
  EXPECT_EQ(mixed->bits, base::float16(exact).bits);
}

/// A rank's contribution: reciprocals, whose sums have other last bits in another order.
float reciprocal(int rank, std::int64_t i) {
  return 1.0f / static_cast<float>(reference::random_integer(7, rank, i, 1, 1000000));
}

TEST(reducer, all_ranks_have_the_same_bits) {
  const auto sums = bucket_reducer::create(shared_world(), described({2 * chunk + 3}, SYNCYTE_FLOAT32));
  auto* const values = reinterpret_cast<float*>(sums->data(0));
  for (std::int64_t i = 0; i < sums->elements(0); ++i) values[i] = reciprocal(world().rank(), i);
  sums->start(0);
  sums->wait();
  std::vector<float> first(values, values + sums->elements(0));
  const std::int64_t shape[] = {sums->elements(0)};
  const auto buffer = base::make_buffer(first.data(), SYNCYTE_FLOAT32, shape);
  collectives::run<collectives::bcast>(world(), "comm_bcast", {}, 0, &buffer);
  EXPECT_EQ(std::memcmp(first.data(), values, first.size() * sizeof(float)), 0);
  if (world().node().count > 1) return;  // between nodes MPI chooses the order
  for (std::int64_t i = 0; i < sums->elements(0); ++i) {
    float in_rank_order = reciprocal(0, i);
    for (int rank = 1; rank < world().size(); ++rank) in_rank_order += reciprocal(rank, i);
    ASSERT_EQ(values[i], in_rank_order) << "element " << i;
  }
}

TEST(reducer, buckets_of_different_types) {
  description asked;
  asked.dtypes = {SYNCYTE_FLOAT64, SYNCYTE_BFLOAT16, SYNCYTE_FLOAT32};
  asked.elements = {3, 5, 7};
  const auto sums = bucket_reducer::create(shared_world(), asked);
  std::fill_n(reinterpret_cast<double*>(sums->data(0)), 3, 1.5);
  std::fill_n(reinterpret_cast<base::bfloat16*>(sums->data(1)), 5, base::bfloat16(2.0f));
  std::fill_n(reinterpret_cast<float*>(sums->data(2)), 7, 0.25f);
  for (const int bucket : {2, 0, 1}) sums->start(bucket);
  sums->wait();
  const int size = world().size();
  EXPECT_EQ(reinterpret_cast<double*>(sums->data(0))[2], 1.5 * size);
  EXPECT_EQ(static_cast<float>(reinterpret_cast<base::bfloat16*>(sums->data(1))[4]), 2.0f * static_cast<float>(size));
  EXPECT_EQ(reinterpret_cast<float*>(sums->data(2))[6], 0.25f * static_cast<float>(size));
}

TEST(reducer, others_need_not_be_in_it) {
  // A rank that has started its buckets waits in another operation: the other ranks of the node still get their sums.
  const auto sums = bucket_reducer::create(shared_world(), described({3 * chunk}, SYNCYTE_FLOAT64));
  if (world().node().count > 1) GTEST_SKIP() << "between nodes the first ranks have to send";
  fill<double>(*sums, 1);
  collectives::barrier(world());
  sums->start(0);
  if (world().rank() == world().size() - 1) collectives::barrier(world());
  sums->wait();
  if (world().rank() != world().size() - 1) collectives::barrier(world());
  expect_sums<double>(*sums, 1, 1);
}

TEST(reducer, one_that_gives_up_is_named_on_all_ranks) {
  const int size = world().size();
  const auto sums = bucket_reducer::create(shared_world(), described({10, 2 * chunk}, SYNCYTE_FLOAT32));
  for (int odd = 0; odd < size; ++odd) {
    fill<float>(*sums, 3);
    sums->start(1);
    if (world().rank() == odd)
      sums->give_up();
    else
      sums->start(0);
    expect_error(outcome_of([&] { sums->wait(); }), SYNCYTE_ERR_MISMATCH,
                 fmt::format("rank {} of {} has given up round {}", odd, world().name(), 2 * odd + 1));
    fill<float>(*sums, 5);  // the next round works
    sums->start(0);
    sums->start(1);
    sums->wait();
    expect_sums<float>(*sums, 5, 1);
  }
}

TEST(reducer, a_local_mistake_leaves_the_round_open) {
  const auto sums = bucket_reducer::create(shared_world(), described({2, 3}, SYNCYTE_FLOAT32));
  fill<float>(*sums, 8);
  expect_error(outcome_of([&] { sums->start(2); }), SYNCYTE_ERR_ARGUMENT, "bucket is 2; expected 0 to 1");
  expect_error(outcome_of([&] { sums->start(-1); }), SYNCYTE_ERR_ARGUMENT, "bucket is -1; expected 0 to 1");
  sums->start(1);
  expect_error(outcome_of([&] { sums->start(1); }), SYNCYTE_ERR_BUSY, "bucket 1 has been started in this round");
  expect_error(outcome_of([&] { sums->wait(); }), SYNCYTE_ERR_ARGUMENT, "bucket 0 has not been started");
  sums->start(0);
  sums->wait();
  expect_sums<float>(*sums, 8, 1);
}

TEST(reducer, ranks_that_differ_are_an_error_on_all) {
  const int last = world().size() - 1;
  const bool is_odd = world().rank() == last;
  const auto made = [&](description asked) {
    return outcome_of([&] { bucket_reducer::create(shared_world(), std::move(asked)); });
  };
  expect_error(made(described({1}, is_odd ? SYNCYTE_INT32 : SYNCYTE_FLOAT32)), SYNCYTE_ERR_TYPE, "dtypes[0] is int32");
  expect_error(made(described({1, is_odd ? -3 : 3}, SYNCYTE_FLOAT32)), SYNCYTE_ERR_ARGUMENT, "elements[1] is -3");
  const std::vector<std::int64_t> too_many(512, std::int64_t{1} << 53);  // 2^64 bytes: their sum is 0
  expect_error(made(described(too_many, SYNCYTE_FLOAT32)), SYNCYTE_ERR_ARGUMENT, "at most 2^56 bytes of all buckets");
  if (last == 0) return;
  expect_error(made(described({is_odd ? 4 : 3}, SYNCYTE_FLOAT32)), SYNCYTE_ERR_MISMATCH, "elements of all buckets");
  expect_error(made(described({3}, SYNCYTE_FLOAT32, is_odd ? 2 : 1)), SYNCYTE_ERR_MISMATCH, "bits of scale");
}

TEST(reducer, one_that_is_dropped_gives_up) {
  auto sums = bucket_reducer::create(shared_world(), described({100, 3 * chunk}, SYNCYTE_FLOAT32));
  if (world().node().count > 1) GTEST_SKIP() << "between nodes the first ranks stay until a round has ended";
  sums->start(1);
  if (world().rank() == world().size() - 1) return;
  sums->start(0);
  expect_error(outcome_of([&] { sums->wait(); }), SYNCYTE_ERR_MISMATCH, "has given up round 1");
}

TEST(reducer, may_go_with_a_round_open) {
  for (int i = 0; i < 20; ++i) {
    const auto sums = bucket_reducer::create(shared_world(), described({100}, SYNCYTE_FLOAT32));
    if (world().rank() % 2 == 0) sums->start(0);
  }
}

}  // namespace
