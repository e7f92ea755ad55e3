// SPDX-License-Identifier: BSD-3-Clause
#include "kv/changed_keys.hpp"

#include <atomic>
#include <bit>

namespace syncyte::kv {
namespace {

constexpr std::int64_t word_bits = 64;

/// Places in the memory: a word with the number of barriers + 1 once the home is told, words with a bit for each word
/// that follows them, and words with a bit for each key.
constexpr std::int64_t told_word = 0, first_summary = 1;

std::int64_t words_for(std::int64_t bits) { return (bits + word_bits - 1) / word_bits; }

void set_bit(std::uint64_t& word, std::int64_t bit) {
  const std::uint64_t mask = std::uint64_t{1} << bit;
  const std::atomic_ref at(word);
  if ((at.load() & mask) == 0) at.fetch_or(mask);
}

/// Calls visit(number) for each bit that is set, and clears it before.
template <class Visit>
void take_bits(std::uint64_t& word, Visit&& visit) {
  const std::atomic_ref at(word);
  if (at.load() == 0) return;
  std::uint64_t bits = at.exchange(0);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // visit() reads values afterwards
  for (; bits != 0; bits &= bits - 1) visit(std::countr_zero(bits));
}

}  // namespace

std::size_t changed_keys::memory_bytes(std::int64_t keys) {
  const std::int64_t words = words_for(keys);
  return static_cast<std::size_t>(first_summary + words_for(words) + words) * sizeof(std::uint64_t);
}

/// All accesses have one order, with that of the values before them: either take() finds the bit, or add() sees that it
/// was cleared, and the bit above it likewise.
bool changed_keys::add(std::span<const std::int64_t> slots, std::uint64_t barriers) const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::uint64_t* const summary = memory_ + first_summary;
  std::uint64_t* const bits = summary + words_for(words_for(slots_.count));
  for (const std::int64_t slot : slots) {
    const std::int64_t place = slot - slots_.first, word = place / word_bits;
    set_bit(bits[word], place % word_bits);
    set_bit(summary[word / word_bits], word % word_bits);
  }
  std::uint64_t none = 0;
  return is_empty() && std::atomic_ref(memory_[told_word]).compare_exchange_strong(none, barriers + 1);
}

std::uint64_t changed_keys::barriers_or_none() const { return std::atomic_ref(memory_[told_word]).load(); }

std::uint64_t changed_keys::barriers() const {
  const std::uint64_t found = barriers_or_none();
  return found == 0 ? 0 : found - 1;
}

void changed_keys::take(const std::function<void(std::int64_t)>& visit) const {
  std::atomic_ref(memory_[told_word]).exchange(0);
  std::uint64_t* const summary = memory_ + first_summary;
  const std::int64_t words = words_for(words_for(slots_.count));
  for (std::int64_t i = 0; i < words; ++i)
    take_bits(summary[i], [&](int bit) {
      const std::int64_t word = i * word_bits + bit;
      take_bits(summary[words + word], [&](int key) { visit(slots_.first + word * word_bits + key); });
    });
}

}  // namespace syncyte::kv
