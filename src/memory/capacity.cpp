// SPDX-License-Identifier: BSD-3-Clause
#include "memory/capacity.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace syncyte::memory {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t v1_unlimited = std::uint64_t{1} << 62;  // the kernel shows a number close to 2^63

/// File names of one version of control groups.
struct group_files {
  const char* limit;
  const char* usage;
  std::vector<std::string_view> cache;  // lines of memory.stat that count reclaimable page cache
};

const group_files version_2{"memory.max", "memory.current", {"inactive_file", "active_file"}};
const group_files version_1{
    "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}};

std::optional<std::uint64_t> to_number(const std::string& word) {
  if (word.empty() || word[0] < '0' || word[0] > '9') return std::nullopt;  // "max" as well
  return std::strtoull(word.c_str(), nullptr, 10);
}

std::optional<std::uint64_t> read_number(const fs::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return to_number(word);
}

/// Reads the number after a key from lines such as "MemAvailable:  123 kB" and "active_file 123".
std::optional<std::uint64_t> read_key(const fs::path& file, std::string_view key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string name, value;
    if (words >> name >> value && name == key) return to_number(value);
  }
  return std::nullopt;
}

std::uint64_t minus(std::uint64_t from, std::uint64_t what) { return from > what ? from - what : 0; }

capacity meminfo(const fs::path& root, const char* key) {
  const auto kibibytes = read_key(root / "proc/meminfo", std::string(key) + ":");
  return {kibibytes ? *kibibytes * 1024 : unlimited, std::string(key) + " of /proc/meminfo", 0};
}

/// Number of a control group: its folder's inode, which is the same in containers that see another path.
std::uint64_t number_of(const fs::path& folder) {
  struct stat status{};
  return ::stat(folder.c_str(), &status) == 0 ? status.st_ino : 0;
}

std::uint64_t group_usage(const fs::path& folder, const group_files& files) {
  std::uint64_t cache = 0;
  for (const auto key : files.cache) cache += read_key(folder / "memory.stat", key).value_or(0);
  return minus(read_number(folder / files.usage).value_or(0), cache);
}

/// Lowers `least` to the limits of the group `path` below `mount` and of its ancestors. Folders that do not exist are
/// skipped: a container often sees only the mount's own folder, while the path is the host's.
void tighten(capacity& least, const fs::path& mount, const std::string& path, const group_files& files, bool subtract) {
  fs::path below = fs::path(path).relative_path().lexically_normal();
  for (;; below = below.parent_path()) {
    const fs::path folder = mount / below;
    const auto limit = read_number(folder / files.limit);
    if (limit && *limit < v1_unlimited) {
      const std::uint64_t left = subtract ? minus(*limit, group_usage(folder, files)) : *limit;
      if (left < least.bytes) least = {left, (folder / files.limit).string(), number_of(folder)};
    }
    if (below.empty() || below == "/" || below == ".") return;
  }
}

/// Reads /proc/self/cgroup: lines "number:controllers:path"; version 2 has number 0 and no controllers.
capacity within_groups(const fs::path& root, capacity least, bool subtract) {
  std::ifstream stream(root / "proc/self/cgroup");
  const fs::path mounts = root / "sys/fs/cgroup";
  for (std::string line; std::getline(stream, line);) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") {
      tighten(least, mounts, path, version_2, subtract);
      tighten(least, mounts / "unified", path, version_2, subtract);
    } else if (controllers.find(",memory,") != std::string::npos) {
      tighten(least, mounts / "memory", path, version_1, subtract);
    }
  }
  return least;
}

}  // namespace

capacity available(const fs::path& root) { return within_groups(root, meminfo(root, "MemAvailable"), true); }

capacity machine_available(const fs::path& root) { return meminfo(root, "MemAvailable"); }

std::uint64_t available_bytes() { return available().bytes; }

std::uint64_t total_bytes(const fs::path& root) { return within_groups(root, meminfo(root, "MemTotal"), false).bytes; }

void require_available(std::size_t bytes, const std::string& what, const fs::path& root) {
  const capacity have = available(root);
  base::require(bytes <= have.bytes, SYNCYTE_ERR_MEMORY, "{} needs {} bytes, but only {} are available ({})", what,
                bytes, have.bytes, have.limit);
}

}  // namespace syncyte::memory
