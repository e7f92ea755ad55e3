// SPDX-License-Identifier: BSD-3-Clause
#include "cache/model_writer.hpp"

#include <algorithm>

#include "base/strided_copy.hpp"
#include "memory/huge_pages.hpp"
#include "memory/mapping.hpp"
#include "memory/staging.hpp"

namespace syncyte::cache {
namespace {

/// Whether the elements lie in a buffer as in the model.
bool lies_alike(const model_tensor& tensor, const base::buffer& from) {
  for (int axis = 0; axis < tensor.ndim; ++axis)
    if (tensor.shape[axis] > 1 && from.stride(axis) != tensor.strides[axis]) return false;
  return true;
}

void require_alike(const model_tensor& tensor, const base::buffer& from) {
  base::expect(lies_alike(tensor, from), SYNCYTE_ERR_SHAPE, "buffer",
               fmt::format("of the tensor \"{}\" on a device, with other strides or gaps", tensor.name),
               "elements that lie as in the model: they are copied as they lie");
}

memory::place place_of(const base::buffer& of) { return {of.data(), of.memory(), of.device()}; }

class host_writer final : public model_writer {
 public:
  host_writer(const model_layout& layout, std::byte* file) : layout_(layout), file_(file) {}

  void write(const model_tensor& tensor, const base::buffer& from) override {
    make_resident(tensor.group);
    std::byte* const target = file_ + tensor.offset;
    if (from.memory() == SYNCYTE_MEMORY_HOST)
      return base::copy_strided(target, tensor.distances(), from.data(), from.strides(), tensor.extents(),
                                from.element_bytes());
    require_alike(tensor, from);
    memory::copy_now({target, SYNCYTE_MEMORY_HOST, 0}, place_of(from), tensor.bytes);
  }
  void wait() override {}
  memory::place begin() const override { return {file_ + layout_.data_begin(), SYNCYTE_MEMORY_HOST, 0}; }

 private:
  /// Makes the file resident up to the end of a group, in huge pages where that is possible.
  void make_resident(std::uint64_t group) {
    const std::uint64_t wanted =
        std::min(memory::round_up(layout_.group_end(group), memory::huge_page_bytes), layout_.end());
    if (wanted <= resident_) return;
    memory::touch_and_collapse(file_ + resident_, wanted - resident_);
    resident_ = wanted;
  }

  const model_layout& layout_;
  std::byte* file_;
  std::uint64_t resident_ = 0;
};

class device_writer final : public model_writer {
 public:
  device_writer(const model_layout& layout, int device, memory::descriptor& made)
      : first_(layout.data_begin()), device_(device), staging_(device) {
    const std::uint64_t bytes = bytes_on_device(layout, device);
    range_ = memory::cuda_system().reserve(device, bytes);
    made = range_->create(0, bytes);
  }

  void write(const model_tensor& tensor, const base::buffer& from) override {
    if (from.memory() == SYNCYTE_MEMORY_HOST) return write_from_host(tensor, from);
    require_alike(tensor, from);
    // Complete on return: the caller may change the buffer then.
    memory::copy_now({place(tensor), SYNCYTE_MEMORY_CUDA, device_}, place_of(from), tensor.bytes);
  }
  void wait() override { memory::cuda_backend().synchronize(device_, memory::own_stream(device_)); }
  memory::place begin() const override { return {range_->data(), SYNCYTE_MEMORY_CUDA, device_}; }

 private:
  std::byte* place(const model_tensor& tensor) const { return range_->data() + (tensor.offset - first_); }

  void write_from_host(const model_tensor& tensor, const base::buffer& from) {
    if (lies_alike(tensor, from)) return staging_.put(place(tensor), from.data(), tensor.bytes);
    std::vector<std::byte> packed(tensor.bytes);
    base::copy_strided(packed.data(), tensor.distances(), from.data(), from.strides(), tensor.extents(),
                       from.element_bytes());
    staging_.put(place(tensor), packed.data(), packed.size());
  }

  std::uint64_t first_;
  int device_;
  std::unique_ptr<memory::device_range> range_;
  memory::staging staging_;
};

}  // namespace

std::unique_ptr<model_writer> make_host_writer(const model_layout& layout, std::byte* file) {
  return std::make_unique<host_writer>(layout, file);
}

std::unique_ptr<model_writer> make_device_writer(const model_layout& layout, int device, memory::descriptor& made) {
  return std::make_unique<device_writer>(layout, device, made);
}

std::uint64_t bytes_on_device(const model_layout& layout, int device) {
  return memory::round_up(layout.data_bytes(), memory::cuda_system().page_bytes(device));
}

}  // namespace syncyte::cache
