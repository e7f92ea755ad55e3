// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "memory/descriptor.hpp"
#include "memory/device_system.hpp"

namespace syncyte::cache {

/// A tensor of a model. Its elements are dense: without gaps, in the order of its strides.
struct model_tensor {
  std::string name;
  syncyte_dtype_t dtype = 0;
  std::int32_t ndim = 0;
  std::array<std::int64_t, SYNCYTE_MAX_NDIM> shape{};
  std::array<std::int64_t, SYNCYTE_MAX_NDIM> strides{};  // in bytes
  std::uint64_t offset = 0;                              // in the layout
  std::uint64_t bytes = 0;
  std::uint64_t group = 0;
  std::uint64_t same_as = 0;  // number of the first tensor at this place: its own, or less if they share memory

  std::span<const std::int64_t> extents() const { return {shape.data(), static_cast<std::size_t>(ndim)}; }
  std::span<const std::int64_t> distances() const { return {strides.data(), static_cast<std::size_t>(ndim)}; }
};

/// Layout of a model: a manifest, then groups of tensors. Groups have at least 8 MiB, but for the last one, and begin
/// at pages, so that one can be written while processes already use another. A model in host memory is one file; one on
/// a device has a file of the manifest, and the groups in the device's memory.
class model_layout {
 public:
  /// Most tensors, and most bytes of a tensor's name and of a model's.
  static constexpr std::uint64_t most_tensors = std::uint64_t{1} << 24;
  static constexpr std::size_t longest_tensor_name = 1024;
  static constexpr std::size_t longest_name = 255;

  /// Adds a tensor; buffers of one address, type, shape and strides share their place, if they have an address. Throws
  /// SYNCYTE_ERR_ARGUMENT for a name that is empty, too long or that another tensor has.
  void add(const std::string& name, const base::buffer& like, bool has_address);

  /// Chooses the tensors' places. Throws SYNCYTE_ERR_MEMORY for more bytes than any machine has.
  void plan();

  /// The manifest in bytes, with checksums of 0.
  std::vector<std::byte> encode() const;

  /// Reads and checks the manifest of a file. Throws SYNCYTE_ERR_FORMAT, SYNCYTE_ERR_VERSION.
  static model_layout read(const memory::descriptor& file);

  /// The device in whose memory the tensors lie; none for host memory.
  const std::optional<memory::device_id>& device() const { return device_; }
  void set_device(const memory::device_id& chosen) { device_ = chosen; }

  /// Offset of the checksum of a tensor's bytes in a file, and its value there.
  static std::uint64_t checksum_offset(std::uint64_t tensor);
  static std::uint64_t read_checksum(const memory::descriptor& file, std::uint64_t tensor);

  const std::vector<model_tensor>& tensors() const { return tensors_; }
  /// Number of a tensor; throws SYNCYTE_ERR_NOT_FOUND.
  std::uint64_t find(const std::string& name) const;

  std::uint64_t groups() const { return group_ends_.size(); }
  std::uint64_t group_begin(std::uint64_t group) const { return group == 0 ? data_begin_ : group_ends_[group - 1]; }
  std::uint64_t group_end(std::uint64_t group) const { return group_ends_[group]; }
  std::uint64_t data_begin() const { return data_begin_; }
  std::uint64_t end() const { return group_ends_.back(); }
  /// Bytes of the groups; 1 if no tensor has an element, so that there is memory.
  std::uint64_t data_bytes() const { return std::max<std::uint64_t>(end() - data_begin_, 1); }
  std::uint64_t file_bytes() const { return device_ ? data_begin_ : end(); }
  bool has_checksums() const { return has_checksums_; }
  void set_checksums(bool chosen) { has_checksums_ = chosen; }

 private:
  /// The buffer that a tensor is copied from; null: it shares memory with no other.
  struct source {
    const void* address;
    std::vector<std::int64_t> strides;
  };
  std::uint64_t manifest_bytes() const;
  void decode(std::span<const std::byte> manifest, std::uint64_t tensors, std::uint64_t groups);

  std::vector<model_tensor> tensors_;
  std::vector<source> sources_;         // of the tensors, to find those that share memory
  std::vector<std::uint64_t> by_name_;  // numbers of the tensors, sorted by name
  std::vector<std::uint64_t> group_ends_;
  std::uint64_t data_begin_ = 0;
  std::optional<memory::device_id> device_;
  bool has_checksums_ = false;
};

/// Checks a name of a model: 1 to longest_name bytes.
void check_model_name(const std::string& name);

}  // namespace syncyte::cache
