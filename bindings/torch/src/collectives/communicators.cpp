#include "collectives/communicators.hpp"

#include "tensors/buffers.hpp"

namespace syncyte::torch_binding {

std::int32_t rank_in(std::int64_t comm) {
  std::int32_t rank = 0;
  check(syncyte_comm_rank(group_of(comm), &rank));
  return rank;
}

std::size_t size_of(std::int64_t comm) {
  std::int32_t size = 0;
  check(syncyte_comm_size(group_of(comm), &size));
  return static_cast<std::size_t>(size);
}

void require_32_bits(const char* argument, std::int64_t value) {
  TORCH_CHECK_VALUE(value == static_cast<std::int32_t>(value), argument, " is ", value,
                    "; expected a number of 32 bits");
}

void require_few_dimensions(at::IntArrayRef shape) {
  TORCH_CHECK_VALUE(shape.size() <= SYNCYTE_MAX_NDIM, "the tensor has ", shape.size(), " dimensions; expected at most ",
                    SYNCYTE_MAX_NDIM);
}

std::int64_t number_of_forward(std::int64_t comm, const at::Tensor& input) {
  if (input.unsafeGetTensorImpl()->is_python_dispatch()) return 0;
  std::int64_t number = 0;
  check(syncyte_comm_sequence(group_of(comm), &number));
  return number;
}

}  // namespace syncyte::torch_binding
