// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kv/key_range.hpp"
#include "kv/table.hpp"

namespace syncyte::kv {

/// What a home tells a node's agent about a key, in one session, in order.
enum class home_message : std::uint8_t {
  grant,   ///< the main copy is yours; the record follows
  recall,  ///< give the main copy back
  refuse,  ///< you do not get the main copy
};

/// Where the main copies of one rank's keys are: at home, or at another node, whose agent asked for the key. Only the
/// home decides; one thread uses it, the one that serves the rank's requests. While a key is elsewhere, the home keeps
/// its last value.
///
/// | | at home | away | recalled |
/// |---|---|---|---|
/// | acquire by another node | grant; refused if damaged; a wish while operations wait | a wish; recall | a wish |
/// | acquire by the holder | (it has none) | INTERNAL | INTERNAL |
/// | acquire by the home's own node | refused: it is there | a wish; recall | a wish |
/// | give back by the holder | INTERNAL | at home | at home, or away to the first wish |
/// | give back by another node | INTERNAL | INTERNAL | INTERNAL |
/// | operation | done here | forwarded | waits |
/// | forwarded operation bounces | done here | waits: it is on its way back | waits |
/// | death of the holder's agent | (it has none) | lost | lost; wishes are refused |
///
/// Operations that found the key elsewhere are counted until they are done: a key that has come back is granted again
/// only when there are none, so that they are done, and a worker's operations stay in order.
class key_directory {
 public:
  enum class place { at_home, away, recalled, lost };
  struct message {
    int node;
    home_message what;
    std::int64_t slot;
  };

  /// `slots`: those of this rank, whose values are in `values`. `own_node`: the node of this rank. is_dead(node): of
  /// the node's agent.
  key_directory(table values, key_range slots, int own_node, std::function<bool(int)> is_dead);

  place find(std::int64_t slot) const;
  /// The node that has a key that is not at home.
  int holder(std::int64_t slot) const;

  /// A node asks for a key; false: try again later.
  bool acquire(int node, std::int64_t slot);
  /// The holder gives a key back, with its values; an empty span: it cannot, because a rank died while it wrote them.
  void give_back(int node, std::int64_t slot, std::span<const std::byte> values);

  /// An operation waits for a key, until it is done.
  void add_waiting(std::int64_t slot);
  void remove_waiting(std::int64_t slot);

  /// Takes a key that is lost back home, with the last value that the home knows.
  void restore(std::int64_t slot);

  /// Whether progress(), look_for_deaths() and take_messages() have nothing to do.
  bool is_idle() const { return to_grant_.empty() && sides_.empty() && messages_.empty(); }
  /// Grants keys that could not be granted before; true if it did something.
  bool progress();
  /// Refuses wishes for keys whose holder has died.
  void look_for_deaths();
  /// Messages to send, in this order.
  std::vector<message> take_messages() { return std::exchange(messages_, {}); }
  std::span<const std::byte> values_of(std::int64_t slot) const { return values_.values_of(slot); }

 private:
  struct side {
    std::deque<int> wishes;  // nodes
    int waiting = 0;
  };

  std::uint32_t& entry(std::int64_t slot);
  std::uint32_t entry_of(std::int64_t slot) const;
  void tell(int node, home_message what, std::int64_t slot) { messages_.push_back({node, what, slot}); }
  void set_away(std::int64_t slot, int node);
  bool grant(int node, std::int64_t slot);
  void recall(std::int64_t slot);
  bool pass_on(std::int64_t slot, side& of);
  void serve_wishes(std::int64_t slot);
  void refuse_wishes(std::int64_t slot);
  void forget_if_unused(std::int64_t slot);

  table values_;
  key_range slots_;
  int own_node_;
  std::function<bool(int)> is_dead_;
  std::vector<std::uint32_t> entries_;            // one for each key; empty until the first key moves
  std::unordered_map<std::int64_t, side> sides_;  // of keys with wishes or waiting operations
  std::vector<std::int64_t> to_grant_;            // keys at home with wishes
  std::vector<message> messages_;
};

}  // namespace syncyte::kv
