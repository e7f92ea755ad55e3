// SPDX-License-Identifier: BSD-3-Clause
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "checkpoints/agreement.hpp"
#include "checkpoints/checkpoint.hpp"
#include "checkpoints/entries.hpp"
#include "metadata/index_reader.hpp"

namespace syncyte::hdf5 {
namespace {

// Opens the file on all ranks: rank 0 reads and verifies the index, and the others check that they see the same
// file.
std::shared_ptr<checkpoint> open_agreed(const ranks& all, const std::string& path) {
  constexpr const char* reading = "checkpoint_open: reading the metadata";
  file_index index;
  all.together(reading, [&] {
    if (all.is_rank_0()) index = read_index(file(path, file::mode::read));
  });
  all.broadcast(index.raw_header.data(), index.raw_header.size());
  all.broadcast_resized(reading, index.raw_manifest);
  std::shared_ptr<checkpoint> opened;
  all.together("checkpoint_open: opening the file", [&] {
    file source(path, file::mode::read);
    require(read_raw_header(source) == index.raw_header, SYNCYTE_ERR_IO,
            "'{}' was replaced while it was opened, or ranks see different files; open it again", path);
    const file_header header = file_header::decode(index.raw_header, path);
    const std::vector<std::byte>& raw = index.raw_manifest;
    opened = std::make_shared<checkpoint>(std::move(source), manifest::decode(raw.data(), raw.size(), header, path));
  });
  return opened;
}

// Checks that the file's tensor of this key has the entry's type, shape and number of rows.
void check_fits(const checkpoint& from, const entry& one) {
  const dataset& found = from.find(one.key);
  require(!one.sharded() || one.global_rows == found.rows(), SYNCYTE_ERR_SHAPE,
          "key '{}' of '{}' has {} rows, the buffers of all ranks together have {}", one.key, from.path(), found.rows(),
          one.global_rows);
  require(one.sharded() || one.rows() == found.rows() || one.shape().size() != found.shape.size(), SYNCYTE_ERR_SHAPE,
          "key '{}' of '{}' has {} rows, the replicated buffer has {}", one.key, from.path(), found.rows(), one.rows());
  from.check_target(found, one.first_row, one.buffer);
}

// `status`: of this rank's arguments.
std::uint64_t load(const ranks& all, syncyte_status_t status, arguments mine) {
  agree_on_arguments(all, status, "checkpoint_load", mine);
  const std::shared_ptr<checkpoint> from = open_agreed(all, mine.path);
  cut_fields(all, mine.entries);
  place_rows(all, mine.entries);
  all.together("checkpoint_load: matching entries and keys", [&] {
    for (const entry& one : mine.entries) check_fits(*from, one);
  });
  const auto read = [&](const entry& one) { from->read(from->find(one.key), one.part()); };
  all.together("checkpoint_load: reading", [&] {
    for (const entry& one : mine.entries)
      if (!one.field) read(one);
  });
  for (entry& one : mine.entries) {
    if (!one.field) continue;
    all.together("checkpoint_load: reading", [&] { one.field->allocate(); });
    for (std::int64_t slab = 0; slab < one.field->slabs(); ++slab) {
      const bundle_field::part part = one.field->part_of(slab);
      all.together("checkpoint_load: reading",
                   [&] { from->read_bytes(from->find(one.key), part.first_byte, part.bytes); });
      one.field->distribute();
    }
    one.field->release();
  }
  std::uint64_t bytes = 0;
  for (const entry& one : mine.entries) bytes += one.bytes();
  return bytes;
}

}  // namespace

std::shared_ptr<checkpoint> open(syncyte_comm_t comm, const char* path, const syncyte_checkpoint_options_t* options,
                                 bool has_output) {
  const ranks all(comm);
  arguments mine;
  const syncyte_status_t status = attempt([&] {
    mine = check_arguments(path, options);
    require(has_output, SYNCYTE_ERR_ARGUMENT, "checkpoint: the output 'checkpoint' is null");
  });
  agree_on_arguments(all, status, "checkpoint_open", mine);
  return open_agreed(all, mine.path);
}

std::uint64_t load(syncyte_comm_t comm, const char* path, std::int64_t count, const syncyte_checkpoint_entry_t* entries,
                   const syncyte_checkpoint_options_t* options) {
  arguments mine;
  const syncyte_status_t status =
      attempt([&] { mine = check_arguments(memory_use::write, path, count, entries, options); });
  return load(ranks(comm), status, std::move(mine));
}

std::uint64_t load_bundle(syncyte_comm_t comm, const char* path, syncyte_bundle_t bundle, std::int64_t count,
                          const syncyte_checkpoint_entry_t* entries, const syncyte_checkpoint_options_t* options) {
  arguments mine;
  const syncyte_status_t status = attempt([&] {
    mine = check_arguments(memory_use::write, path, count, entries, options);
    append_fields(mine, comm, bundle);
  });
  return load(ranks(comm), status, std::move(mine));
}

}  // namespace syncyte::hdf5
