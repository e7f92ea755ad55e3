#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ranks.hpp"
#include "checkpoints/entries.hpp"
#include "files/file.hpp"
#include "files/temporary_file.hpp"
#include "hdf5/hdf5_writer.hpp"
#include "metadata/manifest.hpp"

namespace syncyte::hdf5 {

/// One collective save, after the ranks have agreed on the arguments. Rank 0 lays out and finishes the file; every rank
/// writes its own rows, and rank 0 writes the replicated tensors. Allocates memory for checksums and metadata only.
class saver {
 public:
  saver(const ranks& all, const arguments& mine);
  void run();

 private:
  struct block_sum {
    std::uint64_t number;  // number of the block, counted over all datasets
    std::uint32_t sum;     // contribution of this rank's part to the block's CRC32C
  };

  dataset& dataset_of(const entry& one);
  void lay_out();
  void make_temporary();
  void share_offsets();
  void write_data();
  void write_part(file& target, const entry& one);
  void combine_sums();
  void store_sums(std::uint64_t first, const std::vector<std::uint32_t>& sums);
  void end_file();
  void write_metadata();
  void verify();

  const ranks& all_;
  const arguments& mine_;
  manifest contents_;   // in order of keys
  file_header header_;  // on rank 0
  // Number of each dataset's first block, counted over all datasets; at the end, the number of all blocks.
  std::vector<std::uint64_t> first_block_;
  std::string target_;  // on rank 0: the path to replace, with symbolic links resolved
  std::string temporary_name_;
  temporary_file temporary_;             // on rank 0
  std::unique_ptr<hdf5_writer> writer_;  // on rank 0
  std::vector<block_sum> sums_;          // of this rank; sorted by number after write_data()
};

/// Implements syncyte_checkpoint_save(). Collective. Returns the bytes of tensor data that this rank has written.
std::uint64_t save(syncyte_comm_t comm, const char* path, std::int64_t count, const syncyte_checkpoint_entry_t* entries,
                   const syncyte_checkpoint_options_t* options);

}  // namespace syncyte::hdf5
