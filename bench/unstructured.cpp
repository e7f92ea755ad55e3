// SPDX-License-Identifier: BSD-3-Clause
// An unstructured mesh whose points have numbers in random order, 2^16 of them on each rank and 2^12 ghosts, with rows
// of 4 float64: its halo, and its way to rows in the order of the numbers. And particles of 7 float64, of which one in
// 20 goes to another rank. Against index lists and MPI, written by hand.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "paired.hpp"
#include "syncyte.h"

namespace {

using namespace syncyte::bench;

constexpr std::int64_t own = 1 << 16, ghosts = 1 << 12;
constexpr int width = 4;
constexpr int particles = 1 << 20, numbers = 7;

void must(syncyte_status_t status) {
  if (status == SYNCYTE_SUCCESS) return;
  std::fprintf(stderr, "%s\n", syncyte_last_error());
  syncyte_abort(1);
}

using indices_t = std::vector<std::int64_t>;
using values_t = std::vector<double>;

/// All points in random order; rank r has those from own * r on.
indices_t shuffled(int size) {
  indices_t result(static_cast<std::size_t>(own * size));
  std::iota(result.begin(), result.end(), 0);
  std::shuffle(result.begin(), result.end(), std::minstd_rand(7));
  return result;
}

/// The ghosts of a rank: random ones of the next rank's points.
indices_t ghost_places(int rank) {
  indices_t result(own);
  std::iota(result.begin(), result.end(), 0);
  std::shuffle(result.begin(), result.end(), std::minstd_rand(static_cast<unsigned>(rank + 1)));
  result.resize(ghosts);
  return result;
}

syncyte_buffer_t table(values_t& values, std::int64_t rows, std::int64_t columns) {
  const std::int64_t shape[] = {rows, columns};
  syncyte_buffer_t result;
  must(syncyte_buffer_init(values.data(), SYNCYTE_FLOAT64, 2, shape, &result));
  return result;
}

void verify(const values_t& ours, const values_t& theirs, std::size_t count, const char* what) {
  if (std::equal(ours.begin(), ours.begin() + static_cast<std::ptrdiff_t>(count), theirs.begin())) return;
  std::fprintf(stderr, "%s differ\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

class mesh {
 public:
  mesh(syncyte_comm_t world, int rank, int size) : rank_(rank), size_(size), world_(world) {
    const indices_t all = shuffled(size);
    const int next = (rank + 1) % size, last = (rank + size - 1) % size;
    points_.assign(all.begin() + own * rank, all.begin() + own * (rank + 1));
    for (const std::int64_t place : ghost_places(rank))
      points_.push_back(all[static_cast<std::size_t>(own * next + place)]);
    sent_ = ghost_places(last);
    const std::int64_t extents[] = {own * size, width}, count = own + ghosts;
    must(syncyte_layout_create_indices(world, 2, extents, 1, &count, 1, &ghosts, count, points_.data(),
                                       SYNCYTE_TRUTH_EQUAL, &layout_));
    const std::int32_t axis = 0;
    must(syncyte_layout_create_mesh(world, 2, extents, 1, &size_, 0, nullptr, 1, &axis, nullptr, &rows_));
  }
  ~mesh() {
    syncyte_layout_destroy(&layout_);
    syncyte_layout_destroy(&rows_);
  }
  mesh(const mesh&) = delete;
  mesh& operator=(const mesh&) = delete;

  void measure_halo() {
    constexpr int repeats = 50;
    values_t ours(static_cast<std::size_t>((own + ghosts) * width)), theirs;
    for (std::size_t i = 0; i < ours.size(); ++i) ours[i] = 1e6 * rank_ + static_cast<double>(i);
    theirs = ours;
    values_t packed(static_cast<std::size_t>(ghosts * width));
    const syncyte_buffer_t array = table(ours, own + ghosts, width);
    syncyte_bundle_t bundle = nullptr;
    must(syncyte_bundle_create(world_, &bundle));
    must(syncyte_bundle_add(bundle, "field", layout_, SYNCYTE_FLOAT64, 1, &array));
    const auto exchange = [&] {
      for (int i = 0; i < repeats; ++i) must(syncyte_bundle_exchange(bundle, 0, 0, nullptr));
    };
    const auto by_hand = [&] {
      for (int i = 0; i < repeats; ++i) {
        MPI_Request requests[2];
        const int count = static_cast<int>(ghosts * width);
        MPI_Irecv(theirs.data() + own * width, count, MPI_DOUBLE, (rank_ + 1) % size_, 0, MPI_COMM_WORLD, requests);
        for (std::size_t at = 0; at < sent_.size(); ++at)
          std::copy_n(&theirs[static_cast<std::size_t>(sent_[at] * width)], width, &packed[at * width]);
        MPI_Isend(packed.data(), count, MPI_DOUBLE, (rank_ + size_ - 1) % size_, 0, MPI_COMM_WORLD, requests + 1);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      }
    };
    exchange(), by_hand();
    verify(ours, theirs, ours.size(), "halos");
    measure_time(
        {"halo of listed points, 4096 ghosts of 4 float64", "us", "index lists and MPI_Isend/Irecv", "lower", {}},
        1e6 / repeats, exchange, by_hand);
    syncyte_bundle_destroy(&bundle);
  }

  void measure_relocation() {
    values_t from(static_cast<std::size_t>((own + ghosts) * width)), ours(static_cast<std::size_t>(own * width)),
        theirs;
    for (std::size_t i = 0; i < from.size(); ++i)
      from[i] = static_cast<double>(points_[i / width]) * width + static_cast<double>(i % width);
    theirs = ours;
    const syncyte_buffer_t array = table(from, own + ghosts, width), target = table(ours, own, width);
    // By hand the lists of what goes where are made once, ours each time.
    const auto ranks = static_cast<std::size_t>(size_);
    std::vector<std::vector<std::int64_t>> to(ranks);
    for (std::int64_t at = 0; at < own; ++at)
      to[static_cast<std::size_t>(points_[static_cast<std::size_t>(at)] / own)].push_back(at);
    std::vector<int> sent(ranks), got(ranks), send_at(ranks), get_at(ranks), points_got(ranks), points_at(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) sent[rank] = static_cast<int>(to[rank].size()) * width;
    MPI_Alltoall(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::exclusive_scan(sent.begin(), sent.end(), send_at.begin(), 0);
    std::exclusive_scan(got.begin(), got.end(), get_at.begin(), 0);
    values_t packed(static_cast<std::size_t>(own * width)), arrived(packed.size());
    values_t places(static_cast<std::size_t>(own)), known(places.size());  // the points that arrive
    std::size_t next = 0;
    std::vector<int> places_sent(ranks), places_at(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (const std::int64_t at : to[rank])
        places[next++] = static_cast<double>(points_[static_cast<std::size_t>(at)]);
      places_sent[rank] = sent[rank] / width, points_got[rank] = got[rank] / width;
      places_at[rank] = send_at[rank] / width, points_at[rank] = get_at[rank] / width;
    }
    MPI_Alltoallv(places.data(), places_sent.data(), places_at.data(), MPI_DOUBLE, known.data(), points_got.data(),
                  points_at.data(), MPI_DOUBLE, MPI_COMM_WORLD);
    const auto by_hand = [&] {
      std::size_t place = 0;
      for (const auto& each : to)
        for (const std::int64_t at : each) {
          std::copy_n(&from[static_cast<std::size_t>(at * width)], width, &packed[place]);
          place += width;
        }
      MPI_Alltoallv(packed.data(), sent.data(), send_at.data(), MPI_DOUBLE, arrived.data(), got.data(), get_at.data(),
                    MPI_DOUBLE, MPI_COMM_WORLD);
      for (std::size_t i = 0; i < known.size(); ++i)
        std::copy_n(&arrived[i * width], width,
                    &theirs[static_cast<std::size_t>(static_cast<std::int64_t>(known[i]) - own * rank_) * width]);
    };
    const auto relocate = [&] {
      must(syncyte_layout_relocate(layout_, SYNCYTE_FLOAT64, 1, &array, rows_, 1, nullptr, &target));
    };
    relocate(), by_hand();
    verify(ours, theirs, ours.size(), "relocations");
    measure_time({"relocate 65536 points a rank in random order", "ms", "lists made once, MPI_Alltoallv", "lower", {}},
                 1e3, relocate, by_hand);
  }

 private:
  int rank_;
  std::int32_t size_;
  syncyte_comm_t world_;
  indices_t points_, sent_;
  syncyte_layout_t layout_ = nullptr, rows_ = nullptr;
};

/// One array of particles, a row each; those that leave go out and come back, so that each call has the same work.
void measure_particles(syncyte_comm_t world, int rank, int size) {
  const std::size_t room = particles * 2UL * numbers;
  values_t ours(room), theirs;
  for (std::size_t i = 0; i < room; ++i) ours[i] = 1e8 * rank + static_cast<double>(i);
  theirs = ours;
  std::vector<std::int32_t> to(particles, rank);
  std::minstd_rand random(static_cast<unsigned>(rank + 1));
  int leaving = 0;
  for (std::int32_t& each : to)
    if (random() % 20 == 0 && leaving < particles / 20) each = (rank + 1) % size, ++leaving;
  for (std::int32_t& each : to)  // as many on all ranks
    if (each == rank && leaving < particles / 20) each = (rank + 1) % size, ++leaving;
  const syncyte_buffer_t array = table(ours, 2 * particles, numbers);
  const auto relocate = [&] {
    std::int64_t rows = 0;
    must(syncyte_comm_relocate_rows(world, particles, to.data(), 1, &array, nullptr, &array, &rows));
  };
  values_t packed(static_cast<std::size_t>(leaving) * numbers);
  const auto by_hand = [&] {
    const auto count = static_cast<std::size_t>(numbers);
    std::size_t out = 0, kept = 0;
    for (std::size_t row = 0; row < to.size(); ++row)
      if (to[row] == rank) {
        if (kept != row) std::copy_n(&theirs[row * count], count, &theirs[kept * count]);
        ++kept;
      } else {
        std::copy_n(&theirs[row * count], count, &packed[out++ * count]);
      }
    int mine = static_cast<int>(packed.size()), coming = 0;
    MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, 0, &coming, 1, MPI_INT, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(packed.data(), mine, MPI_DOUBLE, (rank + 1) % size, 0, &theirs[kept * count], coming, MPI_DOUBLE,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
  relocate(), by_hand();
  verify(ours, theirs, particles * static_cast<std::size_t>(numbers), "particles");
  measure_time(
      {"relocate_rows of 2^20 particles of 56 bytes, 5 % leave", "ms", "packing and MPI_Sendrecv", "lower", {}}, 1e3,
      relocate, by_hand);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  must(syncyte_init(nullptr));
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  syncyte_comm_t world = nullptr;
  must(syncyte_comm_world(&world));
  {
    mesh all(world, rank, size);
    all.measure_halo();
    all.measure_relocation();
  }
  measure_particles(world, rank, size);
  syncyte_comm_destroy(&world);
  MPI_Finalize();
}
