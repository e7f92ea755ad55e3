// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cache/model_layout.hpp"
#include "cache/model_view.hpp"
#include "cache/models.hpp"

namespace syncyte::cache {

/// A model that this process has bound, in its own memory or in a copy. In host memory, and in a copy, what the process
/// writes is its own. While the object lives, the model is not evicted. Its memory can be used after the end of the
/// server too. Thread-safe.
class model {
 public:
  /// Throws SYNCYTE_ERR_NOT_FOUND, SYNCYTE_ERR_FORMAT, SYNCYTE_ERR_VERSION, SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_PEER_DIED,
  /// SYNCYTE_ERR_TIMEOUT; for devices also SYNCYTE_ERR_UNSUPPORTED, SYNCYTE_ERR_ARGUMENT.
  static std::shared_ptr<model> bind(const models& from, const std::string& name, const model_target& target = {});

  const model_layout& layout() const { return layout_; }
  const std::string& name() const { return name_; }
  const model_view& view() const { return *view_; }

  /// Number of groups that this process can use; does not wait, and copies nothing. Throws the error of the
  /// publication.
  std::uint64_t ready();

  /// Waits for a group and those before it, and copies them if the binding is a copy. Negative: no longer than the time
  /// limit of `models` after the last group that became ready. Throws SYNCYTE_ERR_TIMEOUT, and the error of the
  /// publication.
  void wait(std::uint64_t group, double seconds = -1);

  /// Address of a tensor, whose bytes may be used once its group is ready.
  std::byte* data(const model_tensor& tensor) const { return view_->at(tensor.offset); }

  /// Compares the published bytes with their checksums. Throws SYNCYTE_ERR_CHECKSUM, SYNCYTE_ERR_UNSUPPORTED if the
  /// model has none.
  void verify();

 private:
  model(std::string name, deadline limit) : name_(std::move(name)), limit_(limit) {}
  void hear();
  void arrive(std::uint64_t groups);
  void open_up_to(std::uint64_t groups);
  std::uint64_t advance(std::uint64_t group);

  std::string name_;
  deadline limit_;
  own_descriptor connection_;  // as long as it is open, the server keeps the model
  std::vector<memory::descriptor> files_;
  model_layout layout_;
  std::unique_ptr<model_view> view_;
  std::mutex mutex_;
  std::uint64_t arrived_ = 0;            // groups that the publisher has written
  std::atomic<std::uint64_t> ready_{0};  // groups that this process can use
  std::optional<base::error> failure_;
};

}  // namespace syncyte::cache
