// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/own_memory.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/overlap.hpp"
#include "base/strided_copy.hpp"

namespace syncyte::tensor {
namespace {

[[noreturn]] void refuse_shared(const char* argument, std::int64_t row, const char* does) {
  base::refuse(SYNCYTE_ERR_ARGUMENT,
               {.object = argument,
                .argument = "row",
                .axis = row,
                .value = fmt::format("in the same memory as other elements of {}, and this call {} it", argument, does),
                .expected = base::separate_memory});
}

/// require_apart_from_box() of a tensor that is cut by a layout: the box may only be one whole part, copied to itself.
void require_apart_from_parts(const whole_tensor& of, base::array_argument<std::int64_t> lower, const base::buffer& box,
                              bool is_get) {
  const base::byte_range user = base::range_of(box);
  of.layout().for_each_part({lower.values, box.shape().size()}, box.shape(), [&](const owned_part& part) {
    std::byte* const there = of.held()->find(of.layout(), part.owner, part.offset);
    if (there == nullptr) return;
    const bool is_itself = there == box.data() && std::ranges::equal(part.shape, box.shape()) &&
                           std::ranges::equal(part.strides, box.strides());
    std::vector<std::int64_t> last = part.shape;
    for (std::int64_t& index : last) --index;
    const auto bytes = static_cast<std::size_t>(base::offset_of(part.strides, last)) + box.element_bytes();
    if (!is_itself && user.meets(base::range_of(there, bytes)))
      refuse_shared(box.argument(), lower.values[0] + part.inset[0], is_get ? "reads" : "writes");
  });
}

}  // namespace

void require_apart_from_rows(const whole_tensor& of, const row_request& request, bool is_get) {
  const storage& held = *of.held();
  const base::byte_range rows = held.memory(), index = request.index.memory();
  if (is_get && index.meets(request.memory)) [[unlikely]]
    base::refuse(SYNCYTE_ERR_ARGUMENT, {.argument = "index",
                                        .value = fmt::format("in the memory of {}", request.name),
                                        .expected = base::separate_memory});
  const bool has_written_index = !is_get && index.meets(rows);
  if (!request.memory.meets(rows) && !has_written_index) [[likely]]
    return;
  if (of.layout().blocks() != nullptr)
    refuse_shared(has_written_index ? "index" : request.name, request.index[0], is_get ? "reads" : "writes");
  const std::size_t bytes = of.layout().row_bytes();
  for (std::int64_t i = 0; i < request.index.count(); ++i) {
    const std::byte* const row = held.mapped_rows().find(request.index[i]);
    if (row == nullptr) continue;
    if (base::overlaps_packed(request.memory, {row, i}, bytes))
      refuse_shared(request.name, request.index[i], is_get ? "reads" : "writes");
    if (has_written_index && index.meets(base::range_of(row, bytes)))
      refuse_shared("index", request.index[i], "writes");
  }
}

void require_apart_from_state(const whole_tensor& state, const row_request& request) {
  const storage& held = *state.held();
  if (!request.memory.meets(held.memory())) return;
  for (std::int64_t i = 0; i < request.index.count(); ++i) {
    const std::byte* const row = held.mapped_rows().find(request.index[i]);
    if (row != nullptr && request.memory.meets(base::range_of(row, state.layout().row_bytes())))
      base::refuse(SYNCYTE_ERR_ARGUMENT, {.object = request.name,
                                          .argument = "row",
                                          .axis = request.index[i],
                                          .value = "updated with a state that is in the same memory",
                                          .expected = base::separate_memory});
  }
}

void require_apart_from_box(const whole_tensor& of, base::array_argument<std::int64_t> lower, const base::buffer& box,
                            bool is_get) {
  const storage& held = *of.held();
  const layout& shape = of.layout();
  const base::byte_range user = base::range_of(box);
  if (!user.meets(held.memory())) [[likely]]
    return;
  if (shape.blocks() != nullptr) return require_apart_from_parts(of, lower, box, is_get);
  const std::vector<std::int64_t> strides = shape.strides();
  const auto in_row = base::find_paired_pieces(box.strides().subspan(1), std::span(strides).subspan(1),
                                               box.shape().subspan(1), shape.element_bytes());
  const std::int64_t inset = inset_of(strides, lower.values);
  const auto pieces = std::ssize(in_row.offsets);  // of a row
  const auto parts_of = [&](auto&& row_at, auto offset) {
    base::operand_parts result{{}, in_row.bytes};
    for (std::int64_t row = 0; row < box.extent(0); ++row)
      if (const std::byte* const at = row_at(row))
        for (std::int64_t i = 0; i < pieces; ++i)
          result.parts.push_back({at + in_row.offsets[static_cast<std::size_t>(i)].*offset, row * pieces + i});
    return result;
  };
  using offsets = std::pair<std::int64_t, std::int64_t>;
  auto there = parts_of(
      [&](std::int64_t row) -> const std::byte* {
        const std::byte* const mapped = held.mapped_rows().find(lower.values[0] + row);
        const bool may_meet = mapped != nullptr && user.meets(base::range_of(mapped, shape.row_bytes()));
        return may_meet ? mapped + inset : nullptr;
      },
      &offsets::second);
  if (there.parts.empty()) return;
  auto here = parts_of([&](std::int64_t row) { return box.data() + row * box.stride(0); }, &offsets::first);
  if (const auto found = base::find_overlap(std::move(here), std::move(there)))
    refuse_shared(box.argument(), lower.values[0] + found->second / pieces, is_get ? "reads" : "writes");
}

}  // namespace syncyte::tensor
