// SPDX-License-Identifier: BSD-3-Clause
#include "kv/move_operation.hpp"

#include <iterator>

namespace syncyte::kv {

const char* name_of(move_operation what) {
  switch (what) {
    case move_operation::give_back:
      return "give back";
    case move_operation::give_back_none:
      return "give back none";
    case move_operation::share:
      return "share";
    case move_operation::keep:
      return "keep";
    case move_operation::pushes:
      return "pushes";
    case move_operation::end_copy:
      return "end copy";
    case move_operation::end_copy_none:
      return "end copy none";
    case move_operation::acquire:
      return "acquire";
    case move_operation::intend:
      return "intend";
    case move_operation::renew:
      return "renew";
    case move_operation::grant:
      return "grant";
    case move_operation::grant_copy:
      return "grant copy";
    case move_operation::refresh:
      return "refresh";
    case move_operation::recall:
      return "recall";
    case move_operation::invalidate:
      return "invalidate";
    case move_operation::ask_back:
      return "ask back";
    case move_operation::refuse:
      return "refuse";
    case move_operation::put_off:
      return "put off";
    case move_operation::renewed:
      return "renewed";
    case move_operation::localize:
      return "localize";
    case move_operation::begin_window:
      return "begin window";
    case move_operation::end_windows:
      return "end windows";
    case move_operation::settle:
      return "settle";
    case move_operation::look:
      return "look";
    case move_operation::send_pushes:
      return "send pushes";
    case move_operation::renew_copies:
      return "renew copies";
    case move_operation::changed:
      return "changed";
    case move_operation::several:
      return "several";
    case move_operation::locate:
      return "locate";
    case move_operation::adopt_last:
      return "adopt last";
  }
  return "unknown";
}

const char* name_of_request(std::uint16_t operation) {
  static constexpr const char* on_values[] = {"pull", "push", "set"};
  if (operation >= 1 && operation <= std::size(on_values)) return on_values[operation - 1];
  return name_of(static_cast<move_operation>(operation));
}

}  // namespace syncyte::kv
