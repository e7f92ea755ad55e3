// SPDX-License-Identifier: BSD-3-Clause
#include "libhdf5/handle.hpp"

namespace syncyte::hdf5 {
namespace {

std::mutex library_mutex;

herr_t keep_description(unsigned, const H5E_error2_t* entry, void* context) {
  if (entry->desc != nullptr) *static_cast<std::string*>(context) = entry->desc;
  return 0;
}

}  // namespace

hdf5_lock::hdf5_lock() : lock_(library_mutex) {
  require(H5open() >= 0, SYNCYTE_ERR_INTERNAL, "checkpoint: libhdf5 did not start");
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_context_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

hdf5_lock::~hdf5_lock() { H5Eset_auto2(H5E_DEFAULT, print_, print_context_); }

std::string hdf5_reason() {
  std::string reason = "unknown reason";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_description, &reason);
  return reason;
}

}  // namespace syncyte::hdf5
