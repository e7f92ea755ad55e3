// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include "metadata/metadata_image.hpp"

namespace syncyte::hdf5 {

/// A virtual file driver of libhdf5 that reads and writes a metadata_image. It must outlive the files opened with it.
/// The caller holds hdf5_lock (handle.hpp).
class image_driver {
 public:
  image_driver();
  ~image_driver();
  image_driver(const image_driver&) = delete;
  image_driver& operator=(const image_driver&) = delete;

  /// Makes files opened with this access property list use `image`, which must outlive them.
  void use(hid_t access_properties, metadata_image& image) const;

 private:
  hid_t id_;
};

}  // namespace syncyte::hdf5
