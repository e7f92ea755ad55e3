// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <optional>

#include "base/dtype.hpp"
#include "base/overlap.hpp"
#include "collectives/checks.hpp"
#include "collectives/half_precision.hpp"
#include "collectives/reduction_ops.hpp"
#include "collectives/started_collective.hpp"
#include "comm/collective_call.hpp"
#include "mpi/call.hpp"

namespace syncyte::collectives {

/// Checks like checked(), and the alignment: reductions read elements by their type.
inline base::buffer checked_elements(const syncyte_buffer_t* raw, const char* argument) {
  return checked(raw, argument).require_aligned();
}

/// A reduction's buffers; a null input means in place. A started one widens half-precision elements at once and as a
/// whole.
class reduction : public data_operation {
 public:
  reduction(comm::agreement& terms, form how, const syncyte_buffer_t* raw_input, syncyte_op_t op,
            const syncyte_buffer_t* raw_output, bool gets_result = true)
      : op_(op) {
    std::optional<base::buffer> input, output;
    if (gets_result) output = checked_elements(raw_output, "output").require_writable();
    if (raw_input != nullptr || !gets_result) input = checked_elements(raw_input, "input");
    if (input && output) {
      output->require_dtype(input->dtype()).require_elements(input->elements());
      base::require_apart(*input, *output);
    }
    const base::buffer& given = input ? *input : *output;
    require_reducible(given.dtype(), op);
    terms.named_fact("dtype of output", given.dtype(), base::dtype_name);
    terms.fact("elements of output", given.elements());
    terms.named_fact("op", op, base::op_name);
    input_ = given.data();
    output_ = result_ = output ? output->data() : nullptr;
    count_ = given.elements();
    dtype_ = result_dtype_ = given.dtype();
    if (how == form::blocking || !base::is_half_precision(dtype_)) return;
    wide_.emplace(count_);
    widen_half(input_, count_, dtype_, wide_->data());
    input_ = output_ = wide_->data();
    dtype_ = SYNCYTE_FLOAT32;
  }

  void finish() override {
    if (wide_) round_half(wide_->data(), count_, result_dtype_, result_);
  }

 protected:
  const void* input_;
  void* output_;
  std::int64_t count_;
  syncyte_dtype_t dtype_;
  syncyte_op_t op_;

 private:
  void* result_;  // null where a rank gets none
  syncyte_dtype_t result_dtype_;
  std::optional<wide_elements> wide_;
};

class allreduce final : public reduction {
 public:
  allreduce(comm::agreement& terms, form how, const syncyte_buffer_t* input, syncyte_op_t op,
            const syncyte_buffer_t* output)
      : reduction(terms, how, input, op, output) {
    const auto bytes = static_cast<std::size_t>(count_) * base::dtype_size(dtype_);
    const bool is_small = bytes > 0 && bytes <= comm::small_reduction::most_bytes;
    if (how == form::started || base::is_half_precision(dtype_) || !is_small ||
        !comm::collective_call::may_carry(terms.comm()))
      return;
    small_ = {{}, bytes, static_cast<int>(count_), mpi::type_of(dtype_), mpi_op(dtype_, op)};
    std::memcpy(small_->values.data(), input_, bytes);
  }

  comm::small_reduction* carried() override { return small_ ? &*small_ : nullptr; }
  void move(mover& by) override { by.allreduce(input_, output_, count_, dtype_, op_); }

  void finish() override {
    if (small_) std::memcpy(output_, small_->values.data(), small_->bytes);
    reduction::finish();
  }

 private:
  std::optional<comm::small_reduction> small_;
};

class reduce final : public reduction {
 public:
  reduce(comm::agreement& terms, form how, const syncyte_buffer_t* input, syncyte_op_t op, int root,
         const syncyte_buffer_t* output)
      : reduction(terms, how, input, op, output, terms.comm().rank() == checked_root(terms, root)), root_(root) {}
  void move(mover& by) override { by.reduce(input_, output_, count_, root_, dtype_, op_); }

 private:
  int root_;
};

/// scan, and exscan, which is exclusive.
template <bool IsExclusive>
class prefix_reduction final : public reduction {
 public:
  prefix_reduction(comm::agreement& terms, form how, const syncyte_buffer_t* input, syncyte_op_t op,
                   std::int32_t reverse, const syncyte_buffer_t* output)
      : reduction(terms, how, input, op, output), reverse_(reverse == 1) {
    base::expect(reverse == 0 || reverse == 1, SYNCYTE_ERR_ARGUMENT, "reverse", reverse, "0 or 1");
    terms.fact("reverse", reverse);
  }
  void move(mover& by) override { by.scan(input_, output_, count_, dtype_, op_, reverse_, IsExclusive); }

 private:
  bool reverse_;
};
using scan = prefix_reduction<false>;
using exscan = prefix_reduction<true>;

}  // namespace syncyte::collectives
