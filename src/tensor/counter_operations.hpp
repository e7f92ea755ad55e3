// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "access/transfer.hpp"
#include "tensor/counter.hpp"
#include "tensor/row_operations.hpp"

namespace syncyte::tensor {

// Operations on counters, the elements of integer tensors.

std::int64_t load(const whole_tensor& of, std::int64_t element);
void store(whole_tensor& of, std::int64_t element, std::int64_t value);
/// A rank without which a wait cannot end, unless it has done its part.
struct needed_rank {
  int rank = -1;  // none
  std::function<bool()> has_done_its_part = {};
};

/// Returns the value for which the comparison holds; throws SYNCYTE_ERR_TIMEOUT, and SYNCYTE_ERR_PEER_DIED once all
/// other ranks have ended, or the needed one.
std::int64_t wait(const whole_tensor& of, std::int64_t element, syncyte_compare_t compare, std::int64_t value,
                  double timeout, const needed_rank& needed = {});

// The two forms of the others are access::run and access::start. `previous`, which may be null, gets the old value at
// the end.

class fetch_add final {
 public:
  fetch_add(const whole_tensor& of, std::int64_t element, std::int64_t operand, std::int64_t* previous);
  std::unique_ptr<access::transfer> begin() const { return counter_.start_fetch(SYNCYTE_OP_SUM, operand_, previous_); }

 private:
  counter counter_;
  std::int64_t operand_;
  std::int64_t* previous_;
};

class compare_swap final {
 public:
  compare_swap(const whole_tensor& of, std::int64_t element, std::int64_t expected, std::int64_t desired,
               std::int64_t* previous);
  std::unique_ptr<access::transfer> begin() const { return counter_.start_swap(expected_, desired_, previous_); }

 private:
  counter counter_;
  std::int64_t expected_, desired_;
  std::int64_t* previous_;
};

/// scatter, then a change of an element of `counters` by SYNCYTE_OP_SUM or SYNCYTE_OP_REPLACE. A started one needs no
/// further call for the change.
class put_signal final {
 public:
  put_signal(whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* source,
             std::shared_ptr<whole_tensor> counters, std::int64_t element, std::int64_t value, syncyte_op_t op);
  std::unique_ptr<access::transfer> begin();
  std::shared_ptr<const void> keeps() const { return counters_; }

 private:
  whole_tensor& of_;
  std::shared_ptr<whole_tensor> counters_;
  counter counter_;
  std::int64_t value_;
  syncyte_op_t op_;
  scatter rows_;
};

}  // namespace syncyte::tensor
