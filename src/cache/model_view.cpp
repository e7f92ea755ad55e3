// SPDX-License-Identifier: BSD-3-Clause
#include "cache/model_view.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "memory/mapping.hpp"
#include "memory/staging.hpp"

namespace syncyte::cache {
namespace {

/// A file of host memory, mapped copy-on-write. Bytes that are not ready have no access rights: a page that the process
/// has written privately would not get the publisher's bytes any more.
class host_view final : public model_view {
 public:
  host_view(const model_layout& layout, const memory::descriptor& file)
      : model_view(SYNCYTE_MEMORY_HOST, 0, false),
        end_(layout.end()),
        mapping_(memory::map_private(file.number(), end_)) {}

  std::byte* at(std::uint64_t offset) const override { return mapping_.get() + offset; }

  void open(std::uint64_t begin, std::uint64_t end) override {
    if (end > begin && mprotect(at(begin), end - begin, PROT_READ | PROT_WRITE) != 0)
      base::fail(SYNCYTE_ERR_MEMORY, "cannot give access to {} bytes of a model: {}", end - begin,
                 base::errno_text(errno));
  }

 private:
  std::uint64_t end_;
  memory::mapping mapping_;
};

/// Memory of a device, mapped to be read.
class device_view final : public model_view {
 public:
  device_view(const model_layout& layout, const memory::descriptor& file, int device)
      : model_view(SYNCYTE_MEMORY_CUDA, device, false), first_(layout.data_begin()) {
    const std::uint64_t bytes = memory::round_up(layout.data_bytes(), memory::cuda_system().page_bytes(device));
    range_ = memory::cuda_system().reserve(device, bytes);
    range_->map(0, bytes, file, memory::device_access::read);
  }

  std::byte* at(std::uint64_t offset) const override { return range_->data() + (offset - first_); }
  void open(std::uint64_t, std::uint64_t) override {}

 private:
  std::uint64_t first_;
  std::unique_ptr<memory::device_range> range_;
};

struct free_on_device {
  int device = 0;
  void operator()(std::byte* data) const { memory::cuda_backend().free(device, data); }
};
using device_block = std::unique_ptr<std::byte[], free_on_device>;

device_block allocate_on(int device, std::uint64_t bytes) {
  return {static_cast<std::byte*>(memory::cuda_backend().allocate(device, bytes)), {device}};
}

/// A copy of another view, made as its bytes become ready.
class copied_view final : public model_view {
 public:
  copied_view(const model_layout& layout, std::unique_ptr<model_view> source, syncyte_memory_t memory, int device)
      : model_view(memory, device, true), first_(layout.data_begin()), end_(layout.end()), source_(std::move(source)) {
    if (memory == SYNCYTE_MEMORY_HOST)
      mapping_ = memory::map_anonymous(layout.data_bytes());
    else
      block_ = allocate_on(device, layout.data_bytes());
    if (const bool is_between_kinds = memory != source_->memory(); is_between_kinds)
      staging_.emplace(memory == SYNCYTE_MEMORY_HOST ? source_->device() : device);
  }

  std::byte* at(std::uint64_t offset) const override {
    return (mapping_ ? mapping_.get() : block_.get()) + (offset - first_);
  }

  void open(std::uint64_t begin, std::uint64_t end) override {
    source_->open(begin, end);
    if (!staging_)
      memory::copy_now({at(begin), memory(), device()}, {source_->at(begin), source_->memory(), source_->device()},
                       end - begin);
    else if (memory() == SYNCYTE_MEMORY_HOST)
      staging_->get(source_->at(begin), end - begin, [target = at(begin)](std::span<const std::byte> piece) mutable {
        std::memcpy(target, piece.data(), piece.size());
        target += piece.size();
      });
    else
      put(begin, end);
    if (end < end_) return;
    source_.reset();
    staging_.reset();
  }

 private:
  void put(std::uint64_t begin, std::uint64_t end) {
    staging_->put(at(begin), source_->at(begin), end - begin);
    staging_->wait();
  }

  std::uint64_t first_, end_;
  std::unique_ptr<model_view> source_;  // until all is copied
  std::optional<memory::staging> staging_;
  memory::mapping mapping_;
  device_block block_;
};

/// This process's number of the device that a model lies on; -1: it does not see it.
int number_of(const model_layout& layout) { return memory::cuda_system().find(*layout.device()); }

std::unique_ptr<model_view> view_in_place(const model_layout& layout, const std::vector<memory::descriptor>& files,
                                          int device) {
  if (!layout.device()) return std::make_unique<host_view>(layout, files.front());
  base::require(device >= 0, SYNCYTE_ERR_UNSUPPORTED,
                "the model lies on the device {}, which this process does not see: bind it on another device, which "
                "copies it",
                memory::text_of(*layout.device()));
  return std::make_unique<device_view>(layout, files.back(), device);
}

/// The device that a process copies to, or reads with.
int chosen_device(const model_target& target, int models) {
  if (target.device < 0) return models >= 0 ? models : memory::cuda_system().current();
  memory::require_device(SYNCYTE_MEMORY_CUDA, target.device);
  return target.device;
}

}  // namespace

std::unique_ptr<model_view> view_model(const model_layout& layout, const std::vector<memory::descriptor>& files,
                                       const model_target& target) {
  const int models = layout.device() ? number_of(layout) : -1;
  const syncyte_memory_t lies_in = layout.device() ? SYNCYTE_MEMORY_CUDA : SYNCYTE_MEMORY_HOST;
  const syncyte_memory_t wanted = target.memory == model_target::anywhere ? lies_in : target.memory;
  const int device = wanted == SYNCYTE_MEMORY_HOST             ? 0
                     : target.memory == model_target::anywhere ? models
                                                               : chosen_device(target, models);
  const bool lies_there = wanted == lies_in && (wanted == SYNCYTE_MEMORY_HOST || device == models);
  // Host memory is mapped copy-on-write: it needs no copy.
  if (lies_there && !(target.is_copy && wanted == SYNCYTE_MEMORY_CUDA)) return view_in_place(layout, files, models);
  const int reader = models >= 0 || wanted == SYNCYTE_MEMORY_HOST ? models : device;
  return std::make_unique<copied_view>(layout, view_in_place(layout, files, reader), wanted, device);
}

}  // namespace syncyte::cache
