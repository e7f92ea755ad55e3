// SPDX-License-Identifier: BSD-3-Clause
#include "cache/region.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "memory/capacity.hpp"
#include "memory/huge_pages.hpp"
#include "watchdog/interrupts.hpp"

namespace syncyte::cache {
namespace {

constexpr std::array<char, 16> magic{"syncyte cache\n\0"};
constexpr std::uint64_t layout_version = 1;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 46;  // half of what a process can address

/// Bytes that are made resident between two looks for signals: a fraction of a second.
constexpr std::int64_t touched_at_once = std::int64_t{32} * memory::huge_page_bytes;

/// First bytes of the file.
struct header {
  std::array<char, 16> magic;
  std::uint64_t version;
  region_sizes sizes;
};

void check_size(std::uint64_t bytes, const char* name) {
  base::expect(bytes <= most_bytes, SYNCYTE_ERR_MEMORY, name, bytes, "at most {}, which is more than any machine has",
               most_bytes);
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

std::uint64_t in_pages(std::uint64_t bytes) {
  return memory::round_up(std::max<std::uint64_t>(bytes, 1), memory::small_page_bytes());
}

/// Fills in default sizes: together they take at most three quarters of the memory that the chosen ones leave.
region_sizes with_defaults(const region_sizes& chosen, std::uint64_t available) {
  const auto [parameters, computation] = region::default_sizes();
  const region_sizes defaults{chosen.parameters > 0 ? 0 : parameters, chosen.computation > 0 ? 0 : computation};
  const auto room = static_cast<double>(available - std::min(available, chosen.total())) * 0.75;
  const double scale = std::min(1.0, room / static_cast<double>(std::max<std::uint64_t>(defaults.total(), 1)));
  const auto size = [&](std::uint64_t given, std::uint64_t otherwise) {
    return in_pages(given > 0 ? given : static_cast<std::uint64_t>(static_cast<double>(otherwise) * scale));
  };
  return {size(chosen.parameters, defaults.parameters), size(chosen.computation, defaults.computation)};
}

void log_if_scaled(const region_sizes& chosen, const region_sizes& sizes) {
  const auto [parameters, computation] = region::default_sizes();
  const bool is_scaled = (chosen.parameters == 0 && sizes.parameters < parameters) ||
                         (chosen.computation == 0 && sizes.computation < computation);
  if (is_scaled)
    base::log(
        SYNCYTE_LOG_WARN,
        "shared cache: the default sizes are scaled down to what this machine has: {} bytes for parameters, {} for "
        "computation",
        sizes.parameters, sizes.computation);
}

[[noreturn]] void fail_to_make(const char* step, std::uint64_t bytes) {
  const int code = errno;
  memory::check_open_files(step, code);
  base::fail(SYNCYTE_ERR_MEMORY, "cannot make a shared cache of {} bytes: {}: {}", bytes, step, base::errno_text(code));
}

[[noreturn]] void refuse_file(const std::string& why) {
  base::fail(SYNCYTE_ERR_FORMAT, "the file that was received is not a shared cache: {}", why);
}

}  // namespace

region::region(memory::descriptor file, region_sizes sizes)
    : file_(std::move(file)),
      sizes_(sizes),
      mapping_(memory::map_shared(file_.number(), header_bytes + sizes.total())) {
  struct stat found{};
  if (fstat(file_.number(), &found) == 0) inode_ = found.st_ino;
}

region_sizes region::default_sizes() {
  return {base::default_bytes(base::settings::cache_parameter_bytes),
          base::default_bytes(base::settings::cache_computation_bytes)};
}

std::shared_ptr<region> region::allocate(region_sizes chosen) {
  chosen = with_environment(chosen);
  const region_sizes sizes = with_defaults(chosen, memory::available_bytes());
  memory::require_available(
      sizes.total(), fmt::format("a shared cache with parameter_bytes {} and computation_bytes {}", sizes.parameters,
                                 sizes.computation));
  log_if_scaled(chosen, sizes);
  const std::uint64_t bytes = header_bytes + sizes.total();
  memory::descriptor file = memory::open_memfd("syncyte-cache");
  if (!file) fail_to_make("memfd_create", bytes);
  if (ftruncate(file.number(), static_cast<off_t>(bytes)) != 0) fail_to_make("ftruncate", bytes);
  const header written{magic, layout_version, sizes};
  if (pwrite(file.number(), &written, sizeof(written), 0) != sizeof(written)) fail_to_make("pwrite", bytes);
  if (!memory::seal_size(file)) fail_to_make("sealing its size", bytes);
  return std::shared_ptr<region>(new region(std::move(file), sizes));
}

std::shared_ptr<region> region::attach(memory::descriptor file) {
  // Without the seal, a process that shrinks the file kills this one (SIGBUS).
  const int seals = fcntl(file.number(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) refuse_file("its size is not sealed");
  header found{};
  if (pread(file.number(), &found, sizeof(found), 0) != sizeof(found)) refuse_file("it is shorter than a header");
  if (found.magic != magic) refuse_file("it has another header");
  base::require(
      found.version == layout_version, SYNCYTE_ERR_VERSION,
      "the shared cache that was received has layout {}; expected {}: use one version of Syncyte in all processes",
      found.version, layout_version);
  struct stat size{};
  const bool is_whole = found.sizes.parameters <= most_bytes && found.sizes.computation <= most_bytes &&
                        fstat(file.number(), &size) == 0 &&
                        static_cast<std::uint64_t>(size.st_size) == header_bytes + found.sizes.total();
  if (!is_whole) refuse_file("its size differs from the sizes in its header");
  return std::shared_ptr<region>(new region(std::move(file), found.sizes));
}

void region::touch(std::int64_t offset, std::int64_t bytes) const {
  const auto whole = static_cast<std::int64_t>(this->bytes());
  base::expect(offset >= 0 && offset <= whole, SYNCYTE_ERR_ARGUMENT, "offset", offset, "0 to {}, inside the cache",
               whole);
  base::expect(bytes >= 0 && bytes <= whole - offset, SYNCYTE_ERR_ARGUMENT, "size", bytes, "0 to {}, inside the cache",
               whole - offset);
  if (bytes == 0) return;
  struct stat found{};
  const std::int64_t resident = fstat(file_.number(), &found) == 0 ? found.st_blocks * 512 : 0;
  memory::require_available(static_cast<std::size_t>(std::max<std::int64_t>(bytes - resident, 0)),
                            fmt::format("touching {} bytes of the shared cache", bytes));
  for (std::int64_t begin = offset, end = offset + bytes, next; begin < end; begin = next) {
    watchdog::ask_for_interrupt();
    next = std::min(end, (begin / touched_at_once + 1) * touched_at_once);
    memory::touch_and_collapse(data() + begin, static_cast<std::size_t>(next - begin));
  }
}

}  // namespace syncyte::cache
