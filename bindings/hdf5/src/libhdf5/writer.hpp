// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libhdf5/handle.hpp"
#include "libhdf5/image_driver.hpp"
#include "metadata/manifest.hpp"

namespace syncyte::hdf5 {

/// The name of a key's dataset: '/' as "%2F", '%' as "%25", and "." alone, which HDF5 reserves, as "%2E".
std::string escaped(const std::string& key);

/// Makes the HDF5 metadata of a checkpoint in an in-memory image: one contiguous dataset per key. The ranks write the
/// data themselves, at the offsets set here. The attributes are for other programs: this library loads from the
/// manifest alone. Each public function holds hdf5_lock.
class hdf5_writer {
 public:
  explicit hdf5_writer(std::uint64_t userblock_bytes);
  ~hdf5_writer();
  hdf5_writer(const hdf5_writer&) = delete;
  hdf5_writer& operator=(const hdf5_writer&) = delete;

  /// Creates a dataset and all its attributes except the checksums' values, and sets its offset. `lengths`: the rows
  /// of each rank; empty if replicated.
  void add(dataset& one, std::uint64_t block_bytes, const std::vector<std::int64_t>& lengths);

  /// Writes the checksums and the file's own attributes, and closes it.
  void finish(const manifest& contents);

  /// Opens the finished file through libhdf5, and compares its keys, offsets and attributes with the manifest.
  /// @throws error SYNCYTE_ERR_IO naming the difference
  void verify(const manifest& contents);

  /// The metadata that libhdf5 wrote, complete after finish().
  const metadata_image& image() const { return image_; }

 private:
  metadata_image image_;
  std::optional<image_driver> driver_;
  hdf5_handle access_;   // file access properties
  hdf5_handle link_;     // link creation properties
  hdf5_handle dataset_;  // dataset creation properties
  hdf5_handle file_;
};

}  // namespace syncyte::hdf5
