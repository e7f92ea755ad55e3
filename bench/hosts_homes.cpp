// SPDX-License-Identifier: BSD-3-Clause
// Compares the keys that the busiest home of a store serves with the mean of all homes, for each kind of homes. Keys
// have a Zipf distribution: the i-th key, from 1, is drawn with a probability proportional to 1 / i.
//
// The store's counters say which keys a rank asked for at other ranks. All ranks use the same keys. So each home serves
// all ranks as many keys as its own rank, which are those that its rank did not ask for elsewhere.

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "paired.hpp"
#include "store_program.hpp"
#include "syncyte/syncyte.hpp"

namespace {

using namespace syncyte::bench;

constexpr std::int64_t keys = 200000, length = 16, batch_keys = 1000;
constexpr int rounds = 7, batches_of_round = 20;

using key_list = std::vector<std::int64_t>;
using value_list = std::vector<float>;

class zipf {
 public:
  zipf() : sums_(keys) {
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] = 1 / static_cast<double>(i + 1);
    std::partial_sum(sums_.begin(), sums_.end(), sums_.begin());
  }

  key_list batch(std::mt19937_64& random) const {
    std::uniform_real_distribution<double> any(0, sums_.back());
    key_list result(batch_keys);
    for (std::int64_t& key : result)
      key = std::upper_bound(sums_.begin(), sums_.end() - 1, any(random)) - sums_.begin();
    return result;
  }

 private:
  std::vector<double> sums_;  // of the keys up to this one
};

/// Keys that homes have served in a round.
struct served_keys {
  double by_busiest = 0, mean = 0;
};

/// A store with one kind of homes, and its worker on this rank.
class user {
 public:
  user(const syncyte::communicator& world, syncyte::store_homes homes)
      : world_(world), store_(world, keys, length, {.homes = homes}), worker_(store_.worker()) {}

  /// Pulls and pushes the batches of one round. Collective.
  served_keys run_round(const zipf& draw, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    value_list values(batch_keys * length);
    const std::int64_t before = local_keys();
    for (int i = 0; i < batches_of_round; ++i) {
      const key_list batch = draw.batch(random);
      worker_.pull(batch, values);
      worker_.push(batch, values);
    }
    worker_.barrier();
    const double mine = static_cast<double>(world_.size() * (local_keys() - before));
    served_keys result;
    MPI_Allreduce(&mine, &result.by_busiest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &result.mean, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    result.mean /= world_.size();
    return result;
  }

 private:
  std::int64_t local_keys() const {
    const auto counts = worker_.info();
    return counts.pulled_keys + counts.pushed_keys - counts.remote_keys;
  }

  const syncyte::communicator& world_;
  syncyte::store store_;
  syncyte::store_worker worker_;
};

void run(const syncyte::communicator& world) {
  struct kind {
    const char* name;
    syncyte::store_homes homes;
    std::optional<double> goal;
  };
  const std::array<kind, 3> kinds{{{"cyclic", syncyte::store_homes::cyclic, 1.5},
                                   {"hash", syncyte::store_homes::hash, 1.5},
                                   {"block", syncyte::store_homes::block, std::nullopt}}};
  const zipf draw;
  std::deque<user> users;
  for (const kind& each : kinds) users.emplace_back(world, each.homes);
  std::array<std::vector<served_keys>, 3> measured;
  for (int round = 0; round <= rounds; ++round)
    for (std::size_t i = 0; i < users.size(); ++i)
      measured[i].push_back(users[i].run_round(draw, static_cast<std::uint64_t>(round)));
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto of = [&](double served_keys::* which) -> round_figure {
      return [&, which](int round) { return 1e-3 * (measured[i][static_cast<std::size_t>(round)].*which); };
    };
    report_figures({"store: keys served by the busiest of " + std::to_string(world.size()) +
                        " homes, Zipf distribution, homes: " + kinds[i].name,
                    "thousand keys", "mean of the homes", "lower", kinds[i].goal},
                   of(&served_keys::by_busiest), of(&served_keys::mean), rounds);
  }
}

}  // namespace

int main() { run_with_stores(run); }
