// SPDX-License-Identifier: BSD-3-Clause
// Memory is freed in collective calls, in whatever order ranks drop tensors.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "comm/split.hpp"
#include "tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

std::int64_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::int64_t count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

std::int64_t descriptors() {
  std::int64_t count = 0;
  for (int fd = 0; fd < 4096; ++fd) count += std::ifstream("/proc/self/fdinfo/" + std::to_string(fd)).good();
  return count;
}

void collect() { comm::collective_call(world(), "test_collect", comm::collective_call::always_agrees).agree(); }

TEST(tensor_lifetime, dropped_in_any_order_nothing_grows) {
  const auto round = [](std::uint64_t seed) {
    std::vector<tensor_pointer> tensors;
    for (int i = 0; i < 6; ++i) tensors.push_back(make_tensor(SYNCYTE_FLOAT32, {1000 + i, 64}));
    // Each rank drops in another order, with a creation in between.
    for (int i = 0; i < 3; ++i)
      tensors.erase(tensors.begin() +
                    static_cast<std::ptrdiff_t>(reference::random_bits(seed, rank(), i) % tensors.size()));
    tensors.push_back(make_tensor(SYNCYTE_INT8, {3}));
    while (!tensors.empty())
      tensors.erase(
          tensors.begin() +
          static_cast<std::ptrdiff_t>(
              reference::random_bits(seed + 1, rank(), static_cast<std::int64_t>(tensors.size())) % tensors.size()));
    collect();
  };
  for (std::uint64_t i = 0; i < 3; ++i) round(i);  // until the libraries' own caches no longer grow
  const std::int64_t maps_before = mappings(), descriptors_before = descriptors();
  for (std::uint64_t i = 3; i < 23; ++i) round(i);
  EXPECT_LE(mappings(), maps_before + 4);  // 140 tensors were made
  EXPECT_LE(descriptors(), descriptors_before + 2);
}

TEST(tensor_lifetime, stays_until_all_ranks_have_dropped_it) {
  auto tensor = make_tensor(SYNCYTE_INT64, {ranks()});
  tensor::store(*tensor, rank(), 100 + rank());
  tensor->sync();
  if (rank() % 2 == 0) tensor.reset();
  collect();
  collect();
  for (int r = 0; tensor && r < ranks(); ++r) EXPECT_EQ(tensor::load(*tensor, r), 100 + r);
  tensor.reset();
  collect();
}

TEST(tensor_lifetime, sync_also_collects) {
  const auto kept = make_tensor(SYNCYTE_INT8, {1});
  for (int i = 0; i < 3; ++i) {
    make_tensor(SYNCYTE_INT8, {100000});
    kept->sync();
  }
  const std::int64_t before = mappings();
  for (int i = 0; i < 30; ++i) {
    make_tensor(SYNCYTE_INT8, {100000});
    kept->sync();
  }
  EXPECT_LE(mappings(), before + 2);
}

TEST(tensor_lifetime, a_tensor_holds_its_communicator) {
  auto part = comm::split(world(), 0, rank(), {});
  const std::int64_t shape[] = {4};
  auto tensor = tensor::whole_tensor::create(part, SYNCYTE_INT32, 1, shape, {});
  part.reset();
  collect();
  tensor->sync();
  EXPECT_EQ(tensor->comm()->size(), ranks());
  tensor.reset();
  collect();
}

TEST(tensor_sync, of_different_tensors_is_an_error) {
  if (ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const auto one = make_tensor(SYNCYTE_INT8, {1});
  const auto other = make_tensor(SYNCYTE_INT8, {1});
  expect_error(outcome_of([&] { (rank() == 0 ? one : other)->sync(); }), SYNCYTE_ERR_MISMATCH,
               "creation number of the tensor is");
  one->sync();
  const auto wide = make_tensor(SYNCYTE_INT8, {2});
  expect_error(
      outcome_of([&] { (rank() == 0 ? one : wide)->sync(); }), SYNCYTE_ERR_MISMATCH,
      rank() == 0 ? "(on this rank: tensor \"test\" (int8, [1]))" : "(on this rank: tensor \"test\" (int8, [2]))");
  wide->sync();
}

}  // namespace
