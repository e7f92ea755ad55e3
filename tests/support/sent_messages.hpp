// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The messages that this process sends by MPI_Isend(); the core sends by no other function.

#include <vector>

namespace syncyte::test {

/// A message; its receiver is a rank of the communicator.
struct sent_message {
  int to, tag;
};

/// Lists the messages that are sent while it lives, in order; one at a time.
class sent_messages {
 public:
  sent_messages();
  ~sent_messages();
  sent_messages(const sent_messages&) = delete;
  sent_messages& operator=(const sent_messages&) = delete;

  /// Receivers of the messages, in order.
  std::vector<int> receivers() const;
  /// The same for messages with this tag.
  std::vector<int> receivers(int tag) const;
};

}  // namespace syncyte::test
