// SPDX-License-Identifier: BSD-3-Clause
#include "cache/region.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "cache/device_region.hpp"
#include "cache/host_region.hpp"
#include "memory/device.hpp"
#include "memory/mapping.hpp"

namespace syncyte::cache {
namespace {

void check_size(std::uint64_t bytes, const char* name) {
  base::expect(bytes <= most_region_bytes, SYNCYTE_ERR_MEMORY, name, bytes,
               "at most {}, which is more than any machine has", most_region_bytes);
}

/// A size chosen by the caller or the environment; 0 if neither has chosen one.
std::uint64_t chosen_size(std::uint64_t given, const char* argument, const base::setting& otherwise) {
  const std::uint64_t bytes = given > 0 ? given : base::environment_bytes(otherwise).value_or(0);
  check_size(bytes, given > 0 ? argument : otherwise.name);
  return bytes;
}

region_sizes with_environment(const region_sizes& chosen) {
  return {chosen_size(chosen.parameters, "parameter_bytes", base::settings::cache_parameter_bytes),
          chosen_size(chosen.computation, "computation_bytes", base::settings::cache_computation_bytes)};
}

/// Fills in default sizes, which share the room that the chosen ones leave. All are multiples of pages.
region_sizes with_defaults(const region_sizes& chosen, const region_maker& in) {
  const std::uint64_t page = in.page_bytes();
  const region_sizes whole{memory::round_up(chosen.parameters, page), memory::round_up(chosen.computation, page)};
  const auto [parameters, computation] = region::default_sizes();
  const region_sizes defaults{whole.parameters > 0 ? 0 : parameters, whole.computation > 0 ? 0 : computation};
  const auto room = static_cast<double>(in.room_beside(whole.total()));
  const double scale = std::min(1.0, room / static_cast<double>(std::max<std::uint64_t>(defaults.total(), 1)));
  const auto size = [&](std::uint64_t given, std::uint64_t otherwise) {
    const auto scaled = static_cast<std::uint64_t>(static_cast<double>(otherwise) * scale);
    return given > 0 ? given : std::max(page, scaled / page * page);
  };
  return {size(whole.parameters, defaults.parameters), size(whole.computation, defaults.computation)};
}

void log_if_scaled(const region_sizes& chosen, const region_sizes& sizes, const region_maker& in) {
  const auto [parameters, computation] = region::default_sizes();
  const bool is_scaled = (chosen.parameters == 0 && sizes.parameters < parameters) ||
                         (chosen.computation == 0 && sizes.computation < computation);
  if (is_scaled)
    base::log(SYNCYTE_LOG_WARN,
              "shared cache: the default sizes are scaled down to the memory of {}: {} bytes for parameters, {} for "
              "computation",
              in.owner(), sizes.parameters, sizes.computation);
}

std::unique_ptr<region_maker> maker_of(syncyte_memory_t memory, int device) {
  base::expect(device >= -1, SYNCYTE_ERR_ARGUMENT, "options->device", device, "0 or more, or -1");
  memory::require_device(memory, memory == SYNCYTE_MEMORY_HOST ? 0 : std::max(device, 0));
  if (memory == SYNCYTE_MEMORY_HOST) return host_maker();
  return device_maker(device >= 0 ? device : memory::cuda_system().current());
}

region_header::framework_text header_text(const std::string& framework) {
  region_header::framework_text text{};
  base::expect(framework.size() < text.size(), SYNCYTE_ERR_ARGUMENT, "framework", '"' + framework + '"',
               "a text of at most {} bytes", text.size() - 1);
  std::ranges::copy(framework, text.begin());
  return text;
}

}  // namespace

region::region(std::unique_ptr<region_memory> memory, region_sizes sizes, std::string framework)
    : memory_(std::move(memory)), sizes_(sizes), framework_(std::move(framework)) {
  struct stat found{};
  if (fstat(files().front().number(), &found) == 0) inode_ = found.st_ino;
}

region_sizes region::default_sizes() {
  return {base::default_bytes(base::settings::cache_parameter_bytes),
          base::default_bytes(base::settings::cache_computation_bytes)};
}

std::shared_ptr<region> region::allocate(region_sizes chosen, syncyte_memory_t memory, int device,
                                         const std::string& framework) {
  const region_header::framework_text text = header_text(framework);
  const std::unique_ptr<region_maker> in = maker_of(memory, device);
  chosen = with_environment(chosen);
  const region_sizes sizes = with_defaults(chosen, *in);
  auto made = in->make(sizes, text);
  log_if_scaled(chosen, sizes, *in);
  return std::shared_ptr<region>(new region(std::move(made), sizes, framework));
}

std::shared_ptr<region> region::attach(std::vector<memory::descriptor> files) {
  const region_header found = region_header::read(files.front());
  auto attached = found.version == region_header::on_host ? attach_on_host(std::move(files), found)
                                                          : attach_on_device(std::move(files), found);
  return std::shared_ptr<region>(new region(std::move(attached), found.sizes, found.framework.data()));
}

void region::check_framework(const std::string& framework) const {
  base::require(framework_.empty() || framework.empty() || framework_ == framework, SYNCYTE_ERR_VERSION,
                "the shared cache was made for {}, and this process has {}, whose allocations may have other offsets: "
                "use one version in all processes",
                framework_, framework);
}

void region::touch(std::int64_t offset, std::int64_t bytes) const {
  const auto whole = static_cast<std::int64_t>(this->bytes());
  base::expect(offset >= 0 && offset <= whole, SYNCYTE_ERR_ARGUMENT, "offset", offset, "0 to {}, inside the cache",
               whole);
  base::expect(bytes >= 0 && bytes <= whole - offset, SYNCYTE_ERR_ARGUMENT, "size", bytes, "0 to {}, inside the cache",
               whole - offset);
  if (bytes > 0) memory_->touch(offset, bytes);
}

}  // namespace syncyte::cache
