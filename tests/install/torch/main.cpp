// SPDX-License-Identifier: BSD-3-Clause
// A user's program in C++ with ATen. The first steps have one with the frontend of libtorch, which compiles for longer.
#include <ATen/ops/ones.h>

#include <iostream>
#include <syncyte/torch.hpp>

int main() {
  const syncyte::environment environment;
  const auto world = syncyte::communicator::world();
  const at::Tensor input = at::ones({3}).requires_grad_();
  syncyte::torch_ops::allreduce(input, world).sum().backward();
  if (input.grad()[0].item<int>() != world.size()) return 1;
  std::cout << "consumer: " << input.grad().sum().item<int>() << '\n';
  return 0;
}
