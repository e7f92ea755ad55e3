// A user's program in C++ with libtorch: loading libsyncyte_torch registers its operators.
#include <ATen/core/dispatch/Dispatcher.h>
#include <syncyte.h>

#include <iostream>

int main() {
  if (syncyte_init(nullptr) != SYNCYTE_SUCCESS) return 1;
  const auto found = c10::Dispatcher::singleton().findSchema({"syncyte::allreduce", ""});
  if (!found) return 1;
  std::cout << "consumer: " << found->schema() << '\n';
  return syncyte_finalize() == SYNCYTE_SUCCESS ? 0 : 1;
}
