#include "base/ranks.hpp"

#include "base/errors.hpp"
#include "syncyte/collectives.h"

namespace syncyte::hdf5 {
namespace {

syncyte_buffer_t vector_buffer(void* data, syncyte_dtype_t dtype, std::size_t count) {
  syncyte_buffer_t buffer{};
  const auto extent = static_cast<std::int64_t>(count);
  check(syncyte_buffer_init(data, dtype, 1, &extent, &buffer));
  return buffer;
}

}  // namespace

ranks::ranks(syncyte_comm_t comm) : comm_(comm) {
  check(syncyte_comm_rank(comm, &rank_));
  check(syncyte_comm_size(comm, &size_));
}

std::int32_t ranks::check_level() const {
  std::int32_t level = 0;
  check(syncyte_comm_check_level(comm_, &level));
  return level;
}

void ranks::agree(syncyte_status_t status, const char* operation, const std::vector<fact>& facts) const {
  std::vector<syncyte_fact_t> raw;
  for (const fact& each : facts) raw.push_back({sizeof(syncyte_fact_t), each.name, each.value});
  check(syncyte_comm_agree(comm_, status, operation, static_cast<std::int64_t>(raw.size()), raw.data()));
}

void ranks::together(const char* operation, const std::function<void()>& function) const {
  check(syncyte_comm_agree_unlimited(comm_, attempt(function), operation, 0, nullptr));
}

void ranks::broadcast(void* data, std::size_t bytes) const {
  const syncyte_buffer_t buffer = vector_buffer(data, SYNCYTE_UINT8, bytes);
  check(syncyte_comm_bcast(comm_, 0, nullptr, &buffer));
}

std::vector<std::int64_t> ranks::gather(const std::vector<std::int64_t>& values) const {
  std::vector<std::int64_t> all(values.size() * static_cast<std::size_t>(size_));
  const syncyte_buffer_t input = vector_buffer(const_cast<std::int64_t*>(values.data()), SYNCYTE_INT64, values.size());
  const syncyte_buffer_t output = vector_buffer(all.data(), SYNCYTE_INT64, all.size());
  check(syncyte_comm_allgather(comm_, &input, nullptr, &output));
  return all;
}

void ranks::xor_over_ranks(std::vector<std::uint32_t>& values) const {
  const syncyte_buffer_t buffer = vector_buffer(values.data(), SYNCYTE_INT32, values.size());
  check(syncyte_comm_allreduce(comm_, nullptr, SYNCYTE_OP_BXOR, nullptr, &buffer));
}

}  // namespace syncyte::hdf5
