// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kv/key_range.hpp"
#include "kv/move_operation.hpp"
#include "kv/table.hpp"

namespace syncyte::kv {

/// Why a node wants a key: a worker localizes it, or intends to use it. An intent takes no key from a node that intends
/// to use it too.
enum class wish : std::uint8_t { localize, intend };

/// Effects of intents on a key: of one node's workers, and of several nodes' at the same time.
enum class intent_effect : std::uint8_t {
  moves_or_copies,  ///< each of several nodes gets a copy, one node the main copy
  moves,            ///< the first of several nodes has the main copy, and there are no copies
  copies,           ///< each node gets a copy
};

/// Time in which intents get no copies of a key that nodes have changed in turn.
inline constexpr std::chrono::seconds time_without_copies{1};

/// The places of one rank's keys. The main copy of a key is at home, or at another node, whose agent asked for it;
/// other nodes may have copies of keys that are at home. Only the home decides; one thread uses it, the one that serves
/// the rank's requests. While a key is elsewhere, the home keeps its last value.
///
/// The main copy; what is not said of "asked back" is as of "away":
///
/// | | at home | away | asked back | recalled |
/// |---|---|---|---|---|
/// | another node localizes it | grant; refused if damaged; a wish while operations wait | a wish; recall | | a wish |
/// | another node intends it | the same, or grant copy: gives_copy() | a wish; ask back | a wish | a wish |
/// | the holder wants it | (it has none) | INTERNAL | | INTERNAL |
/// | the home's own node wants it | refused: it is there | as another node | | a wish |
/// | give back by the holder | INTERNAL | at home | at home, or to the first wish | as asked back |
/// | share by the holder | INTERNAL | shared: the holder has a copy | | the same, and its copy is recalled |
/// | give back, share by others | INTERNAL | INTERNAL | | INTERNAL |
/// | keep by the holder | ignored | ignored | away; wishes by intent are refused | wishes by intent are refused |
/// | keep by another node | ignored: an older answer | ignored | | ignored |
/// | operation | done here | forwarded | | waits |
/// | forwarded operation bounces | done here | waits: it is on its way back | | waits |
/// | death of the holder's agent | (it has none) | lost | lost; wishes are refused | as asked back |
///
/// A key that is lost stays so until a set, or adopt_last: it is at home then. Nodes that ask for it are refused, other
/// operations raise an error.
///
/// Copies of a key that is shared, at home:
///
/// | | the node has no copy | the node has a copy | its copy is recalled |
/// |---|---|---|---|
/// | a node localizes it | a wish; all copies are recalled | INTERNAL | INTERNAL |
/// | a node intends it | grant copy; a wish while operations wait | INTERNAL | INTERNAL |
/// | pushes to the copy | INTERNAL | added; all are stale; give_main_instead() | added; all are stale |
/// | end of the copy | INTERNAL | as pushes; no copy | as pushes; no copy |
/// | pull by a worker of the node | done | recalled; waits | waits |
/// | push by a worker of the node | done; all copies are stale | recalled; waits | waits |
/// | set by any worker | | all copies are recalled; waits | waits |
/// | the copy is stale | | refresh, once the node has taken those before | ignored: it has ended when that comes |
/// | nodes change the key in turn: note_change() | put off for some time | recalled | |
/// | the main copy is damaged | refused | recalled, and its pushes are lost | its pushes are lost |
/// | death of the node's agent | | no copy; its last pushes are lost | as with a copy |
///
/// Operations that found the key elsewhere, or waited for copies, are counted until they are done: a key that has come
/// back is granted again only when there are none, so that they are done, and a worker's operations stay in order.
class key_directory {
 public:
  enum class place { at_home, shared, away, recalled, lost };
  struct message {
    int node;
    move_operation what;
    std::int64_t slot;
    std::vector<std::byte> values = {};  // of grant_copy and refresh
    std::uint8_t number = 0;             // of the node's last pushes, in refresh
  };

  struct node_facts {
    int own;                                        ///< the node of this rank
    std::function<bool(int)> is_dead;               ///< of a node's agent
    std::function<bool(std::int64_t)> is_intended;  ///< whether workers of the own node intend to use a slot's key
    std::function<bool(int)> is_behind;             ///< whether a node has not taken the refreshes that were sent to it
    std::function<std::chrono::nanoseconds()> now;
    intent_effect effect = intent_effect::moves_or_copies;
  };

  /// `slots`: those of this rank, whose values are in `values`.
  key_directory(table values, key_range slots, node_facts nodes);

  place find(std::int64_t slot) const;
  bool is_away(std::int64_t slot) const { return find(slot) != place::at_home && find(slot) != place::shared; }
  /// The node that has a key that is not at home.
  int holder(std::int64_t slot) const;

  /// A node asks for a key; false: try again later.
  bool acquire(int node, std::int64_t slot, wish why);
  /// The holder gives a key back, with its values; an empty span: it cannot, because a rank died while it wrote them.
  void give_back(int node, std::int64_t slot, std::span<const std::byte> values);
  /// The same, and it keeps a copy.
  void share(int node, std::int64_t slot, std::span<const std::byte> values);
  /// A node that was asked to give a key back keeps it.
  void keep(int node, std::int64_t slot);

  /// Pushes to a node's copy, and their number; the last ones, or none, end the copy. False: try again later.
  bool add_pushes(int node, std::int64_t slot, std::uint8_t number, std::span<const std::byte> pushes);
  bool end_copy(int node, std::int64_t slot, std::span<const std::byte> pushes);

  /// Prepares an operation of a worker of a node on a shared key. `done`: it can be done now. `elsewhere`: copies are
  /// in the way, which are recalled. `busy`: try again later.
  access_result prepare(int node, std::int64_t slot, bool replaces);
  /// A node has changed the value of a key: copies are stale, if there are any. If nodes change it in turn, with
  /// barriers between, copies only delay the barriers: they end, and for some time there are none.
  void note_change(int node, std::int64_t slot);
  /// All ranks have passed so many barriers.
  void note_barriers(std::uint64_t count) { barriers_ = std::max(barriers_, count); }
  /// Makes copies of nodes fresh for which is_due(node), but for those that are behind.
  void refresh(const std::function<bool(int)>& is_due);
  /// Whether there are stale copies of nodes that are not behind.
  bool has_refreshes() const;
  bool has_stale_copies(int node) const { return stale_.contains(node); }
  /// The keys of which a node has a stale copy, or had one.
  std::vector<std::int64_t> stale_copies_of(int node) const;
  /// Makes one copy fresh, if it is there and stale, even if the node is behind; false: try again later.
  bool refresh_copy(int node, std::int64_t slot);

  /// An operation waits for a key, until it is done.
  void add_waiting(std::int64_t slot);
  void remove_waiting(std::int64_t slot);

  /// Takes a key that is lost back home, with the last value that the home knows.
  void restore(std::int64_t slot);

  /// Whether progress(), look_for_deaths() and take_messages() have nothing to do.
  bool is_idle() const { return !has_waiting_grants() && sides_.empty() && stale_.empty() && messages_.empty(); }
  /// Whether a key could not be granted because it was being written.
  bool has_waiting_grants() const { return !to_grant_.empty(); }
  /// Grants keys that could not be granted before; true if it did something.
  bool progress();
  /// Refuses wishes for keys whose holder has died, and forgets copies of nodes that have died, and times that are
  /// over.
  void look_for_deaths();
  /// Messages to send, in this order.
  std::vector<message> take_messages() { return std::exchange(messages_, {}); }
  std::span<const std::byte> values_of(std::int64_t slot) const { return values_.values_of(slot); }

 private:
  struct wished {
    int node;
    wish why;
  };
  struct sharer {
    int node;
    bool is_recalled = false, is_stale = false, is_listed = false;  // in stale_
    std::uint8_t received = 0;                                      // number of the last pushes
  };
  struct side {
    std::deque<wished> wishes;
    int waiting = 0;
    std::vector<sharer> sharers = {};
    int pushes_alone = 0;  // messages with pushes of the only sharer, since anybody else changed the key
    int changed_by = -1;   // the node that changed the key last, and the barriers before
    std::uint64_t changed_after = 0;
    int turns = 0;  // how often another node changed the key than before a barrier
    std::optional<std::chrono::nanoseconds> put_off = {};  // no copies until then
  };

  std::uint32_t& entry(std::int64_t slot);
  std::uint32_t entry_of(std::int64_t slot) const;
  void tell(int node, move_operation what, std::int64_t slot) { messages_.push_back({node, what, slot}); }
  void set_away(std::int64_t slot, int node);
  bool grant(const wished& by, std::int64_t slot);
  bool grant_main(int node, std::int64_t slot);
  bool grant_copy(int node, std::int64_t slot);
  bool gives_copy(std::int64_t slot) const;
  sharer* find_sharer(int node, std::int64_t slot);
  sharer& sharer_of(int node, std::int64_t slot);
  void recall_copies(std::int64_t slot, move_operation how, int node);
  bool end_sharing(std::int64_t slot);
  void give_main_instead(std::int64_t slot, side& of);
  void count_turns(int node, std::int64_t slot, side& of);
  bool is_put_off(std::int64_t slot) const;
  void recall_for(const std::deque<wished>& wishes, std::int64_t slot);
  bool pass_on(std::int64_t slot, side& of);
  void serve_wishes(std::int64_t slot);
  template <class Which>
  void refuse_wishes(std::int64_t slot, Which&& which);
  void forget_if_unused(std::int64_t slot);
  static constexpr int every_node = -1;

  table values_;
  key_range slots_;
  node_facts nodes_;
  std::vector<std::uint32_t> entries_;              // one for each key; empty until the first key moves
  std::unordered_map<std::int64_t, side> sides_;    // of keys with wishes, waiting operations or copies
  std::vector<std::int64_t> to_grant_;              // keys at home with wishes, or of which a copy has ended
  std::map<int, std::vector<std::int64_t>> stale_;  // keys of stale copies, by their nodes
  std::vector<message> messages_;
  std::uint64_t barriers_ = 0;
};

}  // namespace syncyte::kv
