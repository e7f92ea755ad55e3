// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include "../memory/processes.hpp"
#include "../memory/status.hpp"
#include "cache/region.hpp"
#include "cache/rendezvous.hpp"
#include "memory/handover.hpp"

namespace {

using namespace syncyte;
using cache::receive;
using cache::region;
using cache::rendezvous;
using cache::send;
using test::contains;
using test::environment_scope;
using test::outcome;
using test::run_process;
using test::start_process;
using test::wait_process;
namespace fs = std::filesystem;

/// Fixture with a separate folder for each test.
class cache_rendezvous : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "cache-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  rendezvous place(double seconds = 10, const char* name = "", memory::nonce nonce = {}) const {
    return {.name = name, .folder = folder_.string(), .nonce = nonce, .seconds = seconds};
  }
  fs::path socket_path(const std::string& name = "cache") const { return folder_ / (name + ".syncyte"); }
  std::size_t names() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  bool wait_for_names(std::size_t count) const {
    for (int round = 0; round < 2000 && names() != count; ++round)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return names() == count;
  }
  /// Starts a process that receives a region and exits with the region's first byte.
  pid_t start_receiver(const rendezvous& where) const {
    return start_process([where] { return static_cast<int>(region::attach(receive(where))->data()[0]); });
  }

  fs::path folder_;
  std::shared_ptr<region> region_ = region::allocate({4096, 4096});
};

TEST_F(cache_rendezvous, either_may_come_first) {
  region_->data()[0] = std::byte{42};
  const pid_t early = start_receiver(place());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  send(region_->files(), place());
  EXPECT_EQ(wait_process(early), 42);
  const pid_t late = start_process([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return static_cast<int>(region::attach(receive(place()))->data()[0]);
  });
  send(region_->files(), place());
  EXPECT_EQ(wait_process(late), 42);
  EXPECT_EQ(names(), 0u);
}

TEST_F(cache_rendezvous, several_receivers_at_once_get_one_each) {
  region_->data()[0] = std::byte{17};
  pid_t receivers[4];
  for (pid_t& each : receivers) each = start_receiver(place(20));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  for (int each = 0; each < 4; ++each) send(region_->files(), place(20));
  for (const pid_t each : receivers) EXPECT_EQ(wait_process(each), 17);
}

TEST_F(cache_rendezvous, nobody_comes) {
  const auto [sent, sender_text] = outcome([&] { send(region_->files(), place(0.05)); });
  EXPECT_EQ(sent, SYNCYTE_ERR_TIMEOUT);
  EXPECT_TRUE(contains(sender_text, "no process has received the shared cache \"cache\" in " + folder_.string()))
      << sender_text;
  EXPECT_TRUE(contains(sender_text, "within 0.05 s")) << sender_text;
  const auto [received, receiver_text] = outcome([&] { receive(place(0)); });
  EXPECT_EQ(received, SYNCYTE_ERR_TIMEOUT);
  EXPECT_TRUE(contains(receiver_text, "no process has sent")) << receiver_text;
  EXPECT_EQ(names(), 0u);
}

TEST_F(cache_rendezvous, the_environment_chooses) {
  const environment_scope folder("SYNCYTE_CACHE_FOLDER", (folder_ / "made").c_str());
  const environment_scope name("SYNCYTE_CACHE", "chosen");
  const environment_scope timeout("SYNCYTE_CACHE_TIMEOUT", "0.01");
  const rendezvous defaults{.name = "", .folder = "", .nonce = {}, .seconds = -1};
  const auto [status, text] = outcome([&] { send(region_->files(), defaults); });
  EXPECT_EQ(status, SYNCYTE_ERR_TIMEOUT);
  EXPECT_TRUE(contains(text, "\"chosen\" in " + (folder_ / "made").string() + " within 0.01 s")) << text;
  struct stat made{};
  ASSERT_EQ(stat((folder_ / "made").c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777U, 0700U);
  const environment_scope wrong("SYNCYTE_CACHE_TIMEOUT", "soon");
  EXPECT_TRUE(contains(outcome([&] { receive(defaults); }).second, "SYNCYTE_CACHE_TIMEOUT is \"soon\""));
}

TEST_F(cache_rendezvous, default_folders) {
  const environment_scope none("SYNCYTE_CACHE_FOLDER", nullptr);
  const environment_scope runtime("XDG_RUNTIME_DIR", folder_.c_str());
  const environment_scope temporary("TMPDIR", folder_.c_str());
  const rendezvous defaults{.name = "", .folder = "", .nonce = {}, .seconds = 0};
  EXPECT_TRUE(contains(outcome([&] { receive(defaults); }).second, "in " + (folder_ / "syncyte").string() + " "));
  const environment_scope gone("XDG_RUNTIME_DIR", (folder_ / "gone").c_str());
  const std::string mine = folder_ / ("syncyte-" + std::to_string(geteuid()));
  EXPECT_TRUE(contains(outcome([&] { receive(defaults); }).second, "in " + mine + " "));
}

/// Leaves a socket to which nobody listens.
void leave_socket(const fs::path& path) {
  const memory::descriptor dead(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un here{};
  here.sun_family = AF_UNIX;
  std::strcpy(here.sun_path, path.c_str());
  ASSERT_EQ(bind(dead.number(), reinterpret_cast<const sockaddr*>(&here), sizeof(here)), 0);
}

// In /tmp another user can make the link before this one makes the folder.
TEST_F(cache_rendezvous, a_link_in_place_of_a_default_folder_is_refused) {
  const environment_scope none("SYNCYTE_CACHE_FOLDER", nullptr);
  const rendezvous defaults{.name = "", .folder = "", .nonce = {}, .seconds = 0};
  fs::create_directory(folder_ / "private");
  chmod((folder_ / "private").c_str(), 0700);
  leave_socket(folder_ / "private" / "dead.syncyte");
  for (const bool in_runtime : {false, true}) {
    const environment_scope runtime("XDG_RUNTIME_DIR", in_runtime ? folder_.c_str() : nullptr);
    const environment_scope temporary("TMPDIR", folder_.c_str());
    const fs::path link = folder_ / (in_runtime ? "syncyte" : "syncyte-" + std::to_string(geteuid()));
    for (const char* const target : {"private", "absent"}) {
      fs::create_directory_symlink(folder_ / target, link);
      for (const auto& [status, text] :
           {outcome([&] { send(region_->files(), defaults); }), outcome([&] { receive(defaults); })}) {
        EXPECT_EQ(status, SYNCYTE_ERR_ARGUMENT);
        EXPECT_TRUE(contains(text, "folder is " + link.string() + ", which is a symbolic link")) << text;
        EXPECT_TRUE(contains(text, "SYNCYTE_CACHE_FOLDER")) << text;
      }
      fs::remove(link);
    }
  }
  EXPECT_TRUE(fs::exists(folder_ / "private" / "dead.syncyte"));
  EXPECT_FALSE(fs::exists(folder_ / "absent"));
}

TEST_F(cache_rendezvous, a_named_folder_may_be_a_link) {
  fs::create_directory(folder_ / "private");
  chmod((folder_ / "private").c_str(), 0700);
  fs::create_directory_symlink(folder_ / "private", folder_ / "link");
  rendezvous linked = place();
  linked.folder = folder_ / "link";
  const pid_t receiver = start_receiver(linked);
  const environment_scope named("SYNCYTE_CACHE_FOLDER", linked.folder.c_str());
  send(region_->files(), {.name = "", .folder = "", .nonce = {}, .seconds = 10});
  EXPECT_EQ(wait_process(receiver), 0);
}

TEST_F(cache_rendezvous, other_programs_dead_sockets_stay) {
  for (const char* const name : {"cache", "S.gpg-agent", "x.syncyte.bak"}) leave_socket(folder_ / name);
  leave_socket(socket_path("dead"));
  EXPECT_EQ(outcome([&] { send(region_->files(), place(0)); }).first, SYNCYTE_ERR_TIMEOUT);
  EXPECT_EQ(names(), 3u);
  EXPECT_FALSE(fs::exists(socket_path("dead")));
}

TEST_F(cache_rendezvous, a_long_path_is_fine) {
  fs::path folder = folder_;
  for (int depth = 0; depth < 10; ++depth) folder /= "a-rather-long-name-of-a-folder";
  fs::create_directories(folder);
  chmod(folder.c_str(), 0700);
  const rendezvous far{.name = "", .folder = folder.string(), .nonce = {}, .seconds = 10};
  const pid_t receiver = start_receiver(far);
  send(region_->files(), far);
  EXPECT_EQ(wait_process(receiver), 0);
}

TEST_F(cache_rendezvous, wrong_names_and_folders) {
  for (const char* const name : {"a/b", ".hidden", "a-name-of-more-than-sixty-bytes-a-name-of-more-than-sixty-bytes"}) {
    const auto [status, text] = outcome([&] { receive(place(0, name)); });
    EXPECT_EQ(status, SYNCYTE_ERR_ARGUMENT);
    EXPECT_TRUE(contains(text, "name is \"" + std::string(name))) << text;
  }
  for (const mode_t mode : {0770, 0750, 0701, 0777}) {
    ASSERT_EQ(chmod(folder_.c_str(), mode), 0);
    for (const auto& [status, text] :
         {outcome([&] { receive(place(0)); }), outcome([&] { send(region_->files(), place(0)); })}) {
      EXPECT_EQ(status, SYNCYTE_ERR_ARGUMENT);
      EXPECT_TRUE(contains(text, "folder is " + folder_.string() + ", which belongs to user")) << text;
      EXPECT_TRUE(contains(text, "chmod 700")) << text;
    }
  }
  ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
  rendezvous missing = place(0);
  missing.folder = folder_ / "no" / "such";
  EXPECT_EQ(outcome([&] { receive(missing); }).first, SYNCYTE_ERR_IO);
  missing.folder = "/dev/null";
  EXPECT_EQ(outcome([&] { receive(missing); }).first, SYNCYTE_ERR_IO);
}

TEST_F(cache_rendezvous, another_user_gets_nothing) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  // A folder of another user is refused, and other users cannot open ours.
  const int own = run_process([&] {
    if (setuid(65534) != 0) return 1;
    const auto [status, text] = outcome([&] { receive(place(0)); });
    return status == SYNCYTE_ERR_IO && contains(text, "EACCES") ? 0 : 2;
  });
  EXPECT_EQ(own, 0);
  ASSERT_EQ(chown(folder_.c_str(), 65534, 65534), 0);
  const auto [status, text] = outcome([&] { receive(place(0)); });
  EXPECT_EQ(status, SYNCYTE_ERR_ARGUMENT);
  EXPECT_TRUE(contains(text, "belongs to user 65534")) << text;
  // A process that reaches the socket through the open folder is refused because of its credentials.
  ASSERT_EQ(chown(folder_.c_str(), 0, 0), 0);
  const int inside = open(folder_.c_str(), O_RDONLY | O_DIRECTORY);
  const pid_t other = start_process([&] {
    const std::string path = "/proc/self/fd/" + std::to_string(inside) + "/cache.syncyte";
    for (int round = 0; round < 1000 && access(path.c_str(), F_OK) != 0; ++round) usleep(5000);
    if (chmod(folder_.c_str(), 0711) != 0 || chmod(path.c_str(), 0777) != 0 || setuid(65534) != 0) return 2;
    return outcome([&] { memory::receive_from(path, {}, std::chrono::milliseconds(2000)); }).first ==
                   SYNCYTE_ERR_UNSUPPORTED
               ? 0
               : 3;
  });
  EXPECT_EQ(outcome([&] { send(region_->files(), place(1)); }).first, SYNCYTE_ERR_TIMEOUT);
  EXPECT_EQ(wait_process(other), 0);
  close(inside);
}

TEST_F(cache_rendezvous, a_nonce_decides) {
  const pid_t wrong = start_process([&] {
    const auto [status, text] = outcome([&] { receive(place(10, "", {1, 2})); });
    return status == SYNCYTE_ERR_ARGUMENT && contains(text, "nonce is another one") ? 0 : 1;
  });
  EXPECT_EQ(outcome([&] { send(region_->files(), place(0.5, "", {3, 4})); }).first, SYNCYTE_ERR_TIMEOUT);
  EXPECT_EQ(wait_process(wrong), 0);
  const pid_t right = start_receiver(place(10, "", {3, 4}));
  send(region_->files(), place(10, "", {3, 4}));
  EXPECT_EQ(wait_process(right), 0);
}

TEST_F(cache_rendezvous, a_second_sender_is_busy) {
  const pid_t first = start_process([&] {
    send(region_->files(), place(20));
    return 0;
  });
  ASSERT_TRUE(wait_for_names(1));
  const auto [status, text] = outcome([&] { send(region_->files(), place(20)); });
  EXPECT_EQ(status, SYNCYTE_ERR_BUSY);
  EXPECT_TRUE(contains(text, "another process uses the name \"cache\"")) << text;
  const pid_t other = start_receiver(place(20, "other"));
  send(region_->files(), place(20, "other"));
  EXPECT_EQ(wait_process(other), 0);
  EXPECT_EQ(names(), 1u);  // the first one's
  EXPECT_EQ(run_process([&] { return receive(place(20)).empty() ? 1 : 0; }), 0);
  EXPECT_EQ(wait_process(first), 0);
}

TEST_F(cache_rendezvous, many_senders_of_one_name_never_meet) {
  pid_t senders[6];
  for (pid_t& each : senders)
    each = start_process([&] {
      for (;;) {
        const auto [status, text] = outcome([&] { send(region_->files(), place(20)); });
        if (status != SYNCYTE_ERR_BUSY) return static_cast<int>(status);
        usleep(1000);
      }
    });
  for (int each = 0; each < 6; ++each) EXPECT_EQ(receive(place(20)).size(), 1u);
  for (const pid_t each : senders) EXPECT_EQ(wait_process(each), SYNCYTE_SUCCESS);
  EXPECT_EQ(names(), 0u);
}

TEST_F(cache_rendezvous, a_killed_senders_socket_is_removed_by_the_next) {
  for (const char* const name : {"one", "two"}) {
    const std::size_t before = names();
    const pid_t killed = start_process([&] {
      send(region_->files(), place(20, name));
      return 0;
    });
    // The next sender removes the last sender's socket before it makes its own.
    ASSERT_TRUE(wait_for_names(std::max<std::size_t>(before, 1)));
    for (int round = 0; round < 1000 && !fs::exists(socket_path(name)); ++round) usleep(5000);
    kill(killed, SIGKILL);
    EXPECT_EQ(wait_process(killed), -SIGKILL);
    EXPECT_EQ(names(), 1u);
  }
  const pid_t receiver = start_receiver(place(20));
  send(region_->files(), place(20));
  EXPECT_EQ(wait_process(receiver), 0);
  EXPECT_EQ(names(), 0u);
}

TEST_F(cache_rendezvous, kill_at_random_moments) {
  std::mt19937 random(3);
  for (int round = 0; round < 30; ++round) {
    const pid_t sender = start_process([&] {
      send(region_->files(), place(20));
      return 0;
    });
    const pid_t receiver = start_receiver(place(20));
    usleep(random() % 6000);
    const pid_t victim = random() % 2 == 0 ? sender : receiver;
    const pid_t other = victim == sender ? receiver : sender;
    kill(victim, SIGKILL);
    wait_process(victim);
    // The other process has met its partner already, or meets the test instead: it succeeds in both cases.
    const auto partner = [&] {
      const rendezvous soon = place(0.2);
      return victim == sender ? outcome([&] { send(region_->files(), soon); }).first
                              : outcome([&] { receive(soon); }).first;
    };
    siginfo_t ended{};
    do {  // on a busy machine the other process may begin later than the test's first attempt ends
      const syncyte_status_t met = partner();
      EXPECT_TRUE(met == SYNCYTE_SUCCESS || met == SYNCYTE_ERR_TIMEOUT) << met;
      ASSERT_EQ(waitid(P_PID, static_cast<id_t>(other), &ended, WEXITED | WNOHANG | WNOWAIT), 0);
    } while (ended.si_pid == 0);
    EXPECT_EQ(wait_process(other), 0) << round;
  }
  EXPECT_EQ(outcome([&] { send(region_->files(), place(0)); }).first, SYNCYTE_ERR_TIMEOUT);
  EXPECT_EQ(names(), 0u);
}

TEST_F(cache_rendezvous, other_programs_sockets_are_left_alone) {
  const memory::descriptor stream(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un here{};
  here.sun_family = AF_UNIX;
  std::strcpy(here.sun_path, socket_path().c_str());
  ASSERT_EQ(bind(stream.number(), reinterpret_cast<const sockaddr*>(&here), sizeof(here)), 0);
  ASSERT_EQ(listen(stream.number(), 5), 0);
  EXPECT_EQ(outcome([&] { send(region_->files(), place(1)); }).first, SYNCYTE_ERR_BUSY);
  const auto [status, text] = outcome([&] { receive(place(1)); });
  EXPECT_EQ(status, SYNCYTE_ERR_IO);
  EXPECT_TRUE(contains(text, "the shared cache \"cache\" in " + folder_.string())) << text;
  EXPECT_TRUE(contains(text, "EPROTOTYPE")) << text;
  EXPECT_EQ(names(), 1u);
}

TEST_F(cache_rendezvous, a_stopped_sender_is_waited_for_until_the_limit) {
  const pid_t stopped = start_process([&] {
    send(region_->files(), place(30));
    return 0;
  });
  ASSERT_TRUE(wait_for_names(1));
  usleep(50000);
  kill(stopped, SIGSTOP);
  EXPECT_EQ(outcome([&] { receive(place(0.3)); }).first, SYNCYTE_ERR_TIMEOUT);
  kill(stopped, SIGCONT);
  EXPECT_EQ(receive(place(20)).size(), 1u);
  EXPECT_EQ(wait_process(stopped), 0);
}

TEST_F(cache_rendezvous, a_full_queue_holds_nobody_up) {
  const memory::descriptor full(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un here{};
  here.sun_family = AF_UNIX;
  std::strcpy(here.sun_path, socket_path().c_str());
  const auto* const address = reinterpret_cast<const sockaddr*>(&here);
  ASSERT_EQ(bind(full.number(), address, sizeof(here)), 0);
  ASSERT_EQ(listen(full.number(), 0), 0);  // room for one caller
  const memory::descriptor caller(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  ASSERT_EQ(connect(caller.number(), address, sizeof(here)), 0);
  EXPECT_EQ(outcome([&] { receive(place(0.1)); }).first, SYNCYTE_ERR_TIMEOUT);
  EXPECT_EQ(outcome([&] { send(region_->files(), place(0.1)); }).first, SYNCYTE_ERR_BUSY);
}

TEST_F(cache_rendezvous, too_many_open_files_are_named) {
  const auto with_few = [](const auto& work) {
    return run_process([&] {
      const int next = dup(0);
      const rlimit few{static_cast<rlim_t>(next + 2), static_cast<rlim_t>(next + 2)};  // folder and socket
      close(next);
      if (setrlimit(RLIMIT_NOFILE, &few) != 0) return 1;
      const auto [status, text] = outcome(work);
      return status == SYNCYTE_ERR_LIMIT && contains(text, "RLIMIT_NOFILE") ? 0 : 2;
    });
  };
  const pid_t sender = start_process([&] {
    send(region_->files(), place(20));
    return 0;
  });
  ASSERT_TRUE(wait_for_names(1));
  EXPECT_EQ(with_few([&] { receive(place(5)); }), 0);
  EXPECT_EQ(receive(place(20)).size(), 1u);
  EXPECT_EQ(wait_process(sender), 0);
  const pid_t receiver = start_receiver(place(20));
  EXPECT_EQ(with_few([&] { send(region_->files(), place(5)); }), 0);
  send(region_->files(), place(20));
  EXPECT_EQ(wait_process(receiver), 0);
}

TEST_F(cache_rendezvous, a_locked_folder_is_waited_for) {
  const int held = open(folder_.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(flock(held, LOCK_EX), 0);
  const auto [status, text] = outcome([&] { send(region_->files(), place(0.05)); });
  EXPECT_EQ(status, SYNCYTE_ERR_TIMEOUT);
  EXPECT_TRUE(contains(text, "locked")) << text;
  close(held);
}

TEST_F(cache_rendezvous, a_silent_caller_does_not_stop_the_others) {
  const pid_t silent = start_process([&] {
    const memory::descriptor caller(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un there{};
    there.sun_family = AF_UNIX;
    std::strcpy(there.sun_path, socket_path().c_str());
    while (connect(caller.number(), reinterpret_cast<const sockaddr*>(&there), sizeof(there)) != 0) usleep(1000);
    fs::create_directory(folder_ / "connected");
    pause();
    return 0;
  });
  const pid_t receiver = start_process([&] {
    while (!fs::exists(folder_ / "connected")) usleep(1000);
    return receive(place(20)).empty() ? 1 : 0;
  });
  send(region_->files(), place(20));
  EXPECT_EQ(wait_process(receiver), 0);
  kill(silent, SIGKILL);
  wait_process(silent);
}

}  // namespace
