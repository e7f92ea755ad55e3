// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "memory/device.hpp"

namespace syncyte::memory {

namespace {

constexpr const char* reason = "this build of Syncyte has no CUDA; configure with -DSYNCYTE_CUDA=ON";

[[noreturn]] void fail_unsupported() { base::fail(SYNCYTE_ERR_UNSUPPORTED, reason); }

/// The CUDA backend of a build without CUDA: it has no devices, and every use throws SYNCYTE_ERR_UNSUPPORTED.
class cuda_stub final : public device_backend {
 public:
  int count() const noexcept override { return 0; }
  std::string why_none() const override { return reason; }
  void* allocate(int, std::size_t) override { fail_unsupported(); }
  void free(int, void*) noexcept override {}
  void copy(const place&, const place&, std::size_t, void*) override { fail_unsupported(); }
  void* create_stream(int) override { fail_unsupported(); }
  void synchronize(int, void*) override { fail_unsupported(); }
};

}  // namespace

device_backend& cuda_backend() {
  static cuda_stub backend;
  return backend;
}

}  // namespace syncyte::memory
