// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "memory/device.hpp"
#include "memory/device_system.hpp"

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
  std::size_t total_bytes(int) override { fail_unsupported(); }
  std::size_t free_bytes(int) override { fail_unsupported(); }
  void copy(const place&, const place&, std::size_t, void*) override { fail_unsupported(); }
  void* create_stream(int) override { fail_unsupported(); }
  void synchronize(int, void*) override { fail_unsupported(); }
  bool finish(int) noexcept override { return false; }
};

/// The same for device_system.
class no_system final : public device_system {
 public:
  int current() override { fail_unsupported(); }
  device_id id(int) override { fail_unsupported(); }
  int find(const device_id&) override { fail_unsupported(); }
  bool is_peer(int, int) override { fail_unsupported(); }
  bool has_atomics(int, int) override { fail_unsupported(); }
  std::size_t page_bytes(int) override { fail_unsupported(); }
  std::unique_ptr<device_range> reserve(int, std::size_t) override { fail_unsupported(); }
  std::unique_ptr<device_event> make_event(int) override { fail_unsupported(); }
  pinned_memory allocate_pinned(int, std::size_t) override { fail_unsupported(); }
  void free_pinned(int, std::byte*) noexcept override {}
  void require_host_addresses(int) override { fail_unsupported(); }
  void register_host(int, std::span<std::byte>) override { fail_unsupported(); }
  void unregister_host(int, std::byte*) noexcept override {}
  bool is_captured(int, void*) override { fail_unsupported(); }
  void launch(int, const kernel_image&, const char*, const void*, std::int64_t, void*) override { fail_unsupported(); }
};

}  // namespace

device_backend& cuda_backend() {
  static cuda_stub backend;
  return backend;
}

device_system& cuda_system() {
  static no_system system;
  return system;
}

}  // namespace syncyte::memory
