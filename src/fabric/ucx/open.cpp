#include <exception>
#include <memory>
#include <string>

#include "fabric/transport.hpp"
#include "fabric/ucx/context.hpp"
#include "fabric/ucx/log_lines.hpp"
#include "fabric/ucx/worker.hpp"

namespace syncyte::fabric::ucx {
namespace {

class ucx_transport final : public transport {
 public:
  std::unique_ptr<worker> make_worker(receiver& target) override {
    return std::make_unique<ucx_worker>(context_, target);
  }

 private:
  const std::shared_ptr<const context> context_ = std::make_shared<const context>();
};

}  // namespace
}  // namespace syncyte::fabric::ucx

extern "C" __attribute__((visibility("default"))) syncyte::fabric::transport* syncyte_open_transport(
    std::string* reason) {
  using namespace syncyte::fabric::ucx;
  try {
    *reason = refused_library();
    if (!reason->empty()) return nullptr;
    take_log_lines();
    return new ucx_transport;
  } catch (const std::exception& error) {
    *reason = error.what();
  }
  return nullptr;
}
