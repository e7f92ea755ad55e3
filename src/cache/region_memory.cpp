// SPDX-License-Identifier: BSD-3-Clause
#include "cache/region_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"

namespace syncyte::cache {
namespace {

[[noreturn]] void fail_to_make(const char* step, std::uint64_t bytes) {
  const int code = errno;
  memory::check_open_files(step, code);
  base::fail(SYNCYTE_ERR_MEMORY, "cannot make a shared cache's file of {} bytes: {}: {}", bytes, step,
             base::errno_text(code));
}

}  // namespace

std::string region_sizes::text() const {
  return fmt::format("a shared cache with parameter_bytes {} and computation_bytes {}", parameters, computation);
}

void refuse_file(const std::string& why) {
  base::fail(SYNCYTE_ERR_FORMAT, "the file that was received is not a shared cache: {}", why);
}

region_header region_header::read(const memory::descriptor& file) {
  // Without the seal, a process that shrinks the file kills this one (SIGBUS).
  const int seals = fcntl(file.number(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) refuse_file("its size is not sealed");
  region_header found{.version = 0, .sizes = {}};
  if (pread(file.number(), &found, sizeof(found), 0) != sizeof(found)) refuse_file("it is shorter than a header");
  if (found.magic != cache_magic) refuse_file("it has another header");
  base::require(found.version == on_host || found.version == on_device, SYNCYTE_ERR_VERSION,
                "the shared cache that was received has layout {}; expected {} or {}: use one version of Syncyte in "
                "all processes",
                found.version, on_host, on_device);
  if (found.sizes.parameters > most_region_bytes || found.sizes.computation > most_region_bytes)
    refuse_file("its sizes are larger than any memory");
  if (found.framework.back() != 0) refuse_file("its framework's name has no end");
  return found;
}

memory::descriptor region_header::make_file(std::uint64_t bytes) const {
  memory::descriptor file = memory::open_memfd("syncyte-cache");
  if (!file) fail_to_make("memfd_create", bytes);
  if (ftruncate(file.number(), static_cast<off_t>(bytes)) != 0) fail_to_make("ftruncate", bytes);
  if (pwrite(file.number(), this, sizeof(*this), 0) != sizeof(*this)) fail_to_make("pwrite", bytes);
  if (!memory::seal_size(file)) fail_to_make("sealing its size", bytes);
  return file;
}

}  // namespace syncyte::cache
