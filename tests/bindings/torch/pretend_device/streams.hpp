// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Streams of the pretended device: operations enqueued on a stream run only when a caller waits for the stream.

#include <c10/core/Stream.h>

#include <cstdint>
#include <functional>

namespace pretend {

constexpr c10::DeviceType type = c10::DeviceType::PrivateUse1;
constexpr c10::DeviceIndex devices = 2;

c10::DeviceIndex current_device();
c10::DeviceIndex exchange_device(c10::DeviceIndex device);

c10::Stream current_stream(c10::DeviceIndex device);
c10::Stream exchange_stream(c10::Stream stream);
c10::Stream new_stream(c10::DeviceIndex device);

void enqueue(c10::Stream stream, std::function<void()> work);
/// Runs the enqueued operations.
void finish(c10::Stream stream);
void finish_all();
bool is_finished(c10::Stream stream);
/// Number of enqueued operations that have not run.
std::int64_t queued(c10::Stream stream);

}  // namespace pretend
