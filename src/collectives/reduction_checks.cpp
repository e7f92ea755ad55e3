#include "collectives/reduction_checks.hpp"

#include "collectives/checks.hpp"
#include "collectives/reduction_ops.hpp"

namespace syncyte::collectives {
namespace {

/// MPI's reductions and ours read elements as what they are.
base::buffer checked_elements(const syncyte_buffer_t* raw, const char* argument) {
  return checked(raw, argument).require_aligned();
}

}  // namespace

operands checked_operands(const syncyte_buffer_t* input, const syncyte_buffer_t* output, syncyte_op_t op,
                          bool gets_result) {
  operands result;
  if (gets_result) result.output = checked_elements(output, "output");
  if (input != nullptr || !gets_result) result.input = checked_elements(input, "input");
  if (result.input && result.output) {
    result.output->require_dtype(result.input->dtype()).require_elements(result.input->elements());
    require_apart(*result.input, *result.output);
  }
  require_reducible(result.given().dtype(), op);
  return result;
}

void add_operands(comm::agreement& terms, const operands& given, syncyte_op_t op) {
  terms.named_fact("dtype of output", given.given().dtype(), base::dtype_name);
  terms.fact("elements of output", given.given().elements());
  terms.named_fact("op", op, base::op_name);
}

}  // namespace syncyte::collectives
