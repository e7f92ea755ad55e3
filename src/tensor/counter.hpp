// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "access/transfer.hpp"
#include "tensor/whole_tensor.hpp"
#include "window/remote.hpp"

namespace syncyte::tensor {

/// One element of an integer tensor, and the method that accesses it: the processor's atomics if the row is mapped here
/// and all ranks that access the row by window::remote are atomic with them, otherwise window::remote. Counters are not
/// atomic with scatter_add of rows of 16 bytes or more, which takes row locks.
class counter {
 public:
  /// Throws unless the tensor has counters and this element. `operation`: name of its access in messages.
  counter(const whole_tensor& of, std::int64_t element, const char* operation);

  bool is_mapped() const { return address_ != nullptr; }
  /// Returns `value`; throws SYNCYTE_ERR_ARGUMENT, naming the argument, unless the element can have it.
  std::int64_t checked(std::int64_t value, const char* argument) const;

  /// Applies `op` and returns the element's old value.
  std::int64_t fetch(syncyte_op_t op, std::int64_t operand) const;
  std::int64_t swap(std::int64_t expected, std::int64_t desired) const;
  std::int64_t load() const;

  /// Started forms; `previous`, which may be null, gets the old value at the end. Null: it is done.
  std::unique_ptr<access::transfer> start_fetch(syncyte_op_t op, std::int64_t operand, std::int64_t* previous) const;
  std::unique_ptr<access::transfer> start_swap(std::int64_t expected, std::int64_t desired,
                                               std::int64_t* previous) const;
  /// A change as a last step, see window::remote::change_step().
  access::last_step step(syncyte_op_t op, std::int64_t operand) const;

 private:
  using number_bytes = decltype(window::element_change::operand);
  number_bytes bytes_of(std::int64_t number) const;
  window::element_change change_of(syncyte_op_t op, std::int64_t operand) const {
    return {owner_, offset_, dtype_, op, bytes_of(operand)};
  }
  template <class Step>
  std::int64_t change(Step&& step) const;
  template <class Start>
  std::unique_ptr<access::transfer> start(std::int64_t* previous, Start&& begin) const;

  const char* operation_;
  syncyte_dtype_t dtype_;
  window::remote* remote_;
  int owner_ = 0;
  std::size_t offset_ = 0;        // in the owner's memory
  std::byte* address_ = nullptr;  // null: accessed by remote_
};

}  // namespace syncyte::tensor
