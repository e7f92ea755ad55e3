// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Micro benchmarks, by Google Benchmark: units of src/ in one process, beside the bandwidth of its memory.

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace syncyte::bench {

/// Memory of all benchmarks: two halves, neither of which fits the caches.
inline constexpr std::size_t half_bytes = std::size_t{128} << 20;
std::byte* first_half();
std::byte* second_half();

/// Fills the halves with ordinary numbers of all types. Returns the bytes that the copy of the first to the second
/// reads and writes in a second of processor time.
double renew_memory();

/// Random numbers below a bound, some at a time. All are taken before one returns, and by then caches have
/// forgotten its row or key.
class random_numbers {
 public:
  random_numbers(std::int64_t end, std::size_t at_a_time) : at_a_time_(at_a_time) {
    std::mt19937_64 generator(1);
    std::uniform_int_distribution<std::int64_t> number(0, end - 1);
    numbers_.resize((std::size_t{1} << 18) / at_a_time * at_a_time);
    for (auto& each : numbers_) each = number(generator);
  }

  std::span<const std::int64_t> next() {
    at_ = at_ + at_a_time_ < numbers_.size() ? at_ + at_a_time_ : 0;
    return std::span(numbers_).subspan(at_, at_a_time_);
  }

 private:
  std::size_t at_a_time_;
  std::size_t at_ = 0;
  std::vector<std::int64_t> numbers_;
};

template <class Work>
void repeat(benchmark::State& state, Work work) {
  for ([[maybe_unused]] auto turn : state) {
    work();
    benchmark::ClobberMemory();
  }
}

/// Declares a benchmark of work that reads and writes `bytes` each time. prepare() returns the work.
template <class Prepare>
void measure_bytes(const std::string& name, std::size_t bytes, Prepare prepare) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    const double bandwidth = renew_memory();
    repeat(state, prepare());
    const auto all = state.iterations() * static_cast<std::int64_t>(bytes);
    state.SetBytesProcessed(all);
    state.counters["of_bandwidth"] = {static_cast<double>(all) / bandwidth, benchmark::Counter::kIsRate};
  });
}

/// Declares a benchmark whose time is compared with that of another, `reference`.
template <class Prepare>
void measure_time(const std::string& name, const std::string& reference, Prepare prepare) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    repeat(state, prepare());
    state.SetLabel(reference);
  });
}

}  // namespace syncyte::bench
