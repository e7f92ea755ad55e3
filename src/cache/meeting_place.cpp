// SPDX-License-Identifier: BSD-3-Clause
#include "cache/meeting_place.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "base/environment.hpp"
#include "memory/local_socket.hpp"
#include "watchdog/interrupts.hpp"

namespace syncyte::cache {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds look_interval(100);  // between checks for signals

std::string chosen_name(const rendezvous& chosen) {
  constexpr const base::setting& variable = base::settings::cache_name;
  std::string name = !chosen.name.empty() ? chosen.name : base::environment(variable).value_or(variable.otherwise);
  base::expect(name.size() <= 60 && name.find('/') == std::string::npos && name.front() != '.', SYNCYTE_ERR_ARGUMENT,
               chosen.name.empty() ? variable.name : "name", '"' + name + '"',
               "a file name of at most 60 bytes that does not begin with a dot");
  return name;
}

struct folder_path {
  std::string path;
  bool is_default;  // it must not be a symbolic link: any user can make one in /tmp
};

folder_path chosen_folder(const rendezvous& chosen) {
  if (!chosen.folder.empty()) return {chosen.folder, false};
  if (const auto given = base::environment(base::settings::cache_folder)) return {*given, false};
  // Batch jobs often inherit the variable from a login node, where the folder was, and root's shells from a user.
  const auto runtime = base::environment("XDG_RUNTIME_DIR");
  struct stat found{};
  if (runtime && stat(runtime->c_str(), &found) == 0 && found.st_uid == geteuid()) return {*runtime + "/syncyte", true};
  return {fmt::format("{}/syncyte-{}", base::environment("TMPDIR").value_or("/tmp"), geteuid()), true};
}

[[noreturn]] void fail(const char* step, const std::string& path) {
  const int code = errno;
  memory::check_open_files(fmt::format("{} {}", step, path), code);
  base::fail(SYNCYTE_ERR_IO, "the folder of sockets: {} {} failed: {}", step, path, base::errno_text(code));
}

/// End of the sockets' names. Other sockets in a folder belong to other programs.
constexpr std::string_view suffix = ".syncyte";

/// Locks the folder against other senders while this one looks for sockets and makes its own. The lock ends with the
/// process.
class folder_lock {
 public:
  folder_lock(const named_socket& target, const deadline& until) : folder_(target.folder()) {
    while (flock(folder_.number(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) fail("locking", target.path());
      base::require(until.is_ahead(), SYNCYTE_ERR_TIMEOUT, "another process has locked the folder {} for {} s",
                    target.path(), until.seconds());
      std::this_thread::sleep_for(retry_interval);
    }
  }
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;
  ~folder_lock() { flock(folder_.number(), LOCK_UN); }

 private:
  const memory::descriptor& folder_;
};

/// Sockets of senders.
std::vector<std::string> sockets_in(const named_socket& target) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(target.socket(".").c_str()), closedir);
  if (!entries) fail("reading", target.path());
  std::vector<std::string> names;
  while (const dirent* const entry = readdir(entries.get())) {
    struct stat found{};
    const bool is_there = std::string_view(entry->d_name).ends_with(suffix) &&
                          fstatat(target.folder().number(), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_there && S_ISSOCK(found.st_mode)) names.emplace_back(entry->d_name);
  }
  return names;
}

}  // namespace

deadline::deadline(double seconds)
    : seconds_(seconds >= 0 ? seconds : base::environment_seconds(base::settings::cache_timeout)),
      end_(clock::now() +
           std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(std::min(seconds_, 1e8)))) {}

bool deadline::is_ahead() const {
  watchdog::ask_for_interrupt();
  return clock::now() < end_;
}

milliseconds deadline::next_look() const {
  return std::clamp(std::chrono::ceil<milliseconds>(end_ - clock::now()), milliseconds(0), look_interval);
}

named_socket::named_socket(const rendezvous& chosen) : name_(chosen_name(chosen)) {
  const folder_path folder = chosen_folder(chosen);
  path_ = folder.path;
  if (mkdir(path_.c_str(), S_IRWXU) != 0 && errno != EEXIST) fail("making", path_);
  if (folder.is_default) refuse_link();
  const int no_link = folder.is_default ? O_NOFOLLOW : 0;
  folder_ = memory::descriptor(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | no_link));
  if (!folder_) fail("opening", path_);
  check_folder();
}

std::string named_socket::socket(const std::string& name) const {
  return fmt::format("/proc/self/fd/{}/{}", folder_.number(), name);
}

std::string named_socket::file_name() const { return name_ + std::string(suffix); }

std::string named_socket::shown() const { return fmt::format("\"{}\" in {}", name_, path_); }

void named_socket::refuse_link() const {
  struct stat found{};
  const bool is_link = lstat(path_.c_str(), &found) == 0 && S_ISLNK(found.st_mode);
  base::expect(!is_link, SYNCYTE_ERR_ARGUMENT, "folder", path_ + ", which is a symbolic link",
               "a folder of user {}; name one by SYNCYTE_CACHE_FOLDER, which may be a link", geteuid());
}

// Checks that only this user can open the folder: a process that can open it can receive the cache, or send another.
void named_socket::check_folder() const {
  struct stat found{};
  if (fstat(folder_.number(), &found) != 0) fail("reading the owner of", path_);
  constexpr unsigned open_to_others = S_IRWXG | S_IRWXO;
  base::expect(
      found.st_uid == geteuid() && (found.st_mode & open_to_others) == 0, SYNCYTE_ERR_ARGUMENT, "folder",
      fmt::format("{}, which belongs to user {} and has mode {:04o}", path_, found.st_uid, found.st_mode & 07777U),
      "a folder of user {} that no other user can open (chmod 700)", geteuid());
}

memory::descriptor listen(const named_socket& target, const deadline& until) {
  const folder_lock lock(target, until);
  for (const std::string& name : sockets_in(target)) {
    if (!memory::is_listened_at(target.socket(name)))
      unlinkat(target.folder().number(), name.c_str(), 0);
    else if (name == target.file_name())
      base::fail(SYNCYTE_ERR_BUSY, "another process uses the name {}; wait for it, or use another one", target.shown());
  }
  return memory::listen_at(target.socket());
}

}  // namespace syncyte::cache
