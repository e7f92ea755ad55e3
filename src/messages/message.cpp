// SPDX-License-Identifier: BSD-3-Clause
#include "messages/message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/hash.hpp"
#include "base/overlap.hpp"
#include "base/strided_copy.hpp"
#include "comm/dead_ranks.hpp"
#include "comm/departures.hpp"
#include "mpi/call.hpp"
#include "mpi/communicators.hpp"
#include "mpi/large_counts.hpp"
#include "mpi/memory_kinds.hpp"
#include "mpi/process.hpp"
#include "mpi/progress.hpp"
#include "mpi/thread_guard.hpp"
#include "watchdog/interrupts.hpp"
#include "watchdog/long_wait.hpp"
#include "watchdog/scope.hpp"

namespace syncyte::messages {
namespace {

constexpr std::size_t inline_bytes = 8192;  // most bytes of envelope and elements that are sent as one piece of memory

envelope envelope_of(const base::buffer& buffer, std::int64_t label) {
  envelope result{buffer.dtype(), buffer.ndim(), label, {}};
  const auto shape = buffer.shape();
  const std::size_t named = shape.size() <= result.extents.size() ? shape.size() : result.extents.size() - 1;
  std::copy_n(shape.begin(), named, result.extents.begin());
  if (named < shape.size()) {
    const auto rest = shape.subspan(named);
    result.extents.back() = static_cast<std::int64_t>(XXH3_64bits(rest.data(), rest.size_bytes()));
  }
  return result;
}

std::string text_of(const envelope& letter) {
  const std::size_t room = letter.extents.size();
  const auto dimensions = static_cast<std::size_t>(std::max(letter.ndim, 0));
  const bool is_whole = dimensions <= room;
  const std::span<const std::int64_t> extents(letter.extents.data(), is_whole ? dimensions : room - 1);
  return fmt::format("{} of shape {}{}", base::dtype_name(letter.dtype), base::shape_text(extents),
                     is_whole ? "" : fmt::format(" and {} more extents", dimensions - extents.size()));
}

MPI_Aint address_of(const void* place) {
  MPI_Aint result = 0;
  MPI_Get_address(place, &result);
  return result;
}

/// One MPI type of envelope and elements, at their distances from `origin`. Large blocks express counts beyond an int.
class letter_type {
 public:
  letter_type(MPI_Aint origin, const void* head, const void* elements, std::size_t bytes) {
    constexpr std::size_t block = std::size_t{1} << 30;
    const auto blocks = static_cast<int>(bytes / block);
    const int lengths[] = {static_cast<int>(sizeof(envelope)), blocks, static_cast<int>(bytes % block)};
    const MPI_Aint first = address_of(elements) - origin;
    const MPI_Aint places[] = {address_of(head) - origin, first, first + static_cast<MPI_Aint>(block) * blocks};
    MPI_Datatype large = MPI_DATATYPE_NULL;
    mpi::check(MPI_Type_contiguous(static_cast<int>(block), MPI_BYTE, &large), "MPI_Type_contiguous");
    const MPI_Datatype types[] = {MPI_BYTE, large, MPI_BYTE};
    mpi::check(MPI_Type_create_struct(3, lengths, places, types, &type_), "MPI_Type_create_struct");
    MPI_Type_free(&large);
    mpi::check(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~letter_type() { MPI_Type_free(&type_); }  // MPI keeps it for as long as a message needs it
  letter_type(const letter_type&) = delete;
  letter_type& operator=(const letter_type&) = delete;

  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

void copy_envelope(const memory::place& target, const memory::place& source) {
  if (target.memory == SYNCYTE_MEMORY_HOST && source.memory == SYNCYTE_MEMORY_HOST)
    std::memcpy(target.data, source.data, sizeof(envelope));
  else
    memory::copy_now(target, source, sizeof(envelope));
}

int mpi_tag(const message_peer& peer) {
  if (peer.channel == 0) return peer.tag == SYNCYTE_ANY ? MPI_ANY_TAG : peer.tag;
  return comm::channel_tag(peer.tag, peer.channel);
}

int mpi_rank(int rank) {
  if (rank == SYNCYTE_ANY) return MPI_ANY_SOURCE;
  return rank == SYNCYTE_PROC_NULL ? MPI_PROC_NULL : rank;
}

const message_peer& checked_peer(const comm::communicator& comm, const message_peer& peer, const char* argument,
                                 bool may_be_any) {
  const bool is_special = peer.rank == SYNCYTE_PROC_NULL || (may_be_any && peer.rank == SYNCYTE_ANY);
  base::expect(is_special || (peer.rank >= 0 && peer.rank < comm.size()), SYNCYTE_ERR_ARGUMENT, argument, peer.rank,
               "0 to {}, {}or SYNCYTE_PROC_NULL ({})", comm.size() - 1, may_be_any ? "SYNCYTE_ANY (-1) " : "",
               SYNCYTE_PROC_NULL);
  base::expect((may_be_any && peer.tag == SYNCYTE_ANY) || (peer.tag >= 0 && peer.tag <= comm::highest_tag()),
               SYNCYTE_ERR_ARGUMENT, "tag", peer.tag, "0 to {}{}", comm::highest_tag(),
               may_be_any ? ", or SYNCYTE_ANY (-1)" : "");
  base::expect(peer.channel >= 0 && peer.channel < comm::channels, SYNCYTE_ERR_ARGUMENT, "options->channel",
               peer.channel, "0 to {}", comm::channels - 1);
  base::expect(peer.tag != SYNCYTE_ANY || peer.channel == 0, SYNCYTE_ERR_ARGUMENT, "tag", "SYNCYTE_ANY",
               "a tag: only channel 0 has SYNCYTE_ANY");
  return peer;
}

base::buffer checked_elements_of(const syncyte_buffer_t* raw, int room) {
  const base::buffer buffer(raw, "array");
  base::expect(room == 0 || room == SYNCYTE_MESSAGE_ROOM, SYNCYTE_ERR_ARGUMENT, "options->room", room,
               "0 or SYNCYTE_MESSAGE_ROOM ({})", SYNCYTE_MESSAGE_ROOM);
  if (buffer.memory() == SYNCYTE_MEMORY_HOST) return buffer;
  if (room != 0)
    mpi::require_taken(buffer);
  else
    memory::require_device(buffer.memory(), buffer.device());
  if (buffer.elements() > 0 && !buffer.is_contiguous()) [[unlikely]]
    base::refuse(SYNCYTE_ERR_UNSUPPORTED,
                 {.object = "array",
                  .argument = "layout",
                  .ndim = buffer.ndim(),
                  .value = fmt::format("strided, of shape {}", base::shape_text(buffer.shape())),
                  .expected = "a contiguous array, because it is in device memory"});
  return buffer;
}

buffer_in_flight::use use_of(message::direction way) {
  return way == message::direction::out ? buffer_in_flight::read : buffer_in_flight::written;
}

}  // namespace

message::message(std::shared_ptr<comm::communicator> comm, const syncyte_buffer_t* raw, const message_peer& peer,
                 direction way, int room)
    : comm_(std::move(comm)),
      direction_(way),
      peer_(checked_peer(*comm_, peer, way == direction::out ? "dest" : "source", way == direction::in)),
      buffer_(checked_elements_of(raw, room)),
      is_in_room_(room != 0 && buffer_.is_contiguous() && buffer_.elements() > 0) {
  if (way == direction::in) buffer_.require_writable();
  if (has_memory()) require_not_in_flight(buffer_, use_of(way));
  if (is_inline()) {
    packed_ = memory::scratch(inline_bytes);
  } else if (!is_in_room_) {
    envelope_ = std::make_unique<envelope>();
    if (!buffer_.is_contiguous() || is_on_device()) packed_ = memory::scratch(buffer_.bytes());
  }
  if (way == direction::in) return;
  copy_elements();
  envelope written = envelope_of(buffer_, peer_.label);
  copy_envelope(head(), {&written, SYNCYTE_MEMORY_HOST, 0});
}

std::unique_ptr<message> message::send(std::shared_ptr<comm::communicator> comm, const syncyte_buffer_t* raw,
                                       const message_peer& peer, int room) {
  auto made = std::make_unique<message>(std::move(comm), raw, peer, direction::out, room);
  made->start();
  return made;
}

std::unique_ptr<message> message::receive(std::shared_ptr<comm::communicator> comm, const syncyte_buffer_t* raw,
                                          const message_peer& peer, int room) {
  auto made = std::make_unique<message>(std::move(comm), raw, peer, direction::in, room);
  made->start();
  return made;
}

message::~message() {
  if (request_ == MPI_REQUEST_NULL) return;
  try {
    const watchdog::scope watched(operation(), title(), 0);
    int is_done = 0;
    mpi::poll_until(
        [&] { return !mpi::is_started() || ask(&is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS || is_done != 0; });
    if (is_done == 0) abandon();
  } catch (...) {  // out of memory, or a rank has died meanwhile: what MPI may still use stays
    static_cast<void>(envelope_.release());
    static_cast<void>(new (std::nothrow) memory::scratch(std::move(packed_)));
  }
}

/// Syncyte has ended before the message has, or a rank has died. Cancels a receive where MPI can still be called; MPI
/// keeps the memory of a message that cannot be cancelled.
void message::abandon() {
  int is_done = 0;
  if (!mpi::is_forked_child() && !mpi::knows_death() && !mpi::mpi_is(MPI_Finalized)) {
    if (direction_ == direction::in) MPI_Cancel(&request_);
    ask(&is_done, MPI_STATUS_IGNORE);
  }
  request_ = MPI_REQUEST_NULL;
  listed_.reset();
  if (is_done != 0) return;
  mpi::keep_for_ever(std::make_shared<memory::scratch>(std::move(packed_)));
  mpi::keep_for_ever(std::shared_ptr<envelope>(std::move(envelope_)));
}

/// MPI_Test. MPICH ends the receive of a message that this rank has already sent to itself at once, and forgets its
/// communicator: the first MPI_Test then reports a message that is too long to the error handler of MPI_COMM_SELF.
int message::ask(int* is_done, MPI_Status* status) {
  if (!std::exchange(may_be_here_, false)) return MPI_Test(&request_, is_done, status);
  const mpi::errors_returned of_self(MPI_COMM_SELF);
  return MPI_Test(&request_, is_done, status);
}

/// Whether the message reads or writes memory of the caller's.
bool message::has_memory() const { return buffer_.elements() > 0 && peer_.rank != SYNCYTE_PROC_NULL; }

bool message::is_on_device() const { return buffer_.memory() != SYNCYTE_MEMORY_HOST; }

bool message::is_inline() const { return !is_in_room_ && sizeof(envelope) + buffer_.bytes() <= inline_bytes; }

std::byte* message::payload() const {
  if (is_inline()) return packed_.data() + sizeof(envelope);
  return packed_.data() != nullptr ? packed_.data() : buffer_.data();
}

memory::place message::head() const {
  if (is_in_room_) return {buffer_.data() - sizeof(envelope), buffer_.memory(), buffer_.device()};
  return {is_inline() ? static_cast<void*>(packed_.data()) : envelope_.get(), SYNCYTE_MEMORY_HOST, 0};
}

/// Copies the elements between the buffer and the memory that MPI uses, where these differ.
void message::copy_elements() {
  if (payload() == buffer_.data() || buffer_.elements() == 0) return;
  if (is_on_device()) {
    const memory::place packed{payload(), SYNCYTE_MEMORY_HOST, 0};
    const memory::place elements{buffer_.data(), buffer_.memory(), buffer_.device()};
    const bool is_send = direction_ == direction::out;
    return memory::copy_now(is_send ? packed : elements, is_send ? elements : packed, buffer_.bytes());
  }
  const auto dense = base::dense_strides(buffer_.shape(), buffer_.element_bytes());
  if (direction_ == direction::out)
    base::copy_strided(payload(), dense, buffer_.data(), buffer_.strides(), buffer_.shape(), buffer_.element_bytes());
  else
    base::copy_strided(buffer_.data(), buffer_.strides(), payload(), dense, buffer_.shape(), buffer_.element_bytes());
}

void message::post(void* data, int count, MPI_Datatype type) {
  const int rank = mpi_rank(peer_.rank);
  const int tag = mpi_tag(peer_);
  const MPI_Comm comm = peer_.channel == 0 ? comm_->messages() : comm_->control();
  if (direction_ == direction::out)
    mpi::check(MPI_Isend(data, count, type, rank, tag, comm, &request_), "MPI_Isend");
  else
    mpi::check(MPI_Irecv(data, count, type, rank, tag, comm, &request_), "MPI_Irecv");
  may_be_here_ = direction_ == direction::in && (peer_.rank == SYNCYTE_ANY || peer_.rank == comm_->rank());
}

void message::start() {
  const mpi::thread_guard guard(operation());
  const bool is_send = direction_ == direction::out;
  const std::size_t bytes = sizeof(envelope) + buffer_.bytes();
  // Room for any short message: a receiver that expects a shorter one can still say what it got.
  if (is_inline()) return post(packed_.data(), static_cast<int>(is_send ? bytes : inline_bytes), MPI_BYTE);
  void* const first = head().data;
  if (is_in_room_ && bytes <= static_cast<std::size_t>(mpi::piece_limit()))
    return post(first, static_cast<int>(bytes), MPI_BYTE);
  // MPI looks at the address that it is given to see what memory this is: not at MPI_BOTTOM.
  const letter_type type(is_in_room_ ? address_of(first) : 0, first, payload(), buffer_.bytes());
  post(is_in_room_ ? first : MPI_BOTTOM, 1, type.get());
}

void message::require_buffers_apart(const message& sent, const message& received) {
  if (!sent.has_memory() || !received.has_memory()) return;
  base::expect(!base::share_memory(sent.buffer_, received.buffer_), SYNCYTE_ERR_ARGUMENT, "recv_array",
               "memory that is sent too", "{}", base::separate_memory);
}

void message::list_buffer() {
  const bool is_copied = direction_ == direction::out && payload() != buffer_.data();
  if (has_memory() && !is_copied) listed_.emplace(buffer_, use_of(direction_));
}

envelope message::check_received(int code, const MPI_Status& status) const {
  envelope got;
  copy_envelope({&got, SYNCYTE_MEMORY_HOST, 0}, head());
  const envelope expected = envelope_of(buffer_, got.label);
  const auto from = [&] { return fmt::format("the message from rank {} with tag {}", peer_.rank, peer_.tag); };
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  if (error_class == MPI_ERR_TRUNCATE)
    base::fail(SYNCYTE_ERR_MISMATCH, "{} is longer than expected, which was {}", from(), text_of(expected));
  mpi::check(code, "MPI_Wait");
  MPI_Count bytes = 0;
  MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  base::require(bytes >= static_cast<MPI_Count>(sizeof got), SYNCYTE_ERR_MISMATCH,
                "{} has {} bytes; expected one that Syncyte has sent", from(), static_cast<long long>(bytes));
  if (got != expected)
    base::refuse(SYNCYTE_ERR_MISMATCH,
                 {.argument = from(), .ndim = SYNCYTE_MAX_NDIM, .value = text_of(got), .expected = text_of(expected)});
  return got;
}

void message::finish(int code, const MPI_Status& status) {
  if (direction_ == direction::out) return mpi::check(code, "MPI_Isend");
  if (peer_.rank == SYNCYTE_PROC_NULL) return mpi::check(code, "MPI_Irecv");  // nothing arrives
  peer_.rank = status.MPI_SOURCE;
  if (peer_.channel == 0) peer_.tag = status.MPI_TAG;
  peer_.label = check_received(code, status).label;
  copy_elements();
}

bool message::test() {
  if (request_ == MPI_REQUEST_NULL) return true;
  if (!mpi::is_started()) {
    abandon();
    base::fail(SYNCYTE_ERR_NOT_INITIALIZED,
               "Syncyte was finalized before this message was complete; wait for it first");
  }
  if (mpi::knows_death()) {
    abandon();
    comm::fail_by_death(*comm_);
  }
  int done = 0;
  MPI_Status status;
  const int code = ask(&done, &status);
  if (done == 0 && code == MPI_SUCCESS) {
    if (mpi::needs_progress()) mpi::progress_all();
    return false;
  }
  request_ = MPI_REQUEST_NULL;
  listed_.reset();
  finish(code, status);
  return true;
}

std::string message::title() const {
  const char* const word = direction_ == direction::out ? "to" : "from";
  const std::string rank = peer_.rank == SYNCYTE_ANY ? "any rank" : fmt::format("rank {}", peer_.rank);
  const std::string tag = peer_.tag == SYNCYTE_ANY ? "any tag" : fmt::format("tag {}", peer_.tag);
  return fmt::format("{}, {} {}, {}", comm_->name(), word, rank, tag);
}

/// The other rank may have departed; a message that it had sent before still arrives.
class message::peer_wait final : public watchdog::long_wait {
 public:
  explicit peer_wait(message& waiting) : message_(waiting) {}

 private:
  void examine(std::optional<watchdog::scope>& scope) override {
    if (!scope) scope.emplace(message_.operation(), message_.title(), 0);
    if (has_lasted(message_.direction_ == direction::out ? message_.buffer_.bytes() : 0))
      message_.abandon_if_departed();
  }
  void on_death() override {
    message_.abandon();
    comm::fail_by_death(*message_.comm_);
  }

  message& message_;
};

/// The rank whose departure leaves this message without its other side; -1 if there is none.
int message::departed_peer() const {
  if (peer_.rank == SYNCYTE_PROC_NULL || peer_.rank == comm_->rank()) return -1;
  if (peer_.rank != SYNCYTE_ANY) return comm::has_departed(*comm_, peer_.rank) ? peer_.rank : -1;
  for (int rank = 0; rank < comm_->size(); ++rank)
    if (rank != comm_->rank() && !comm::has_departed(*comm_, rank)) return -1;
  return comm::first_departed(*comm_);
}

/// MPI keeps the memory of a message to a departed rank, which it cannot take back.
void message::abandon_if_departed() {
  const int rank = departed_peer();
  if (rank < 0) return;
  if (direction_ == direction::out) abandon();
  if (direction_ == direction::in && !cancel()) return;
  throw comm::departed_error(*comm_, rank, operation());
}

/// Cancels a receive; false if its message has arrived, or is on its way.
bool message::cancel() {
  MPI_Status status;
  int is_done = 0;
  int is_cancelled = 0;
  MPI_Request_get_status(request_, &is_done, MPI_STATUS_IGNORE);
  if (is_done != 0) return false;
  MPI_Cancel(&request_);
  MPI_Request_get_status(request_, &is_done, &status);
  if (is_done == 0) return false;
  MPI_Test_cancelled(&status, &is_cancelled);
  if (is_cancelled == 0) return false;
  MPI_Wait(&request_, MPI_STATUS_IGNORE);
  listed_.reset();
  return true;
}

/// Ends a message whose wait was interrupted; a receive that cannot be cancelled arrives soon.
void message::cancel_or_abandon() noexcept {
  if (request_ == MPI_REQUEST_NULL) return;
  try {
    if (direction_ == direction::out) return abandon();
    if (!cancel()) mpi::poll_until([&] { return test(); });
  } catch (...) {  // its wait has been interrupted: no caller gets its error
  }
}

void message::wait_or_abandon(std::initializer_list<message*> messages) {
  try {
    for (message* each : messages) each->wait();
  } catch (const watchdog::interrupted&) {
    for (message* each : messages) each->cancel_or_abandon();
    throw;
  }
}

void message::wait() {
  const mpi::thread_guard guard(operation());
  if (test()) return;
  peer_wait wait(*this);
  if (mpi::needs_progress()) return watchdog::poll_until([&] { return test(); }, wait);
  watchdog::poll_mpi_until([&] { return test(); }, wait);
}

}  // namespace syncyte::messages
