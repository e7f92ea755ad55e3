// SPDX-License-Identifier: BSD-3-Clause
#include "memory/device_system.hpp"

#include <fmt/format.h>

#include <iterator>

namespace syncyte::memory {
namespace {

thread_local void* stream_of_thread = nullptr;

}  // namespace

std::string text_of(const device_id& id) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < id.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    fmt::format_to(std::back_inserter(text), "{:02x}", id[i]);
  }
  return text;
}

void pinned_deleter::operator()(std::byte* data) const noexcept { cuda_system().free_pinned(device, data); }

void set_thread_stream(void* stream) { stream_of_thread = stream; }
void* thread_stream() { return stream_of_thread; }

}  // namespace syncyte::memory
