// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <exception>
#include <memory>
#include <string>

#include "fabric/transport.hpp"
#include "fabric/ucx/context.hpp"
#include "fabric/ucx/log_lines.hpp"
#include "fabric/ucx/shared_memory.hpp"
#include "fabric/ucx/worker.hpp"

namespace syncyte::fabric::ucx {
namespace {

class ucx_transport final : public transport {
 public:
  explicit ucx_transport(bool is_local) : context_(std::make_shared<const context>(is_local)) {}

  std::unique_ptr<worker> make_worker(receiver& target) override {
    need_shared_memory(workers_ < needed_workers);
    auto made = std::make_unique<ucx_worker>(context_, target);
    ++workers_;
    return made;
  }

 private:
  /// The serving thread's, and a caller's.
  static constexpr int needed_workers = 2;

  const std::shared_ptr<const context> context_;
  std::atomic<int> workers_{0};
};

}  // namespace
}  // namespace syncyte::fabric::ucx

extern "C" __attribute__((visibility("default"))) syncyte::fabric::transport* syncyte_open_transport(
    bool is_local, std::string* reason) {
  using namespace syncyte::fabric::ucx;
  try {
    *reason = refused_library();
    if (!reason->empty()) return nullptr;
    take_log_lines();
    remove_abandoned_files();
    return new ucx_transport(is_local);
  } catch (const std::exception& error) {
    *reason = error.what();
  }
  return nullptr;
}
