// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "base/buffer.hpp"

namespace syncyte::messages {

/// Lists the caller's memory of a message that was started, for its lifetime: MPI may read the memory of a send, and
/// write that of a receive, at any time until the message has ended. Thread-safe.
class buffer_in_flight {
 public:
  enum use { read, written };

  /// `buffer` lives as long as this object.
  buffer_in_flight(const base::buffer& buffer, use what);
  ~buffer_in_flight();
  buffer_in_flight(const buffer_in_flight&) = delete;
  buffer_in_flight& operator=(const buffer_in_flight&) = delete;

 private:
  const base::buffer& buffer_;
  use use_;
};

/// Throws SYNCYTE_ERR_ARGUMENT if a message in flight writes memory of this buffer or, if the buffer is to be written,
/// reads it. Costs a relaxed load where no message is listed.
void require_not_in_flight(const base::buffer& buffer, buffer_in_flight::use what);

}  // namespace syncyte::messages
