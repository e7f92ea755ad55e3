// SPDX-License-Identifier: BSD-3-Clause
#include "process_group/backend.hpp"

#include <c10/util/Exception.h>
#include <torch/library.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <algorithm>
#include <utility>

#include "process_group/monitored_barrier.hpp"
#include "tensors/buffers.hpp"

namespace syncyte::torch_binding::process_group {
namespace {

using c10d::OpType;
using std::chrono::milliseconds;

/// Whether the caller goes on before the operation has ended. Older torch does not say it for all operations.
template <class COptions>
bool is_started(const COptions& options) {
  if constexpr (requires { options.asyncOp; })
    return options.asyncOp;
  else
    return true;
}

double seconds_of(milliseconds time) { return std::min(std::chrono::duration<double>(time).count(), 1e8); }

// Options of torch 2.6 have no name, and no ranks.

template <class COptions>
std::string name_in(const COptions& options) {
  if constexpr (requires { options.group_name; })
    return options.group_name;
  else
    return {};
}

template <class COptions>
void describe_in(COptions& options, const std::string& name, const std::vector<std::int64_t>& ranks) {
  if constexpr (requires { options.group_name; }) {
    options.group_name = name;
    options.global_ranks_in_group.assign(ranks.begin(), ranks.end());
  }
}

group_communicator made_in_time(const rank_list& ranks, const std::string& name, milliseconds timeout,
                                c10d::Store& store) {
  const wait_limit limit(seconds_of(timeout));
  return communicator_of(ranks, name, store);
}

const at::Tensor& only_one(const tensors& arrays) {
  TORCH_CHECK_VALUE(arrays.size() == 1, "there are ", arrays.size(), " tensors; expected one");
  return arrays.front();
}

/// A message's tensor.
at::Tensor message_of(const tensors& arrays) {
  const at::Tensor& array = only_one(arrays);
  blocking::require_dense(array);
  return array.detach();
}

/// Lists of coalesced operations have as many tensors on all ranks, of inputs and outputs.
void require_equal_lists(const communicator& comm, const char* operation, std::size_t outputs, std::size_t inputs) {
  const fact count("number of tensors", static_cast<std::int64_t>(inputs));
  const bool is_right = outputs == inputs;
  const syncyte_status_t own =
      is_right
          ? SYNCYTE_SUCCESS
          : syncyte_error_set(SYNCYTE_ERR_ARGUMENT, "there are not as many outputs as inputs; expected equal lists");
  checked([&] { comm.agree(static_cast<status>(own), operation, {&count, 1}); });
}

tensors all_of(const tensor_lists& lists) {
  tensors result;
  for (const tensors& each : lists) result.insert(result.end(), each.begin(), each.end());
  return result;
}

}  // namespace

backend::backend(const rank_list& ranks, int rank, const std::string& name, c10d::Store& store,
                 c10::intrusive_ptr<Options> options)
    : Backend(rank, static_cast<int>(ranks.size())),
      ranks_(ranks),
      name_(name),
      comm_(made_in_time(ranks, name, options->timeout, store)),
      options_(std::move(options)) {
  init();
}

c10::intrusive_ptr<c10d::Backend> backend::split(const c10::intrusive_ptr<c10d::Store>& store,
                                                 const std::vector<int>& ranks,
                                                 const c10::intrusive_ptr<Options>& options) {
  rank_list members;
  int rank = -1;
  for (const int each : ranks) {
    if (each == rank_) rank = static_cast<int>(members.size());
    members.push_back(ranks_.at(static_cast<std::size_t>(each)));
  }
  TORCH_CHECK_VALUE(rank >= 0, "ranks does not name rank ", rank_, ", which calls split_group");
  return c10::make_intrusive<backend>(members, rank, name_in(*options), *store, options);
}

void backend::shutdown() {
  TORCH_CHECK_WITH(DistBackendError, queue_.wait_until_idle(options_->timeout), "group ", name_,
                   " is destroyed on rank ", rank_, " while an operation is in flight, which has not ended within ",
                   options_->timeout.count(), " ms; expected all ranks to call it");
}

operation_facts backend::facts(OpType type, const char* name, milliseconds timeout) {
  const bool is_collective = !c10d::isP2POp(type) && type != OpType::COALESCED;  // the number is equal on all ranks
  const std::uint64_t number = is_collective ? ++number_ : number_.load();
  return {type, name, name_, rank_, number, timeout > milliseconds(0) ? timeout : options_->timeout};
}

backend::work backend::given(work made) {
  if (coalesces()) coalesced_.push_back(made);
  return made;
}

template <class COptions>
backend::work backend::submit(OpType type, const char* name, const COptions& options, tensors inputs, tensors outputs,
                              work_queue::step step) {
  auto made =
      c10::make_intrusive<operation_work>(facts(type, name, options.timeout), std::move(inputs), std::move(outputs));
  auto limited = [comm = comm_, seconds = seconds_of(made->getTimeout()), run_step = std::move(step)] {
    const wait_limit limit(seconds);
    try {
      run_step();
    } catch (...) {
      if (agreed_rank() < 0) comm->is_out_of_step = true;
      throw;
    }
  };
  if (coalesces() || is_started(options))
    queue_.start(made, std::move(limited));
  else
    queue_.run(made, std::move(limited));
  return given(std::move(made));
}

backend::work backend::broadcast(tensors& arrays, const c10d::BroadcastOptions& options) {
  return submit(OpType::BROADCAST, "syncyte:broadcast", options, arrays, arrays,
                [comm = comm_, arrays, root = options.rootRank] { blocking::broadcast(comm->comm, arrays, root); });
}

backend::work backend::allreduce(tensors& arrays, const c10d::AllreduceOptions& options) {
  return submit(OpType::ALLREDUCE, "syncyte:all_reduce", options, arrays, arrays,
                [comm = comm_, arrays, how = options.reduceOp] { blocking::all_reduce(comm->comm, arrays, how); });
}

backend::work backend::allreduce_coalesced(tensors& arrays, const c10d::AllreduceCoalescedOptions& options) {
  return submit(OpType::ALLREDUCE_COALESCED, "syncyte:all_reduce_coalesced", options, arrays, arrays,
                [comm = comm_, arrays, how = options.reduceOp] {
                  require_equal_lists(comm->comm, "allreduce_coalesced", arrays.size(), arrays.size());
                  blocking::all_reduce(comm->comm, arrays, how);
                });
}

backend::work backend::reduce(tensors& arrays, const c10d::ReduceOptions& options) {
  return submit(OpType::REDUCE, "syncyte:reduce", options, arrays, arrays,
                [comm = comm_, arrays, how = options.reduceOp, root = options.rootRank] {
                  blocking::reduce(comm->comm, arrays, how, root);
                });
}

backend::work backend::allgather(tensor_lists& outputs, tensors& inputs, const c10d::AllgatherOptions& options) {
  return submit(OpType::ALLGATHER, "syncyte:all_gather", options, inputs, all_of(outputs),
                [comm = comm_, outputs, inputs] {
                  for (std::size_t i = 0; i < inputs.size(); ++i)
                    blocking::all_gather(comm->comm, outputs.at(i), inputs[i]);
                });
}

backend::work backend::_allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options) {
  return submit(OpType::_ALLGATHER_BASE, "syncyte:_all_gather_base", options, {input}, {output},
                [comm = comm_, output, input] { blocking::all_gather_single(comm->comm, output, input); });
}

backend::work backend::allgather_coalesced(tensor_lists& outputs, tensors& inputs,
                                           const c10d::AllgatherOptions& options) {
  return submit(OpType::ALLGATHER_COALESCED, "syncyte:all_gather_coalesced", options, inputs, all_of(outputs),
                [comm = comm_, outputs, inputs] {
                  const std::size_t of_each = outputs.empty() ? 0 : outputs.front().size();
                  require_equal_lists(comm->comm, "allgather_coalesced", of_each, inputs.size());
                  for (std::size_t i = 0; i < inputs.size(); ++i) {
                    tensors of_ranks;
                    for (const tensors& of_rank : outputs) of_ranks.push_back(of_rank.at(i));
                    blocking::all_gather(comm->comm, of_ranks, inputs[i]);
                  }
                });
}

backend::work backend::allgather_into_tensor_coalesced(tensors& outputs, tensors& inputs,
                                                       const c10d::AllgatherOptions& options) {
  return submit(OpType::_ALLGATHER_BASE, "syncyte:all_gather_into_tensor_coalesced", options, inputs, outputs,
                [comm = comm_, outputs, inputs] {
                  require_equal_lists(comm->comm, "allgather_into_tensor_coalesced", outputs.size(), inputs.size());
                  for (std::size_t i = 0; i < inputs.size(); ++i)
                    blocking::all_gather_single(comm->comm, outputs.at(i), inputs[i]);
                });
}

backend::work backend::gather(tensor_lists& outputs, tensors& inputs, const c10d::GatherOptions& options) {
  return submit(OpType::GATHER, "syncyte:gather", options, inputs, all_of(outputs),
                [comm = comm_, outputs, input = only_one(inputs), root = options.rootRank] {
                  blocking::gather(comm->comm, outputs, input, root);
                });
}

backend::work backend::gather_into_tensor(at::Tensor& output, at::Tensor& input, const c10d::GatherOptions& options) {
  return submit(OpType::GATHER, "syncyte:gather_into_tensor", options, {input}, {output},
                [comm = comm_, output, input, root = options.rootRank] {
                  blocking::gather_single(comm->comm, output, input, root);
                });
}

backend::work backend::scatter(tensors& outputs, tensor_lists& inputs, const c10d::ScatterOptions& options) {
  return submit(OpType::SCATTER, "syncyte:scatter", options, all_of(inputs), outputs,
                [comm = comm_, output = only_one(outputs), inputs, root = options.rootRank] {
                  blocking::scatter(comm->comm, output, inputs, root);
                });
}

backend::work backend::reduce_scatter(tensors& outputs, tensor_lists& inputs,
                                      const c10d::ReduceScatterOptions& options) {
  return submit(OpType::REDUCE_SCATTER, "syncyte:reduce_scatter", options, all_of(inputs), outputs,
                [comm = comm_, outputs, inputs, how = options.reduceOp] {
                  for (std::size_t i = 0; i < outputs.size(); ++i)
                    blocking::reduce_scatter(comm->comm, outputs[i], inputs.at(i), how);
                });
}

backend::work backend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                            const c10d::ReduceScatterOptions& options) {
  return submit(OpType::_REDUCE_SCATTER_BASE, "syncyte:_reduce_scatter_base", options, {input}, {output},
                [comm = comm_, output, input, how = options.reduceOp] {
                  blocking::reduce_scatter_single(comm->comm, output, input, how);
                });
}

backend::work backend::reduce_scatter_tensor_coalesced(tensors& outputs, tensors& inputs,
                                                       const c10d::ReduceScatterOptions& options) {
  return submit(OpType::_REDUCE_SCATTER_BASE, "syncyte:reduce_scatter_tensor_coalesced", options, inputs, outputs,
                [comm = comm_, outputs, inputs, how = options.reduceOp] {
                  require_equal_lists(comm->comm, "reduce_scatter_tensor_coalesced", outputs.size(), inputs.size());
                  for (std::size_t i = 0; i < inputs.size(); ++i)
                    blocking::reduce_scatter_single(comm->comm, outputs.at(i), inputs[i], how);
                });
}

backend::work backend::alltoall_base(at::Tensor& output, at::Tensor& input, split_sizes& output_sizes,
                                     split_sizes& input_sizes, const c10d::AllToAllOptions& options) {
  return submit(OpType::ALLTOALL_BASE, "syncyte:all_to_all", options, {input}, {output},
                [comm = comm_, output, input, output_sizes, input_sizes] {
                  blocking::all_to_all_single(comm->comm, output, input, output_sizes, input_sizes);
                });
}

backend::work backend::alltoall(tensors& outputs, tensors& inputs, const c10d::AllToAllOptions& options) {
  return submit(OpType::ALLTOALL, "syncyte:all_to_all", options, inputs, outputs,
                [comm = comm_, outputs, inputs] { blocking::all_to_all(comm->comm, outputs, inputs); });
}

backend::work backend::barrier(const c10d::BarrierOptions& options) {
  return submit(OpType::BARRIER, "syncyte:barrier", options, {}, {},
                [comm = comm_] { checked([&] { comm->comm.barrier(); }); });
}

/// Its messages have a channel of their own: it may look for the rank that keeps a collective from ending.
void backend::monitoredBarrier(const c10d::BarrierOptions& options, bool wait_all_ranks) {
  const milliseconds timeout = options.timeout < milliseconds(0) ? options_->timeout : options.timeout;
  try {
    monitored_barrier(comm_->comm, ++monitored_barriers_, timeout, wait_all_ranks);
  } catch (...) {
    comm_->is_out_of_step = true;  // a later group's barrier must not meet messages of this one
    throw;
  }
}

backend::work backend::message(OpType type, const char* name, const at::Tensor& array, request in_flight,
                               std::shared_ptr<message_status> status) {
  auto sent = std::make_shared<transfer>(comm_, std::move(in_flight), array, std::move(status));
  return given(c10::make_intrusive<message_work>(facts(type, name, c10d::kUnsetTimeout), array, std::move(sent)));
}

backend::work backend::send(tensors& arrays, int dest, int tag) {
  const at::Tensor array = message_of(arrays);
  auto in_flight = checked([&] { return comm_->comm.isend(const_buffer_of(movable(array)), dest, tag); });
  return message(OpType::SEND, "syncyte:send", array, std::move(in_flight), nullptr);
}

backend::work backend::receive(OpType type, const char* name, const tensors& arrays, std::int32_t source, int tag) {
  const at::Tensor array = message_of(arrays);
  auto status = std::make_shared<message_status>(message_status{sizeof(message_status), proc_null, any, 0});
  syncyte_request_t started = nullptr;
  check(syncyte_comm_irecv(comm_->comm.get(), source, tag, nullptr, buffer_of(movable(array)).get(), status.get(),
                           &started));
  return message(type, name, array, request(started, status), status);
}

backend::work backend::recv(tensors& arrays, int source, int tag) {
  return receive(OpType::RECV, "syncyte:recv", arrays, source, tag);
}

backend::work backend::recvAnysource(tensors& arrays, int tag) {
  return receive(OpType::RECVANYSOURCE, "syncyte:recvAnySource", arrays, any, tag);
}

bool backend::coalesces() const { return coalescing_thread_ == std::this_thread::get_id(); }

void backend::startCoalescing() {
  coalesced_.clear();
  coalescing_thread_ = std::this_thread::get_id();
}

backend::work backend::endCoalescing() {
  TORCH_CHECK(coalesces(), "end of a coalescing block that has not begun in this thread; expected startCoalescing()");
  coalescing_thread_ = std::thread::id();
  return c10::make_intrusive<joint_work>(facts(OpType::COALESCED, "syncyte:coalesced", c10d::kUnsetTimeout),
                                         std::exchange(coalesced_, {}));
}

namespace {

/// Reads a group's store, for which torch 2.6 has no function.
struct store_reader : c10d::ProcessGroup {
  static c10::intrusive_ptr<c10d::Store> read(const c10d::ProcessGroup& group) { return group.*&store_reader::store_; }
};

/// Makes the backend of a group whose ranks of the job are given, and registers it for the CPU in the group `holder`,
/// where Python finds it.
void create_backend(const c10::intrusive_ptr<c10d::ProcessGroup>& holder, const std::vector<std::int64_t>& ranks,
                    const std::string& name, std::int64_t timeout_ms) {
  auto options = c10::make_intrusive<c10d::Backend::Options>("syncyte", milliseconds(timeout_ms));
  describe_in(*options, name, ranks);
  auto made = c10::make_intrusive<backend>(rank_list(ranks.begin(), ranks.end()), holder->getRank(), name,
                                           *store_reader::read(*holder), std::move(options));
  holder->setBackend(c10::kCPU, c10d::ProcessGroup::BackendType::CUSTOM, made);
}

}  // namespace

TORCH_LIBRARY(syncyte_process_group, library) {
  library.def("create_backend", create_backend);
  library.def("wait_for_all", [] { work_queue::wait_for_all(); });
}

}  // namespace syncyte::torch_binding::process_group
