#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace syncyte::memory {

/// Bytes that may still be taken, and the limit that says so.
struct capacity {
  std::uint64_t bytes = 0;
  std::string limit;        ///< for messages: "MemAvailable of /proc/meminfo" or the cgroup's file
  std::uint64_t group = 0;  ///< which control group it is, the same number for all its processes; 0: the whole machine
};

/// The least of MemAvailable and what every enclosing control group leaves (v2: memory.max minus memory.current, v1:
/// memory.limit_in_bytes minus memory.usage_in_bytes; the page cache that a group could give back counts as free).
/// `root` stands before /proc and /sys, for tests. Where nothing can be read, the largest number.
capacity available(const std::filesystem::path& root = "/");

std::uint64_t available_bytes();

/// MemAvailable alone: what all processes of the machine share.
capacity machine_available(const std::filesystem::path& root = "/");

/// Throws SYNCYTE_ERR_MEMORY naming what is wanted, what there is and which limit says so. Local.
void require_available(std::size_t bytes, const std::string& what, const std::filesystem::path& root = "/");

/// Bytes of memory that this machine or its control group has in all, used or not.
std::uint64_t total_bytes(const std::filesystem::path& root = "/");

}  // namespace syncyte::memory
