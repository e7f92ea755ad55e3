// SPDX-License-Identifier: BSD-3-Clause
#include "cache/host_region.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "memory/capacity.hpp"
#include "memory/huge_pages.hpp"
#include "memory/mapping.hpp"
#include "watchdog/interrupts.hpp"

namespace syncyte::cache {
namespace {

constexpr std::size_t header_bytes = memory::huge_page_bytes;

/// Bytes that are made resident between two looks for signals: a fraction of a second.
constexpr std::int64_t touched_at_once = std::int64_t{32} * memory::huge_page_bytes;

class host_memory final : public region_memory {
 public:
  host_memory(std::vector<memory::descriptor> files, std::uint64_t bytes)
      : files_(std::move(files)), mapping_(memory::map_shared(files_.front().number(), header_bytes + bytes)) {}

  syncyte_memory_t kind() const override { return SYNCYTE_MEMORY_HOST; }
  int device() const override { return 0; }
  std::byte* data() const override { return mapping_.get() + header_bytes; }
  const std::vector<memory::descriptor>& files() const override { return files_; }

  void touch(std::int64_t offset, std::int64_t bytes) const override {
    struct stat found{};
    const std::int64_t resident = fstat(files_.front().number(), &found) == 0 ? found.st_blocks * 512 : 0;
    memory::require_available(static_cast<std::size_t>(std::max<std::int64_t>(bytes - resident, 0)),
                              fmt::format("touching {} bytes of the shared cache", bytes));
    for (std::int64_t begin = offset, end = offset + bytes, next; begin < end; begin = next) {
      watchdog::ask_for_interrupt();
      next = std::min(end, (begin / touched_at_once + 1) * touched_at_once);
      memory::touch_and_collapse(data() + begin, static_cast<std::size_t>(next - begin));
    }
  }

 private:
  std::vector<memory::descriptor> files_;
  memory::mapping mapping_;
};

class maker final : public region_maker {
 public:
  std::string owner() const override { return "this machine"; }
  std::uint64_t page_bytes() const override { return memory::small_page_bytes(); }
  std::uint64_t room_beside(std::uint64_t chosen_bytes) const override {
    return room_of(memory::available_bytes(), chosen_bytes);
  }
  std::unique_ptr<region_memory> make(const region_sizes& sizes,
                                      const region_header::framework_text& framework) const override {
    memory::require_available(sizes.total(), sizes.text());
    const region_header header{.version = region_header::on_host, .sizes = sizes, .framework = framework};
    std::vector<memory::descriptor> files;
    files.push_back(header.make_file(header_bytes + sizes.total()));
    return std::make_unique<host_memory>(std::move(files), sizes.total());
  }
};

}  // namespace

std::unique_ptr<region_maker> host_maker() { return std::make_unique<maker>(); }

std::unique_ptr<region_memory> attach_on_host(std::vector<memory::descriptor> files, const region_header& found) {
  struct stat size{};
  const std::uint64_t wanted = header_bytes + found.sizes.total();
  if (fstat(files.front().number(), &size) != 0 || static_cast<std::uint64_t>(size.st_size) != wanted)
    refuse_file("its size differs from the sizes in its header");
  return std::make_unique<host_memory>(std::move(files), found.sizes.total());
}

}  // namespace syncyte::cache
