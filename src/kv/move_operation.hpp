// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace syncyte::kv {

/// Requests that move keys. Their items are slots of the home rank, counted from its first one. They go through the
/// fabric's reserved caller: none of them waits for another request. Those that are sent to a rank together are sent in
/// the order of their numbers: a node gives a key back, or ends its copy, before it asks for it again, and a home
/// recalls what it has granted.
enum class move_operation : std::uint16_t {
  // To a home rank, at the object of operations on keys; the first argument is the node.
  give_back = 4,       ///< the main copy; data: values
  give_back_none = 5,  ///< it is lost: a rank died while it wrote the values
  share = 6,           ///< as give_back, and the node keeps a copy; data: values
  keep = 7,            ///< the home asked for the main copy, and it stays
  pushes = 8,          ///< pushes to a copy; data: their number and pushes
  end_copy = 9,        ///< the last ones; data: pushes
  end_copy_none = 10,  ///< the same without pushes
  acquire = 11,        ///< the node wants the main copy: a worker localizes the key
  intend = 12,         ///< the node wants the key: a worker intends to use it
  renew = 13,  ///< the item is the number of barriers: answered by `renewed` when all copies of the node are fresh
  // To an agent, at the object of agents; the first argument is the home rank.
  grant = 14,       ///< the main copy; data: values
  grant_copy = 15,  ///< a copy; data: values
  refresh = 16,     ///< the present value, for a copy, with the node's pushes up to a number; data: number, values
  recall = 17,      ///< give the main copy, or the pushes to the copy, back
  invalidate = 18,  ///< the same for a copy, because of an operation: ask again if a worker intends to use it
  ask_back = 19,    ///< give the main copy back, unless a worker of yours intends to use it
  refuse = 20,      ///< you get nothing
  renewed = 21,
  put_off = 33,  ///< as refuse, and intents of this key get nothing for some time
  // To the agent of the worker's own node, by a common caller: the items are slots of any rank; the first argument is
  // the worker's rank.
  localize = 22,
  begin_window = 23,  ///< of an intent; the second argument is its number among those of the rank
  end_windows = 24,   ///< the items are their numbers
  // The same; the item says nothing.
  settle = 25,        ///< answered when all that is asked for is granted or refused
  look = 26,          ///< at dirty copies
  send_pushes = 27,   ///< answered when all pushes to copies are in main copies
  renew_copies = 28,  ///< the item is the number of barriers: answered when all copies are fresh
  // To a home rank of the worker's own node, by a common caller; the item says nothing.
  changed = 29,  ///< changed_keys has keys
  // To a home rank or an agent: requests of several operations above, see joined_moves.
  several = 32,
  // To a home rank, by a common caller: the answer has a number for each key, as std::int32_t.
  locate = 30,      ///< the rank at whose node it is
  adopt_last = 31,  ///< 1: it was lost with its node, and the home's last value is its value now
};

/// Such as "grant copy".
const char* name_of(move_operation what);
/// Name of a request to a home or an agent: as above or, for an operation on values, "pull".
const char* name_of_request(std::uint16_t operation);

}  // namespace syncyte::kv
