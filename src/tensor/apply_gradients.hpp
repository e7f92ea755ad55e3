// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include "access/transfer.hpp"
#include "tensor/optimizer.hpp"
#include "tensor/row_request.hpp"

namespace syncyte::tensor {

/// Updates rows by their gradients, where they live. Its two forms are access::run and access::start.
class apply_gradients final {
 public:
  apply_gradients(whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* gradients);
  std::unique_ptr<access::transfer> begin();
  void run();
  /// The optimizer keeps the object that serves the requests; the tensor may drop it meanwhile.
  std::shared_ptr<const void> keeps() const { return by_; }

 private:
  whole_tensor& of_;
  std::shared_ptr<optimizer> by_;
  std::optional<row_request> request_;            // in host memory
  std::optional<device_request> device_request_;  // on devices, which have the blocking form alone
};

}  // namespace syncyte::tensor
