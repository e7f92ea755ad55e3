// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 alone cannot use the fabric: the ranks agree to do without it, and say why. The variable SYNCYTE_TEST_FALLBACK
// says what rank 1 lacks; a process opens the fabric once, so each case is a run of its own:
//
//   setting      SYNCYTE_FABRIC is off
//   module       libsyncyte_ucx.so is not there
//   descriptors  no file descriptor is left, so the module cannot be loaded
//   worker       the module is loaded, but too few file descriptors are left for UCX
//   release      the process has loaded an old UCX, as an MPI may do: the library SYNCYTE_TEST_UCP (stand_in_ucp.c)
//   threads      the same with a new UCX that was built without support of threads
//   path         the loader finds the old library first: rank 1 is started with another LD_LIBRARY_PATH
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

#include "../tensor/tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

constexpr std::int64_t rows = 12, columns = 3;

std::string lacking() {
  const char* const value = std::getenv("SYNCYTE_TEST_FALLBACK");
  return value != nullptr ? value : "";
}

bool has_old_release() { return lacking() == "release" || lacking() == "path"; }
bool has_stand_in() { return has_old_release() || lacking() == "threads"; }

bool is_without_module() { return rank() == 1 && lacking() == "module"; }

/// Whether a rank has loaded a UCX before the test.
bool has_loaded_ucx() {
  std::int32_t loaded = ::dlopen("libucp.so.0", RTLD_NOW | RTLD_NOLOAD) != nullptr, any = 0;
  MPI_Allreduce(&loaded, &any, 1, MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD);
  return any != 0;
}

/// The process can open `more` further file descriptors until the end of the scope.
class few_descriptors {
 public:
  explicit few_descriptors(rlim_t more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(next);
    const rlimit small = {static_cast<rlim_t>(next) + more, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &small);
  }
  ~few_descriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  few_descriptors(const few_descriptors&) = delete;
  few_descriptors& operator=(const few_descriptors&) = delete;

 private:
  rlimit before_ = {};
};

void load_stand_in() {
  void* const loaded = ::dlopen(std::getenv("SYNCYTE_TEST_UCP"), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(loaded, nullptr) << ::dlerror();
}

/// Opens this process's engine, which rank 1 cannot; returns the reason.
std::string open_engine() {
  std::string reason;
  if (rank() == 1 && lacking() == "setting") ::setenv("SYNCYTE_FABRIC", "off", 1);
  if (rank() == 1 && (lacking() == "release" || lacking() == "threads")) load_stand_in();
  if (rank() == 1 && lacking() == "descriptors") {
    const few_descriptors none(0);
    fabric::process_engine(reason);
  } else if (rank() == 1 && lacking() == "worker") {
    const few_descriptors few(30);
    fabric::process_engine(reason);
  } else {
    fabric::process_engine(reason);
  }
  return reason;
}

std::string expected_reason() {
  if (rank() != 1) return "another rank has none";
  if (lacking() == "setting") return "SYNCYTE_FABRIC is off";
  if (lacking() == "module") return "libsyncyte_missing.so";
  if (has_old_release()) return "has loaded UCX 1.12.0, but Syncyte needs UCX 1.13";
  if (lacking() == "threads")
    return "has loaded UCX 1.13.0 without support of threads, but Syncyte needs UCX built with";
  return lacking() == "descriptors" ? "Too many open files" : "more file descriptors";
}

void read_rows(tensor::whole_tensor& tensor) {
  fill<std::int64_t>(tensor);
  EXPECT_EQ(read_all<std::int64_t>(tensor), filled_table<std::int64_t>(rows * columns));
  const std::vector<std::int64_t> theirs{(rank() + 1) % ranks() * rows / ranks()};
  const auto index = index_of(theirs);
  const std::vector<std::int64_t> ones(columns, 1);
  const auto source = buffer_of(ones, SYNCYTE_INT64, {1, columns});
  expect_error(outcome_of([&] { run<tensor::scatter_add>(tensor, &index, &source); }), SYNCYTE_ERR_UNSUPPORTED,
               "on another node, and world does not use the fabric: ");
  EXPECT_NE(outcome_of([&] { run<tensor::scatter_add>(tensor, &index, &source); }).message.find(expected_reason()),
            std::string::npos);
  tensor.sync();
  EXPECT_EQ(read_all<std::int64_t>(tensor), filled_table<std::int64_t>(rows * columns)) << "a refused add changed rows";
  barrier();
}

TEST(fallback, is_agreed_and_said) {
  if (ranks() < 2 || lacking().empty()) GTEST_SKIP() << "needs two ranks and SYNCYTE_TEST_FALLBACK";
  if (has_stand_in() && has_loaded_ucx()) GTEST_SKIP() << "MPI has loaded its UCX already";
  ASSERT_EQ(open_engine().empty(), rank() != 1);
  tensor_pointer tensor;
  testing::internal::CaptureStderr();
  const outcome created = outcome_of([&] { tensor = make_tensor(SYNCYTE_INT64, {rows, columns}); });
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("world does not use the fabric"), std::string::npos) << log;
  EXPECT_NE(log.find(expected_reason()), std::string::npos) << log;
  if (tensor == nullptr) {  // this MPI has no one-sided communication
    EXPECT_EQ(created.status, SYNCYTE_ERR_UNSUPPORTED) << created.message;
    return;
  }
  read_rows(*tensor);
}

}  // namespace

/// Takes the place of libc's function, which loads the module: rank 1 asks for a file that is not there.
extern "C" void* dlmopen(Lmid_t space, const char* file, int mode) noexcept {
  using function = void* (*)(Lmid_t, const char*, int) noexcept;
  static const auto real = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "dlmopen"));
  return real(space, is_without_module() ? "libsyncyte_missing.so" : file, mode);
}
