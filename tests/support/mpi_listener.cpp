// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_listener.hpp"

#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace syncyte::test {
namespace {

constexpr int skipped = 0;
constexpr int passed = 1;
constexpr int failed = 2;
constexpr const char* verdict_names[] = {"skipped", "passed", "failed"};

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string full_name(const testing::TestInfo& info) { return std::string(info.test_suite_name()) + "." + info.name(); }

std::string describe(const testing::TestPartResult& result) {
  const char* file = result.file_name() != nullptr ? result.file_name() : "(no file)";
  return std::string(file) + ":" + std::to_string(result.line_number()) + ": " + result.message() + "\n";
}

int local_verdict(const testing::TestResult& result) {
  if (result.Failed()) return failed;
  return result.Skipped() ? skipped : passed;
}

}  // namespace

mpi_listener::mpi_listener(MPI_Comm world, board& where) : board_(where) {
  MPI_Comm_dup(world, &comm_);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

void mpi_listener::free() { MPI_Comm_free(&comm_); }

void mpi_listener::OnTestStart(const testing::TestInfo& info) {
  failures_.clear();
  skip_reason_.clear();
  in_test_ = true;
  start_ = MPI_Wtime();
  board_.begin(full_name(info));
}

void mpi_listener::OnTestPartResult(const testing::TestPartResult& result) {
  if (agreeing_) return;
  if (result.skipped()) skip_reason_ = describe(result);
  if (!result.failed()) return;
  const std::string text = describe(result);
  if (in_test_) {
    failures_ += text;
    board_.fail(text);
  } else {
    failed_outside_ = true;
    if (rank_ != 0) std::fprintf(stderr, "[rank %d] outside of a test: %s", rank_, text.c_str());
  }
}

void mpi_listener::OnTestEnd(const testing::TestInfo& info) {
  board_.arrive();
  in_test_ = false;
  agreeing_ = true;
  int verdict = largest(local_verdict(*info.result()));
  drain_messages();
  verdict = largest(failures_.empty() ? verdict : failed);
  std::string text = verdict == skipped ? skip_reason_ : "";
  if (verdict == failed) {
    text = gather_failures();
    // The program must fail on all ranks; rank 0 prints the other ranks' failures.
    ADD_FAILURE() << (rank_ == 0 ? text : "failed on some rank");
  }
  if (rank_ == 0) write(full_name(info), verdict, MPI_Wtime() - start_, text);
  agreeing_ = false;
  board_.idle();
}

int mpi_listener::largest(int value) const {
  // Polls and sleeps instead of blocking: with more ranks than cores, waiting ranks leave the cores to ranks that work.
  int result = value;
  int done = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&value, &result, 1, MPI_INT, MPI_MAX, comm_, &request);
  for (int i = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done; ++i) {
    const timespec pause{0, i < 100 ? 1000 : 200000};
    if (i >= 20) nanosleep(&pause, nullptr);
  }
  return result;
}

void mpi_listener::drain_messages() {
  // Several probes, because MPI makes progress on messages in flight in each of them.
  int quiet = 0;
  while (quiet < 4) {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &message, &status);
    if (found == 0) {
      ++quiet;
      continue;
    }
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    std::vector<char> content(static_cast<std::size_t>(bytes > 0 ? bytes : 0));
    MPI_Mrecv(content.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    failures_ += "message left unreceived: from rank " + std::to_string(status.MPI_SOURCE) + ", tag " +
                 std::to_string(status.MPI_TAG) + ", " + std::to_string(bytes) + " bytes\n";
  }
}

std::string mpi_listener::gather_failures() const {
  const int mine = static_cast<int>(failures_.size());
  std::vector<int> counts(static_cast<std::size_t>(size_));
  std::vector<int> places(static_cast<std::size_t>(size_));
  MPI_Gather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm_);
  int total = 0;
  for (std::size_t i = 0; rank_ == 0 && i < counts.size(); ++i) {
    places[i] = total;
    total += counts[i];
  }
  std::string all(static_cast<std::size_t>(total), ' ');
  MPI_Gatherv(failures_.data(), mine, MPI_CHAR, all.data(), counts.data(), places.data(), MPI_CHAR, 0, comm_);
  std::string text;
  for (std::size_t i = 0; rank_ == 0 && i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const auto part = all.substr(static_cast<std::size_t>(places[i]), static_cast<std::size_t>(counts[i]));
    text += "[rank " + std::to_string(i) + "] " + part;
  }
  return text;
}

void mpi_listener::write(const std::string& test, int verdict, double seconds, const std::string& message) const {
  const char* path = std::getenv("SYNCYTE_TEST_RESULTS");
  if (path == nullptr) return;
  std::FILE* file = std::fopen(path, "a");
  if (file == nullptr) {
    std::perror(path);
    return;
  }
  std::fprintf(file, "{\"test\": %s, \"verdict\": \"%s\", \"seconds\": %.6f, \"message\": %s}\n",
               json_string(test).c_str(), verdict_names[verdict], seconds, json_string(message).c_str());
  std::fclose(file);
}

}  // namespace syncyte::test
