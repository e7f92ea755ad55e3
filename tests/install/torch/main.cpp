// A user's program in C++ with libtorch, whose frontend has headers of its own.
#include <torch/torch.h>

#include <iostream>
#include <syncyte/torch.hpp>

int main() {
  const syncyte::environment environment;
  const auto world = syncyte::communicator::world();
  const torch::Tensor input = torch::ones(3, torch::requires_grad());
  syncyte::torch_ops::allreduce(input, world).sum().backward();
  if (input.grad()[0].item<int>() != world.size()) return 1;
  std::cout << "consumer: " << input.grad().sum().item<int>() << '\n';
  return 0;
}
