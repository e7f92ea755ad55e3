// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file store.hpp The parameter store in C++; syncyte/store.h says what each operation promises.

#include "syncyte/comm.hpp"
#include "syncyte/generated/methods.hpp"

namespace syncyte {

/// Options of a new store.
struct store_options {
  std::string name = "";                    ///< equal on all ranks; empty is a name of its own
  std::int32_t workers = 1;                 ///< number of this process's workers, 1 to 65536
  store_homes homes = store_homes::cyclic;  ///< home ranks of the keys; equal on all ranks
  std::string label = "";                   ///< name for messages, if not empty; ranks may differ
  std::int64_t foreign_bytes = -1;  ///< memory on this node for keys of other nodes; -1: a quarter of its values
  store_intents intents = store_intents::move_or_copy;  ///< what intents do; equal on all ranks
};

/// Which keys a sample has, and when they are drawn. Only keys that have as many values as min_key are drawn.
struct sampling_options {
  std::int64_t max_key;                                                 ///< end of the range: its last key + 1
  std::int64_t min_key = 0;                                             ///< first key of the range
  sampling_scheme scheme = sampling_scheme::local;                      ///< when keys are drawn
  sampling_distribution distribution = sampling_distribution::uniform;  ///< of the keys
  bool with_replacement = true;    ///< false: no key repeats in a sample; not with a shared set
  std::int64_t shared_keys = 250;  ///< number of keys in the shared set
  std::int64_t reuse = 1;          ///< how often each key of a shared set is used
  std::int64_t seed = 0;           ///< rank and worker number are mixed in
};

/// A user of a store within a process, usually one per thread: it pulls, pushes (adds) and sets the values of keys,
/// which are float32, concatenated in the order of the keys. Move-only. Any thread may use it; all calls except
/// barrier() are local. A started operation's request is complete from the start if all its keys are of this node.
class store_worker : public detail::store_worker_methods {
 public:
  store_worker() = default;
  explicit store_worker(syncyte_store_worker_t raw) noexcept : detail::store_worker_methods(raw) {}

  /// Another reference to the same worker.
  store_worker retain() const { return store_worker(retained_handle()); }

  /// Reads the values of keys if all of them are local, without requests; otherwise returns false, and `values` is
  /// unchanged.
  bool pull_if_local(const const_buffer& keys, const buffer& values) const {
    return detail::fetch<std::int32_t>(syncyte_store_worker_pull_if_local, get(), keys.get(), values.get()) != 0;
  }

  /// Starts pull_unique(); all but the values are complete on return, and `count` is the number of distinct keys.
  request ipull_unique(const const_buffer& keys, const buffer& distinct, const buffer& inverse, const buffer& values,
                       std::int64_t& count) const {
    return detail::started(syncyte_store_worker_ipull_unique, get(), keys.get(), distinct.get(), inverse.get(),
                           values.get(), &count);
  }

  /// Counters since the worker was made.
  syncyte_store_worker_info_t info() const {
    syncyte_store_worker_info_t found{};
    found.struct_size = sizeof found;
    check(syncyte_store_worker_describe(get(), &found));
    return found;
  }
};

/// A vector of float32 under each key 0 to keys() - 1, which all ranks pull, push and set. Move-only. All calls except
/// the constructors and sync() are local.
class store : public detail::store_methods {
 public:
  store() = default;
  explicit store(syncyte_store_t raw) noexcept : detail::store_methods(raw) {}

  /// Zeros; all keys have as many values. Collective.
  store(const communicator& comm, std::int64_t num_keys, std::int64_t length, const store_options& options = {})
      : store(comm, num_keys, std::span<const std::int64_t>(&length, 1), options) {}

  /// Zeros; `lengths` has the number of values of each key. Collective.
  store(const communicator& comm, std::int64_t num_keys, std::span<const std::int64_t> lengths,
        const store_options& options = {}) {
    syncyte_store_options_t raw SYNCYTE_STORE_OPTIONS_INIT;
    raw.name = detail::null_if_empty(options.name);
    raw.workers = options.workers;
    raw.homes = detail::raw(options.homes);
    raw.label = detail::null_if_empty(options.label);
    raw.foreign_bytes = options.foreign_bytes;
    raw.intents = detail::raw(options.intents);
    *this = store(detail::fetch<syncyte_store_t>(syncyte_store_create, comm.get(), detail::raw(dtype::float32),
                                                 num_keys, std::ssize(lengths), lengths.data(), &raw));
  }

  /// Another reference to the same store.
  store retain() const { return store(retained_handle()); }

  /// Makes worker `number` of this process, 0 to options.workers - 1.
  store_worker worker(std::int32_t number = 0) const {
    return store_worker(detail::fetch<syncyte_store_worker_t>(syncyte_store_worker_create, get(), number));
  }

  /// The number of values of each key.
  std::vector<std::int64_t> lengths(std::span<const std::int64_t> keys) const {
    std::vector<std::int64_t> found(keys.size());
    check(syncyte_store_lengths(get(), std::ssize(keys), keys.data(), found.data()));
    return found;
  }

  /// The home rank of each key, which knows where its values are.
  std::vector<std::int32_t> owner(std::span<const std::int64_t> keys) const {
    std::vector<std::int32_t> found(keys.size());
    check(syncyte_store_owner(get(), std::ssize(keys), keys.data(), found.data()));
    return found;
  }

  /// 1 for each key whose values are at this node now, 0 for others.
  std::vector<std::int32_t> is_local(std::span<const std::int64_t> keys) const {
    std::vector<std::int32_t> found(keys.size());
    check(syncyte_store_is_local(get(), std::ssize(keys), keys.data(), found.data()));
    return found;
  }

  /// The rank at whose node each key's values are now: its home rank, or the lowest rank of a node that has localized
  /// it. Asks home ranks.
  std::vector<std::int32_t> locate(std::span<const std::int64_t> keys) const {
    std::vector<std::int32_t> found(keys.size());
    check(syncyte_store_locate(get(), std::ssize(keys), keys.data(), found.data()));
    return found;
  }

  /// Gives keys that were lost with the node to which they had moved their homes' last values; 1 for each such key.
  std::vector<std::int32_t> adopt_last(std::span<const std::int64_t> keys) const {
    std::vector<std::int32_t> found(keys.size());
    check(syncyte_store_adopt_last(get(), std::ssize(keys), keys.data(), found.data()));
    return found;
  }

  /// Sets how this process's workers sample; prepared samples keep their options.
  void set_sampling(const sampling_options& options) const {
    syncyte_store_sampling_t raw SYNCYTE_STORE_SAMPLING_INIT;
    raw.scheme = detail::raw(options.scheme);
    raw.distribution = detail::raw(options.distribution);
    raw.with_replacement = options.with_replacement ? 1 : 0;
    raw.min_key = options.min_key;
    raw.max_key = options.max_key;
    raw.shared_keys = options.shared_keys;
    raw.reuse = options.reuse;
    raw.seed = options.seed;
    check(syncyte_store_set_sampling(get(), &raw));
  }
};

}  // namespace syncyte
