// SPDX-License-Identifier: BSD-3-Clause
// A job whose working set drifts, on two or three hosts: each step pulls a batch of keys, computes for 3 ms and pushes
// the batch. 90 % of a batch's keys are from the rank's working set, the others are random keys.
//
// Four ways to do it take turns, each with a store of its own:
//   plain            pull and push
//   intent           before a step computes, it signals the intent to use the batch of 20 steps later
//   homed            the working set's keys have their homes at the rank
//   ipull ahead      before a step computes, it starts ipull() of the next step's batch, which misses this step's push
//
// On two hosts a key comes from its home or goes there. On three it may go from one host to another that is not its
// home either, and travels twice.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hosts.hpp"
#include "paired.hpp"
#include "store_program.hpp"
#include "syncyte/syncyte.hpp"

namespace {

using namespace syncyte::bench;

constexpr std::int64_t keys = 200000, length = 16;
constexpr std::int64_t working_set = 4000, drift = 40, drawn_keys = 1000, drawn_from_working_set = 900;
constexpr int rounds = 7, steps_of_round = 60, steps_ahead = 20, steps_between_samples = 10;
// Room for all keys that come: the job counts the keys that have to move from its own lists, as if none had to leave.
constexpr std::int64_t foreign_bytes = 64 << 20;
constexpr int filling_steps = 120, warm_up_steps = 20;                // the working set has come in the first ones
constexpr int steps = filling_steps + (1 + rounds) * steps_of_round;  // the first round is a warm-up
constexpr auto compute = std::chrono::milliseconds(3);
constexpr double value_bytes = length * sizeof(float), header_bytes = 24;  // of a key, each time that it travels

using key_list = std::vector<std::int64_t>;
using value_list = std::vector<float>;
using batch_list = std::vector<key_list>;

int this_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int number_of_ranks() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

key_list shuffled_keys(std::uint64_t seed) {
  key_list result(keys);
  std::iota(result.begin(), result.end(), 0);
  std::shuffle(result.begin(), result.end(), std::mt19937_64(seed));
  return result;
}

/// Distinct keys of one step, in random order. `permutation` has the first rank's keys, then those of the next ranks.
key_list make_batch(const key_list& permutation, int rank, int step) {
  std::mt19937_64 random(static_cast<std::uint64_t>(number_of_ranks() * step + rank));
  const std::int64_t part = keys / number_of_ranks();
  const std::int64_t first = rank * part + step * drift % (part - working_set);
  std::uniform_int_distribution<std::int64_t> in_working_set(first, first + working_set - 1), any(0, keys - 1);
  key_list result(drawn_keys);
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] =
        i < drawn_from_working_set ? permutation[static_cast<std::size_t>(in_working_set(random))] : any(random);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  std::shuffle(result.begin(), result.end(), random);
  return result;
}

/// Batches of all ranks, for all steps and for those that are intended ahead of the last ones.
struct all_batches {
  explicit all_batches(const key_list& permutation) : of_rank(static_cast<std::size_t>(number_of_ranks())) {
    for (int rank = 0; rank < number_of_ranks(); ++rank)
      for (int step = 0; step < steps + steps_ahead; ++step)
        of_rank[static_cast<std::size_t>(rank)].push_back(make_batch(permutation, rank, step));
  }
  std::vector<batch_list> of_rank;
};

/// Counts the keys that have to move for each step: a rank uses them, and another rank has used them last, or none has
/// and their home is at another rank.
std::vector<std::int64_t> count_moved_keys(const all_batches& all, std::vector<std::int32_t> ranks) {
  std::vector<std::int64_t> result(all.of_rank[0].size());
  for (std::size_t step = 0; step < result.size(); ++step)
    for (std::int32_t rank = 0; rank < number_of_ranks(); ++rank)
      for (const std::int64_t key : all.of_rank[static_cast<std::size_t>(rank)][step])
        result[step] += std::exchange(ranks[static_cast<std::size_t>(key)], rank) != rank;
  return result;
}

/// Renames keys so that each rank's part of the permutation has its home there.
void rename_to_homes(all_batches& all, const key_list& permutation, const std::vector<std::int32_t>& homes) {
  key_list names = shuffled_keys(6);
  std::stable_sort(names.begin(), names.end(), [&](std::int64_t a, std::int64_t b) {
    return homes[static_cast<std::size_t>(a)] < homes[static_cast<std::size_t>(b)];
  });
  key_list name_of(keys);
  for (std::size_t i = 0; i < names.size(); ++i) name_of[static_cast<std::size_t>(permutation[i])] = names[i];
  for (batch_list& batches : all.of_rank)
    for (key_list& batch : batches)
      for (std::int64_t& key : batch) key = name_of[static_cast<std::size_t>(key)];
}

/// What this host has sent on the network between the hosts.
struct traffic {
  double bytes = 0, packets = 0;
};

traffic sent_traffic() {
  std::ifstream file("/proc/net/dev");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.find("eth0") > colon) continue;
    std::istringstream words(line.substr(colon + 1));
    std::array<double, 10> numbers{};
    for (double& number : numbers) words >> number;
    return {numbers[8], numbers[9]};
  }
  std::fprintf(stderr, "/proc/net/dev has no eth0: this program runs on virtual hosts\n");
  MPI_Abort(MPI_COMM_WORLD, 1);
  return {};
}

/// A barrier in which ranks sleep: one that polls takes processor time from the thread that serves the other rank.
void sleeping_barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), done == 0;)
    std::this_thread::sleep_for(std::chrono::microseconds(200));
}

/// Figures of a round, for each step and host.
struct figures {
  double step_seconds = 0;
  double store_seconds = 0;  // of them in calls of the store
  double local_share = 0;    // of the keys, before their pull
  double bytes = 0, packets = 0;
};

figures mean_of_ranks(const figures& mine) {
  std::array<double, 5> all{mine.step_seconds, mine.store_seconds, mine.local_share, mine.bytes, mine.packets};
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (double& each : all) each /= number_of_ranks();
  return {all[0], all[1], all[2], all[3], all[4]};
}

enum class way { plain, intent, homed, ipull_ahead };

/// The job done in one way.
class job {
 public:
  job(way how, const syncyte::communicator& world, const all_batches& all)
      : how_(how),
        all_(all),
        mine_(all.of_rank[static_cast<std::size_t>(this_rank())]),
        store_(world, keys, length, {.foreign_bytes = foreign_bytes}),
        worker_(store_.worker()),
        first_step_(how == way::intent ? 0 : filling_steps - warm_up_steps),
        step_(first_step_),
        ones_(drawn_keys * length, 1.0f) {
    if (how_ == way::ipull_ahead) start_pull();
    for (int step = 0; how_ == way::intent && step < steps_ahead; ++step) intend(step);
    wait_for_started();
    sleeping_barrier();
    while (step_ < filling_steps) {
      begin_step();
      end_step();
    }
    wait_for_started();
  }

  /// Does the steps of one round. Collective.
  figures run_round() {
    sleeping_barrier();
    const traffic before = sent_traffic();
    double seconds = 0, local_keys = 0, looked_for = 0, looking = 0;
    const double begin = MPI_Wtime();
    for (int i = 0; i < steps_of_round; ++i) {
      if (i % steps_between_samples == 0) {
        looking += seconds_in([&] {
          const auto flags = store_.is_local(batch());
          local_keys += static_cast<double>(std::count(flags.begin(), flags.end(), 1));
          looked_for += static_cast<double>(flags.size());
        });
      }
      seconds += seconds_in([&] { begin_step(); });
      std::this_thread::sleep_for(compute);
      seconds += seconds_in([&] { end_step(); });
    }
    const double all_seconds = MPI_Wtime() - begin - looking;
    wait_for_started();
    sleeping_barrier();
    const traffic after = sent_traffic();
    return mean_of_ranks({all_seconds / steps_of_round, seconds / steps_of_round, local_keys / looked_for,
                          (after.bytes - before.bytes) / steps_of_round,
                          (after.packets - before.packets) / steps_of_round});
  }

  /// Ends the job unless every seventh key has the number of pushes that its batches ask for.
  void verify() {
    value_list expected(keys);
    for (const batch_list& batches : all_.of_rank)
      for (int step = first_step_; step < steps; ++step)
        for (const std::int64_t key : batches[static_cast<std::size_t>(step)])
          ++expected[static_cast<std::size_t>(key)];
    worker_.barrier();  // copies show all pushes
    key_list some;
    for (std::int64_t key = this_rank(); key < keys; key += 7) some.push_back(key);
    value_list found(some.size() * length);
    worker_.pull(some, found);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::int64_t key = some[i / length];
      if (found[i] == expected[static_cast<std::size_t>(key)]) continue;
      std::fprintf(stderr, "way %d: key %lld has value %g after %g pushes of 1\n", static_cast<int>(how_),
                   static_cast<long long>(key), static_cast<double>(found[i]),
                   static_cast<double>(expected[static_cast<std::size_t>(key)]));
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    sleeping_barrier();
  }

 private:
  template <class Calls>
  static double seconds_in(Calls&& calls) {
    const double begin = MPI_Wtime();
    calls();
    return MPI_Wtime() - begin;
  }

  const key_list& batch(int steps_later = 0) const { return mine_[static_cast<std::size_t>(step_ + steps_later)]; }

  void begin_step() {
    if (how_ == way::ipull_ahead) {
      pull_ahead_.wait();
      std::swap(pulled_, pulled_ahead_);
      start_pull(1);
      return;
    }
    pulled_.resize(batch().size() * length);
    worker_.pull(batch(), pulled_);
    if (how_ == way::intent) intend(step_ + steps_ahead);
  }

  void end_step() {
    worker_.push(batch(), std::span(ones_).first(batch().size() * length));
    worker_.advance_clock();
    ++step_;
  }

  void intend(int step) { worker_.intent(mine_[static_cast<std::size_t>(step)], step, step + 1); }

  void start_pull(int steps_later = 0) {
    pulled_ahead_.resize(batch(steps_later).size() * length);
    pull_ahead_ = worker_.ipull(batch(steps_later), pulled_ahead_);
  }

  void wait_for_started() {
    worker_.flush();
    pull_ahead_.wait();
  }

  way how_;
  const all_batches& all_;
  const batch_list& mine_;
  syncyte::store store_;
  syncyte::store_worker worker_;
  const int first_step_;
  int step_;
  value_list pulled_, pulled_ahead_;
  const value_list ones_;
  syncyte::request pull_ahead_;  // into pulled_ahead_
};

void report(const row& what, const round_figure& ours, const round_figure& reference) {
  report_figures(what, ours, reference, rounds);
}

/// The figures of each way and round.
class reporter {
 public:
  explicit reporter(const std::array<std::vector<figures>, 4>& measured) : measured_(measured) {}

  void report_rates() const {
    report({"drift: intent" + link_, "steps/s", "keys at home", "higher", 0.9},
           rate(way::intent, &figures::step_seconds), rate(way::homed, &figures::step_seconds));
    for (const auto& [name, how, goal] : {std::tuple{"keys at home", way::homed, std::optional<double>()},
                                          {"ipull one step ahead", way::ipull_ahead, link_rate() == 0 ? 1.0 : 3.0},
                                          {plain_name_, way::plain, std::nullopt}})
      report({"drift: intent" + link_, "steps/s without compute", name, "higher", goal},
             rate(way::intent, &figures::store_seconds), rate(how, &figures::store_seconds));
  }

  void report_local_accesses() const {
    report({"drift: local accesses with intent" + link_, "of all", "all accesses", "higher", 0.95},
           of(way::intent, &figures::local_share), constant(1));
  }

  /// `moved`: keys that move, for each step.
  void report_bytes(const std::vector<std::int64_t>& moved) const {
    const int travels = number_of_ranks() == 2 ? 1 : 2;
    const auto bytes_of_moved_key = [&, bytes = of(way::intent, &figures::bytes)](int round) {
      const auto first = moved.begin() + filling_steps + round * steps_of_round + 1;  // keys come before their step
      return number_of_ranks() * steps_of_round * bytes(round) /
             static_cast<double>(std::accumulate(first, first + steps_of_round, std::int64_t{0}));
    };
    report({"drift: bytes per moved key" + link_, "B",
            travels == 1 ? "1.3 x (64 B of values and 24 B)" : "1.3 x (twice 64 B of values and 24 B)", "lower", 1.0},
           bytes_of_moved_key, constant(1.3 * travels * (value_bytes + header_bytes)));
    for (const auto& [name, how] : {std::pair{"intent", way::intent}, {"keys at home", way::homed}}) {
      report({"drift: bytes sent with " + std::string(name) + link_, "kB/step", plain_name_, "lower", {}},
             thousands(how, &figures::bytes), thousands(way::plain, &figures::bytes));
      report({"drift: packets sent with " + std::string(name) + link_, "per step", plain_name_, "lower", {}},
             of(how, &figures::packets), of(way::plain, &figures::packets));
    }
  }

 private:
  round_figure of(way how, double figures::* which) const {
    return [this, how, which](int round) {
      return measured_[static_cast<std::size_t>(how)][static_cast<std::size_t>(round)].*which;
    };
  }

  round_figure rate(way how, double figures::* which) const {
    return [seconds = of(how, which)](int round) { return 1 / seconds(round); };
  }

  round_figure thousands(way how, double figures::* which) const {
    return [figure = of(how, which)](int round) { return 1e-3 * figure(round); };
  }

  static round_figure constant(double value) {
    return [=](int) { return value; };
  }

  const std::array<std::vector<figures>, 4>& measured_;
  const std::string link_ =
      ", " + link_name() + (number_of_ranks() == 2 ? "" : ", " + std::to_string(number_of_ranks()) + " hosts");
  const char* const plain_name_ = "plain pull and push";
};

void run(const syncyte::communicator& world) {
  const key_list permutation = shuffled_keys(5);
  const all_batches batches(permutation);
  all_batches homed_batches = batches;
  std::deque<job> jobs;
  const auto homes = syncyte::store(world, keys, 1).owner(permutation);  // in the order of the permutation
  std::vector<std::int32_t> home_of(keys);
  for (std::size_t i = 0; i < homes.size(); ++i) home_of[static_cast<std::size_t>(permutation[i])] = homes[i];
  rename_to_homes(homed_batches, permutation, home_of);
  for (const way how : {way::plain, way::intent, way::homed, way::ipull_ahead})
    jobs.emplace_back(how, world, how == way::homed ? homed_batches : batches);

  std::array<std::vector<figures>, 4> measured;
  for (int round = 0; round <= rounds; ++round)
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const std::size_t turn = round % 2 == 0 ? i : jobs.size() - 1 - i;
      measured[turn].push_back(jobs[turn].run_round());
    }
  for (job& each : jobs) each.verify();
  const reporter rows(measured);
  if (number_of_ranks() == 2) rows.report_rates();  // more ranks than cores measure the scheduler
  rows.report_local_accesses();
  rows.report_bytes(count_moved_keys(batches, home_of));
}

}  // namespace

int main() { run_with_stores(run); }
