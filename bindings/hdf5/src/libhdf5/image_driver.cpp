// SPDX-License-Identifier: BSD-3-Clause
#include "libhdf5/image_driver.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <new>

#include "base/errors.hpp"

namespace syncyte::hdf5 {
namespace {

// A file of this driver: as in libhdf5's own drivers, libhdf5's struct comes first, then the driver's members.
struct image_file {
  H5FD_t base{};
  metadata_image* image = nullptr;
  haddr_t end_of_allocation = 0;
};

image_file* cast(H5FD_t* file) { return reinterpret_cast<image_file*>(file); }
const image_file* cast(const H5FD_t* file) { return reinterpret_cast<const image_file*>(file); }

H5FD_t* open_image(const char*, unsigned, hid_t access_properties, haddr_t) {
  auto* const* image = static_cast<metadata_image* const*>(H5Pget_driver_info(access_properties));
  auto* file = image != nullptr ? new (std::nothrow) image_file{.image = *image} : nullptr;
  return file != nullptr ? &file->base : nullptr;
}

herr_t close_image(H5FD_t* file) {
  cast(file)->image->set_size(cast(file)->end_of_allocation);
  delete cast(file);
  return 0;
}

herr_t query_features(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA;
  return 0;
}

haddr_t get_eoa(const H5FD_t* file, H5FD_mem_t) { return cast(file)->end_of_allocation; }

herr_t set_eoa(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  cast(file)->end_of_allocation = address;
  return 0;
}

haddr_t get_eof(const H5FD_t* file, H5FD_mem_t) { return cast(file)->image->size(); }

herr_t read_image(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t bytes, void* target) {
  cast(file)->image->read(address, target, bytes);
  return 0;
}

herr_t write_image(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t bytes, const void* source) {
  // Exceptions must not pass through libhdf5, which is C.
  return attempt([&] { cast(file)->image->write(address, source, bytes); }) == SYNCYTE_SUCCESS ? 0 : -1;
}

H5FD_class_t make_class() {
  H5FD_class_t driver{};
#ifdef H5FD_CLASS_VERSION  // HDF5 1.14 and newer
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<decltype(driver.value)>(300);  // from the range for private use
#endif
  driver.name = "syncyte_image";
  driver.maxaddr = static_cast<haddr_t>(std::numeric_limits<std::int64_t>::max());
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(metadata_image*);
  driver.open = open_image;
  driver.close = close_image;
  driver.query = query_features;
  driver.get_eoa = get_eoa;
  driver.set_eoa = set_eoa;
  driver.get_eof = get_eof;
  driver.read = read_image;
  driver.write = write_image;
  constexpr H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(map), std::end(map), driver.fl_map);
  return driver;
}

}  // namespace

image_driver::image_driver() {
  static const H5FD_class_t driver = make_class();
  id_ = H5FDregister(&driver);
  require(id_ >= 0, SYNCYTE_ERR_INTERNAL, "checkpoint: libhdf5 refused the file driver");
}

image_driver::~image_driver() { H5FDunregister(id_); }

void image_driver::use(hid_t access_properties, metadata_image& image) const {
  metadata_image* const info = &image;
  require(H5Pset_driver(access_properties, id_, &info) >= 0, SYNCYTE_ERR_INTERNAL,
          "checkpoint: libhdf5 refused the file driver");
}

}  // namespace syncyte::hdf5
