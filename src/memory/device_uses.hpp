// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <vector>

#include "memory/device_system.hpp"

namespace syncyte::memory {

/// Memory of a device that an object of this process has.
struct device_use {
  device_id device;
  std::size_t bytes;
  std::string holder;  ///< the object, for people
};

/// An entry in the list of device_uses() while it exists. Thread-safe.
class listed_use {
 public:
  explicit listed_use(device_use use);
  ~listed_use();
  listed_use(const listed_use&) = delete;
  listed_use& operator=(const listed_use&) = delete;

 private:
  std::list<device_use>::iterator place_;
};

/// Lists the memory of devices that objects of this process hold, in the order in which they were made. Buffers of the
/// pools are not in it. Thread-safe.
std::vector<device_use> device_uses();

}  // namespace syncyte::memory
