#include <optional>

#include "collectives/collectives.hpp"
#include "collectives/forms.hpp"
#include "collectives/half_precision.hpp"
#include "collectives/reduction_checks.hpp"

namespace syncyte::collectives {
namespace {

/// A reduction's buffers. A started one widens half-precision elements at once and as a whole.
class reduction {
 public:
  reduction(comm::agreement& terms, form how, const syncyte_buffer_t* input, syncyte_op_t op,
            const syncyte_buffer_t* output, bool gets_result = true)
      : given_(checked_operands(input, output, op, gets_result)), op_(op) {
    add_operands(terms, given_, op);
    if (how == form::blocking || !is_half(given_.dtype())) return;
    wide_.emplace(given_.count());
    widen_half(given_.source(), given_.count(), given_.dtype(), wide_->data());
  }

  void finish() {
    if (wide_) round_half(wide_->data(), given_.count(), given_.dtype(), given_.target());
  }

 protected:
  /// step(input, output, count, dtype, op)
  template <class Step>
  void reduce(Step&& step) {
    if (wide_)
      step(wide_->data(), wide_->data(), given_.count(), SYNCYTE_FLOAT32, op_);
    else
      step(given_.source(), given_.target(), given_.count(), given_.dtype(), op_);
  }

 private:
  operands given_;
  syncyte_op_t op_;
  std::optional<wide_elements> wide_;
};

class all_reduction : public reduction {
 public:
  using reduction::reduction;

  template <class Moves>
  void move(Moves& by) {
    reduce([&](auto... given) { by.allreduce(given...); });
  }
};

class reduction_to_root : public reduction {
 public:
  reduction_to_root(comm::agreement& terms, form how, const syncyte_buffer_t* input, syncyte_op_t op, int root,
                    const syncyte_buffer_t* output)
      : reduction(terms, how, input, op, output, terms.comm().rank() == checked_root(terms, root)), root_(root) {}

  template <class Moves>
  void move(Moves& by) {
    reduce([&](auto input, auto output, auto count, auto... type_and_op) {
      by.reduce(input, output, count, root_, type_and_op...);
    });
  }

 private:
  int root_;
};

template <bool IsExclusive>
class prefix_reduction : public reduction {
 public:
  prefix_reduction(comm::agreement& terms, form how, const syncyte_buffer_t* input, syncyte_op_t op,
                   syncyte_scan_t from, const syncyte_buffer_t* output)
      : reduction(terms, how, input, op, output), from_last_(from == SYNCYTE_SCAN_FROM_LAST) {
    base::expect(from_last_ || from == SYNCYTE_SCAN_FROM_FIRST, SYNCYTE_ERR_ARGUMENT, "from", from,
                 "SYNCYTE_SCAN_FROM_FIRST (0) or SYNCYTE_SCAN_FROM_LAST (1)");
    terms.fact("start of the scan", from_last_);
  }

  template <class Moves>
  void move(Moves& by) {
    reduce([&](auto... given) {
      if constexpr (IsExclusive)
        by.exscan(given..., from_last_);
      else
        by.scan(given..., from_last_);
    });
  }

 private:
  bool from_last_;
};

}  // namespace

void allreduce(comm::communicator& comm, const syncyte_buffer_t* input, syncyte_op_t op, const syncyte_buffer_t* output,
               const extras& extras) {
  run<all_reduction>(comm, "comm_allreduce", extras, input, op, output);
}

started_t iallreduce(const std::shared_ptr<comm::communicator>& comm, const syncyte_buffer_t* input, syncyte_op_t op,
                     const syncyte_buffer_t* output, const extras& extras) {
  return start<all_reduction>(comm, "comm_iallreduce", extras, input, op, output);
}

void reduce(comm::communicator& comm, const syncyte_buffer_t* input, syncyte_op_t op, int root,
            const syncyte_buffer_t* output, const extras& extras) {
  run<reduction_to_root>(comm, "comm_reduce", extras, input, op, root, output);
}

void scan(comm::communicator& comm, const syncyte_buffer_t* input, syncyte_op_t op, syncyte_scan_t from,
          const syncyte_buffer_t* output, const extras& extras) {
  run<prefix_reduction<false>>(comm, "comm_scan", extras, input, op, from, output);
}

void exscan(comm::communicator& comm, const syncyte_buffer_t* input, syncyte_op_t op, syncyte_scan_t from,
            const syncyte_buffer_t* output, const extras& extras) {
  run<prefix_reduction<true>>(comm, "comm_exscan", extras, input, op, from, output);
}

}  // namespace syncyte::collectives
