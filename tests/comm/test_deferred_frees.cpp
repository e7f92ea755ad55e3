// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <random>
#include <thread>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/collectives.hpp"
#include "core_world.hpp"

namespace {

using namespace syncyte;
using test::shared_world;
using test::world;

/// Appends its number to a list when it is freed.
class noted final : public comm::collective_resource {
 public:
  noted(int number, std::vector<int>& freed) : number_(number), freed_(freed) {}
  void free_collectively() noexcept override { freed_.push_back(number_); }

 private:
  int number_;
  std::vector<int>& freed_;
};

TEST(deferred_frees, nothing_goes_before_all_ranks_have_dropped_it) {
  std::vector<int> freed;
  auto reference = std::make_unique<comm::deferred_reference>(shared_world(), std::make_shared<noted>(1, freed));
  for (int last = 0; last < world().size(); ++last) {
    if (world().rank() == last) reference.reset();
    EXPECT_TRUE(freed.empty());
    collectives::barrier(world());  // collects
    EXPECT_EQ(freed.size(), last == world().size() - 1 ? 1u : 0u);
  }
}

TEST(deferred_frees, any_order_of_drops_ends_in_the_order_of_creation) {
  std::vector<int> freed;
  std::vector<std::unique_ptr<comm::deferred_reference>> references;
  constexpr int count = 30;
  for (int i = 0; i < count; ++i)
    references.push_back(std::make_unique<comm::deferred_reference>(shared_world(), std::make_shared<noted>(i, freed)));
  std::shuffle(references.begin(), references.end(), std::mt19937(static_cast<unsigned>(world().rank())));
  while (!references.empty()) {
    references.pop_back();
    collectives::barrier(world());
  }
  EXPECT_EQ(freed.size(), static_cast<std::size_t>(count));
  // All ranks must have freed the same objects in the same order: compare with rank 0's order.
  std::vector<std::int32_t> order(freed.begin(), freed.end());
  order.resize(count, -1);
  const std::int64_t shape[] = {count};
  const auto buffer = base::make_buffer(order.data(), SYNCYTE_INT32, shape);
  collectives::run<collectives::bcast>(world(), "comm_bcast", {}, 0, &buffer);
  EXPECT_TRUE(std::equal(freed.begin(), freed.end(), order.begin(), order.end()));
}

TEST(deferred_frees, drops_may_come_from_any_thread) {
  std::vector<int> freed;
  auto reference = std::make_unique<comm::deferred_reference>(shared_world(), std::make_shared<noted>(1, freed));
  std::thread([&] { reference.reset(); }).join();
  EXPECT_TRUE(freed.empty());
  collectives::barrier(world());
  EXPECT_EQ(freed.size(), 1u);
}

}  // namespace
