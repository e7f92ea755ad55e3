#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "comm/communicator.hpp"
#include "comm/watchdog.hpp"

namespace syncyte::comm {

/// An error that all ranks of a collective got; its message names the ranks.
class agreed_error : public base::error {
  using base::error::error;
};

/// Tells all ranks of `comm` the error of the rank with the highest status, of several the lowest. Collective; at least
/// one rank must have an error. `comm_name` names the communicator in the message.
[[noreturn]] void share_error(MPI_Comm comm, const std::optional<base::error>& mine, const char* operation,
                              const std::string& comm_name);

/// What a rank says of its error in an agreement: 0 where there is none. Any status counts, also one that is no code.
std::uint32_t verdict_of(const std::optional<base::error>& error);

/// One collective operation, from its local checks to its agreement:
///
///     collective_call call(comm, "tensor_create", collective_call::lifecycle);
///     call.attempt([&] { ... everything that can fail on this rank alone ... });
///     call.fact("dtype", dtype);
///     call.agree();      // throws the same error on all ranks, or succeeds on all
///     ... move data ...
///
/// While it lives the communicator is busy: a second thread gets SYNCYTE_ERR_BUSY. `operation` must be a string
/// literal.
class collective_call {
 public:
  enum kind {
    data,       // SYNCYTE_CHECK=off skips the agreement
    lifecycle,  // always agrees, and frees what all ranks have dropped
    last        // as lifecycle, and agrees also where the ranks have made different numbers of calls before
  };

  collective_call(communicator& comm, const char* operation, kind how = data);
  ~collective_call();
  collective_call(const collective_call&) = delete;
  collective_call& operator=(const collective_call&) = delete;

  communicator& comm() const { return comm_; }
  const char* operation() const { return operation_; }

  /// Number of this collective on its communicator, equal on all ranks once they have agreed.
  std::uint64_t sequence() const { return sequence_; }

  /// Runs a local step and keeps its error for the agreement; skipped if an earlier step failed.
  template <class Step>
  void attempt(Step&& step) {
    if (error_) return;
    try {
      std::forward<Step>(step)();
    } catch (...) {
      error_ = base::current_error();
    }
  }

  /// Whether no attempt has failed on this rank.
  bool is_well() const { return !error_; }
  void set_error(base::error error) { error_ = std::move(error); }

  /// A number that must be equal on all ranks; `name` must outlive the call. At most 40 of them.
  void fact(const char* name, std::int64_t value);

  /// As fact(), of a number that has a name: an element type, a reduction.
  void named_fact(const char* name, std::int64_t value, const char* (*name_of)(std::int32_t));

  /// All ranks learn whether all are well and share the facts. Throws agreed_error on all ranks, or on none. May be
  /// called again after further attempts and facts.
  void agree();

 private:
  static constexpr std::size_t max_facts = 40;
  struct named_value {
    const char* name;
    std::int64_t value;
    const char* (*name_of)(std::int32_t);  // may be null
  };
  struct record;

  std::uint64_t hash() const;
  [[noreturn]] void explain_mismatch() const;
  record make_record() const;

  communicator& comm_;
  const char* operation_;
  kind kind_;
  std::uint64_t sequence_;
  std::size_t fact_count_ = 0;
  std::array<named_value, max_facts> facts_;
  std::optional<base::error> error_;
  watchdog_scope watched_;
};

}  // namespace syncyte::comm
