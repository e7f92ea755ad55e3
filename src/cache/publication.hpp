// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cache/model_layout.hpp"
#include "cache/model_writer.hpp"
#include "cache/models.hpp"
#include "memory/mapping.hpp"
#include "syncyte/base.h"

namespace syncyte::cache {

/// A model that this process publishes: a list of tensors, then memory of its own with their bytes. Binders may have
/// the model from start() on, and use a group of tensors as soon as it and those before it are written. Once all is
/// written the file is sealed: no process can change it. Memory of a device cannot be sealed; processes map it to read
/// it. Thread-safe.
class publication {
 public:
  /// `device`: in whose memory the model will lie; -1: in host memory. Throws SYNCYTE_ERR_ARGUMENT for a wrong name.
  publication(std::shared_ptr<models> where, std::string name, bool has_checksums, int device = -1);

  /// Adds a tensor. Its memory must stay until finish(); data may be null for a tensor that fill() writes.
  void add(const std::string& tensor, const syncyte_buffer_t* buffer);

  /// Takes the name and the memory. Throws SYNCYTE_ERR_BUSY, SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_PEER_DIED.
  void start();

  /// Writes one tensor; starts first.
  void fill(const std::string& tensor, const syncyte_buffer_t* buffer);

  /// Writes all tensors that are not filled, and seals the file. An error reaches all binders.
  void finish();

  /// Gives up; binders get the error.
  void fail(syncyte_status_t status, const std::string& reason);

  const std::string& name() const { return name_; }

 private:
  void require_open() const;
  void begin();
  model_place place() const;
  void make_memory();
  void make_file();
  void free_memory();
  void write(std::uint64_t number, const base::buffer& from);
  void write_checksums();
  void tell_ready();
  void seal();
  void give_up(const base::error& failed);

  std::mutex mutex_;
  std::shared_ptr<models> where_;
  std::string name_;
  model_layout layout_;
  std::vector<syncyte_buffer_t> sources_;
  bool is_over_ = false;
  own_descriptor connection_;  // empty before start()
  int device_;                 // -1: host memory
  std::vector<memory::descriptor> files_;
  memory::mapping mapping_;  // of the first file; not in a forked child, where it would keep it from being sealed
  std::unique_ptr<model_writer> writer_;
  std::vector<bool> is_written_;
  std::vector<std::uint64_t> left_;  // tensors of each group that are not written
  std::uint64_t ready_ = 0;          // groups
};

}  // namespace syncyte::cache
