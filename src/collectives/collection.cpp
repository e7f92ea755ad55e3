// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/collection.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/forms.hpp"
#include "collectives/relocation.hpp"
#include "distribution/route.hpp"
#include "memory/scratch.hpp"

namespace syncyte::collectives {
namespace {

using distribution::box;
using distribution::layout;
using distribution::per_axis;

constexpr std::size_t message_bytes = std::size_t{1} << 23;

/// The slabs of an array in row-major order: one index of the axes before `axis`, up to `length` of it, and all others.
class slabs {
 public:
  slabs(const per_axis& extents, std::int64_t most_elements) : extents_(extents) {
    std::int64_t inner = distribution::volume({{}, extents});
    count_ = inner > 0 ? 1 : 0;
    while (axis_ + 1 < extents.size() && inner > most_elements && inner > 0) {
      inner /= extents[axis_];
      if (inner <= most_elements) break;
      count_ *= extents[axis_++];
    }
    if (count_ == 0) return;
    std::int64_t of_index = 1;  // elements of one index of the axis
    for (std::size_t later = axis_ + 1; later < extents.size(); ++later) of_index *= extents[later];
    length_ = std::clamp<std::int64_t>(most_elements / of_index, 1, extents[axis_]);
    parts_ = (extents[axis_] + length_ - 1) / length_;
    count_ *= parts_;
  }

  std::int64_t count() const { return count_; }
  box slab(std::int64_t number) const {
    box result{{}, extents_};
    result.first[axis_] = number % parts_ * length_;
    result.count[axis_] = std::min(length_, extents_[axis_] - result.first[axis_]);
    number /= parts_;
    for (std::size_t outer = axis_; outer-- > 0; number /= extents_[outer]) {
      result.first[outer] = number % extents_[outer];
      result.count[outer] = 1;
    }
    return result;
  }

 private:
  per_axis extents_;
  std::size_t axis_ = 0;
  std::int64_t length_ = 1, parts_ = 1, count_;
};

}  // namespace

void collect(comm::communicator& comm, const char* operation, const caller_facts& caller,
             const collection_request& asked, const slab_visitor& visit) {
  const bool is_root = comm.rank() == asked.root;
  std::int64_t most = 1;  // elements of a slab
  memory::scratch memory;
  {
    comm::collective_call call(comm, operation);
    call.attempt([&] {
      if (caller.error) throw *caller.error;
      const auto element_bytes = static_cast<std::int64_t>(base::dtype_size(asked.dtype));
      most = std::max<std::int64_t>(asked.slab_bytes / element_bytes, 1);
      most = std::min(most, std::max<std::int64_t>(distribution::volume({{}, asked.from.cut.extents()}), 1));
      if (is_root) memory = memory::scratch(static_cast<std::size_t>(most * element_bytes));
      call.named_fact("dtype", asked.dtype, base::dtype_name);
      call.fact("root", asked.root);
      call.fact("slab_bytes", asked.slab_bytes);
      add_facts(call, caller);
    });
    call.agree();
  }
  const layout& cut = asked.from.cut;
  const auto axes = static_cast<std::size_t>(cut.ndim());
  const slabs all(cut.extents(), most);
  for (std::int64_t number = 0; number < all.count(); ++number) {
    const box slab = all.slab(number);
    const std::vector<std::int64_t> extents(slab.count.begin(), slab.count.begin() + static_cast<std::ptrdiff_t>(axes));
    const distribution::rank_box whole{asked.root, {{}, slab.count}};
    const layout target = layout::of_blocks(extents, {&whole, 1}, comm.size());
    std::vector<syncyte_buffer_t> arrays;
    if (is_root) arrays.push_back(base::make_buffer(memory.data(), asked.dtype, extents));
    run<relocation>(
        comm, operation, caller_facts{}, relocation::direction::forward, asked.dtype, asked.from,
        block_arrays{target, arrays, "slab"}, std::optional<per_axis>(slab.first),
        [&] {
          return std::make_shared<const distribution::route>(
              distribution::find_route(cut, target, comm.rank(), slab.first));
        },
        message_bytes);
    comm::collective_call call(comm, operation, comm::collective_call::always_agrees);  // the visitor may fail
    call.attempt([&] {
      if (is_root) visit({slab.first.data(), axes}, arrays.front());
    });
    call.agree();
  }
}

}  // namespace syncyte::collectives
