// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/blocks.hpp"
#include "base/crc32c.hpp"
#include "base/errors.hpp"
#include "checkpoints/agreement.hpp"
#include "checkpoints/attributes.hpp"
#include "checkpoints/checkpoint.hpp"
#include "checkpoints/entries.hpp"
#include "files/file.hpp"
#include "files/temporary_file.hpp"
#include "libhdf5/writer.hpp"
#include "metadata/index_reader.hpp"
#include "metadata/manifest.hpp"

namespace syncyte::hdf5 {
namespace {

constexpr std::uint64_t cached_bytes = std::uint64_t{256} << 10;    // small enough to be in cache for sum and write
constexpr std::uint64_t writeback_bytes = std::uint64_t{16} << 20;  // written back while the next pieces are summed
constexpr std::uint64_t sums_at_once = std::uint64_t{1} << 18;

// Writes bytes piece by piece; returns their CRC32C.
std::uint32_t write_summed(file& target, std::uint64_t offset, const std::byte* source, std::uint64_t bytes) {
  std::uint32_t crc = 0;
  for (std::uint64_t done = 0; done < bytes; done += cached_bytes) {
    const std::uint64_t piece = std::min(cached_bytes, bytes - done);
    crc = crc32c(crc, source + done, piece);
    target.write(offset + done, source + done, piece);
  }
  return crc;
}

/// One collective save, after the ranks have agreed on the arguments. Rank 0 lays out and finishes the file; every rank
/// writes its own rows, and rank 0 writes the replicated tensors. Allocates memory for checksums and metadata only.
class saver {
 public:
  saver(const ranks& all, arguments& mine) : all_(all), mine_(mine) {
    contents_.step = mine.step;
    if (!mine.attributes.empty()) contents_.attributes.emplace_back(manifest::of_caller, mine.attributes);
    contents_.writer_world = all.size();
    contents_.block_bytes = mine.block_bytes;
    for (const entry& one : mine.entries) {
      contents_.datasets.push_back({one.key, one.buffer.dtype, one.kind, one.shape(), 0, {}});
      if (one.buffer.ndim > 0) contents_.datasets.back().shape[0] = one.global_rows;
    }
    std::ranges::sort(contents_.datasets, {}, &dataset::key);
    first_block_.push_back(0);
    for (const dataset& one : contents_.datasets)
      first_block_.push_back(first_block_.back() + contents_.block_count(one));
  }

  void run() {
    lay_out();
    all_.broadcast_resized("checkpoint_save: making the file", temporary_name_);
    share_offsets();
    write_data();
    combine_sums();
    all_.together("checkpoint_save: ending the file", [&] {
      if (all_.is_rank_0()) end_file();
    });
  }

 private:
  struct block_sum {
    std::uint64_t number;  // number of the block, counted over all datasets
    std::uint32_t sum;     // contribution of this rank's part to the block's CRC32C
  };

  void make_temporary() {
    target_ = resolve_target(mine_.path);
    remove_abandoned(target_);
    std::random_device device;
    const std::uint64_t number = (static_cast<std::uint64_t>(device()) << 32) | device();
    temporary_.emplace(target_, ::getpid(), number);
    temporary_name_ = temporary_->path();
  }

  // Lays out the file: rank 0 makes it, then its datasets, for which all ranks gather the rows of each rank. After an
  // error rank 0 keeps gathering, because the other ranks do.
  void lay_out() {
    all_.together("checkpoint_save: making the file", [&] {
      if (!all_.is_rank_0()) return;
      std::vector<attribute_list> attributes = attributes_of(mine_.entries);
      for (std::size_t i = 0; i < attributes.size(); ++i)
        dataset_of(mine_.entries[i]).attributes = std::move(attributes[i]);
      for (dataset& one : contents_.datasets) one.crc.resize(contents_.block_count(one));
      make_temporary();
      header_.manifest_bytes = contents_.encode().size();
      header_.userblock_bytes = userblock_bytes_for(header_.manifest_bytes);
      writer_ = std::make_unique<hdf5_writer>(header_.userblock_bytes);
      for (dataset& one : contents_.datasets)
        if (one.kind == SYNCYTE_ENTRY_REPLICATED) writer_->add(one, mine_.block_bytes, {});
    });
    syncyte_status_t status = SYNCYTE_SUCCESS;
    for_each_sharded(all_, mine_.entries, [&](std::size_t i, const std::vector<std::int64_t>& rows) {
      if (writer_ && status == SYNCYTE_SUCCESS)
        status = attempt([&] { writer_->add(dataset_of(mine_.entries[i]), mine_.block_bytes, rows); });
    });
    all_.agree(status, "checkpoint_save: laying out the file");
  }

  void share_offsets() {
    std::vector<std::uint64_t> offsets;
    for (const dataset& one : contents_.datasets) offsets.push_back(one.offset);
    if (!offsets.empty()) all_.broadcast(offsets.data(), offsets.size() * sizeof offsets[0]);
    for (std::size_t i = 0; i < offsets.size(); ++i) contents_.datasets[i].offset = offsets[i];
  }

  // The file is open until the end of write_data(), which is collective.
  void write_data() {
    file own;
    const auto target = [&]() -> file& { return all_.is_rank_0() ? temporary_->get() : own; };
    write_together([&] {
      if (!all_.is_rank_0()) own = file(temporary_name_, file::mode::write);
      for (const entry& one : mine_.entries)
        if (!one.field && (one.sharded() || all_.is_rank_0()))
          read_in_pieces(one.part(), mine_.block_bytes, [&](std::uint64_t first, std::span<const std::byte> bytes) {
            write_part(target(), one, first, bytes);
          });
    });
    for (const entry& one : mine_.entries) {
      if (!one.field) continue;
      write_together([&] { one.field->allocate(); });
      for (std::int64_t slab = 0; slab < one.field->slabs(); ++slab) {
        const bundle_field::part part = one.field->part_of(slab);
        one.field->collect();
        write_together([&] { write_part(target(), one, part.first_byte, part.bytes); });
      }
      one.field->release();
    }
    write_together([&] {
      target().sync();
      std::ranges::sort(sums_, {}, &block_sum::number);
    });
  }

  void write_together(const std::function<void()>& function) const {
    all_.together("checkpoint_save: writing", [&] {
      const sigxfsz_blocker blocked;
      function();
    });
  }

  dataset& dataset_of(const entry& one) {
    return *std::ranges::lower_bound(contents_.datasets, one.key, {}, &dataset::key);
  }

  // Writes bytes from `begin` on of an entry's row-major ones.
  void write_part(file& target, const entry& one, std::uint64_t begin, std::span<const std::byte> bytes) {
    const dataset& into = dataset_of(one);
    const std::uint64_t first_block = first_block_[static_cast<std::size_t>(&into - contents_.datasets.data())];
    for_each_block(begin, begin + bytes.size(), into.data_bytes(), mine_.block_bytes, [&](const block_part& part) {
      const std::byte* source = bytes.data() + (part.begin - begin);
      const std::uint32_t crc = write_summed(target, into.offset + part.begin, source, part.end - part.begin);
      sums_.push_back({first_block + part.number, crc32c_shift(crc, part.block_end - part.end)});
      hand_over(target, into.offset + part.begin, into.offset + part.end);
    });
  }

  // Lets the disk begin with what was written, of small datasets together, while the next bytes are prepared.
  void hand_over(file& target, std::uint64_t begin, std::uint64_t end) {
    waiting_begin_ = waiting_bytes_ == 0 ? begin : std::min(waiting_begin_, begin);
    waiting_end_ = waiting_bytes_ == 0 ? end : std::max(waiting_end_, end);
    waiting_bytes_ += end - begin;
    if (waiting_bytes_ < writeback_bytes) return;
    target.start_writing(waiting_begin_, waiting_end_ - waiting_begin_);
    waiting_bytes_ = 0;
  }

  // Combines CRC32Cs: a block's CRC32C is the exclusive or of its parts' CRC32Cs, each shifted by the bytes that follow
  // the part in the block. Ranks need not know which rank wrote which part.
  void combine_sums() {
    auto next = sums_.begin();
    std::size_t number = 0;  // of the dataset that a block belongs to
    const std::uint64_t blocks = first_block_.back();
    for (std::uint64_t first = 0; first < blocks; first += sums_at_once) {
      std::vector<std::uint32_t> sums(std::min(sums_at_once, blocks - first));
      for (; next != sums_.end() && next->number < first + sums.size(); ++next) sums[next->number - first] ^= next->sum;
      all_.xor_over_ranks(sums);
      for (std::size_t i = 0; all_.is_rank_0() && i < sums.size(); ++i) {
        while (first + i >= first_block_[number + 1]) ++number;
        contents_.datasets[number].crc[first + i - first_block_[number]] = sums[i];
      }
    }
  }

  void end_file() {
    const syncyte_status_t status = attempt([&] {
      const sigxfsz_blocker blocked;
      writer_->finish(contents_);
      write_index_and_metadata();
      temporary_->get().sync();
      temporary_->get().close();
      verify();
      temporary_->commit(target_);
      sync_directory(directory_of(target_));
    });
    if (status != SYNCYTE_SUCCESS) temporary_->discard();  // before the other ranks get the error
    check(status);
  }

  void write_index_and_metadata() {
    file& target = temporary_->get();
    header_.file_bytes = writer_->image().size();
    target.resize(header_.file_bytes);
    for (const extent& part : contents_.hdf5_metadata(header_))
      writer_->image().visit(part, [&](std::uint64_t offset, const std::byte* data, std::size_t bytes) {
        header_.metadata_crc = crc32c(header_.metadata_crc, data, bytes);
        target.write(offset, data, bytes);
      });
    std::vector<std::byte> userblock = contents_.encode();
    userblock.resize(header_.userblock_bytes - file_header::bytes);
    header_.manifest_crc = crc32c(0, userblock.data(), userblock.size());
    target.write(file_header::bytes, userblock.data(), userblock.size());
    const auto raw = header_.encode();
    target.write(0, raw.data(), raw.size());
  }

  void verify() {
    const file written(temporary_name_, file::mode::read);
    const file_index found = read_index(written);
    require(found.header.encode() == header_.encode(), SYNCYTE_ERR_IO, "'{}' differs from what was written to it",
            temporary_name_);
    writer_->verify(contents_);
  }

  const ranks& all_;
  arguments& mine_;
  manifest contents_;   // in order of keys
  file_header header_;  // on rank 0
  // Number of each dataset's first block, counted over all datasets; at the end, the number of all blocks.
  std::vector<std::uint64_t> first_block_;
  std::string target_;  // on rank 0: the path to replace, with symbolic links resolved
  std::string temporary_name_;
  std::optional<temporary_file> temporary_;  // on rank 0
  std::unique_ptr<hdf5_writer> writer_;      // on rank 0
  // Bytes of this rank that were written since the disk was last told to begin, and the range of the file they are in.
  std::uint64_t waiting_bytes_ = 0, waiting_begin_ = 0, waiting_end_ = 0;
  std::vector<block_sum> sums_;  // of this rank; sorted by number after write_data()
};

// `status`: of this rank's arguments.
std::uint64_t save(const ranks& all, syncyte_status_t status, arguments mine) {
  agree_on_arguments(all, status, "checkpoint_save", mine, all.level() == check_level::full);
  cut_fields(all, mine.entries);
  place_rows(all, mine.entries);
  saver(all, mine).run();
  std::uint64_t bytes = 0;
  for (const entry& one : mine.entries)
    if (one.sharded() || all.is_rank_0()) bytes += one.bytes();
  return bytes;
}

}  // namespace

std::uint64_t save(syncyte_comm_t comm, const char* path, std::int64_t count, const syncyte_checkpoint_entry_t* entries,
                   const syncyte_checkpoint_options_t* options) {
  arguments mine;
  const syncyte_status_t status =
      attempt([&] { mine = check_arguments(memory_use::read, path, count, entries, options); });
  return save(ranks(comm), status, std::move(mine));
}

std::uint64_t save_bundle(syncyte_comm_t comm, const char* path, syncyte_bundle_t bundle, std::int64_t count,
                          const syncyte_checkpoint_entry_t* entries, const syncyte_checkpoint_options_t* options) {
  arguments mine;
  const syncyte_status_t status = attempt([&] {
    mine = check_arguments(memory_use::read, path, count, entries, options);
    append_fields(mine, comm, bundle);
  });
  return save(ranks(comm), status, std::move(mine));
}

}  // namespace syncyte::hdf5
