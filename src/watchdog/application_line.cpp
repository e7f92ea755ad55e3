#include "watchdog/application_line.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>

namespace syncyte::watchdog {
namespace {

struct asked_function {
  std::mutex mutex;
  line_function function = nullptr;
  void* context = nullptr;
};

asked_function& asked() {
  static auto* const the_function = new asked_function;  // leaked: other threads may use it during exit
  return *the_function;
}

struct question {
  std::mutex mutex;
  std::condition_variable answered;
  bool is_answered = false;
  char text[line_bytes] = "";
};

std::atomic<bool> is_under_way{false};

void answer(question& one) {
  line_function function = nullptr;
  void* context = nullptr;
  {
    const std::lock_guard lock(asked().mutex);
    function = asked().function;
    context = asked().context;
  }
  char text[line_bytes] = "";
  if (function != nullptr) function(text, sizeof text, context);
  text[line_bytes - 1] = '\0';
  const std::lock_guard lock(one.mutex);
  std::copy(std::begin(text), std::end(text), one.text);
  one.is_answered = true;
  one.answered.notify_all();
}

}  // namespace

void set_line_function(line_function function, void* context) {
  const std::lock_guard lock(asked().mutex);
  asked().function = function;
  asked().context = context;
}

bool has_line_function() {
  const std::lock_guard lock(asked().mutex);
  return asked().function != nullptr;
}

std::string application_line() {
  constexpr const char* unknown = "unknown";
  if (is_under_way.exchange(true)) return unknown;  // an earlier call is still running
  const auto one = std::make_shared<question>();
  std::thread([one] {
    answer(*one);
    is_under_way = false;
  }).detach();
  std::unique_lock lock(one->mutex);
  one->answered.wait_for(lock, std::chrono::seconds(1), [&] { return one->is_answered; });
  return one->is_answered && one->text[0] != '\0' ? one->text : unknown;
}

}  // namespace syncyte::watchdog
