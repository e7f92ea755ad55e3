// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file models.hpp Models by name, which processes publish and bind, in C++; syncyte/models.h explains them.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "syncyte/cache.hpp"
#include "syncyte/models.h"

namespace syncyte {

/// A model in a list for people.
struct published_model {
  std::string name;
  std::int64_t bytes = 0;             ///< of its file, or of the device's memory
  std::int64_t groups = 0;            ///< number of groups; 0: not known yet
  std::int64_t ready = 0;             ///< number of groups that are ready; less than groups: it is loading
  std::int32_t publisher = 0;         ///< id of the process that has published it
  std::vector<std::int32_t> holders;  ///< ids of the first processes that have bound it; once for each binding
  std::string device;                 ///< UUID of its device; empty for host memory
};

/// Options of a publication.
struct publication_options {
  bool checksums = false;  ///< for model::verify()
  memory_kind memory = memory_kind::host;
  std::int32_t device = -1;  ///< for memory_kind::cuda; -1: that of the thread's context, or 0
};

/// Options of a binding: the memory in which its tensors are used.
struct bind_options {
  std::optional<memory_kind> memory = memory_kind::host;  ///< none: where the model lies, without a copy
  std::int32_t device = -1;  ///< for memory_kind::cuda; -1: the model's, if this process sees it
  bool copy = false;         ///< memory that the process may write, a copy where it lies on a device
};

/// A model that this process has bound. Move-only; its memory is unmapped with the last reference.
class model : public detail::model_methods {
 public:
  model() = default;
  explicit model(syncyte_model_t raw) noexcept : detail::model_methods(raw) {}

  /// Another reference to the same model.
  model retain() const { return model(retained_handle()); }

  /// Numbers of bytes, tensors, and groups, and of groups that are ready.
  syncyte_model_info_t info() const {
    syncyte_model_info_t found{};
    found.struct_size = sizeof found;
    check(syncyte_model_describe(get(), &found));
    return found;
  }

  /// A tensor by its number. Does not wait for its group.
  syncyte_model_tensor_t tensor(std::int64_t number) const {
    syncyte_model_tensor_t found{};
    found.struct_size = sizeof found;
    check(syncyte_model_tensor(get(), number, &found));
    return found;
  }

  /// A tensor by its name; waits for its group. What is written to it is this process's own, unless info().read_only
  /// forbids it.
  buffer find(const std::string& name) const {
    syncyte_buffer_t found = SYNCYTE_BUFFER_INIT;
    check(syncyte_model_find(get(), name.c_str(), &found));
    return buffer(found);
  }
};

/// A model that this process publishes. Move-only; given up if it is destroyed before finish().
class publication : public detail::publication_methods {
 public:
  publication() = default;
  explicit publication(syncyte_publication_t raw) noexcept : detail::publication_methods(raw) {}

  /// Another reference to the same publication.
  publication retain() const { return publication(retained_handle()); }

  /// Adds a tensor, whose memory must stay until finish(). Its address may be null if fill() gives the elements.
  void add(const std::string& tensor, const const_buffer& array) const {
    check(syncyte_publication_add(get(), tensor.c_str(), array.get()));
  }

  /// Copies the elements of a tensor into the model; starts first.
  void fill(const std::string& tensor, const const_buffer& array) const {
    check(syncyte_publication_fill(get(), tensor.c_str(), array.get()));
  }

  /// Gives up: all binders get this error.
  void fail(status code, const std::string& reason) const {
    check(syncyte_publication_fail(get(), detail::raw(code), reason.c_str()));
  }
};

/// Models by name, of this process or of the process that serves them. Move-only. No function needs MPI.
class models : public detail::models_methods {
 public:
  models() = default;
  explicit models(syncyte_models_t raw) noexcept : detail::models_methods(raw) {}

  /// Models of this process. Most bytes in host memory, and on each device; 0: from the environment.
  static models create(std::int64_t budget = 0, std::int64_t device_budget = 0) {
    syncyte_models_options_t options = SYNCYTE_MODELS_OPTIONS_INIT;
    options.budget = budget;
    options.device_budget = device_budget;
    return models(detail::fetch<syncyte_models_t>(syncyte_models_create, &options));
  }

  /// Connects to the models that another process of this user serves. Waits for it.
  static models connect(const cache_rendezvous& where = {}) {
    const syncyte_cache_rendezvous_t given = detail::raw(where);
    return models(detail::fetch<syncyte_models_t>(syncyte_models_connect, &given));
  }

  /// Another reference to the same models.
  models retain() const { return models(retained_handle()); }

  /// Serves the models at a socket until the last reference is dropped.
  void serve(const cache_rendezvous& where = {}) const {
    const syncyte_cache_rendezvous_t given = detail::raw(where);
    check(syncyte_models_serve(get(), &given));
  }

  /// Begins a list of tensors.
  syncyte::publication publish(const std::string& name, const publication_options& chosen = {}) const {
    syncyte_publication_options_t options = SYNCYTE_PUBLICATION_OPTIONS_INIT;
    options.checksums = chosen.checksums ? 1 : 0;
    options.memory = detail::raw(chosen.memory);
    options.device = chosen.device;
    return syncyte::publication(
        detail::fetch<syncyte_publication_t>(syncyte_publication_create, get(), name.c_str(), &options));
  }

  /// Maps a model into this process, or copies it. Does not wait for its tensors.
  model bind(const std::string& name, const bind_options& chosen = {}) const {
    syncyte_bind_options_t options = SYNCYTE_BIND_OPTIONS_INIT;
    options.memory = chosen.memory ? detail::raw(*chosen.memory) : SYNCYTE_MEMORY_OF_MODEL;
    options.device = chosen.device;
    options.copy = chosen.copy ? 1 : 0;
    return model(detail::fetch<syncyte_model_t>(syncyte_models_bind, get(), name.c_str(), &options));
  }

  /// Removes a model that nobody has bound.
  void remove(const std::string& name) const { check(syncyte_models_remove(get(), name.c_str())); }

  /// All models of this moment, by name.
  std::vector<published_model> describe() const {
    std::vector<published_model> found;
    for (;;) {
      syncyte_published_t each{};
      each.struct_size = sizeof each;
      const syncyte_status_t code = syncyte_models_describe(get(), std::ssize(found), &each);
      if (code == SYNCYTE_ERR_INDEX) return found;
      check(code);
      found.push_back({each.name,
                       each.bytes,
                       each.groups,
                       each.ready,
                       each.publisher,
                       {each.processes, each.processes + std::min(each.holders, SYNCYTE_MOST_HOLDERS)},
                       each.device});
    }
  }
};

}  // namespace syncyte
