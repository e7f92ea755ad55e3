#include "collectives/agreed_step.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "collectives/communicators.hpp"
#include "operators/refused_tensors.hpp"
#include "tensors/buffers.hpp"

namespace syncyte::torch_binding {
namespace {

constexpr std::int32_t full = 2;  // SYNCYTE_CHECK=full

syncyte_fact_t checksum_of(const at::Tensor& tensor) {
  const at::Tensor elements = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous();
  const std::uint64_t sum = XXH3_64bits(elements.const_data_ptr(), elements.nbytes());
  return {"checksum of input", static_cast<std::int64_t>(sum)};
}

}  // namespace

void run_agreed(const char* operation, std::int64_t comm, const at::Tensor& input, derivatives asked, fact_list facts,
                c10::function_ref<void()> step) {
  std::int32_t level = 0;
  check(syncyte_comm_check_level(group_of(comm), &level));
  if (level == 0 || input.unsafeGetTensorImpl()->is_python_dispatch()) return step();
  const syncyte_status_t status = status_of([&] {
    require_usable(input, operation);
    if (level == full && asked.forward_number == 0) facts.push_back(checksum_of(input));
    step();
  });
  for (const syncyte_fact_t& fact : facts_of(asked)) facts.push_back(fact);
  if (status == SYNCYTE_SUCCESS) add_shape(facts, input.sizes());
  check(syncyte_comm_agree(group_of(comm), status, operation, static_cast<std::int32_t>(facts.size()), facts.data()));
}

}  // namespace syncyte::torch_binding
