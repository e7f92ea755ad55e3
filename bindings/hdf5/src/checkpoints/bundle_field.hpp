// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ranks.hpp"
#include "syncyte/bundle.hpp"

namespace syncyte::hdf5 {

/// A field of a bundle, whose array the file holds whole: this rank writes or reads some of its rows, which relocation
/// collects from the blocks of all ranks, or sends to them.
class bundle_field {
 public:
  /// Local.
  bundle_field(syncyte_bundle_t bundle, std::int64_t number);

  const std::string& name() const { return name_; }
  /// This rank's rows: none before cut_into_rows(), and without memory before allocate().
  syncyte_buffer_t rows();

  /// Divides the rows among the ranks. Collective.
  void cut_into_rows(const ranks& all);

  void allocate() { memory_.resize(row_bytes_total()); }
  void release() { memory_ = {}; }
  /// From the blocks to the rows, and back. Collective; after allocate().
  void collect_rows();
  void distribute_rows();

 private:
  std::size_t row_bytes_total() const;
  std::vector<buffer> blocks() const;

  std::string name_;
  layout cut_;
  dtype type_{};
  extents shape_;  // of this rank's rows
  std::vector<syncyte_buffer_t> arrays_;
  layout by_rows_;
  std::vector<std::byte> memory_;
};

}  // namespace syncyte::hdf5
