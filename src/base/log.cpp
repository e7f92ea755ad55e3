#include "base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "base/environment.hpp"

namespace syncyte::base {
namespace {

std::atomic<int> the_rank{-1};

struct level_description {
  spdlog::level::level_enum level;
  const char* name;
};

const level_description& describe(syncyte_log_level_t level) {
  using namespace spdlog::level;
  static constexpr level_description levels[] = {
      {off, "off"}, {err, "error"}, {warn, "warning"}, {info, "info"}, {debug, "debug"}};
  return levels[std::clamp<int>(level, SYNCYTE_LOG_OFF, SYNCYTE_LOG_DEBUG)];
}

spdlog::logger& logger() {
  // Leaked on purpose: destructors of static objects may log.
  static auto* const the_logger = [] {
    auto* created = new spdlog::logger("syncyte", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    created->set_pattern("%H:%M:%S.%e %v");
    const int choice = environment_choice(settings::log, SYNCYTE_LOG_WARN);
    created->set_level(describe(choice).level);
    return created;
  }();
  return *the_logger;
}

}  // namespace

void set_process_rank(int rank) { the_rank = rank; }

int process_rank() { return the_rank; }

bool log_enabled(syncyte_log_level_t level) {
  return level != SYNCYTE_LOG_OFF && logger().should_log(describe(level).level);
}

void log_line(syncyte_log_level_t level, const std::string& message) {
  const std::string who = process_rank() >= 0 ? fmt::format("rank {}", process_rank()) : "no rank yet";
  logger().log(describe(level).level, "syncyte {} [{}] {}", describe(level).name, who, message);
}

}  // namespace syncyte::base
