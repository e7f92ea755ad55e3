// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "cache/model_layout.hpp"
#include "cache/models.hpp"
#include "memory/mapping.hpp"

namespace syncyte::cache {

/// A model that this process has bound: its file, mapped copy-on-write. What the process writes is its own, and the
/// published bytes stay. While the object lives, the model is not evicted. Its memory can be used after the end of the
/// server too. Thread-safe.
///
/// Groups that are not ready have no access rights: a page that the process has written privately would not get the
/// publisher's bytes any more.
class model {
 public:
  /// Throws SYNCYTE_ERR_NOT_FOUND, SYNCYTE_ERR_FORMAT, SYNCYTE_ERR_VERSION, SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_PEER_DIED,
  /// SYNCYTE_ERR_TIMEOUT.
  static std::shared_ptr<model> bind(const models& from, const std::string& name);

  const model_layout& layout() const { return layout_; }
  const std::string& name() const { return name_; }

  /// Number of groups that are ready; does not wait. Throws the error of the publication.
  std::uint64_t ready();

  /// Waits for a group and those before it. Negative: no longer than the time limit of `models` after the last group
  /// that became ready. Throws SYNCYTE_ERR_TIMEOUT, and the error of the publication.
  void wait(std::uint64_t group, double seconds = -1);

  /// Address of a tensor, whose bytes may be used once its group is ready.
  std::byte* data(const model_tensor& tensor) const { return mapping_.get() + tensor.offset; }

  /// Compares the published bytes with their checksums. Throws SYNCYTE_ERR_CHECKSUM, SYNCYTE_ERR_UNSUPPORTED if the
  /// model has none.
  void verify();

 private:
  model(std::string name, deadline limit) : name_(std::move(name)), limit_(limit) {}
  void hear();
  void open_up_to(std::uint64_t groups);

  std::string name_;
  deadline limit_;
  own_descriptor connection_;  // as long as it is open, the server keeps the model
  memory::descriptor file_;
  model_layout layout_;
  memory::mapping mapping_;
  std::mutex mutex_;
  std::atomic<std::uint64_t> ready_{0};
  std::optional<base::error> failure_;
};

}  // namespace syncyte::cache
