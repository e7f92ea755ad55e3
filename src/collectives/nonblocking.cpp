#include "collectives/nonblocking.hpp"

#include <numeric>
#include <utility>
#include <vector>

#include "collectives/along_checks.hpp"
#include "collectives/checks.hpp"
#include "collectives/reduce.hpp"
#include "collectives/reduction_checks.hpp"
#include "collectives/segments.hpp"
#include "comm/collective.hpp"
#include "memory/scratch.hpp"

namespace syncyte::collectives {
namespace {

memory::scratch floats(std::int64_t count) { return memory::scratch(static_cast<std::size_t>(count) * sizeof(float)); }

float* as_floats(const memory::scratch& memory) { return reinterpret_cast<float*>(memory.data()); }

/// What all five have in common: the communicator lives as long as its started_collective, which owns these.
class operation_on : public data_operation {
 protected:
  explicit operation_on(const comm::communicator& comm) : comm_(comm) {}
  const comm::communicator& comm_;
};

class broadcast : public operation_on {
 public:
  broadcast(const comm::communicator& comm, const base::buffer& buffer, int root)
      : operation_on(comm), buffer_(buffer), root_(root) {}

  void post(transfers& pending) override {
    pending.bcast(comm_, buffer_.data(), buffer_.elements(), root_, buffer_.dtype());
  }

 private:
  base::buffer buffer_;
  int root_;
};

/// Half-precision elements go through float32 in one piece.
class all_reduction : public operation_on {
 public:
  all_reduction(const comm::communicator& comm, const operands& given, syncyte_op_t op)
      : operation_on(comm), given_(given), op_(op) {
    if (!is_half(dtype())) return;
    wide_ = floats(count());
    widen_half(given_.source(), count(), dtype(), as_floats(wide_));
  }

  void post(transfers& pending) override {
    if (is_half(dtype()))
      pending.allreduce(comm_, wide_.data(), wide_.data(), count(), SYNCYTE_FLOAT32, op_);
    else
      pending.allreduce(comm_, given_.source(), given_.target(), count(), dtype(), op_);
  }

  void finish() override {
    if (is_half(dtype())) round_half(as_floats(wide_), count(), dtype(), given_.target());
  }

 private:
  std::int64_t count() const { return given_.given().elements(); }
  syncyte_dtype_t dtype() const { return given_.given().dtype(); }

  operands given_;
  syncyte_op_t op_;
  memory::scratch wide_;
};

class all_gathering : public operation_on {
 public:
  all_gathering(const comm::communicator& comm, partitioned given) : operation_on(comm), given_(std::move(given)) {
    given_.part->load();
  }

  void post(transfers& pending) override {
    pending.allgather(comm_, given_.part->data(), given_.counts, given_.whole->data(), given_.dtype);
  }
  void finish() override { given_.whole->store(); }

 private:
  partitioned given_;
};

class reduce_scattering : public operation_on {
 public:
  reduce_scattering(const comm::communicator& comm, partitioned given, syncyte_op_t op)
      : operation_on(comm), given_(std::move(given)), op_(op) {
    given_.whole->load();
    if (!is_half(given_.dtype)) return;
    wide_ = floats(total());
    wide_part_ = floats(own());
    widen_half(given_.whole->data(), total(), given_.dtype, as_floats(wide_));
  }

  void post(transfers& pending) override {
    if (is_half(given_.dtype))
      pending.reduce_scatter(comm_, wide_.data(), given_.counts, wide_part_.data(), SYNCYTE_FLOAT32, op_);
    else
      pending.reduce_scatter(comm_, given_.whole->data(), given_.counts, given_.part->data(), given_.dtype, op_);
  }

  void finish() override {
    if (is_half(given_.dtype)) round_half(as_floats(wide_part_), own(), given_.dtype, given_.part->data());
    given_.part->store();
  }

 private:
  std::int64_t total() const { return std::accumulate(given_.counts.begin(), given_.counts.end(), std::int64_t{0}); }
  std::int64_t own() const { return given_.counts[static_cast<std::size_t>(comm_.rank())]; }

  partitioned given_;
  syncyte_op_t op_;
  memory::scratch wide_;
  memory::scratch wide_part_;
};

class all_to_all : public operation_on {
 public:
  all_to_all(const comm::communicator& comm, repartitioned given) : operation_on(comm), given_(std::move(given)) {
    given_.from->load();
  }

  void post(transfers& pending) override {
    pending.exchange(comm_, given_.from->data(), given_.from->counts(), given_.to->counts(), given_.to->data(),
                     given_.dtype, given_.is_long);
  }
  void finish() override { given_.to->store(); }

 private:
  repartitioned given_;
};

/// start() with what the caller brings.
template <class Prepare>
started_t start_with(const std::shared_ptr<comm::communicator>& comm, const char* operation, const extras& extras,
                     Prepare&& prepare) {
  return start(comm, operation, [&](comm::agreement& terms) {
    if (extras.error) throw *extras.error;
    auto made = prepare(terms);
    add_facts(terms, extras);
    return made;
  });
}

}  // namespace

started_t ibcast(const std::shared_ptr<comm::communicator>& comm, const syncyte_buffer_t* raw, int root,
                 const extras& extras) {
  return start_with(comm, "comm_ibcast", extras, [&](comm::agreement& terms) -> std::unique_ptr<data_operation> {
    require_root(*comm, root);
    const base::buffer buffer = checked(raw, "buffer");
    terms.named_fact("dtype of buffer", buffer.dtype(), base::dtype_name);
    terms.fact("elements of buffer", buffer.elements());
    terms.fact("root", root);
    return std::make_unique<broadcast>(*comm, buffer, root);
  });
}

started_t iallreduce(const std::shared_ptr<comm::communicator>& comm, const syncyte_buffer_t* input,
                     const syncyte_buffer_t* output, syncyte_op_t op, const extras& extras) {
  return start(comm, "comm_iallreduce", [&](comm::agreement& terms) -> std::unique_ptr<data_operation> {
    if (extras.error) throw *extras.error;
    const operands given = checked_operands(input, output, op, true);
    add_operands(terms, given, op, extras);
    return std::make_unique<all_reduction>(*comm, given, op);
  });
}

started_t iallgather_along(const std::shared_ptr<comm::communicator>& comm, const syncyte_buffer_t* input, int axis,
                           const std::int64_t* lengths, const syncyte_buffer_t* output, const extras& extras) {
  return start_with(
      comm, "comm_iallgather_along", extras, [&](comm::agreement& terms) -> std::unique_ptr<data_operation> {
        const base::buffer part = any_strides(input, "input");
        base::require(output != nullptr, SYNCYTE_ERR_ARGUMENT, "output is null; expected a syncyte_buffer_t");
        return std::make_unique<all_gathering>(*comm, checked_partition(terms, part, axis, lengths, output, "output"));
      });
}

started_t ireduce_scatter_along(const std::shared_ptr<comm::communicator>& comm, const syncyte_buffer_t* input,
                                int axis, const std::int64_t* lengths, syncyte_op_t op, const syncyte_buffer_t* output,
                                const extras& extras) {
  return start_with(comm, "comm_ireduce_scatter_along", extras,
                    [&](comm::agreement& terms) -> std::unique_ptr<data_operation> {
                      return std::make_unique<reduce_scattering>(
                          *comm, checked_reduce_scatter(terms, input, axis, lengths, op, output), op);
                    });
}

started_t ialltoall_along(const std::shared_ptr<comm::communicator>& comm, const syncyte_buffer_t* input,
                          const axis_change& change, const syncyte_buffer_t* output, const extras& extras) {
  return start_with(
      comm, "comm_ialltoall_along", extras, [&](comm::agreement& terms) -> std::unique_ptr<data_operation> {
        return std::make_unique<all_to_all>(*comm, checked_change(terms, any_strides(input, "input"), change, output));
      });
}

void irefuse(const std::shared_ptr<comm::communicator>& comm, const char* operation, const base::error& error) {
  auto made = std::make_shared<started_collective>(comm, operation);
  const comm::collective_turn turn(*comm, operation, true);
  made->terms().set_error(error);
  comm->starts().add(made, turn.sequence());
  comm->starts().orphan(made);
}

}  // namespace syncyte::collectives
