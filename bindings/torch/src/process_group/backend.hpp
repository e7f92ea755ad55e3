// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// c10d's backend "syncyte": torch.distributed's process groups on Syncyte's communicators.

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "process_group/collectives.hpp"
#include "process_group/communicators.hpp"
#include "process_group/work_queue.hpp"

namespace syncyte::torch_binding::process_group {

/// A process group. Collectives run in the order of their starts: those that the caller waits for in the caller's
/// thread, others in the group's. Messages are in flight from their start.
class backend final : public c10d::Backend {
 public:
  using work = c10::intrusive_ptr<c10d::Work>;

  /// The ranks of the job that form the group, this one among them. Collective over them.
  backend(const rank_list& ranks, int rank, const std::string& name, c10d::Store& store,
          c10::intrusive_ptr<Options> options);

  const std::string getBackendName() const override { return "syncyte"; }
  uint64_t getSequenceNumberForGroup() override { return number_; }
  void setSequenceNumberForGroup() override {}

  bool supportsSplitting() const override { return true; }

  // Functions that torch 2.6 does not have: here they override torch's where it has them.
  // NOLINTBEGIN(modernize-use-override)
  c10::intrusive_ptr<Options> getBackendOptions() { return options_; }
  void setTimeout(std::chrono::milliseconds timeout) { options_->timeout = timeout; }
  c10::intrusive_ptr<Backend> split(const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks,
                                    const c10::intrusive_ptr<Options>& options);
  void shutdown();
  bool supportsCoalescing() const { return true; }
  work gather_into_tensor(at::Tensor& output, at::Tensor& input, const c10d::GatherOptions& options);
  // NOLINTEND(modernize-use-override)

  work broadcast(tensors& arrays, const c10d::BroadcastOptions& options) override;
  work allreduce(tensors& arrays, const c10d::AllreduceOptions& options) override;
  work allreduce_coalesced(tensors& arrays, const c10d::AllreduceCoalescedOptions& options) override;
  work reduce(tensors& arrays, const c10d::ReduceOptions& options) override;
  work allgather(tensor_lists& outputs, tensors& inputs, const c10d::AllgatherOptions& options) override;
  work _allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options) override;
  work allgather_coalesced(tensor_lists& outputs, tensors& inputs, const c10d::AllgatherOptions& options) override;
  work allgather_into_tensor_coalesced(tensors& outputs, tensors& inputs,
                                       const c10d::AllgatherOptions& options) override;
  work gather(tensor_lists& outputs, tensors& inputs, const c10d::GatherOptions& options) override;
  work scatter(tensors& outputs, tensor_lists& inputs, const c10d::ScatterOptions& options) override;
  work reduce_scatter(tensors& outputs, tensor_lists& inputs, const c10d::ReduceScatterOptions& options) override;
  work _reduce_scatter_base(at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& options) override;
  work reduce_scatter_tensor_coalesced(tensors& outputs, tensors& inputs,
                                       const c10d::ReduceScatterOptions& options) override;
  work alltoall_base(at::Tensor& output, at::Tensor& input, split_sizes& output_sizes, split_sizes& input_sizes,
                     const c10d::AllToAllOptions& options) override;
  work alltoall(tensors& outputs, tensors& inputs, const c10d::AllToAllOptions& options) override;
  work barrier(const c10d::BarrierOptions& options) override;
  void monitoredBarrier(const c10d::BarrierOptions& options, bool wait_all_ranks) override;

  work send(tensors& arrays, int dest, int tag) override;
  work recv(tensors& arrays, int source, int tag) override;
  work recvAnysource(tensors& arrays, int tag) override;

  void startCoalescing() override;
  work endCoalescing() override;

 private:
  operation_facts facts(c10d::OpType type, const char* name, std::chrono::milliseconds timeout);
  /// Runs or starts an operation.
  template <class COptions>
  work submit(c10d::OpType type, const char* name, const COptions& options, tensors inputs, tensors outputs,
              work_queue::step step);
  work receive(c10d::OpType type, const char* name, const tensors& arrays, std::int32_t source, int tag);
  work message(c10d::OpType type, const char* name, const at::Tensor& array, request in_flight,
               std::shared_ptr<message_status> status);
  bool coalesces() const;
  /// A work as the caller gets it: among those between startCoalescing() and endCoalescing().
  work given(work made);

  const rank_list ranks_;
  const std::string name_;
  const group_communicator comm_;
  const c10::intrusive_ptr<Options> options_;
  std::atomic<std::uint64_t> number_ = 0;
  std::uint64_t monitored_barriers_ = 0;
  std::atomic<std::thread::id> coalescing_thread_ = std::thread::id();  // inside a coalescing block
  std::vector<work> coalesced_;                                         // used by that thread
  work_queue queue_;
};

}  // namespace syncyte::torch_binding::process_group
