#include "base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>

#include "base/environment.hpp"

namespace syncyte::base {
namespace {

std::atomic<int> the_rank{-1};

spdlog::level::level_enum spdlog_level(syncyte_log_level_t level) {
  switch (level) {
    case SYNCYTE_LOG_OFF:
      return spdlog::level::off;
    case SYNCYTE_LOG_ERROR:
      return spdlog::level::err;
    case SYNCYTE_LOG_WARN:
      return spdlog::level::warn;
    case SYNCYTE_LOG_INFO:
      return spdlog::level::info;
    default:
      return spdlog::level::debug;
  }
}

spdlog::logger& logger() {
  // Leaked on purpose: destructors of static objects may log.
  static auto* const the_logger = [] {
    auto* created = new spdlog::logger("syncyte", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    created->set_pattern("%H:%M:%S.%e %v");
    const int choice = environment_choice("SYNCYTE_LOG", {"off", "error", "warn", "info", "debug"}, SYNCYTE_LOG_WARN);
    created->set_level(spdlog_level(choice));
    return created;
  }();
  return *the_logger;
}

const char* level_name(syncyte_log_level_t level) {
  constexpr const char* names[] = {"off", "error", "warning", "info", "debug"};
  return level >= SYNCYTE_LOG_OFF && level <= SYNCYTE_LOG_DEBUG ? names[level] : "info";
}

}  // namespace

void set_process_rank(int rank) { the_rank = rank; }

int process_rank() { return the_rank; }

bool log_enabled(syncyte_log_level_t level) {
  return level != SYNCYTE_LOG_OFF && logger().should_log(spdlog_level(level));
}

void log_line(syncyte_log_level_t level, const std::string& message) {
  const std::string who = process_rank() >= 0 ? fmt::format("rank {}", process_rank()) : "no rank yet";
  logger().log(spdlog_level(level), "syncyte {} [{}] {}", level_name(level), who, message);
}

}  // namespace syncyte::base
