// Counts messages of a rank at the start and for an operation, with each rank a node of its own: at most one message
// for each owner that an operation touches, and a number of links at the start that does not depend on the number of
// ranks. docs/scale.md has the counts that this prints.
#include <gtest/gtest.h>

#include <cstdio>
#include <numeric>
#include <vector>

#include "../tensor/tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

struct counts {
  std::int64_t links, messages, bytes;
};

counts sent() {
  std::string reason;
  const fabric::traffic& now = fabric::process_engine(reason)->sent();
  return {now.links, now.messages, now.bytes};
}

counts operator-(const counts& a, const counts& b) {
  return {a.links - b.links, a.messages - b.messages, a.bytes - b.bytes};
}

/// Heartbeats that may fall into a measurement.
constexpr std::int64_t heartbeats = 4;

TEST(Scale, MessagesFollowTheOwnersTouched) {
  if (!has_fabric() || ranks() < 2) GTEST_SKIP() << "needs the fabric and several ranks";
  constexpr std::int64_t rows_each = 64, columns = 16;
  const auto tensor = make_tensor(SYNCYTE_FLOAT32, {rows_each * ranks(), columns});
  barrier();
  const counts start = sent();
  EXPECT_LE(start.links, 2);  // to the next rank of the ring
  EXPECT_LE(start.messages, heartbeats);
  // Answers to others count too: the ranks measure in turn.
  for (int turn = 0; turn < ranks(); ++turn) {
    barrier();
    if (turn != rank()) continue;
    for (int owners = 1; owners <= ranks() - 1; owners *= 2) {
      std::vector<std::int64_t> index;
      for (int i = 1; i <= owners; ++i)
        for (std::int64_t row = 0; row < rows_each; ++row) index.push_back((rank() + i) % ranks() * rows_each + row);
      std::vector<float> output(index.size() * columns);
      const syncyte_buffer_t wanted = index_of(index);
      const syncyte_buffer_t found =
          buffer_of(output, SYNCYTE_FLOAT32, {static_cast<std::int64_t>(index.size()), columns});
      tensor->gather(&wanted, &found);  // makes the links
      const counts before = sent();
      tensor->gather(&wanted, &found);
      const counts used = sent() - before;
      EXPECT_EQ(used.links, 0);
      EXPECT_GE(used.messages, owners);
      EXPECT_LE(used.messages, owners + heartbeats);
      if (rank() == 0)
        std::printf("scale: %d ranks, %d owners: %lld messages, %lld bytes asked\n", ranks(), owners,
                    static_cast<long long>(used.messages), static_cast<long long>(used.bytes));
    }
  }
  barrier();
  if (rank() == 0)
    std::printf("scale: %d ranks: start %lld links, %lld messages\n", ranks(), static_cast<long long>(start.links),
                static_cast<long long>(start.messages));
}

}  // namespace
