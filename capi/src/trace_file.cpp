// SPDX-License-Identifier: BSD-3-Clause
#include "trace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "base/dtype.hpp"
#include "base/error.hpp"
#include "base/log.hpp"

namespace syncyte::capi {
namespace {

constexpr std::int64_t flush_interval_ns = 100'000'000;  // a killed rank loses the events since the last flush

/// Bytes of the UTF-8 character at `text`; 0 if it is not valid UTF-8.
std::size_t character_bytes(const char* text) {
  const int leading_ones = std::countl_one(static_cast<unsigned char>(*text));
  if (leading_ones == 1 || leading_ones > 4) return 0;
  const auto bytes = static_cast<std::size_t>(std::max(leading_ones, 1));
  for (std::size_t i = 1; i < bytes; ++i)
    if (static_cast<unsigned char>(text[i]) >> 6 != 2) return 0;
  return bytes;
}

/// A text as a JSON string; bytes that are not UTF-8 are read as Latin-1.
std::string quoted(const char* text) {
  std::string result = "\"";
  while (*text != '\0') {
    const std::size_t bytes = character_bytes(text);
    if (*text == '"' || *text == '\\')
      (result += '\\') += *text;
    else if (bytes == 0 || static_cast<unsigned char>(*text) < 0x20)
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(*text)));
    else
      result.append(text, bytes);
    text += std::max<std::size_t>(bytes, 1);
  }
  return result += '"';
}

/// The arguments that an event has.
std::string arguments_of(const syncyte_trace_event_t& event) {
  std::string text = fmt::format(R"("bytes":{})", event.bytes);
  if (event.dtype != 0) text += fmt::format(R"(,"dtype":"{}")", base::dtype_name(event.dtype));
  if (event.peer >= 0) text += fmt::format(R"(,"peer":{})", event.peer);
  if (event.comm != nullptr) text += R"(,"comm":)" + quoted(event.comm);
  if (event.path != nullptr) text += R"(,"path":)" + quoted(event.path);
  return text + fmt::format(R"(,"status":{})", event.status);
}

constexpr std::string_view closing = "\n]\n";  // constexpr: the file may be closed after static objects are destroyed

}  // namespace

trace_file::trace_file(const std::string& folder, int rank)
    : path_(fmt::format("{}/rank-{}.json", folder, rank)),
      rank_(rank),
      to_system_ns_(
          (std::chrono::system_clock::now().time_since_epoch() - std::chrono::steady_clock::now().time_since_epoch())
              .count()) {
  std::error_code ignored;  // opening the file reports the error
  std::filesystem::create_directories(folder, ignored);
  // The name can be guessed: another user may have put a link or a pipe there.
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  file_ = memory::descriptor(::open(path_.c_str(), flags, 0666));
  base::require(static_cast<bool>(file_), SYNCYTE_ERR_IO, "SYNCYTE_TRACE: {} cannot be written: {}", path_,
                base::errno_text(errno));
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  pending_ = fmt::format(R"([{{"name":"process_name","ph":"M","pid":{},"args":{{"name":"rank {} on {}"}}}})", rank,
                         rank, host);
  flush();
}

trace_file::~trace_file() { flush(); }

void trace_file::write(const syncyte_trace_event_t& event) {
  if (is_cut_) return;
  pending_ += fmt::format(
      ",\n"
      R"({{"name":{},"ph":"X","ts":{:.3f},"dur":{:.3f},"pid":{},"tid":{},"args":{{{}}}}})",
      quoted(event.operation), static_cast<double>(event.begin_ns + to_system_ns_) / 1e3,
      static_cast<double>(event.end_ns - event.begin_ns) / 1e3, rank_, ::gettid(), arguments_of(event));
  if (event.end_ns - flushed_ns_ < flush_interval_ns) return;
  flush();
  flushed_ns_ = event.end_ns;
}

/// The errno of a write, or 0.
int trace_file::write_at_end(std::string_view text) const {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written =
        ::pwrite(file_.number(), text.data() + done, text.size() - done, end_ + static_cast<off_t>(done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    done += static_cast<std::size_t>(written);
  }
  return 0;
}

void trace_file::flush() noexcept try {
  if (is_cut_ || pending_.empty()) return;
  if (const int code = write_at_end(std::string(pending_).append(closing)); code != 0) return end_here(code);
  end_ += static_cast<std::int64_t>(pending_.size());
  pending_.clear();
} catch (...) {  // out of memory
}

/// Writes the closing bracket where the last complete event ends, so that the file is valid JSON.
void trace_file::end_here(int code) {
  is_cut_ = true;
  pending_ = {};
  if (end_ > 0) write_at_end(closing);
  const bool is_shorter = ::ftruncate(file_.number(), end_ > 0 ? end_ + static_cast<off_t>(closing.size()) : 0) == 0;
  base::log(SYNCYTE_LOG_WARN, "SYNCYTE_TRACE: {} cannot grow: {}; later events are not in it{}", path_,
            base::errno_text(code), is_shorter ? "" : ", and its last one is broken");
}

}  // namespace syncyte::capi
