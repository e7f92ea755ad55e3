// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace syncyte::memory {

/// Bytes that may still be allocated, and the limit they follow from.
struct capacity {
  std::uint64_t bytes = 0;
  std::string limit;        ///< for messages: "MemAvailable of /proc/meminfo" or the cgroup's file
  std::uint64_t group = 0;  ///< number of the control group, equal in all its processes; 0: the whole machine
};

/// Available memory: the least of MemAvailable and the rest of every enclosing control group (v2: memory.max minus
/// memory.current, v1: memory.limit_in_bytes minus memory.usage_in_bytes; reclaimable page cache counts as free). Tests
/// prefix /proc and /sys with `root`. The result is the largest number if none of these files can be read.
capacity available(const std::filesystem::path& root = "/");

std::uint64_t available_bytes();

/// MemAvailable of the machine, without control groups.
capacity machine_available(const std::filesystem::path& root = "/");

/// Throws SYNCYTE_ERR_MEMORY unless `bytes` are available; the message names `what`, both numbers and the limit. Local.
void require_available(std::size_t bytes, const std::string& what, const std::filesystem::path& root = "/");

/// Total bytes of memory of this machine or its control group, used or not.
std::uint64_t total_bytes(const std::filesystem::path& root = "/");

}  // namespace syncyte::memory
