// SPDX-License-Identifier: BSD-3-Clause
// Keys of the parameter store: their owners, lists of their offsets in requests, and the values of one process.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "access/item_list.hpp"
#include "kv/keys_by_owner.hpp"
#include "micro.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::bench;

constexpr std::int64_t keys = std::int64_t{1} << 20;
constexpr std::int64_t length = 16;  // of each key's vector
constexpr std::size_t batch = 20000;
constexpr int ranks = 64;
using key_list = std::span<const std::int64_t>;

void declare_grouping(const std::string& kind, const distribution::axis& axis) {
  measure_bytes("group 20,000 keys by owner, homes " + kind + " on 64 ranks",
                batch * (sizeof(std::int64_t) + sizeof(kv::listed_key)), [=] {
                  return [asked = random_numbers(keys, batch), homes = kv::key_homes(axis)]() mutable {
                    const kv::keys_by_owner sorted = kv::sort_by_owner(homes, {keys, length}, asked.next());
                    benchmark::DoNotOptimize(sorted.parts().data());
                  };
                });
}

/// `unit`: offsets are multiples of it; 8-byte lists are those of odd offsets beyond 4 GiB.
void declare_offsets(const std::string& kind, std::size_t unit, std::size_t bytes_each) {
  const auto offsets = [=] {
    std::vector<std::size_t> result(batch);
    std::ranges::copy(random_numbers(std::int64_t{1} << 34, batch).next(), result.begin());
    for (auto& each : result) each = each / unit * unit;
    return result;
  };
  const std::size_t bytes = batch * (sizeof(std::size_t) + bytes_each);
  const auto encode = [](const std::vector<std::size_t>& all) {
    std::size_t bits = 0;
    for (const std::size_t each : all) bits |= each;
    const auto coding = access::item_coding::of(bits);
    coding.encode(0, all.size(), [&](std::size_t i) { return all[i]; }, second_half());
    return coding;
  };
  measure_bytes("encode 20,000 offsets as " + kind, bytes, [=] { return [=, all = offsets()] { encode(all); }; });
  measure_bytes("decode 20,000 offsets from " + kind, bytes, [=] {
    const auto all = offsets();
    return [decoded = all, coding = encode(all)]() mutable {
      for (std::size_t i = 0; i < batch; ++i) decoded[i] = coding.decode(second_half(), i);
    };
  });
}

/// A table of keys in the first half; operation(table, keys, values) is measured. `passes`: over the values.
template <class Operation>
void declare_table(const std::string& name, std::size_t passes, Operation operation) {
  measure_bytes(name + " 20,000 keys of 16 float32 in one process", passes * batch * length * sizeof(float), [=] {
    static std::vector<std::uint64_t> words(keys);
    kv::table table({keys, length}, words.data(), reinterpret_cast<std::uint64_t*>(first_half()),
                    {0, [](int) { return true; }});
    return [=, asked = random_numbers(keys, batch)]() mutable {
      operation(table, asked.next(), reinterpret_cast<float*>(second_half()));
    };
  });
}

const bool declared = [] {
  declare_grouping("cyclic", distribution::axis::cyclic(keys, ranks));
  declare_grouping("block", distribution::axis::equal(keys, ranks));
  declare_grouping("hash", distribution::axis::hashed(keys, ranks));
  declare_offsets("32-bit numbers", 256, 4);
  declare_offsets("64-bit numbers", 1, 8);
  declare_table("pull", 2, [](kv::table& table, key_list of, float* values) { table.pull(of, values); });
  declare_table("push", 3, [](kv::table& table, key_list of, float* values) { table.push(of, values); });
  declare_table("set", 2, [](kv::table& table, key_list of, float* values) { table.set(of, values); });
  return true;
}();

}  // namespace
