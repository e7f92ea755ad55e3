// SPDX-License-Identifier: BSD-3-Clause
// A tensor that gets other parts, in place.

#include <algorithm>
#include <utility>
#include <vector>

#include "comm/collective_call.hpp"
#include "mpi/communicators.hpp"
#include "mpi/small_collectives.hpp"
#include "tensor/box_operations.hpp"
#include "tensor/naming.hpp"
#include "tensor/row_locks.hpp"
#include "tensor/staged_adds.hpp"
#include "tensor/versions.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {
namespace {

/// Copies the elements that this rank has of `to` from a tensor of the same shape. Local.
void copy_own_part(const whole_tensor& from, const whole_tensor& to) {
  const std::span<const std::int64_t> shape = to.layout().shape();
  auto others = copies_of(from, "tensor_relocate", true, round_bytes);
  to.layout().for_each_part(std::vector<std::int64_t>(shape.size()), shape, [&](const owned_part& part) {
    if (part.owner != to.comm()->rank()) return;
    std::byte* const first = to.held()->local() + part.offset;
    syncyte_buffer_t raw = base::make_buffer(first, to.layout().dtype(), part.shape);
    std::ranges::copy(part.strides, raw.strides);
    copy_elements(from, part.inset, base::buffer(&raw, "tensor"), true, *others);
  });
  if (const auto last = box_transfer::start(std::move(others))) last->wait();
}

/// Throws if a row of this rank is locked. After a sync: ranks unlock rows before they call relocate().
void require_unlocked(const whole_tensor& locks) {
  const distribution::partition& rows = locks.layout().partition();
  const int rank = locks.comm()->rank();
  const std::span<const std::int64_t> holders(reinterpret_cast<const std::int64_t*>(locks.held()->local()),
                                              static_cast<std::size_t>(rows.count(rank)));
  const auto locked = std::ranges::find_if(holders, [](std::int64_t holder) { return holder != 0; });
  if (locked == holders.end()) return;
  base::fail(SYNCYTE_ERR_BUSY, "row {} is locked by rank {}; expected no lock, because the rows move",
             rows.first(rank) + (locked - holders.begin()), *locked - 1);
}

}  // namespace

/// Throws on a rank that cannot relocate the tensor.
void whole_tensor::check_target(const relocation_target& to) const {
  if (to.error) throw *to.error;
  require_host("tensor_relocate");
  base::require(versions_ == nullptr && optimizer_ == nullptr, SYNCYTE_ERR_UNSUPPORTED,
                "{} has {}, which cannot be relocated; expected a tensor without {}", layout_.text(),
                versions_ ? "slots" : "an optimizer", versions_ ? "slots" : "optimizer");
}

/// Throws on a rank whose arguments do not fit a tensor that is cut by a layout; `to.by` may be null. `have`: whether
/// each rank has the layout, as all ranks of its communicator must.
void whole_tensor::check_layout(const relocation_target& to, std::span<const std::int32_t> have) const {
  base::require(row_locks_ == nullptr && staged_ == nullptr, SYNCYTE_ERR_UNSUPPORTED,
                "{} was made with options->{}, for which a row must lie on one rank; expected local_rows, not a layout",
                layout_.text(), row_locks_ ? "row_locks" : "deterministic");
  base::expect(to.local_rows == -1, SYNCYTE_ERR_ARGUMENT, "local_rows", to.local_rows, "-1, because there is a layout");
  if (!to.by) return;
  for (const int rank : mpi::ranks_in(to.by->comm()->data(), comm_->data()))
    base::expect(rank < 0 || have[static_cast<std::size_t>(rank)] != 0, SYNCYTE_ERR_ARGUMENT, "layout",
                 fmt::format("missing on rank {}", rank), "it on all ranks of {}", to.by->comm()->name());
  const distribution::per_axis extents = to.by->cut().extents();
  const std::span<const std::int64_t> shape(extents.data(), static_cast<std::size_t>(to.by->cut().ndim()));
  base::expect(std::ranges::equal(shape, layout_.shape()), SYNCYTE_ERR_SHAPE, "layout",
               fmt::format("of an array of shape {}", base::shape_text(shape)), "one of shape {}",
               base::shape_text(layout_.shape()));
}

void whole_tensor::relocate(const relocation_target& to) {
  const auto named = [this](auto&& step) { return naming([this] { return layout_.text(); }, step); };
  {
    comm::collective_call call(*comm_, "tensor_relocate", comm::collective_call::always_agrees);
    call.attempt([&] { check_target(to); });
    call.fact("creation number of the tensor", creation_number());
    named([&] { call.agree(); });
  }
  sync();
  const auto made = with_other_parts(to);
  comm::collective_call call(*comm_, "tensor_relocate", comm::collective_call::always_agrees);
  call.attempt([&] { copy_own_part(*this, *made); });
  named([&] { call.agree(); });  // no rank drops memory that others read
  std::swap(layout_, made->layout_);
  std::swap(storage_, made->storage_);
  std::swap(row_locks_, made->row_locks_);
  std::swap(staged_, made->staged_);
  std::swap(id_, made->id_);
}

/// A tensor of zeros with the parts that relocate() shall make. Collective.
std::shared_ptr<whole_tensor> whole_tensor::with_other_parts(const relocation_target& to) const {
  tensor_options options;
  options.label = layout_.name();
  options.operation = "tensor_relocate";
  std::vector<std::int32_t> have{to.by != nullptr};  // whether each rank has a layout
  if (!comm_->bypasses_mpi()) have = mpi::allgather(have.front(), comm_->data());
  if (std::ranges::max(have) != 0) {
    options.error = base::error_of([&] { check_layout(to, have); });
    return create_by_layout(comm_, layout_.dtype(), to.by, 0, options);
  }
  options.error = base::error_of([&] {
    if (row_locks_) require_unlocked(*row_locks_);
  });
  options.local_rows = to.local_rows;
  options.row_locks = row_locks_ != nullptr;
  options.deterministic = staged_ != nullptr;
  const std::span<const std::int64_t> shape = layout_.shape();
  return create(comm_, layout_.dtype(), static_cast<std::int32_t>(shape.size()), shape.data(), options);
}

}  // namespace syncyte::tensor
