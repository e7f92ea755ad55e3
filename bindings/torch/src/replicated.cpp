#include "replicated.hpp"

#include <ATen/core/grad_mode.h>

#include "buffers.hpp"
#include "collect.hpp"
#include "linear.hpp"
#include "refusal.hpp"

namespace syncyte::torch_binding {

void run_agreed(const char* operation, std::int64_t comm, const at::Tensor& input, derivatives asked, fact_list facts,
                c10::function_ref<void()> step) {
  std::int32_t level = 0;
  check(syncyte_comm_check_level(group_of(comm), &level));
  if (level == 0 || input.unsafeGetTensorImpl()->is_python_dispatch()) return step();
  const syncyte_status_t status = status_of([&] {
    require_usable(input, operation);
    step();
    return SYNCYTE_SUCCESS;
  });
  for (const syncyte_fact_t& fact : facts_of(asked)) facts.push_back(fact);
  if (status == SYNCYTE_SUCCESS) add_shape(facts, input.sizes());
  check(syncyte_comm_agree(group_of(comm), status, operation, static_cast<std::int32_t>(facts.size()), facts.data()));
}

bool is_recorded(const at::Tensor& input) { return input.requires_grad() && at::GradMode::is_enabled(); }

}  // namespace syncyte::torch_binding
