// SPDX-License-Identifier: BSD-3-Clause
#include "cache/model_messages.hpp"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

namespace syncyte::cache {
namespace {

constexpr std::array<char, 16> magic{"syncyte models\0"};
constexpr std::uint64_t protocol_version = 1;

/// Descriptors that a forked child closes.
struct descriptor_list {
  std::mutex mutex;
  std::set<memory::descriptor*> all;
};

descriptor_list& list();

void unlock() { list().mutex.unlock(); }

void close_in_child() {
  for (memory::descriptor* const each : list().all) each->close();
  unlock();
}

descriptor_list& list() {
  static descriptor_list* const the_list = [] {
    ::pthread_atfork([] { list().mutex.lock(); }, unlock, close_in_child);
    return new descriptor_list;  // leaked: handles are dropped after static objects are destroyed
  }();
  return *the_list;
}

/// A note's fixed part; its text follows.
struct note_head {
  std::array<char, 16> magic;
  news what;
  syncyte_status_t status;
  std::uint64_t value;
};

[[noreturn]] void fail_at_end() {
  base::fail(SYNCYTE_ERR_PEER_DIED, "the process that serves the models has ended, or has closed them");
}

}  // namespace

own_descriptor::own_descriptor(memory::descriptor file) {
  auto made = std::make_unique<memory::descriptor>(std::move(file));
  const std::lock_guard lock(list().mutex);
  list().all.insert(made.get());
  held_.reset(made.release());
}

void own_descriptor::unlist::operator()(memory::descriptor* file) const {
  {
    const std::lock_guard lock(list().mutex);
    list().all.erase(file);
  }
  delete file;
}

const memory::descriptor& own_descriptor::get() const {
  base::require(static_cast<bool>(*this), SYNCYTE_ERR_UNSUPPORTED,
                "this object was made before the process was forked, and belongs to the parent process: memory that is "
                "bound can be used, for all else connect to the models again");
  return *held_;
}

request make_request(purpose what, const memory::nonce& secret, const std::string& name, const model_place& place) {
  request result{};
  result.magic = magic;
  result.version = protocol_version;
  result.nonce = secret;
  result.what = what;
  result.place = place;
  std::ranges::copy(name, result.name.begin());
  return result;
}

std::optional<request> read_request(const std::string& bytes) {
  request found{};
  std::memcpy(&found, bytes.data(), std::min(bytes.size(), sizeof(found)));
  if (bytes.size() < sizeof(found.magic) + sizeof(found.version) || found.magic != magic) return std::nullopt;
  base::require(found.version == protocol_version && bytes.size() == sizeof(found), SYNCYTE_ERR_VERSION,
                "the process that serves the models speaks version {}, this one version {}: use one version of Syncyte "
                "in all processes",
                protocol_version, found.version);
  return found.name.back() == '\0' ? std::optional(found) : std::nullopt;
}

note note::of(const base::error& failed) {
  note result{.status = failed.status(), .text = failed.pack()};
  result.text.resize(std::min(result.text.size(), memory::longest_message - sizeof(note_head)));
  return result;
}

std::string note::encode() const {
  const note_head head{magic, what, status, value};
  return std::string(reinterpret_cast<const char*>(&head), sizeof(head)) + text;
}

note note::decode(const std::string& bytes) {
  note_head head{};
  std::memcpy(&head, bytes.data(), std::min(bytes.size(), sizeof(head)));
  base::require(bytes.size() >= sizeof(head) && head.magic == magic, SYNCYTE_ERR_FORMAT,
                "the process at the socket serves no models: it sends a cache, or is of another version of Syncyte");
  return {head.what, head.status, head.value, bytes.substr(sizeof(head))};
}

std::optional<answer> try_to_receive(const own_descriptor& connection) {
  memory::message got = memory::receive_message(connection.get());
  if (got.code == EAGAIN) return std::nullopt;
  memory::check_open_files("receiving a model", got.code);
  if (got.code != 0 || got.bytes.empty()) fail_at_end();
  answer result{note::decode(got.bytes), std::move(got.files)};
  if (result.told.status != SYNCYTE_SUCCESS) throw base::error::unpack(result.told.status, result.told.text);
  return result;
}

answer receive(const own_descriptor& connection, const deadline& until, const std::string& what) {
  for (;;) {
    memory::wait_readable(connection.get(), std::chrono::steady_clock::now() + until.next_look());
    if (auto got = try_to_receive(connection)) return std::move(*got);
    base::require(until.is_ahead(), SYNCYTE_ERR_TIMEOUT, "no answer within {} s: {}", until.seconds(), what);
  }
}

void send(const own_descriptor& connection, const std::string& bytes, const deadline& until,
          std::span<const memory::descriptor> files) {
  for (int code; (code = memory::send_message(connection.get(), bytes, files)) != 0;) {
    if (code != EAGAIN && code != EINTR) {
      while (try_to_receive(connection)) {  // throws the error that the other end has sent before it went
      }
    }
    base::require(until.is_ahead(), SYNCYTE_ERR_TIMEOUT, "the process that serves the models reads nothing for {} s",
                  until.seconds());
    std::this_thread::sleep_for(retry_interval);
  }
}

}  // namespace syncyte::cache
