#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "collectives/calls.hpp"
#include "collectives/checks.hpp"
#include "collectives/extras.hpp"
#include "collectives/moves.hpp"
#include "collectives/started_collective.hpp"
#include "comm/collective.hpp"

namespace syncyte::collectives {

/// A collective is described once, by a class, and has two forms, blocking and started:
///
///     class some_collective {
///      public:
///       /// Everything that can fail on this rank alone, and the facts that all ranks must share.
///       some_collective(comm::agreement& terms, form how, <what the caller gives>);
///       /// After the agreement: moves the data, by moves<blocking_calls>, <posted_calls> or <local_calls>.
///       template <class Moves> void move(Moves& by);
///       /// Stores the result once the data has been moved.
///       void finish();
///     };
///
/// A blocking one may have a member `void compare(comm::collective_call&)`, which agrees on more before data moves.

/// The blocking form.
template <class Collective, class... Given>
void run(comm::communicator& comm, const char* operation, const extras& extras, Given&&... given) {
  comm::collective_call call(comm, operation);
  std::optional<Collective> made;
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    made.emplace(call, form::blocking, std::forward<Given>(given)...);
    add_facts(call, extras);
  });
  call.agree();
  const auto move_by = [&](auto calls) {
    moves by(calls);
    made->move(by);
  };
  if (comm.is_alone()) {
    move_by(local_calls(comm));
  } else {
    if constexpr (requires { made->compare(call); }) made->compare(call);
    move_by(blocking_calls(comm));
  }
  made->finish();
}

/// The started form's data. The communicator lives as long as its started_collective, which owns this.
template <class Collective>
class started_data final : public data_operation {
 public:
  template <class... Given>
  explicit started_data(comm::agreement& terms, Given&&... given)
      : collective_(terms, form::started, std::forward<Given>(given)...) {}

  void post(posted_calls& pending) override {
    moves by(pending);
    collective_.move(by);
  }
  void finish() override { collective_.finish(); }

 private:
  Collective collective_;
};

/// The started form.
template <class Collective, class... Given>
started_t start(const std::shared_ptr<comm::communicator>& comm, const char* operation, const extras& extras,
                Given&&... given) {
  return start_collective(comm, operation, [&](comm::agreement& terms) {
    if (extras.error) throw *extras.error;
    auto made = std::make_unique<started_data<Collective>>(terms, std::forward<Given>(given)...);
    add_facts(terms, extras);
    return made;
  });
}

}  // namespace syncyte::collectives
