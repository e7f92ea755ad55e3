// SPDX-License-Identifier: BSD-3-Clause
#include "streams.hpp"

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

namespace pretend {
namespace {

using key = std::pair<c10::DeviceIndex, c10::StreamId>;

std::recursive_mutex mutex;
std::map<key, std::deque<std::function<void()>>>& queues() {
  static auto* const all = new std::map<key, std::deque<std::function<void()>>>;  // may outlive static objects
  return *all;
}

key key_of(c10::Stream stream) { return {stream.device_index(), stream.id()}; }

thread_local c10::DeviceIndex device_of_thread = 0;
thread_local std::array<c10::StreamId, devices> stream_of_thread{};

c10::Stream make(c10::DeviceIndex device, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(type, device), id);
}

}  // namespace

c10::DeviceIndex current_device() { return device_of_thread; }
c10::DeviceIndex exchange_device(c10::DeviceIndex device) { return std::exchange(device_of_thread, device); }

c10::Stream current_stream(c10::DeviceIndex device) {
  const c10::DeviceIndex index = device < 0 ? current_device() : device;
  return make(index, stream_of_thread.at(static_cast<std::size_t>(index)));
}

c10::Stream exchange_stream(c10::Stream stream) {
  const c10::DeviceIndex device = stream.device_index();
  return make(device, std::exchange(stream_of_thread.at(static_cast<std::size_t>(device)), stream.id()));
}

c10::Stream new_stream(c10::DeviceIndex device) {
  static std::atomic<c10::StreamId> last{0};
  return make(device < 0 ? current_device() : device, ++last);
}

void enqueue(c10::Stream stream, std::function<void()> work) {
  const std::lock_guard lock(mutex);
  queues()[key_of(stream)].push_back(std::move(work));
}

void finish(c10::Stream stream) {
  const std::lock_guard lock(mutex);
  auto& queue = queues()[key_of(stream)];
  while (!queue.empty()) {
    const auto work = std::move(queue.front());
    queue.pop_front();
    work();
  }
}

void finish_all() {
  const std::lock_guard lock(mutex);
  for (auto& [stream, queue] : queues()) finish(make(stream.first, stream.second));
}

bool is_finished(c10::Stream stream) { return queued(stream) == 0; }

std::int64_t queued(c10::Stream stream) {
  const std::lock_guard lock(mutex);
  return static_cast<std::int64_t>(queues()[key_of(stream)].size());
}

}  // namespace pretend
