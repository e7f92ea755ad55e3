// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "atomics/lock_table.hpp"
#include "comm/collective_call.hpp"
#include "comm/deferred_frees.hpp"
#include "comm/node_memory.hpp"
#include "rows/row_map.hpp"
#include "tensor/device_storage.hpp"
#include "tensor/layout.hpp"
#include "window/remote.hpp"

namespace syncyte::tensor {

/// Memory of a tensor's rows, and access to other ranks' rows. All ranks hold it in common; resources that need MPI are
/// freed collectively. The last reference unmaps the memory; a view may hold one beyond finalize.
class storage final : public comm::collective_resource {
 public:
  /// Allocates zeroed memory that each node shares, with the table of `shape`. Collective within `call`; succeeds or
  /// throws on all ranks.
  static std::shared_ptr<storage> allocate(comm::collective_call& call, layout& shape);

  /// Allocates zeroed memory of devices, which each node's ranks share. `device`: this rank's.
  static std::shared_ptr<storage> allocate_on_devices(comm::collective_call& call, layout& shape, int device);

  /// Wraps rows that each rank has already. Collective as allocate(). `released` may be null, see
  /// syncyte_tensor_options_t.
  static std::shared_ptr<storage> wrap(comm::collective_call& call, layout& shape, std::byte* mine,
                                       std::int64_t* released);

  /// wrap() of rows in device memory, for one rank.
  static std::shared_ptr<storage> wrap_on_device(comm::collective_call& call, layout& shape, std::byte* mine,
                                                 int device, std::int64_t* released);

  storage() = default;
  ~storage() override;
  storage(const storage&) = delete;
  storage& operator=(const storage&) = delete;

  void free_collectively() noexcept override;

  const rows::row_map& mapped_rows() const { return mapped_rows_; }  // rows that this process loads and stores
  base::byte_range memory() const { return memory_of_rows_; }        // of all mapped rows
  std::byte* local() const { return local_; }                        // this rank's rows
  /// Address of a byte of an owner's memory, whose rows `shape` describes; null if it is not mapped.
  std::byte* find(const layout& shape, int owner, std::size_t offset) const {
    std::byte* const begin = mapped_rows_.find(shape.partition().first(owner));
    return begin == nullptr ? nullptr : begin + offset;
  }
  std::byte* node() const { return node_; }        // the node's rows in one range; null if wrapped on several ranks
  atomics::lock_table& locks() { return locks_; }  // of mapped rows; empty if adds need none
  /// Other ranks' memory; null if all rows are mapped.
  window::remote* remote() const { return remote_.get(); }
  /// The rows in host memory; null if they are wrapped, or on devices.
  comm::node_memory* shared() const { return memory_.get(); }
  /// Null if the rows are in host memory. Otherwise this process has mapped no rows, and local() and node() are
  /// addresses of the device.
  device_storage* on_device() const { return on_device_.get(); }

 private:
  void take(std::unique_ptr<device_storage> rows, const layout& shape);
  void open_remote(comm::collective_call& call, const layout& shape);
  void open_devices(comm::collective_call& call, const layout& shape);
  void make_locks(std::span<std::uint64_t> words, const topology::node_group& node, int holder,
                  const std::string& name);

  std::shared_ptr<comm::node_memory> memory_;
  std::vector<std::uint64_t> private_words_;  // lock words of wrapped rows, to which only this process adds
  std::shared_ptr<window::remote> remote_;
  std::shared_ptr<device_storage> on_device_;
  std::byte* local_ = nullptr;
  std::byte* node_ = nullptr;
  std::int64_t* released_ = nullptr;
  rows::row_map mapped_rows_;
  base::byte_range memory_of_rows_;
  atomics::lock_table locks_;
};

}  // namespace syncyte::tensor
