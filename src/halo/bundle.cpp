// SPDX-License-Identifier: BSD-3-Clause
#include "halo/bundle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/hash.hpp"
#include "base/overlap.hpp"
#include "collectives/block_arrays.hpp"
#include "comm/collective_call.hpp"
#include "comm/control_tags.hpp"
#include "distribution/neighbourhood.hpp"

namespace syncyte::halo {
namespace {

using distribution::route;
using distribution::shipment;

constexpr std::size_t bits = 64;
constexpr std::array<const char*, 5> fact_names = {"depth", "the mask of fields 0 to 63",
                                                   "the mask of fields 64 to 127", "the mask of fields 128 to 191",
                                                   "the mask of fields 192 to 255"};

constexpr std::size_t masks_bits = (fact_names.size() - 1) * bits;
using masks = std::array<std::uint64_t, masks_bits / bits>;

/// The fields that take part, as neighbours compare them: a bit for each of the first 256 fields, to which others are
/// added by a hash of their numbers.
masks masks_of(const std::vector<bool>& only) {
  masks result{};
  for (std::size_t number = 0; number < only.size(); ++number) {
    if (!only[number]) continue;
    const std::uint64_t bit = std::uint64_t{1} << number % bits;
    result[number / bits % result.size()] ^= number < masks_bits ? bit : XXH3_64bits(&number, sizeof number);
  }
  return result;
}

constexpr int any_peer = -1;

/// Keeps transfers out while a bundle changes.
class change {
 public:
  explicit change(transfer_slot& slot) : slot_(slot) { slot_.hold(); }
  ~change() { slot_.give_back(); }
  change(const change&) = delete;
  change& operator=(const change&) = delete;

 private:
  transfer_slot& slot_;
};

/// The places of a field's shipments to or from a peer, behind those of other fields. `first_array`: of the field.
void append_places(std::span<const shipment> all, int peer, const distribution::layout& cut,
                   std::span<const int> blocks, int first_array, std::vector<place>& to) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const shipment& each = all[i];
    if (peer != any_peer && each.peer != peer) continue;
    const auto block = std::ranges::lower_bound(blocks, each.block) - blocks.begin();
    place result{first_array + static_cast<int>(block), {each.offset, each.count}};
    for (std::size_t axis = 0; axis < result.box.first.size(); ++axis) result.box.first[axis] += cut.ghosts().low[axis];
    result.turn = static_cast<std::int64_t>(i);
    to.push_back(result);
  }
}

}  // namespace

std::shared_ptr<bundle> bundle::create(std::shared_ptr<comm::communicator> comm,
                                       const std::optional<base::error>& error) {
  comm::collective_call call(*comm, "bundle_create", comm::collective_call::always_agrees);
  std::shared_ptr<bundle> made;
  call.attempt([&] {
    if (error) throw *error;
    made.reset(new bundle(comm, call.sequence()));
    made->set_phases(std::vector<phase>(1));
  });
  call.agree();
  return made;
}

const char* bundle::name_of(operation way) const {
  switch (way) {
    case operation::exchange:
      return "bundle_exchange";
    case operation::accumulate:
      return "bundle_accumulate";
    default:
      return "bundle_sum";
  }
}

std::size_t bundle::field_of(const std::string& name) const {
  const auto found = std::ranges::find(fields_, name, &field::name);
  base::expect(found != fields_.end(), SYNCYTE_ERR_ARGUMENT, "name", "\"" + name + "\"", "a field of the bundle");
  return static_cast<std::size_t>(found - fields_.begin());
}

field bundle::checked_field(field_description asked) const {
  if (asked.error) throw *asked.error;
  base::expect(!asked.name.empty(), SYNCYTE_ERR_ARGUMENT, "name", "empty", "a name");
  base::expect(std::ranges::find(fields_, asked.name, &field::name) == fields_.end(), SYNCYTE_ERR_ARGUMENT, "name",
               "\"" + asked.name + "\"", "one that no field of the bundle has");
  base::expect(asked.layout->comm() == comm(), SYNCYTE_ERR_ARGUMENT, "layout",
               "a layout of " + asked.layout->comm()->name(), "one of {}, as the bundle", comm()->name());
  const distribution::layout& cut = asked.layout->cut();
  distribution::require_neighbours(cut);
  field result{std::move(asked.name), asked.layout, asked.dtype, {}, {}, {}, {}};
  result.arrays = collectives::checked_arrays({cut, asked.arrays, "arrays"}, comm()->rank(), asked.dtype);
  const std::int64_t depth = distribution::widest_ghosts(cut);
  result.halos.emplace(depth, distribution::find_halo(cut, comm()->rank(), depth));
  result.adjoints.emplace(depth, distribution::find_adjoint(cut, comm()->rank(), depth));
  result.copies = distribution::find_copies(cut, comm()->rank());
  require_apart(result.arrays, result.name);
  return result;
}

/// Throws SYNCYTE_ERR_ARGUMENT for constant memory, or memory that one of the arrays and another array have in common.
void bundle::require_apart(std::span<const base::buffer> arrays, const std::string& name) const {
  collectives::require_targets(arrays);
  for (const field& other : fields_) {
    if (other.name == name) continue;
    for (const base::buffer& theirs : other.arrays)
      for (const base::buffer& ours : arrays)
        base::expect(!base::share_memory(theirs, ours), SYNCYTE_ERR_ARGUMENT, "arrays",
                     "memory of field \"" + other.name + "\" too", "{}", base::separate_memory);
  }
}

void bundle::add(field_description asked) {
  comm::collective_call call(*comm(), "bundle_add", comm::collective_call::always_agrees);
  std::vector<field> fields;
  phase sides;
  std::optional<change> changing;
  call.attempt([&] {
    changing.emplace(slot());
    fields = fields_;
    fields.push_back(checked_field(asked));
    sides = sides_for(fields);
  });
  call.name_fact("field", asked.name);
  call.named_fact("dtype", asked.dtype, base::dtype_name);
  if (asked.layout) call.fact("hash of the layout", collectives::hash_of(asked.layout->cut()));
  call.agree();
  fields_ = std::move(fields);
  std::vector<phase> phases;
  phases.push_back(std::move(sides));
  set_phases(std::move(phases));
  current_.reset();
}

void bundle::set_arrays(const std::string& name, std::span<const syncyte_buffer_t> arrays) {
  const change changing(slot());
  field& changed = fields_[field_of(name)];
  std::vector<base::buffer> others =
      collectives::checked_arrays({changed.layout->cut(), arrays, "arrays"}, comm()->rank(), changed.dtype);
  require_apart(others, name);
  changed.arrays = std::move(others);
}

/// Sides with memory for the messages of any operation of all fields.
plan::phase bundle::sides_for(std::span<const field> fields) const {
  std::map<int, std::array<std::size_t, 6>> bytes;  // by peer
  for (const field& each : fields) {
    const route &halo = each.halos.rbegin()->second, &adjoint = each.adjoints.rbegin()->second;
    const std::array<std::span<const shipment>, 6> all = {halo.sends,       halo.receives,     adjoint.sends,
                                                          adjoint.receives, each.copies.sends, each.copies.receives};
    for (std::size_t kind = 0; kind < all.size(); ++kind)
      for (const shipment& part : all[kind])
        bytes[part.peer][kind] +=
            static_cast<std::size_t>(distribution::volume({{}, part.count})) * base::dtype_size(each.dtype) +
            place_alignment;
  }
  phase result;
  for (const auto& [peer, sums] : bytes) {
    side side{};
    side.receive_from = side.send_to = peer;
    side.tag = side.adjoint_tag = comm::control_tag(number() * 2 * SYNCYTE_MAX_NDIM);
    side.room = std::ranges::max(sums);
    side.out = memory::scratch(sizeof(header) + side.room);
    side.in = memory::scratch(sizeof(header) + side.room);
    result.push_back(std::move(side));
  }
  return result;
}

std::int64_t bundle::widest() const {
  std::int64_t result = 0;
  for (const field& each : fields_) result = std::max(result, distribution::widest_ghosts(each.layout->cut()));
  return result;
}

bundle::setting bundle::checked_setting(const bundle_request& asked) const {
  if (asked.error) throw *asked.error;
  setting result{asked.way, 0, asked.only};
  if (!asked.has_only) result.only.assign(fields_.size(), true);
  base::expect(result.only.size() == fields_.size(), SYNCYTE_ERR_SHAPE, "only",
               std::to_string(result.only.size()) + " entries", "{}, one for each field", fields_.size());
  if (result.way == operation::sum) return result;
  base::expect(asked.depth >= 0 && asked.depth <= widest(), SYNCYTE_ERR_ARGUMENT, "depth", asked.depth,
               "0 to {}, the ghosts that the fields have", widest());
  result.depth = asked.depth == 0 ? widest() : asked.depth;
  return result;
}

std::vector<base::buffer> bundle::arrays() const {
  std::vector<base::buffer> result;
  for (const field& each : fields_) result.insert(result.end(), each.arrays.begin(), each.arrays.end());
  return result;
}

/// All arrays, with others in place of those that take part.
std::vector<base::buffer> bundle::arrays_with(std::span<const syncyte_buffer_t> others, const setting& wanted) const {
  std::size_t taken = 0;
  std::vector<base::buffer> result, replaced;
  for (std::size_t number = 0; number < fields_.size(); ++number) {
    const field& each = fields_[number];
    if (!wanted.only[number]) {
      result.insert(result.end(), each.arrays.begin(), each.arrays.end());
      continue;
    }
    const std::size_t count = std::min(each.arrays.size(), others.size() - taken);
    const auto own = others.subspan(taken, count);
    for (const base::buffer& array :
         collectives::checked_arrays({each.layout->cut(), own, "arrays"}, comm()->rank(), each.dtype)) {
      result.push_back(array);
      replaced.push_back(array);
    }
    taken += count;
  }
  base::expect(taken == others.size(), SYNCYTE_ERR_ARGUMENT, "count", others.size(),
               "{}, this rank's blocks of the fields that take part", taken);
  collectives::require_targets(replaced);
  return result;
}

std::vector<element_form> bundle::forms() const {
  std::vector<element_form> result;
  for (const base::buffer& each : arrays()) result.push_back({each.ndim(), each.element_bytes()});
  return result;
}

const route& bundle::route_of(field& of, const setting& wanted) const {
  if (wanted.way == operation::sum) return of.copies;
  const distribution::layout& cut = of.layout->cut();
  const std::int64_t depth = std::min(wanted.depth, distribution::widest_ghosts(cut));
  const bool is_adjoint = wanted.way == operation::accumulate;
  auto& known = is_adjoint ? of.adjoints : of.halos;
  if (const auto found = known.find(depth); found != known.end()) return found->second;
  route made = is_adjoint ? distribution::find_adjoint(cut, comm()->rank(), depth)
                          : distribution::find_halo(cut, comm()->rank(), depth);
  return known.emplace(depth, std::move(made)).first->second;
}

/// Tells the sides what to exchange.
void bundle::set_places(const setting& wanted) {
  if (current_ == wanted) return;
  current_.reset();
  cleared_.clear();
  const bool is_adjoint = wanted.way == operation::accumulate;
  phase& sides = phases().front();
  for (side& side : sides) side.cells.clear(), side.ghosts.clear();
  int first_array = 0;
  for (std::size_t number = 0; number < fields_.size(); ++number) {
    field& each = fields_[number];
    const distribution::layout& cut = each.layout->cut();
    const std::span<const int> blocks = cut.blocks_of(comm()->rank());
    if (wanted.only[number]) {
      const route& way = route_of(each, wanted);
      for (side& side : sides) {
        append_places(way.sends, side.send_to, cut, blocks, first_array, is_adjoint ? side.ghosts : side.cells);
        append_places(way.receives, side.send_to, cut, blocks, first_array, is_adjoint ? side.cells : side.ghosts);
      }
      if (is_adjoint) {
        const route& filled = route_of(each, {operation::exchange, wanted.depth, {}});
        append_places(filled.receives, any_peer, cut, blocks, first_array, cleared_);
      }
    }
    first_array += static_cast<int>(each.arrays.size());
  }
  for (side& side : sides) {
    lay_out(side.cells, forms());
    lay_out(side.ghosts, forms());
  }
  current_ = wanted;
}

/// Names the field that only one of the two ranks moves.
std::string bundle::difference(std::size_t fact, const char* name, std::int64_t theirs, int sender,
                               std::int64_t mine) const {
  const bool is_mask = fact >= 2 && fact <= fact_names.size() && fields_.size() <= masks_bits;
  if (!is_mask) return plan::difference(fact, name, theirs, sender, mine);
  const auto differing = static_cast<std::uint64_t>(theirs) ^ static_cast<std::uint64_t>(mine);
  const auto place = static_cast<std::size_t>(std::countr_zero(differing));
  const bool is_theirs = (static_cast<std::uint64_t>(theirs) >> place & 1) != 0;
  return fmt::format(
      "neighbours disagree: field \"{}\" takes part on rank {}, but not on rank {}; expected equal masks",
      fields_[(fact - 2) * bits + place].name, is_theirs ? sender : comm()->rank(),
      is_theirs ? comm()->rank() : sender);
}

std::unique_ptr<transfer> start(const std::shared_ptr<bundle>& on, const bundle_request& asked) {
  std::array<syncyte_fact_t, fact_names.size() + bundle::most_caller_facts> terms{};
  collectives::caller_facts caller;
  bundle::setting wanted{};
  caller.error = base::error_of([&] {
    base::expect(asked.facts.size() <= bundle::most_caller_facts, SYNCYTE_ERR_ARGUMENT, "options->fact_count",
                 asked.facts.size(), "0 to {} for a bundle", bundle::most_caller_facts);
    wanted = on->checked_setting(asked);
  });
  for (std::size_t i = 0; i < fact_names.size(); ++i) terms[i] = {sizeof(syncyte_fact_t), fact_names[i], 0};
  terms[0].value = wanted.depth;
  const masks moved = masks_of(wanted.only);
  for (std::size_t i = 0; i < moved.size(); ++i) terms[i + 1].value = static_cast<std::int64_t>(moved[i]);
  std::int64_t count = std::ssize(fact_names);
  for (std::int64_t i = 0; i < asked.facts.size() && !caller.error; ++i)
    terms[static_cast<std::size_t>(count++)] = asked.facts[i];
  caller.facts = {count, terms.data(), "facts"};
  return std::make_unique<transfer>(on, asked.way, caller, [&] {
    on->set_places(wanted);
    return asked.arrays ? on->arrays_with(*asked.arrays, wanted) : on->arrays();
  });
}

}  // namespace syncyte::halo
