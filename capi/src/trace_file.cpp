#include "trace_file.hpp"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/error.hpp"

namespace syncyte::capi {
namespace {

constexpr std::int64_t flush_interval_ns = 1'000'000'000;  // what a killed rank may lose

std::int64_t nanoseconds(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

trace_file::trace_file(const std::string& folder, int rank)
    : rank_(rank), to_system_ns_(nanoseconds(CLOCK_REALTIME) - nanoseconds(CLOCK_MONOTONIC)) {
  std::error_code ignored;  // what is wrong shows when the file is opened
  std::filesystem::create_directories(folder, ignored);
  const std::string path = fmt::format("{}/rank-{}.json", folder, rank);
  file_.reset(std::fopen(path.c_str(), "we"));
  base::require(file_ != nullptr, SYNCYTE_ERR_IO, "SYNCYTE_TRACE: {} cannot be written: {}", path,
                std::strerror(errno));
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  fmt::print(file_.get(), R"([{{"name":"process_name","ph":"M","pid":{},"args":{{"name":"rank {} on {}"}}}})", rank,
             rank, host);
}

trace_file::~trace_file() { std::fputs("\n]\n", file_.get()); }

void trace_file::hold_for_fork() {
  mutex_.lock();
  std::fflush(file_.get());
}

void trace_file::go_on_after_fork() { mutex_.unlock(); }

void trace_file::write(const syncyte_trace_event_t& event) {
  const std::lock_guard lock(mutex_);
  const std::string peer = event.peer < 0 ? "" : fmt::format(R"("peer":{},)", event.peer);
  fmt::print(
      file_.get(),
      ",\n"
      R"({{"name":"{}","ph":"X","ts":{:.3f},"dur":{:.3f},"pid":{},"tid":{},"args":{{"bytes":{},{}"status":{}}}}})",
      event.operation, static_cast<double>(event.begin_ns + to_system_ns_) / 1e3,
      static_cast<double>(event.end_ns - event.begin_ns) / 1e3, rank_, ::gettid(), event.bytes, peer, event.status);
  if (event.end_ns - flushed_ns_ < flush_interval_ns) return;
  std::fflush(file_.get());
  flushed_ns_ = event.end_ns;
}

}  // namespace syncyte::capi
