// SPDX-License-Identifier: BSD-3-Clause
#include "sent_messages.hpp"

#include <mpi.h>

#include <mutex>

namespace {

std::mutex mutex;
bool is_listed = false;
std::vector<syncyte::test::sent_message> messages;

}  // namespace

/// In the place of MPI's own function: its profiling interface has the function under another name.
extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  {
    const std::lock_guard lock(mutex);
    if (is_listed) messages.push_back({to, tag});
  }
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

namespace syncyte::test {

sent_messages::sent_messages() {
  const std::lock_guard lock(mutex);
  messages.clear();
  is_listed = true;
}

sent_messages::~sent_messages() {
  const std::lock_guard lock(mutex);
  is_listed = false;
}

std::vector<int> sent_messages::receivers() const {
  const std::lock_guard lock(mutex);
  std::vector<int> result;
  for (const sent_message& each : messages) result.push_back(each.to);
  return result;
}

std::vector<int> sent_messages::receivers(int tag) const {
  const std::lock_guard lock(mutex);
  std::vector<int> result;
  for (const sent_message& each : messages)
    if (each.tag == tag) result.push_back(each.to);
  return result;
}

}  // namespace syncyte::test
