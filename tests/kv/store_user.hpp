// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "base/buffer.hpp"
#include "core_world.hpp"
#include "kv/worker.hpp"

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

}  // namespace syncyte::test
