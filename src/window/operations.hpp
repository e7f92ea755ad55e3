// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "atomics/elements.hpp"
#include "base/buffer.hpp"
#include "window/window.hpp"

namespace syncyte::window {

// Accesses to one rank's part of a window, whose two forms are access::run and access::start. Buffers are contiguous
// and in host memory. They and `previous` stay until the end; single elements that are read are copied. Memory that is
// mapped here is accessed by begin(); a started access is done at its target when it has ended.

/// Bytes that are copied to or from a rank's part.
class copied_bytes {
 protected:
  copied_bytes(window& on, int rank, std::int64_t offset, const base::buffer& here);
  bool is_remote() const { return there_.mapped == nullptr && bytes_ > 0; }

  window& on_;
  std::byte* here_;
  std::size_t bytes_;
  place there_;
};

class put final : private copied_bytes {
 public:
  put(window& on, int rank, std::int64_t offset, const syncyte_buffer_t* source);
  std::unique_ptr<transfer> begin() const;
  /// The blocking form does not wait for the target: other ranks see the bytes after window::flush().
  void run() const;
};

class get final : private copied_bytes {
 public:
  get(window& on, int rank, std::int64_t offset, const syncyte_buffer_t* target);
  std::unique_ptr<transfer> begin() const;
};

/// Elements of a rank's part that are combined with others, each atomically. The offset is a multiple of their size.
class combined_elements {
 public:
  std::unique_ptr<transfer> begin() const;

 protected:
  /// `previous` may be null.
  combined_elements(window& on, int rank, std::int64_t offset, const char* name, syncyte_dtype_t dtype, syncyte_op_t op,
                    const void* source, void* previous, std::int64_t count);

 private:
  void combine_here() const;

  window& on_;
  const char* name_;
  syncyte_dtype_t dtype_;
  syncyte_op_t op_;
  atomics::atomic_combine combine_;
  const std::byte* source_;
  std::byte* previous_;
  std::int64_t count_;
  place there_;
};

class accumulate final : public combined_elements {
 public:
  accumulate(window& on, int rank, std::int64_t offset, const syncyte_buffer_t* source, syncyte_op_t op);

 private:
  accumulate(window& on, int rank, std::int64_t offset, const base::buffer& source, syncyte_op_t op);
};

/// Combines one element; `previous` gets its old value.
class fetch_op final : public combined_elements {
 public:
  fetch_op(window& on, int rank, std::int64_t offset, syncyte_dtype_t dtype, const void* operand, syncyte_op_t op,
           void* previous);
};

/// Writes `desired` if the element equals `expected`; `previous` gets its old value.
class compare_swap final {
 public:
  compare_swap(window& on, int rank, std::int64_t offset, syncyte_dtype_t dtype, const void* expected,
               const void* desired, void* previous);
  std::unique_ptr<transfer> begin() const;

 private:
  window& on_;
  syncyte_dtype_t dtype_;
  const void *expected_, *desired_;
  void* previous_;
  place there_;
};

}  // namespace syncyte::window
