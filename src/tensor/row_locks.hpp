#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {

/// Locks of a tensor's rows: a tensor of int64, in which a locked row's element is its holder's rank + 1.
class row_locks {
 public:
  /// Collective. `of`: the tensor, which owns this object.
  row_locks(const whole_tensor& of, const std::string& name);

  void lock(std::int64_t row);
  void unlock(std::int64_t row);

 private:
  std::int64_t swap(std::int64_t row, std::int64_t expected, std::int64_t desired) const;
  std::int64_t mine() const;
  void require_inside(std::int64_t row) const;
  bool is_remote(std::int64_t row) const;
  void require_holder_alive(int holder, std::int64_t row) const;
  void wait(std::int64_t row, std::int64_t seen) const;

  const whole_tensor& of_;
  std::shared_ptr<whole_tensor> locks_;
};

}  // namespace syncyte::tensor
