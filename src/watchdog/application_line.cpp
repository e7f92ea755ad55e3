// SPDX-License-Identifier: BSD-3-Clause
#include "watchdog/application_line.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

namespace syncyte::watchdog {
namespace {

struct line_source {
  std::mutex mutex;
  line_function function = nullptr;
  void* context = nullptr;
};

line_source& source = *new line_source;  // leaked: other threads may use it during exit

std::atomic<bool> is_in_flight{false};

std::string call_function() {
  std::unique_lock lock(source.mutex);
  const auto [function, context] = std::pair(source.function, source.context);
  lock.unlock();
  char text[line_bytes] = "";
  if (function != nullptr) function(sizeof text, text, context);
  text[line_bytes - 1] = '\0';
  is_in_flight = false;
  return text;
}

}  // namespace

void set_line_function(line_function function, void* context) {
  const std::lock_guard lock(source.mutex);
  source.function = function;
  source.context = context;
}

bool has_line_function() {
  const std::lock_guard lock(source.mutex);
  return source.function != nullptr;
}

std::string application_line() {
  constexpr const char* unknown = "unknown";
  if (is_in_flight.exchange(true)) return unknown;  // an earlier call is still running
  std::packaged_task<std::string()> task(call_function);
  std::future<std::string> answer = task.get_future();
  std::thread(std::move(task)).detach();
  if (answer.wait_for(std::chrono::seconds(1)) != std::future_status::ready) return unknown;
  const std::string text = answer.get();
  return text.empty() ? unknown : text;
}

}  // namespace syncyte::watchdog
