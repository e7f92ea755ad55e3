#pragma once

#include <cstdint>

#include "base/error.hpp"

namespace syncyte::watchdog {

/// Asks the application whether the wait in progress shall end (it has got a signal): 0 if not.
using interrupt_function = std::int32_t (*)(void* context);

/// Sets the function that long waits of the calling thread ask from now on, in place of any other thread's. Null: none.
void set_interrupt_function(interrupt_function function, void* context);

/// Whether waits of this thread ask.
bool can_be_interrupted() noexcept;

/// Thrown out of a wait, SYNCYTE_ERR_INTERRUPTED: only this rank leaves it.
class interrupted : public base::error {
 public:
  interrupted();
};

/// Asks, if this thread's waits do; not in waits of the function itself. Throws interrupted.
void ask_for_interrupt();

}  // namespace syncyte::watchdog
