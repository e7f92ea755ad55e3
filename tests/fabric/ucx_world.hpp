// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Workers of the UCX transport on all ranks, connected to each other.

#include <gtest/gtest.h>
#include <mpi.h>
#include <poll.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fabric/module.hpp"
#include "fabric/transport.hpp"

namespace syncyte::test {

inline fabric::transport& ucx() {
  static std::string reason;
  static const std::unique_ptr<fabric::transport> opened = fabric::open_module(fabric::ucx_module, reason);
  if (opened == nullptr) throw std::runtime_error(reason);
  return *opened;
}

inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// Byte `at` of the payload of a sender's message.
inline std::byte expected_byte(std::uint64_t sender, std::uint64_t number, std::size_t at) {
  return static_cast<std::byte>(sender * 31 + number * 7 + at * 3 + at / 251);
}

inline std::shared_ptr<const fabric::message> make_message(std::uint64_t sender, std::uint64_t number,
                                                           std::size_t bytes) {
  fabric::message_header header;
  header.sender = sender;
  header.number = number;
  header.arguments[3] = bytes;
  auto made = std::make_shared<fabric::message>(header, bytes);
  for (std::size_t at = 0; at < bytes; ++at) made->payload()[at] = expected_byte(sender, number, at);
  return made;
}

/// Counts messages of each sender and checks their contents.
class checking_receiver final : public fabric::receiver {
 public:
  void on_message(const fabric::message_header& header, std::span<const std::byte> payload) override {
    ++counts[header.sender];
    if (payload.size() != header.arguments[3]) ++wrong;
    for (std::size_t at = 0; at < payload.size(); ++at) {
      if (payload[at] != expected_byte(header.sender, header.number, at)) {
        ++wrong;
        break;
      }
    }
    if (then) then(header);
  }
  void on_broken(std::uint64_t tag) override { broken.push_back(tag); }

  std::size_t total() const {
    std::size_t sum = 0;
    for (const auto& [sender, count] : counts) sum += static_cast<std::size_t>(count);
    return sum;
  }

  std::map<std::uint64_t, int> counts;
  int wrong = 0;
  std::vector<std::uint64_t> broken;
  std::function<void(const fabric::message_header&)> then;
};

/// Addresses of all ranks' workers.
inline std::vector<std::string> exchange(const std::string& mine) {
  std::vector<int> lengths(static_cast<std::size_t>(world_size()));
  const int length = static_cast<int>(mine.size());
  MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::vector<int> starts;
  int total = 0;
  for (const int each : lengths) {
    starts.push_back(total);
    total += each;
  }
  std::string all(static_cast<std::size_t>(total), '\0');
  MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR, MPI_COMM_WORLD);
  std::vector<std::string> addresses;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    addresses.push_back(all.substr(static_cast<std::size_t>(starts[rank]), static_cast<std::size_t>(lengths[rank])));
  }
  return addresses;
}

/// A worker with links to all ranks, tagged by their ranks.
struct connected_worker {
  connected_worker() : mine(ucx().make_worker(received)), addresses(exchange(mine->address())) {
    for (std::size_t rank = 0; rank < addresses.size(); ++rank) links.push_back(mine->connect(addresses[rank], rank));
  }

  template <class Condition>
  bool progress_until(Condition&& condition, std::chrono::milliseconds limit = std::chrono::seconds(10)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
      if (!mine->progress() && std::chrono::steady_clock::now() > end) return false;
    }
    return true;
  }

  /// Makes progress until all ranks are here.
  void meet() {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    int done = 0;
    while (done == 0) {
      mine->progress();
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
  }

  fabric::link& to(int rank) { return *links[static_cast<std::size_t>(rank)]; }

  checking_receiver received;
  std::unique_ptr<fabric::worker> mine;
  std::vector<std::string> addresses;
  std::vector<std::unique_ptr<fabric::link>> links;
};

inline std::uint64_t id(int rank) { return static_cast<std::uint64_t>(rank); }

/// Sleeps on the worker's descriptor; false after the limit.
inline bool sleep_until_event(fabric::worker& sleeper, int limit_ms) {
  while (!sleeper.arm()) {
    if (sleeper.progress()) return true;
  }
  pollfd event = {sleeper.event(), POLLIN, 0};
  return poll(&event, 1, limit_ms) == 1;
}

}  // namespace syncyte::test
