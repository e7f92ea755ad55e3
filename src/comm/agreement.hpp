// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "comm/communicator.hpp"

namespace syncyte::comm {

/// An error that all ranks of a collective got; its message names the ranks.
class agreed_error : public base::error {
 public:
  using base::error::error;

  int own_rank = -1;  // this rank's number in the communicator, if all of its ranks got the error
};

/// A rank's error as a number in an agreement: the error's status, and at least 1; 0 without an error.
std::uint32_t error_code_of(const std::optional<base::error>& error);

/// Rank whose error is reported on all ranks: the one with the highest error code; ties go to the lowest rank.
int reporting_rank(std::span<const std::uint32_t> error_codes);

/// The error that all ranks get; `packed` is the reporting rank's (base::error::pack()), `rank` this rank.
agreed_error shared_error(std::span<const std::uint32_t> error_codes, const std::string& packed, const char* operation,
                          const std::string& comm_name, int rank);

/// The facts of one rank, exchanged only after their hashes differ. Names are not sent: the same operation has the same
/// ones on all ranks.
struct fact_record {
  static constexpr std::size_t most_values = 128;
  static constexpr std::size_t text_bytes = 128;
  char operation[48];
  char text[text_bytes];  // of the fact that is a text, as messages show it
  std::uint64_t sequence;
  std::uint64_t count;  // of all facts
  std::uint64_t hash;   // of all facts, those beyond values included
  std::int64_t values[most_values];
};

/// One rank's side of the agreement that comes before a collective moves data: whether its local checks went well, and
/// the facts that all ranks must share. The vote has one form for all operations; the ranks' votes are reduced by
/// MPI_MAX. `operation` must be a string literal.
class agreement {
 public:
  /// Subject of a fact, for an error's fields; without an argument it is the fact's name. Messages show the axis in
  /// place of the name's {}.
  struct subject {
    const char* argument = nullptr;
    int axis = -1;
    int ndim = 0;  // dimensions of the array; without an axis the value is one of its axes
  };

  using vote_t = std::array<std::uint64_t, 3>;  // error code and a further bit, hash of the facts, its complement
  enum class outcome { agreed, failed, differ };

  agreement(communicator& comm, const char* operation) : comm_(comm), operation_(operation) {}

  communicator& comm() const { return comm_; }
  const char* operation() const { return operation_; }

  /// Runs a local step and keeps its error for the agreement; skipped if an earlier step failed.
  template <class Step>
  void attempt(Step&& step) {
    if (!error_) error_ = base::error_of(std::forward<Step>(step));
  }

  /// Whether no attempt has failed on this rank.
  bool is_well() const { return !error_; }
  void set_error(base::error error) { error_ = std::move(error); }
  const std::optional<base::error>& error() const { return error_; }

  /// A number that must be equal on all ranks; `name` must outlive the call, or keep_names().
  void fact(const char* name, std::int64_t value) { add({name, value, nullptr, {}}); }
  void fact(const char* name, std::int64_t value, const subject& about) { add({name, value, nullptr, about}); }

  /// A fact whose numbers have names: an element type, a reduction.
  void named_fact(const char* name, std::int64_t value, const char* (*name_of)(std::int32_t)) {
    add({name, value, name_of, {}});
  }

  /// The name of the object that the call makes (`kind`: "tensor") must be equal on all ranks, or empty on all of them:
  /// programs that make objects in different orders would take one for another. Call it at most once.
  void name_fact(const char* kind, const std::string& name);

  /// This rank's vote. `sequence` is the operation's number on its communicator, 0 if ranks may differ in it. The bits
  /// of all ranks are or-ed; collective_call tells by them that a rank has dropped something.
  vote_t vote(std::uint64_t sequence, bool bit) const;
  /// `highest`: in each place of the votes, the highest number of all ranks.
  static outcome outcome_of(const vote_t& highest);
  static bool bit_of(const vote_t& highest) { return (highest[0] & 1) != 0; }

  /// Copies the facts' names, which are the caller's.
  void keep_names();

  fact_record record(std::uint64_t sequence) const;
  /// Names what the ranks differ in, and the odd ranks.
  agreed_error mismatch(std::span<const fact_record> all) const;

 private:
  struct named_value {
    const char* name;
    std::int64_t value;
    const char* (*name_of)(std::int32_t);  // may be null
    subject about;
  };

  struct object_name {
    std::size_t fact;   // number of the fact
    std::string title;  // "name of tensor number 2"
    std::string shown;  // the name as messages show it
  };

  static constexpr std::size_t usual_facts = 40;  // nearly all operations have at most as many, and need no memory

  void add(const named_value& fact);
  const named_value& fact_at(std::size_t i) const { return i < usual_facts ? facts_[i] : further_[i - usual_facts]; }
  std::uint64_t hash_of(std::uint64_t sequence) const;
  base::error_fields difference(std::string what, std::string values) const;
  std::optional<base::error_fields> difference_in_fact(std::span<const fact_record> all, std::size_t number) const;
  base::error_fields first_difference(std::span<const fact_record> all) const;

  communicator& comm_;
  const char* operation_;
  std::size_t fact_count_ = 0;
  std::array<named_value, usual_facts> facts_;
  std::vector<named_value> further_;
  std::unique_ptr<char[]> kept_names_;
  std::unique_ptr<object_name> object_name_;  // null: there is no such fact
  std::optional<base::error> error_;
};

/// Counts that must be equal on all ranks, as facts; the names must outlive the call.
void add_counts(agreement& terms, std::span<const std::int64_t> counts, const char* sum_name, const char* hash_name);

/// One fact for each value of an argument that is a list with an entry per dimension.
template <class Values>
void add_facts(agreement& terms, const char* name, const char* argument, const Values& values) {
  const auto count = static_cast<int>(std::size(values));
  for (int i = 0; i < count && i < SYNCYTE_MAX_NDIM; ++i)
    terms.fact(name, static_cast<std::int64_t>(values[static_cast<std::size_t>(i)]), {argument, i, count});
}

}  // namespace syncyte::comm
