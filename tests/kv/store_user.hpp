// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "core_world.hpp"
#include "kv/worker.hpp"
#include "mpi/small_collectives.hpp"

namespace syncyte::test {

using kv::completion;
using key_list = std::vector<std::int64_t>;
using value_list = std::vector<float>;

inline std::shared_ptr<kv::store> make_store(std::int64_t keys, const key_list& lengths,
                                             std::int64_t foreign_bytes = -1, std::int32_t workers = 1,
                                             syncyte_store_intents_t intents = SYNCYTE_STORE_INTENTS_MOVE_OR_COPY) {
  return kv::store::create(
      shared_world(), SYNCYTE_FLOAT32, keys, std::ssize(lengths), lengths.data(),
      {.name = "moving", .workers = workers, .foreign_bytes = foreign_bytes, .intents = intents, .error = {}});
}

/// A worker whose keys and values are vectors.
class user {
 public:
  explicit user(const std::shared_ptr<kv::store>& of, std::int32_t number = 0) : worker_(of, number) {}

  void localize(key_list keys) {
    const auto buffer = buffer_of(keys, SYNCYTE_INT64);
    worker_.localize(&buffer);
  }
  kv::worker::started ilocalize(key_list keys) {
    const auto buffer = buffer_of(keys, SYNCYTE_INT64);
    return worker_.localize(&buffer, completion::by_request);
  }
  kv::worker::started start(const kv::operation& what, key_list keys, value_list& values,
                            completion when = completion::by_request) {
    const auto wanted = buffer_of(keys, SYNCYTE_INT64), given = buffer_of(values, SYNCYTE_FLOAT32);
    return worker_.run(what, &wanted, &given, when);
  }
  void intend(key_list keys, std::int64_t start, std::int64_t end) {
    const auto buffer = buffer_of(keys, SYNCYTE_INT64);
    worker_.intent(&buffer, start, end);
  }
  void push(const key_list& keys, value_list values) { start(kv::push, keys, values, completion::on_return); }
  void set(const key_list& keys, value_list values) { start(kv::set, keys, values, completion::on_return); }
  value_list pull(const key_list& keys, std::size_t values) {
    value_list found(values, -1);
    start(kv::pull, keys, found, completion::on_return);
    return found;
  }
  bool pull_if_local(key_list keys, value_list& values) {
    const auto wanted = buffer_of(keys, SYNCYTE_INT64), given = buffer_of(values, SYNCYTE_FLOAT32);
    return worker_.pull_if_local(&wanted, &given);
  }
  kv::worker& operator*() { return worker_; }
  kv::worker* operator->() { return &worker_; }

 private:
  template <class Element>
  static syncyte_buffer_t buffer_of(std::vector<Element>& list, syncyte_dtype_t dtype) {
    const std::int64_t shape[] = {std::ssize(list)};
    return base::make_buffer(list.data(), dtype, shape);
  }

  kv::worker worker_;
};

inline key_list keys_from(std::int64_t first, std::int64_t count) {
  key_list result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), first);
  return result;
}

/// Lengths of keys that differ.
inline key_list mixed_lengths(std::int64_t keys) {
  key_list result(static_cast<std::size_t>(keys));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = 1 + static_cast<std::int64_t>(i * i % 37);
  return result;
}

/// The first rank, and the last, which is at another node if there are several.
inline bool is_first() { return world().rank() == 0; }
inline bool is_last() { return world().rank() == world().size() - 1; }

/// A worker that adds 1 to all values of random keys, and knows how often.
class counting_user : public user {
 public:
  counting_user(const std::shared_ptr<kv::store>& of, key_list lengths, std::int64_t keys, unsigned seed)
      : user(of), random(static_cast<unsigned>(world().rank()) + seed), lengths_(std::move(lengths)), pushed_(keys) {}

  std::mt19937 random;

  /// Up to 12 keys, which may repeat.
  key_list random_keys() {
    key_list result(1 + random() % 12);
    for (std::int64_t& key : result) key = static_cast<std::int64_t>(random() % pushed_.size());
    return result;
  }

  /// Pushes to keys, or pulls them and checks that no push is torn and that its own are there.
  void push_or_pull(const key_list& keys) {
    std::size_t count = 0;
    for (const std::int64_t key : keys) count += length_of(key);
    if (random() % 2 == 0) {
      push(keys, value_list(count, 1.0f));
      for (const std::int64_t key : keys) ++pushed_[static_cast<std::size_t>(key)];
      return;
    }
    const value_list found = pull(keys, count);
    std::size_t at = 0;
    for (const std::int64_t key : keys) {
      const std::size_t end = at + length_of(key);
      ASSERT_GE(found[at], static_cast<float>(pushed_[static_cast<std::size_t>(key)])) << "its own pushes";
      for (const float first = found[at]; at < end; ++at) ASSERT_EQ(found[at], first) << "half a push";
    }
  }

  /// All ranks see all pushes of all ranks after a barrier. Collective.
  void check_sums() {
    (**this).barrier();
    for (std::size_t key = 0; key < pushed_.size(); ++key) {
      const auto all = mpi::allreduce(pushed_[key], MPI_SUM, world().data());
      const auto name = static_cast<std::int64_t>(key);
      ASSERT_EQ(pull({name}, length_of(name)).back(), static_cast<float>(all)) << "key " << key;
    }
    (**this).barrier();
  }

 private:
  std::size_t length_of(std::int64_t key) const {
    return static_cast<std::size_t>(lengths_.size() == 1 ? lengths_[0] : lengths_[static_cast<std::size_t>(key)]);
  }

  key_list lengths_;
  std::vector<std::uint64_t> pushed_;  // by key
};

}  // namespace syncyte::test
