// SPDX-License-Identifier: BSD-3-Clause
#include "cache/model_checksums.hpp"

#include <memory>

#include "base/hash.hpp"
#include "memory/staging.hpp"

namespace syncyte::cache {
namespace {

std::uint64_t checksum_on_device(memory::staging& staging, const std::byte* data, std::uint64_t bytes) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
  XXH3_64bits_reset(state.get());
  staging.get(data, bytes,
              [&](std::span<const std::byte> piece) { XXH3_64bits_update(state.get(), piece.data(), piece.size()); });
  return XXH3_64bits_digest(state.get());
}

}  // namespace

std::vector<std::uint64_t> checksums(const model_layout& layout, const memory::place& first) {
  std::unique_ptr<memory::staging> staging;
  if (first.memory != SYNCYTE_MEMORY_HOST) staging = std::make_unique<memory::staging>(first.device);
  std::vector<std::uint64_t> result;
  for (const model_tensor& tensor : layout.tensors()) {
    const std::byte* const data = static_cast<std::byte*>(first.data) + (tensor.offset - layout.data_begin());
    result.push_back(staging ? checksum_on_device(*staging, data, tensor.bytes) : XXH3_64bits(data, tensor.bytes));
  }
  return result;
}

}  // namespace syncyte::cache
