// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cache/meeting_place.hpp"
#include "memory/device_system.hpp"
#include "memory/local_socket.hpp"

namespace syncyte::cache {

/// A descriptor that a forked child closes: the other end of a connection then sees the end of this process alone, not
/// that of its children. It is empty in the child.
class own_descriptor {
 public:
  own_descriptor() = default;
  explicit own_descriptor(memory::descriptor file);
  own_descriptor(own_descriptor&&) noexcept = default;
  own_descriptor& operator=(own_descriptor&&) noexcept = default;

  /// Throws SYNCYTE_ERR_UNSUPPORTED in a forked child.
  const memory::descriptor& get() const;
  explicit operator bool() const { return held_ != nullptr && static_cast<bool>(*held_); }

 private:
  struct unlist {
    void operator()(memory::descriptor* file) const;
  };
  std::unique_ptr<memory::descriptor, unlist> held_;
};

// A connection to the server of models serves one purpose. A publication and a binding last as long as theirs: the
// server sees the end of the process, or of the object, as the end of the connection.

enum class purpose : std::uint32_t { hello = 1, publish = 2, bind = 3, remove = 4, list = 5 };

/// Memory that a publication takes.
struct model_place {
  std::uint64_t bytes = 0;
  std::uint32_t is_on_device = 0;
  memory::device_id device{};
  std::uint64_t device_bytes = 0;  // all that the device has
};

/// The first message of a connection.
struct request {
  std::array<char, 16> magic;
  std::uint64_t version;
  memory::nonce nonce;
  purpose what;
  model_place place;           // of a publication
  std::array<char, 256> name;  // of the model; the rest is zero
};

request make_request(purpose what, const memory::nonce& secret, const std::string& name, const model_place& place);

/// The request in a message; nothing if it is none. Throws SYNCYTE_ERR_VERSION.
std::optional<request> read_request(const std::string& bytes);

/// Content of a note.
enum class news : std::uint32_t {
  done = 1,    // the request, or the publication, has succeeded; a binder's has the model's files
  memory = 2,  // from a publisher: the model's files; the first one's size is sealed
  ready = 3    // number of groups that are ready
};

/// Every later message of a connection. A status other than SYNCYTE_SUCCESS is an error, and ends it.
struct note {
  news what = news::done;
  syncyte_status_t status = SYNCYTE_SUCCESS;
  std::uint64_t value = 0;
  std::string text = {};  // of an error: base::error::pack()

  static note of(const base::error& failed);
  std::string encode() const;
  /// Throws SYNCYTE_ERR_FORMAT.
  static note decode(const std::string& bytes);
};

/// A note with its files.
struct answer {
  note told;
  std::vector<memory::descriptor> files;
};

/// The next note, if there is one now. Throws its error, and SYNCYTE_ERR_PEER_DIED at the connection's end.
std::optional<answer> try_to_receive(const own_descriptor& connection);

/// Waits for the next note. Throws SYNCYTE_ERR_TIMEOUT too; `what` names the wait.
answer receive(const own_descriptor& connection, const deadline& until, const std::string& what);

/// Sends a note. Throws SYNCYTE_ERR_PEER_DIED if the other end has gone, SYNCYTE_ERR_TIMEOUT if it reads nothing.
void send(const own_descriptor& connection, const std::string& bytes, const deadline& until,
          std::span<const memory::descriptor> files = {});

}  // namespace syncyte::cache
