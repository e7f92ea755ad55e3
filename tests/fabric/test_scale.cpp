// SPDX-License-Identifier: BSD-3-Clause
// Counts messages of a rank at the start and for operations, with each rank a node of its own: one request for each
// owner that an operation touches, of the size that docs/scale.md gives, and a number of links at the start that does
// not depend on the number of ranks. docs/scale.md has the counts that this prints.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "../tensor/tensor_world.hpp"
#include "fabric/message.hpp"
#include "kv/store.hpp"

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

/// Heartbeats that may fall into a measurement. A heartbeat is a header without payload.
constexpr std::int64_t heartbeats = 4;
constexpr auto header_bytes = static_cast<std::int64_t>(sizeof(fabric::message_header));

/// Rows of the tensor and keys of the store on each rank; elements of a row, values of a key.
constexpr std::int64_t rows_each = 64, columns = 16;
constexpr std::int64_t list_bytes = rows_each * 4, row_bytes = rows_each * columns * 4;
/// Boxes have the last half of each row, a piece of its own.
constexpr std::int64_t box_columns = columns / 2, box_bytes = rows_each * box_columns * 4;

struct operation {
  const char* name;
  std::int64_t payload;                                       ///< bytes of the request to each owner
  std::function<void(const std::vector<std::int64_t>&)> run;  ///< its argument: all rows, or keys, of some ranks
};

/// Calls access(lower corner, count) for the boxes of these rows: two if the ranks that own them include the last and
/// the first one, otherwise one.
template <class Access>
void visit_boxes(const std::vector<std::int64_t>& rows, Access&& access) {
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    for (end = begin + 1; end < rows.size() && rows[end] == rows[end - 1] + 1;) ++end;
    access(extents{rows[begin], columns - box_columns}, static_cast<std::int64_t>(end - begin));
  }
}

/// The operations, on a tensor, counters and a store that they share.
std::vector<operation> make_operations() {
  const auto tensor = make_tensor(SYNCYTE_FLOAT32, {rows_each * ranks(), columns});
  const auto counters = make_tensor(SYNCYTE_INT64, {ranks()});
  const kv::store_options blocks{.name = "test", .workers = 1, .homes = SYNCYTE_STORE_HOMES_BLOCK, .error = {}};
  const std::shared_ptr<kv::store> store =
      kv::store::create(shared_world(), SYNCYTE_FLOAT32, rows_each * ranks(), 1, &columns, blocks);
  const auto values =
      std::make_shared<std::vector<float>>(static_cast<std::size_t>(rows_each * columns * ranks()), 1.0f);
  using index = const std::vector<std::int64_t>&;
  const auto on_rows = [tensor, values](auto access) {
    return [tensor, values, access](index rows) {
      const syncyte_buffer_t wanted = index_of(rows);
      const syncyte_buffer_t packed = buffer_of(*values, SYNCYTE_FLOAT32, {std::ssize(rows), columns});
      access(*tensor, wanted, packed);
    };
  };
  const auto on_boxes = [tensor, values](auto access) {
    return [tensor, values, access](index rows) {
      visit_boxes(rows, [&](const extents& lower, std::int64_t count) {
        const syncyte_buffer_t packed = buffer_of(*values, SYNCYTE_FLOAT32, {count, box_columns});
        access(*tensor, lower, packed);
      });
    };
  };
  const auto get_box = [](auto& of, const extents& lower, const auto& packed) {
    run<tensor::get_box>(of, lower, &packed);
  };
  const auto put_box = [](auto& of, const extents& lower, const auto& packed) {
    run<tensor::put_box>(of, lower, &packed);
  };
  const auto add_box = [](auto& of, const extents& lower, const auto& packed) {
    run<tensor::accumulate_box>(of, lower, &packed, nullptr, SYNCYTE_OP_SUM);
  };
  const auto on_counters = [counters](auto change) {
    return [counters, change](index rows) {
      for (std::size_t i = 0; i < rows.size(); i += rows_each) change(*counters, rows[i] / rows_each);
    };
  };
  return {{"gather", list_bytes,
           on_rows([](auto& of, auto& where, auto& packed) { run<tensor::gather>(of, &where, &packed); })},
          {"scatter", list_bytes + row_bytes,
           on_rows([](auto& of, auto& where, auto& packed) { run<tensor::scatter>(of, &where, &packed); })},
          {"scatter_add", list_bytes + row_bytes,
           on_rows([](auto& of, auto& where, auto& packed) { run<tensor::scatter_add>(of, &where, &packed); })},
          {"get_box", list_bytes, on_boxes(get_box)},
          {"put_box", list_bytes + box_bytes, on_boxes(put_box)},
          {"accumulate_box", list_bytes + box_bytes, on_boxes(add_box)},
          {"fetch_add", 8, on_counters([](auto& of, std::int64_t place) { fetch_add(of, place, 1); })},
          {"compare_swap", 16, on_counters([](auto& of, std::int64_t place) { compare_swap(of, place, 0, 0); })},
          {"pull", list_bytes, [store, values](index keys) { store->run(kv::pull, keys, values->data()); }},
          {"push", list_bytes + row_bytes, [store, values](index keys) { store->run(kv::push, keys, values->data()); }},
          {"set", list_bytes + row_bytes, [store, values](index keys) { store->run(kv::set, keys, values->data()); }}};
}

/// All rows of the next ranks.
std::vector<std::int64_t> rows_of_next(int owners) {
  std::vector<std::int64_t> rows;
  for (int i = 1; i <= owners; ++i)
    for (std::int64_t row = 0; row < rows_each; ++row) rows.push_back((rank() + i) % ranks() * rows_each + row);
  return rows;
}

void measure(const operation& one, int owners) {
  const auto rows = rows_of_next(owners);
  one.run(rows);  // makes the links
  const counts before = sent();
  one.run(rows);
  const counts used = sent() - before;
  const std::int64_t others = used.messages - owners;
  EXPECT_EQ(used.links, 0) << one.name;
  EXPECT_GE(others, 0) << one.name;
  EXPECT_LE(others, heartbeats) << one.name;
  EXPECT_EQ(used.bytes, owners * (header_bytes + one.payload) + others * header_bytes) << one.name << ", " << owners;
  if (rank() == 0)
    std::printf("scale: %d ranks, %d owners: %s: %lld messages, %lld bytes asked\n", ranks(), owners, one.name,
                static_cast<long long>(used.messages), static_cast<long long>(used.bytes));
}

TEST(scale, messages_follow_the_owners_touched) {
  if (ranks() < 2 || !has_fabric()) GTEST_SKIP() << "needs the fabric and several ranks";
  const auto operations = make_operations();
  barrier();
  const counts start = sent();
  EXPECT_LE(start.links, 2);  // to the next rank of the ring
  EXPECT_LE(start.messages, heartbeats);
  // Answers to others count too: the ranks measure in turn, of more than 32 ranks every eighth one.
  for (int turn = 0; turn < ranks(); turn += ranks() > 32 ? 8 : 1) {
    barrier();
    if (turn != rank()) continue;
    for (const operation& each : operations)
      for (int owners = 1; owners <= ranks() - 1; owners *= 2) measure(each, owners);
  }
  barrier();
  if (rank() == 0)
    std::printf("scale: %d ranks: start %lld links, %lld messages\n", ranks(), static_cast<long long>(start.links),
                static_cast<long long>(start.messages));
}

}  // namespace
