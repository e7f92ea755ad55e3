// SPDX-License-Identifier: BSD-3-Clause
#include "base/ranks.hpp"

#include "base/errors.hpp"

namespace syncyte::hdf5 {

void ranks::agree(syncyte_status_t own, const char* operation, const std::vector<fact>& facts) const {
  comm_->agree(static_cast<status>(own), operation, facts);
}

void ranks::together(const char* operation, const std::function<void()>& function) const {
  comm_->agree_unlimited(static_cast<status>(attempt(function)), operation);
}

void ranks::broadcast(void* data, std::size_t bytes) const {
  comm_->bcast(0, std::span(static_cast<std::uint8_t*>(data), bytes));
}

std::vector<std::int64_t> ranks::gather(const std::vector<std::int64_t>& values) const {
  std::vector<std::int64_t> all(values.size() * static_cast<std::size_t>(size_));
  comm_->allgather(values, all);
  return all;
}

void ranks::xor_over_ranks(std::vector<std::uint32_t>& values) const { comm_->allreduce(values, op::bit_xor); }

}  // namespace syncyte::hdf5
