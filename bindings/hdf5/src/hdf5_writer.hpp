#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hdf5_handle.hpp"
#include "image_driver.hpp"
#include "manifest.hpp"

namespace syncyte::hdf5 {

/// The name of a key's dataset: '/' as "%2F", '%' as "%25", and "." alone, which HDF5 reserves, as "%2E".
std::string escaped(const std::string& key);

/// Makes the HDF5 metadata of a checkpoint in an image in memory: one contiguous dataset per key, whose data others
/// write at the offsets told here. Each public function holds hdf5_lock.
class hdf5_writer {
 public:
  explicit hdf5_writer(std::uint64_t userblock_bytes);
  ~hdf5_writer();
  hdf5_writer(const hdf5_writer&) = delete;
  hdf5_writer& operator=(const hdf5_writer&) = delete;

  /// Creates a dataset and all its attributes but the checksums' values, and sets entry.offset. `lengths` are the rows
  /// of each rank; empty if replicated.
  void add(dataset& entry, std::uint64_t block_bytes, const std::vector<std::int64_t>& lengths);

  /// Writes the checksums and the file's own attributes, and closes it.
  void finish(const manifest& contents);

  /// What libhdf5 wrote, complete after finish().
  const metadata_image& image() const { return image_; }

 private:
  void close_all() noexcept;

  metadata_image image_;
  std::optional<image_driver> driver_;
  hdf5_handle access_;   // properties of the file,
  hdf5_handle link_;     // of the names in it,
  hdf5_handle dataset_;  // and of its datasets
  hdf5_handle file_;
};

/// Opens a written file through libhdf5 and compares its keys, offsets and attributes with the manifest.
/// @throws error SYNCYTE_ERR_IO naming what differs
void verify_with_hdf5(const std::string& path, const manifest& contents);

}  // namespace syncyte::hdf5
