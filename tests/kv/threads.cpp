// SPDX-License-Identifier: BSD-3-Clause
// Threads under ThreadSanitizer, each with its own table over the same memory, as processes have. ThreadSanitizer does
// not reorder loads and stores as processors may; it checks that a thread reads plain memory only after a release and
// an acquire. The plain memory here is pages, which a push or a word's version publishes, and counts, which a key's
// lock protects.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "kv/table.hpp"

namespace {

using namespace syncyte;

constexpr int threads = 3, rounds = 30000, batch = 4;
constexpr std::int64_t shared_keys = 3, keys = shared_keys + threads;  // each thread has a key that it alone writes
constexpr std::int64_t length = 5;

std::array<std::uint64_t, keys> words{};
std::vector<std::uint64_t> values(kv::key_layout(keys, length).first(keys));
std::array<std::int64_t, shared_keys> pushed{};  // pushes to each key; the key's lock protects it

using pages = std::vector<std::int64_t>;
std::array<pages, threads> pushed_pages, locked_pages;
std::array<std::uint64_t, threads> versions{};  // words of keys without values
std::atomic<int> failures = 0;

void expect(bool condition, const char* text) {
  if (!condition && failures++ < 10) std::fprintf(stderr, "expected %s\n", text);
}

kv::key_locks::process process_of(int number) {
  return {.number = number, .is_alive = [](int) { return true; }};
}

class user {
 public:
  explicit user(int number)
      : number_(number),
        table_(kv::key_layout(keys, length), words.data(), values.data(), process_of(number)),
        locks_(words.data(), process_of(number)),
        versions_(versions.data(), process_of(number)),
        random_(static_cast<unsigned>(number)) {}

  void storm() {
    for (std::int64_t round = 1; round <= rounds; ++round) {
      push(round);
      pull();
      publish(round);
      find_published();
    }
  }

 private:
  std::int64_t draw(std::int64_t end) { return static_cast<std::int64_t>(random_() % static_cast<unsigned>(end)); }

  /// Pushes to shared keys, which may repeat, writes the next page, and then adds 1 to its own key by a push or a set.
  void push(std::int64_t round) {
    std::array<std::int64_t, batch> list;
    std::array<float, batch * length> more;
    more.fill(1);
    for (auto& key : list) key = draw(shared_keys);
    table_.push(list, more.data());
    for (const auto key : list) count(key);
    page(pushed_pages, round) = round;
    const std::array own{shared_keys + number_};
    if (round % 2 == 0) {
      more.fill(static_cast<float>(round));
      table_.set(own, more.data());
    } else {
      table_.push(own, more.data());
    }
    try_push();
  }

  /// Pushes to shared keys as a thread that must not wait.
  void try_push() {
    std::array<std::int64_t, batch> list;
    std::array<float, batch * length> more;
    more.fill(1);
    for (auto& key : list) key = draw(shared_keys);
    for (std::size_t done = 0; done < batch;)
      done += table_.try_push(std::span(list).subspan(done), reinterpret_cast<const std::byte*>(&more[done * length]),
                              absent_);
    for (const auto key : list) count(key);
  }

  void count(std::int64_t key) {
    locks_.begin_write(key, kv::key_locks::damage::is_refused);
    ++pushed[static_cast<std::size_t>(key)];
    locks_.end_write(key);
  }

  void pull() {
    std::array<std::int64_t, batch> list;
    std::array<float, batch * length> found;
    for (auto& key : list) key = draw(keys);
    const bool may_wait = draw(2) == 0;
    if (may_wait)
      table_.pull(list, found.data());
    else
      while (table_.try_pull(list, reinterpret_cast<std::byte*>(found.data()), absent_) < batch)
        std::this_thread::yield();
    for (std::size_t k = 0; k < batch; ++k) {
      const float* const vector = found.data() + k * length;
      for (int i = 1; i < length; ++i) expect(vector[i] == vector[0], "a vector that is not torn");
      const auto round = static_cast<std::int64_t>(vector[0]);
      if (list[k] >= shared_keys && round > 0)
        expect(page(pushed_pages, round, list[k] - shared_keys) == round, "a page that was pushed");
    }
  }

  /// Writes the next page and publishes it by a word alone, whose version counts the pages.
  void publish(std::int64_t round) {
    page(locked_pages, round) = round;
    versions_.begin_write(number_, kv::key_locks::damage::is_mended);
    versions_.end_write(number_);
  }

  void find_published() {
    const std::int64_t other = draw(threads);
    const auto round = static_cast<std::int64_t>(versions_.begin_read(other));
    if (round > 0) expect(page(locked_pages, round, other) == round, "a page that was published");
  }

  static std::int64_t& page(std::array<pages, threads>& of, std::int64_t round, std::int64_t number) {
    return of[static_cast<std::size_t>(number)][static_cast<std::size_t>(round)];
  }
  std::int64_t& page(std::array<pages, threads>& of, std::int64_t round) const { return page(of, round, number_); }

  std::int64_t number_;
  kv::table table_;
  kv::key_locks locks_, versions_;
  std::minstd_rand random_;
  kv::absent_keys absent_;  // none
};

}  // namespace

int main() {
  for (auto* all : {&pushed_pages, &locked_pages})
    for (pages& each : *all) each.resize(rounds + 1);
  std::vector<std::jthread> running;
  for (int number = 0; number < threads; ++number) running.emplace_back([number] { user(number).storm(); });
  running.clear();  // joins
  const kv::table table(kv::key_layout(keys, length), words.data(), values.data(), process_of(0));
  for (std::int64_t key = 0; key < keys; ++key) {
    std::array<float, length> found;
    table.pull(std::array{key}, found.data());
    const std::int64_t expected = key < shared_keys ? pushed[static_cast<std::size_t>(key)] : rounds;
    for (const float value : found) expect(value == static_cast<float>(expected), "exact sums");
  }
  return failures == 0 ? 0 : 1;
}
