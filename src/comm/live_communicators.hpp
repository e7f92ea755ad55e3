#pragma once

#include <functional>

namespace syncyte::comm {

class communicator;

/// The communicators of this process, for the watchdog's thread: a collective stores what it is, and that thread looks.
void enter_live(communicator& comm);
void leave_live(communicator& comm) noexcept;

/// Calls `visit` with each of them; none goes meanwhile.
void visit_live(const std::function<void(communicator&)>& visit);

}  // namespace syncyte::comm
