#include "kv/slab.hpp"

#include <algorithm>
#include <utility>

#include "comm/communicator.hpp"

namespace syncyte::kv {
namespace {

template <class T>
T* begin_of(const std::shared_ptr<comm::node_memory>& memory) {
  return reinterpret_cast<T*>(memory->all().data());
}

}  // namespace

std::shared_ptr<slab> slab::allocate(comm::collective_call& call, std::int64_t keys,
                                     std::span<const std::int64_t> lengths, const std::string& name) {
  auto result = std::make_shared<slab>();
  result->keys_ = keys;
  if (lengths.size() == 1)
    result->length_ = lengths[0];
  else
    result->make_places(call, lengths, name.c_str());
  const key_layout layout = result->layout();
  const auto parts = base::partition::equal(keys, call.comm().size());
  const std::int64_t first = parts.first(call.comm().rank());
  const std::int64_t end = first + parts.count(call.comm().rank());
  const std::size_t pairs = layout.first(end) - layout.first(first);
  result->values_ = comm::node_memory::allocate(call, pairs * sizeof(std::uint64_t), name.c_str());
  result->words_ =
      comm::node_memory::allocate(call, static_cast<std::size_t>(end - first) * sizeof(std::uint64_t), name.c_str());
  return result;
}

/// Makes the places array; the node's first rank allocates and writes it.
void slab::make_places(comm::collective_call& call, std::span<const std::int64_t> lengths, const char* name) {
  const bool is_first = call.comm().node().rank == 0;
  const std::size_t count = static_cast<std::size_t>(keys_) + 1;
  places_ = comm::node_memory::allocate(call, is_first ? count * sizeof(std::int64_t) : 0, name);
  call.attempt([&] {
    if (is_first) std::ranges::copy(key_layout::places(lengths), begin_of<std::int64_t>(places_));
  });
  call.agree();
}

key_layout slab::layout() const {
  if (!places_) return key_layout(keys_, length_);
  return key_layout({begin_of<const std::int64_t>(places_), static_cast<std::size_t>(keys_) + 1});
}

table slab::make_table(key_words::process self) const {
  return {layout(), begin_of<std::uint64_t>(words_), begin_of<std::uint64_t>(values_), std::move(self)};
}

}  // namespace syncyte::kv
