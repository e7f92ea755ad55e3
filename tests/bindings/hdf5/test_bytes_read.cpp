// SPDX-License-Identifier: BSD-3-Clause
// A load reads from the file what the rank's part of each array needs, and the rest of the checksum blocks at its ends,
// whatever the layouts and the numbers of ranks that save and load.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "syncyte/checkpoint.hpp"
#include "syncyte/syncyte.hpp"

namespace {

std::int64_t bytes_read = 0;

}  // namespace

/// In the place of the C library's function, by which a load reads. Memory that ranks share is a file without a name.
extern "C" ssize_t pread(int descriptor, void* data, std::size_t bytes, off_t offset) {
  const auto done = static_cast<ssize_t>(::syscall(SYS_pread64, descriptor, data, bytes, offset));
  struct stat file{};
  if (::fstat(descriptor, &file) == 0 && file.st_nlink > 0) bytes_read += std::max<ssize_t>(done, 0);
  return done;
}

namespace {

using namespace syncyte;

constexpr std::int64_t rows = 301, columns = 37, block_bytes = 4096;

std::int64_t bytes_read_by(const std::function<void()>& call) {
  const std::int64_t before = bytes_read;
  call();
  return bytes_read - before;
}

/// A layout of the whole array, and this rank's array of it.
struct part {
  layout cut;
  std::vector<double> values;

  explicit part(layout of) : cut(std::move(of)) {
    const extents shape = cut.blocks_of(cut.comm().rank())[0].shape;
    values.assign(static_cast<std::size_t>(shape[0] * shape[1]), -1);
  }
  buffer array() { return {values.data(), cut.blocks_of(cut.comm().rank())[0].shape}; }
};

layout by_rows(const communicator& comm) { return layout::mesh(comm, {rows, columns}, {comm.size()}); }

std::vector<part> parts_of_all_kinds(const communicator& comm) {
  const std::int32_t size = comm.size(), narrow = size % 2 == 0 ? 2 : 1;
  const layout_options nodes{.ghosts_low = {2, 0}, .ghosts_high = {1, 3}, .shared = {true, true}};
  std::vector<part> result;
  result.emplace_back(by_rows(comm));
  result.emplace_back(layout::mesh(comm, {rows, columns}, {size}, {.axes = {1}}));
  result.emplace_back(layout::mesh(comm, {rows, columns}, {size / narrow, narrow}));
  result.emplace_back(layout::mesh(comm, {rows, columns}, {size / narrow, narrow}, {.axes = {-1, 1}}));
  result.emplace_back(layout::mesh(comm, {rows, columns}, {size}, {.axes = {-1}}));
  result.emplace_back(layout::mesh(comm, {rows - 1, columns - 1}, {size / narrow, narrow}, {}, nodes));
  return result;
}

/// The first ranks, as a communicator; none on the others.
communicator first_ranks(const communicator& of, std::int32_t count) {
  syncyte_comm_t raw = nullptr;
  check(syncyte_comm_split(of.get(), of.rank() < count ? 0 : -1, of.rank(), nullptr, &raw));
  return communicator(raw);
}

/// Bytes of the blocks that hold these rows.
std::int64_t bytes_of_blocks(std::int64_t first, std::int64_t count) {
  const std::int64_t row = columns * 8, begin = first * row, end = begin + count * row;
  const std::int64_t last = std::min((end + block_bytes - 1) / block_bytes * block_bytes, rows * row);
  return count == 0 ? 0 : last - begin / block_bytes * block_bytes;
}

class bytes_of_load : public ::testing::Test {
 protected:
  /// Loads on these ranks, by fields and by rows.
  void load(const communicator& comm) const {
    const std::int64_t metadata = bytes_read_by([&] { const checkpoint opened(comm, path_); });
    part own(by_rows(comm));
    const std::int64_t first = own.cut.blocks_of(comm.rank())[0].first[0];
    const std::int64_t count = std::ssize(own.values) / columns, needed = bytes_of_blocks(first, count);
    EXPECT_LE(needed, std::ssize(own.values) * 8 + 2 * (block_bytes - 1));
    for (part& each : parts_of_all_kinds(comm)) {
      const bundle fields(comm);
      fields.add("w", each.cut, each.array());
      EXPECT_EQ(bytes_read_by([&] { checkpoint::load_bundle(fields, path_); }) - metadata, needed) << each.cut.text();
    }
    checkpoint_entries entries;
    entries.add_rows("w", own.array());
    EXPECT_EQ(bytes_read_by([&] { checkpoint::load(comm, path_, entries); }) - metadata, needed);
    for (std::size_t i = 0; i < own.values.size(); ++i)
      ASSERT_EQ(own.values[i], static_cast<double>(first * columns) + static_cast<double>(i));
    std::vector<double> all(rows * columns);
    checkpoint_entries whole;
    whole.add("w", buffer(all.data(), extents{rows, columns}));
    EXPECT_EQ(bytes_read_by([&] { checkpoint::load(comm, path_, whole); }) - metadata, rows * columns * 8);
  }

  void save(const communicator& comm) const {
    part own(by_rows(comm));
    std::iota(own.values.begin(), own.values.end(), own.cut.blocks_of(comm.rank())[0].first[0] * columns);
    checkpoint_entries entries;
    entries.add_rows("w", own.array());
    checkpoint::save(comm, path_, entries, {.block_bytes = block_bytes});
  }

  const communicator world_ = communicator::world();
  const std::string path_ = std::string(std::getenv("SYNCYTE_TEST_FOLDER")) + "/bytes.h5";
};

TEST_F(bytes_of_load, are_those_of_the_ranks_part_and_the_blocks_at_its_ends) {
  const bool is_first = world_.rank() < 2;
  const communicator pair = first_ranks(world_, 2);
  if (is_first) save(pair);
  world_.barrier();
  load(world_);
  save(world_);
  if (is_first) load(pair);
  world_.barrier();
}

}  // namespace
