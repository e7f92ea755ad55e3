// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "base/error.hpp"
#include "collectives/checks.hpp"
#include "halo/plan.hpp"
#include "watchdog/scope.hpp"

namespace syncyte::halo {

/// One exchange, accumulate or sum in flight. A rank whose array is wrong still sends its messages, with a status in
/// place of elements: no neighbour waits for it, and all of them get an error too. Any wait of Syncyte on this rank
/// makes progress of a transfer of several phases: neighbours may wait for the later ones.
class transfer {
 public:
  /// Starts the transfer. prepare() returns the arrays, and may set the sides' places; its errors, as all others, come
  /// at the end. Throws SYNCYTE_ERR_BUSY while another transfer of this halo is in flight. The names of extra facts
  /// must stay until the end.
  transfer(std::shared_ptr<plan> on, operation way, const collectives::caller_facts& caller,
           const std::function<std::vector<base::buffer>()>& prepare);
  ~transfer();  // waits for its end
  transfer(const transfer&) = delete;
  transfer& operator=(const transfer&) = delete;

  /// Whether it has ended; makes progress without waiting. Throws its error at the end, once.
  bool test();
  /// An interrupted wait may be repeated.
  void wait();
  /// wait(), but an interrupt also ends the transfer, and the halo can be used no longer.
  void wait_or_leave();

 private:
  // Private functions are called with the slot's mutex held, except try_finish() and break_off(), which lock it.
  class neighbours_wait;
  /// Ranks whose messages a wait needs.
  struct neighbours {
    std::set<int> ranks;
    bool are_senders = false;  // otherwise they have to receive

    bool operator==(const neighbours&) const = default;
  };
  /// A piece of a message.
  struct posted {
    halo::side* side;
    int rank;  // the neighbour
    MPI_Request request;

    bool is_active() const { return request != MPI_REQUEST_NULL; }
    /// MPI_Test. Each request by itself: MPICH reports errors of several at once to the handler of MPI_COMM_SELF.
    bool has_ended();
  };

  bool make_progress() noexcept;
  bool advance();
  void post_receives();
  void post(side& side, int rank, bool is_send);
  bool receive();
  neighbours awaited() const;
  bool has_arrived(std::size_t phase) const;
  void start_phase();
  void start_side(side& side);
  void finish_side(side& side);
  void check_call(const side& side);
  void pack(const side& side, std::byte* to) const;
  void copy_own(const side& side);
  void store(const place& to, const std::byte* elements, std::span<const std::int64_t> strides);
  void add_all(std::span<side> sides);
  void set_facts(const collectives::caller_facts& caller);
  void check_header(const header& got, int sender);
  void check_facts(const facts& got, int sender);
  bool try_finish();
  bool is_in_flight() const;
  void enter_progress();
  void leave() noexcept;
  void fail() noexcept;
  void end();
  void break_off() noexcept;
  void give_up();
  const base::buffer& array_of(const place& of) const { return arrays_[static_cast<std::size_t>(of.array)]; }
  std::byte* data_of(const place& of) const;
  void clear(const place& of) const;
  std::vector<side>& sides(std::size_t phase) const;
  std::size_t phases() const { return plan_->phases().size(); }

  bool is_adjoint() const { return way_ == operation::accumulate; }
  int sender_of(const side& side) const { return is_adjoint() ? side.send_to : side.receive_from; }
  int receiver_of(const side& side) const { return is_adjoint() ? side.receive_from : side.send_to; }
  const std::vector<place>& outgoing(const side& side) const { return is_adjoint() ? side.ghosts : side.cells; }
  const std::vector<place>& incoming(const side& side) const { return is_adjoint() ? side.cells : side.ghosts; }
  const char* name() const { return plan_->name_of(way_); }

  std::shared_ptr<plan> plan_;
  std::vector<base::buffer> arrays_;
  operation way_;
  std::uint64_t number_;
  facts facts_{};
  std::array<const char*, facts().size()> fact_names_{};
  std::optional<base::error> error_;  // the first one
  bool is_mismatch_ = false;          // a neighbour is in a different call: no phase waits for another
  std::size_t phases_started_ = 0;
  std::size_t phases_done_ = 0;
  std::vector<posted> receives_;  // of all phases
  std::vector<posted> sends_;
  bool is_complete_ = false;
  bool has_ended_ = false;      // and a test or wait has reported it
  std::exception_ptr outcome_;  // MPI's error, or that of a neighbour that has departed
  std::optional<watchdog::started_scope> listing_;
};

}  // namespace syncyte::halo
