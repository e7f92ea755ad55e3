#include "comm/halo_transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>

#include "base/strided_copy.hpp"
#include "comm/mpi.hpp"
#include "comm/pieces.hpp"
#include "comm/runtime.hpp"
#include "comm/start_queue.hpp"
#include "syncyte/messages.h"

namespace syncyte::comm {
namespace {

const char* operation_of(halo_way way) { return way == halo_way::exchange ? "halo_exchange" : "halo_accumulate"; }

base::buffer checked_array(const halo& plan, const syncyte_buffer_t* raw) {
  const base::buffer array = base::buffer(raw, "array").require_host().require_dtype(plan.dtype());
  const auto shape = array.shape();
  base::require(std::equal(shape.begin(), shape.end(), plan.shape().begin(), plan.shape().end()), SYNCYTE_ERR_SHAPE,
                "array: shape is {}; expected {}, as the halo was made for", base::shape_text(shape),
                base::shape_text(plan.shape()));
  return array;
}

/// With its scratch memory, for MPI, which may still write to it.
void keep_for_ever(std::shared_ptr<halo> plan) {
  static auto* const kept = new std::vector<std::shared_ptr<halo>>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(plan));
}

}  // namespace

halo_transfer::halo_transfer(std::shared_ptr<halo> plan, const syncyte_buffer_t* array, halo_way way)
    : plan_(std::move(plan)), way_(way), number_(0) {
  base::require(!plan_->busy_.test_and_set(std::memory_order_acquire), SYNCYTE_ERR_BUSY,
                "an exchange of this halo is under way; wait for it, or make a halo for each array");
  number_ = plan_->number_ << 32 | ++plan_->transfers_;
  listing_.emplace(operation_of(way_), plan_->comm()->name(), plan_->transfers_);
  try {
    array_ = checked_array(*plan_, array);
  } catch (...) {
    error_ = base::current_error();
  }
  try {
    start_phase();
  } catch (...) {  // MPI has failed
    end();
    throw;
  }
}

halo_transfer::~halo_transfer() {
  try {
    wait();
  } catch (...) {  // nobody is there to be told
  }
}

/// An accumulate goes through the phases of an exchange from the last to the first.
std::vector<halo_side>& halo_transfer::sides() const {
  const std::size_t count = plan_->phases_.size();
  return plan_->phases_[is_exchange() ? phases_done_ : count - 1 - phases_done_];
}

std::byte* halo_transfer::place_of(const halo_box& box) const {
  std::byte* place = array_->data();
  for (int d = 0; d < array_->ndim(); ++d) place += box.first[static_cast<std::size_t>(d)] * array_->stride(d);
  return place;
}

void halo_transfer::post(const scratch& message, const halo_side& side, int rank, bool is_send) {
  const MPI_Comm comm = plan_->comm()->control();
  const int tag = is_exchange() ? side.tag : side.adjoint_tag;
  in_pieces(static_cast<std::int64_t>(sizeof(halo_header) + side.bytes), [&](std::int64_t first, int count) {
    std::byte* const piece = message.data() + first;
    MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
    check_mpi(is_send ? MPI_Isend(piece, count, MPI_BYTE, rank, tag, comm, &request)
                      : MPI_Irecv(piece, count, MPI_BYTE, rank, tag, comm, &request),
              is_send ? "MPI_Isend" : "MPI_Irecv");
  });
}

void halo_transfer::start_phase() {
  const int self = plan_->comm()->rank();
  requests_.clear();
  for (halo_side& side : sides())
    if (const int sender = sender_of(side); sender != SYNCYTE_NOBODY && sender != self)
      post(side.in, side, sender, false);
  for (halo_side& side : sides()) start_side(side);
}

void halo_transfer::start_side(halo_side& side) {
  const int receiver = receiver_of(side);
  if (receiver == SYNCYTE_NOBODY) return;
  const bool is_own = receiver == plan_->comm()->rank();
  const halo_header header{error_ ? error_->status() : SYNCYTE_SUCCESS, static_cast<std::int32_t>(way_), number_};
  if (!is_own) std::memcpy(side.out.data(), &header, sizeof header);
  if (!error_) {
    const std::span extents(side.ghosts.extents.data(), plan_->shape().size());
    std::byte* const from = place_of(is_exchange() ? side.cells : side.ghosts);
    std::byte* const own = is_own ? place_of(is_exchange() ? side.ghosts : side.cells) : nullptr;
    if (is_own && !is_exchange()) {
      base::add_strided(own, array_->strides(), from, array_->strides(), extents, plan_->dtype());
    } else {
      base::copy_strided(is_own ? own : side.out.data() + sizeof header,
                         is_own ? array_->strides() : std::span<const std::int64_t>(side.dense_strides), from,
                         array_->strides(), extents, plan_->element_bytes());
    }
    if (!is_exchange()) base::zero_strided(from, array_->strides(), extents, plan_->element_bytes());
  }
  if (!is_own) post(side.out, side, receiver, true);
}

void halo_transfer::check_header(const halo_header& got, int sender) {
  if (error_) return;
  const auto name = [](std::int32_t way) { return operation_of(static_cast<halo_way>(way)); };
  if (got.number != number_ || got.way != static_cast<std::int32_t>(way_)) {
    error_ = base::error(SYNCYTE_ERR_MISMATCH,
                         fmt::format("rank {} is in {} number {} of halo {}, this rank in {} number {} of halo {}; "
                                     "expected all ranks to use their halos in the same order",
                                     sender, name(got.way), got.number & 0xffffffff, got.number >> 32,
                                     operation_of(way_), number_ & 0xffffffff, number_ >> 32));
  } else if (got.verdict != SYNCYTE_SUCCESS) {
    error_ = base::error(got.verdict, fmt::format("rank {}, a neighbour, has failed with {}, as its own message says",
                                                  sender, base::status_name(got.verdict)));
  }
}

void halo_transfer::finish_side(halo_side& side) {
  const int sender = sender_of(side);
  if (sender == SYNCYTE_NOBODY || sender == plan_->comm()->rank()) return;
  halo_header got;
  std::memcpy(&got, side.in.data(), sizeof got);
  check_header(got, sender);
  if (error_) return;
  const std::span extents(side.ghosts.extents.data(), plan_->shape().size());
  const std::byte* const elements = side.in.data() + sizeof got;
  if (is_exchange())
    base::copy_strided(place_of(side.ghosts), array_->strides(), elements, side.dense_strides, extents,
                       plan_->element_bytes());
  else
    base::add_strided(place_of(side.cells), array_->strides(), elements, side.dense_strides, extents, plan_->dtype());
}

void halo_transfer::finish_phase() {
  for (halo_side& side : sides()) finish_side(side);
}

/// Whether all messages of the phase have ended.
bool halo_transfer::is_complete(bool may_wait) {
  int done = 0;
  const auto count = static_cast<int>(requests_.size());
  check_mpi(MPI_Testall(count, requests_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
  if (done != 0 || !may_wait) return done != 0;
  const watchdog_scope watched(operation_of(way_), plan_->comm()->name(), plan_->transfers_);
  if (any_unposted()) {  // another rank may have to wait for it before it sends
    poll_until([&] {
      check_mpi(MPI_Testall(count, requests_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
      return done != 0;
    });
  }
  check_mpi(MPI_Waitall(count, requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  return true;
}

bool halo_transfer::go_on(bool may_wait) {
  while (phases_done_ < plan_->phases_.size()) {
    if (!is_complete(may_wait)) return false;
    finish_phase();
    if (++phases_done_ < plan_->phases_.size()) start_phase();
  }
  return true;
}

/// This transfer is over, and the halo free for the next one.
void halo_transfer::end() {
  has_ended_ = true;
  listing_.reset();
  plan_->busy_.clear(std::memory_order_release);
}

/// MPI has ended, or is about to; the halo stays busy.
void halo_transfer::give_up() {
  has_ended_ = true;
  listing_.reset();
  keep_for_ever(plan_);
  base::fail(SYNCYTE_ERR_NOT_INITIALISED, "Syncyte was finalised before this {} was complete; wait for it first",
             operation_of(way_));
}

bool halo_transfer::finish(bool may_wait) {
  if (has_ended_) return true;
  if (!is_started()) give_up();
  try {
    if (!go_on(may_wait)) return false;
  } catch (...) {  // MPI has failed
    end();
    throw;
  }
  end();
  if (error_) throw *error_;
  return true;
}

bool halo_transfer::test() {
  if (finish(false)) return true;
  if (any_unposted()) progress_starts();
  return false;
}

void halo_transfer::wait() { finish(true); }

}  // namespace syncyte::comm
