// SPDX-License-Identifier: BSD-3-Clause
#include "topology/shared_descriptor.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "memory/handover.hpp"
#include "memory/random_name.hpp"
#include "mpi/small_collectives.hpp"

namespace syncyte::topology {
namespace {

using std::chrono::milliseconds;

/// What the owner tells the other ranks.
struct offer {
  std::array<char, 108> socket{};  // "": there is none
  memory::nonce secret{};
};

/// A socket at which the owner gives its descriptor; the destructor removes its name.
class giving_socket {
 public:
  explicit giving_socket(bool in_folder)
      : name_(in_folder ? memory::temporary_folder() + memory::random_name("/syncyte-", ".socket")
                        : memory::random_name("@syncyte-", "")) {
    told_.secret = memory::random_nonce();
    base::require(name_.size() < told_.socket.size(), SYNCYTE_ERR_UNSUPPORTED,
                  "the name {} is longer than {} bytes; set TMPDIR to a shorter path", name_, told_.socket.size() - 1);
    listener_ = memory::listen_at(name_);
    if (in_folder) remover_ = memory::name_guard(new std::string(name_), {unlink});
    std::ranges::copy(name_, told_.socket.begin());
  }

  const offer& told() const { return told_; }
  /// Gives the file to a process that calls within a millisecond.
  void give(const memory::descriptor& file) {
    if (memory::hand_over(listener_, {&file, 1}, told_.secret, milliseconds(1))) ++given_;
  }
  int given() const { return given_; }

 private:
  std::string name_;
  memory::name_guard remover_;
  memory::descriptor listener_;
  offer told_;
  int given_ = 0;
};

/// One way of sharing; returns whether all ranks have the descriptor.
bool try_to_share(MPI_Comm node, int owner, const memory::descriptor& mine, bool in_folder,
                  descriptor_attempt& result) {
  const bool is_owner = mpi::rank_in(node) == owner;
  std::optional<giving_socket> giver;
  offer told;
  result.error.reset();
  if (is_owner) result.error = base::error_of([&] { told = giver.emplace(in_folder).told(); });
  mpi::bcast(told, owner, node);
  if (!is_owner && !result.file && told.socket[0] != '\0')
    result.error = base::error_of(
        [&] { result.file = memory::receive_from(told.socket.data(), told.secret, milliseconds(10000)); });
  // The owner gives its descriptor until all other ranks have it, or have failed.
  const int has = is_owner || result.file;
  int all = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Iallreduce(&has, &all, 1, MPI_INT, MPI_MIN, node, &request), "MPI_Iallreduce");
  do {
    if (giver && !result.error && giver->given() < mpi::size_of(node) - 1)
      result.error = base::error_of([&] { giver->give(mine); });
    mpi::look_for_deaths();
  } while (!mpi::has_ended(request, "MPI_Iallreduce"));
  return all != 0;
}

}  // namespace

descriptor_attempt share_descriptor(MPI_Comm node, int owner, const memory::descriptor& mine) {
  descriptor_attempt result;
  int is_there = static_cast<bool>(mine);
  mpi::bcast(is_there, owner, node);
  if (is_there == 0 || mpi::size_of(node) == 1) return result;
  if (!try_to_share(node, owner, mine, false, result)) try_to_share(node, owner, mine, true, result);
  return result;
}

}  // namespace syncyte::topology
