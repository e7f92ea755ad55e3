#include "collectives/communicators.hpp"

#include "tensors/buffers.hpp"
#include "tensors/operation_memory.hpp"
#include "operators/refused_tensors.hpp"

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

at::Tensor collect(const char* name, std::int64_t comm, const at::Tensor& input, operand kind, derivatives asked,
                   c10::function_ref<extents()> shape, collective_call call) {
  at::Tensor source;
  at::Tensor result;
  fact_list facts = facts_of(asked);
  try {
    refusal::check();
    source = input.resolve_conj().resolve_neg();
    if (kind == operand::along) {
      require_few_dimensions(input.sizes());
    } else {
      source = source.contiguous();
      add_shape(facts, source.sizes());
    }
    const extents wanted = shape();
    const bool is_copy = operation_memory::current() != nullptr;
    result =
        kind == operand::rewritten && is_copy ? copy_to_pool(source) : empty_from_pool(wanted, input.scalar_type());
  } catch (...) {
    fail_together(group_of(comm), name);
  }
  syncyte_collective_options_t options SYNCYTE_COLLECTIVE_OPTIONS_INIT;
  options.facts = facts.data();
  options.fact_count = static_cast<std::int32_t>(facts.size());
  check(call(buffer_of(source), options, buffer_of(result)));
  return result;
}

}  // namespace syncyte::torch_binding
