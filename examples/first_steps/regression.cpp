// SPDX-License-Identifier: BSD-3-Clause
// Linear regression in PyTorch: each rank has some of the features, and trains their weights.  mpirun -n 2 ./regression
#include <torch/torch.h>

#include <iostream>
#include <syncyte/torch.hpp>

constexpr std::int64_t samples = 256, features = 12, steps = 50;

int main() try {
  const syncyte::environment environment;  // starts Syncyte, and MPI if needed; ends both at the end of main
  const auto world = syncyte::communicator::world();

  torch::manual_seed(0);  // equal numbers on all ranks
  const auto all = torch::randn({samples, features});
  const auto wanted = all.matmul(torch::arange(1.0, features + 1));
  const auto mine = all.tensor_split(world.size(), 1)[world.rank()];  // columns of this rank's features
  const auto weights = torch::zeros(mine.size(1), torch::requires_grad());
  torch::optim::SGD optimizer({weights}, 0.2);

  double first = 0, last = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    // All ranks compute one loss from the sum of their parts, so that the adjoint of the sum is the identity: backward
    // sends nothing.
    const auto sum = syncyte::torch_ops::allreduce(mine.matmul(weights), world, syncyte::op::sum, true);
    const auto loss = torch::mse_loss(sum, wanted);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
    if (step == 0) first = last;
  }
  std::cout << "rank " << world.rank() << " of " << world.size() << ": loss " << first << " to " << last << std::endl;
  return 0;
} catch (const std::exception& problem) {
  std::cerr << problem.what() << '\n';
  syncyte::abort(1);  // the whole job: no other rank waits for this one
}
