// SPDX-License-Identifier: BSD-3-Clause
#include "cache/device_region.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "memory/device.hpp"
#include "memory/device_uses.hpp"

namespace syncyte::cache {
namespace {

class device_memory final : public region_memory {
 public:
  device_memory(int device, const region_sizes& sizes, std::unique_ptr<memory::device_range> range,
                std::vector<memory::descriptor> files)
      : device_(device),
        files_(std::move(files)),
        range_(std::move(range)),
        use_({memory::cuda_system().id(device), sizes.total(), sizes.text()}) {}

  syncyte_memory_t kind() const override { return SYNCYTE_MEMORY_CUDA; }
  int device() const override { return device_; }
  std::byte* data() const override { return range_->data(); }
  const std::vector<memory::descriptor>& files() const override { return files_; }
  void touch(std::int64_t, std::int64_t) const override {}  // a device's pages are there from the start

 private:
  int device_;
  std::vector<memory::descriptor> files_;
  std::unique_ptr<memory::device_range> range_;
  memory::listed_use use_;
};

class maker final : public region_maker {
 public:
  explicit maker(int device) : device_(device), page_bytes_(memory::cuda_system().page_bytes(device)) {}

  std::string owner() const override { return fmt::format("device {}", device_); }
  std::uint64_t page_bytes() const override { return page_bytes_; }
  std::uint64_t room_beside(std::uint64_t chosen_bytes) const override {
    const std::uint64_t most = most_bytes();
    return std::min(room_of(memory::cuda_backend().free_bytes(device_), chosen_bytes),
                    most - std::min(most, chosen_bytes));
  }
  std::unique_ptr<region_memory> make(const region_sizes& sizes,
                                      const region_header::framework_text& framework) const override {
    check_limit(sizes);
    memory::device_system& system = memory::cuda_system();
    const region_header header{
        .version = region_header::on_device, .sizes = sizes, .device = system.id(device_), .framework = framework};
    std::vector<memory::descriptor> files;
    files.push_back(header.make_file(sizeof(header)));
    std::unique_ptr<memory::device_range> range;
    memory::explain(sizes.text(), device_, [&] {
      range = system.reserve(device_, sizes.total());
      files.push_back(range->create(0, sizes.parameters));
      files.push_back(range->create(sizes.parameters, sizes.computation));
    });
    return std::make_unique<device_memory>(device_, sizes, std::move(range), std::move(files));
  }

 private:
  static constexpr const base::setting& limit = base::settings::cache_device_bytes;

  static std::uint64_t most_bytes() {
    return base::environment_bytes(limit).value_or(std::numeric_limits<std::uint64_t>::max());
  }

  void check_limit(const region_sizes& sizes) const {
    base::require(sizes.total() <= most_bytes(), SYNCYTE_ERR_MEMORY,
                  "{} needs {} bytes of {}, which has pages of {}; {} is {}", sizes.text(), sizes.total(), owner(),
                  page_bytes_, limit.name, most_bytes());
  }

  int device_;
  std::uint64_t page_bytes_;
};

/// The number of the region's device in this process.
int device_of(const region_header& found) {
  int device = -1;
  try {
    device = memory::cuda_system().find(found.device);
  } catch (const base::error& error) {
    base::fail(error.status(), "the shared cache that was received is on {}: {}", memory::text_of(found.device),
               error.what());
  }
  base::require(device >= 0, SYNCYTE_ERR_UNSUPPORTED,
                "the shared cache that was received is on {}, which this process does not see (CUDA_VISIBLE_DEVICES)",
                memory::text_of(found.device));
  return device;
}

}  // namespace

std::unique_ptr<region_maker> device_maker(int device) { return std::make_unique<maker>(device); }

std::unique_ptr<region_memory> attach_on_device(std::vector<memory::descriptor> files, const region_header& found) {
  memory::device_system& system = memory::cuda_system();
  const int device = device_of(found);
  const std::uint64_t page = system.page_bytes(device);
  const auto& [parameters, computation] = found.sizes;
  if (files.size() != 3) refuse_file(fmt::format("it has {} files, and 3 were expected", files.size()));
  if (parameters == 0 || computation == 0 || parameters % page != 0 || computation % page != 0)
    refuse_file(fmt::format("its parts have {} and {} bytes, of pages of {}", parameters, computation, page));
  std::unique_ptr<memory::device_range> range;
  memory::explain("the shared cache that was received", device, [&] {
    range = system.reserve(device, found.sizes.total());
    range->map(0, parameters, files[1]);
    range->map(parameters, computation, files[2]);
  });
  return std::make_unique<device_memory>(device, found.sizes, std::move(range), std::move(files));
}

}  // namespace syncyte::cache
