// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "access/by_owner.hpp"
#include "access/transfer.hpp"
#include "rows/row_index.hpp"
#include "tensor/whole_tensor.hpp"
#include "window/remote.hpp"

namespace syncyte::tensor {

using positions_by_owner = access::by_owner<std::int64_t>;

/// Rows of a list in flight, to or from owners whose memory is not mapped here.
class row_transfer final : public access::transfer {
 public:
  /// `packed`: host memory of the list's rows. `name`: of the operation, in messages.
  row_transfer(const whole_tensor& of, const rows::row_index& index, std::byte* packed, const char* name,
               window::row_access what);

  /// Positions of the list, by owner.
  std::span<const positions_by_owner::part> parts() const { return sorted_.parts(); }
  bool is_done() const { return !in_flight_; }

  bool test() override { return in_flight_->test(); }
  void wait() override { in_flight_->wait(); }
  void drive() override { in_flight_->drive(); }
  bool add_last_step(access::last_step& step) override { return in_flight_->add_last_step(step); }

 private:
  positions_by_owner sorted_;
  std::vector<std::size_t> offsets_;  // of rows in their owners' memory
  std::unique_ptr<access::transfer> in_flight_;
};

}  // namespace syncyte::tensor
