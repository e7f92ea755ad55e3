// Gather, scatter and scatter-add: routes rows between this process and their owners.

#include <cstring>
#include <utility>
#include <vector>

#include "rows/add_rows.hpp"
#include "rows/copy_rows.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {
namespace {

/// Positions of an index, grouped by owner; each owner's positions keep their order.
struct rows_by_owner {
  std::vector<std::int64_t> positions;
  std::vector<std::size_t> begin;  // of each owner's positions; ranks + 1

  std::span<const std::int64_t> of(int owner) const {
    const auto place = static_cast<std::size_t>(owner);
    return std::span(positions).subspan(begin[place], begin[place + 1] - begin[place]);
  }
};

/// Sorts positions by owner (a stable counting sort).
rows_by_owner sort_by_owner(const base::partition& parts, const rows::row_index& index) {
  rows_by_owner result;
  result.begin.assign(static_cast<std::size_t>(parts.parts()) + 1, 0);
  result.positions.resize(static_cast<std::size_t>(index.count()));
  std::vector<std::int32_t> owners(result.positions.size());
  index.visit([&](auto rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      owners[i] = parts.owner(rows[i]);
      ++result.begin[static_cast<std::size_t>(owners[i]) + 1];
    }
  });
  for (std::size_t owner = 1; owner < result.begin.size(); ++owner) result.begin[owner] += result.begin[owner - 1];
  std::vector<std::size_t> next(result.begin.begin(), result.begin.end() - 1);
  for (std::size_t i = 0; i < owners.size(); ++i)
    result.positions[next[static_cast<std::size_t>(owners[i])]++] = static_cast<std::int64_t>(i);
  return result;
}

/// Drops all but the last position of each row: one request must not write a row twice.
std::vector<std::int64_t> last_of_each_row(std::span<const std::int64_t> positions, const rows::row_index& index) {
  std::vector<std::pair<std::int64_t, std::int64_t>> rows;  // {row, position}
  rows.reserve(positions.size());
  for (const std::int64_t position : positions) rows.emplace_back(index[position], position);
  std::sort(rows.begin(), rows.end());
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (i + 1 == rows.size() || rows[i + 1].first != rows[i].first) result.push_back(rows[i].second);
  return result;
}

/// Packed bytes of one request, about: large batches are split so that they need little extra memory.
constexpr std::size_t request_bytes = std::size_t{32} << 20;

/// Calls visitor(positions, offsets at the owner) for pieces of an owner's rows.
template <class Visitor>
void for_each_request(const layout& shape, int owner, const rows::row_index& index,
                      std::span<const std::int64_t> positions, Visitor&& visitor) {
  const std::size_t most = std::max<std::size_t>(1, request_bytes / shape.row_bytes());
  std::vector<std::size_t> offsets;
  for (std::size_t begin = 0; begin < positions.size(); begin += most) {
    const auto piece = positions.subspan(begin, std::min(most, positions.size() - begin));
    offsets.clear();
    for (const std::int64_t position : piece) offsets.push_back(shape.offset_at_owner(owner, index[position]));
    visitor(piece, offsets);
  }
}

}  // namespace

/// A checked list of rows with the packed memory that belongs to it.
struct whole_tensor::row_request {
  rows::row_index index;
  std::byte* packed;
  bool is_empty;
};

whole_tensor::row_request whole_tensor::check_rows(const syncyte_buffer_t* index, const syncyte_buffer_t* packed,
                                                   const char* packed_name) const {
  const rows::row_index rows(base::buffer(index, "index"));
  const base::buffer values(packed, packed_name);
  values.require_dtype(layout_.dtype()).require_host().require_contiguous();
  std::int64_t elements = 0;
  base::expect(!__builtin_mul_overflow(rows.count(), layout_.row_elements(), &elements), SYNCYTE_ERR_SHAPE,
               "number of indices", rows.count(), "at most 2^63 - 1 elements, in rows of {}", layout_.row_elements());
  values.require_elements(elements);
  rows.require_inside(layout_.rows());
  return {rows, values.data(), elements == 0};
}

void whole_tensor::gather(const syncyte_buffer_t* index, const syncyte_buffer_t* output) {
  const row_request request = check_rows(index, output, "output");
  if (request.is_empty) return;
  if (storage_->mapped_rows().covers(layout_.rows()))
    rows::gather_rows(storage_->mapped_rows(), request.index, request.packed);
  else
    copy_everywhere(request, direction::from_tensor);
}

void whole_tensor::scatter(const syncyte_buffer_t* index, const syncyte_buffer_t* source) {
  const row_request request = check_rows(index, source, "source");
  if (request.is_empty) return;
  if (storage_->mapped_rows().covers(layout_.rows()))
    rows::scatter_rows(storage_->mapped_rows(), request.index, request.packed);
  else
    copy_everywhere(request, direction::to_tensor);
}

/// Copies rows of all owners, on this node and on others.
void whole_tensor::copy_everywhere(const row_request& request, direction way) {
  const bool is_gather = way == direction::from_tensor;
  const std::size_t bytes = layout_.row_bytes();
  const auto copy = [&](std::int64_t position, std::byte* row) {
    std::byte* const packed = request.packed + static_cast<std::size_t>(position) * bytes;
    std::memcpy(is_gather ? packed : row, is_gather ? row : packed, bytes);
  };
  const rows_by_owner sorted = sort_by_owner(layout_.partition(), request.index);
  std::vector<std::byte> buffer;
  for (int owner = 0; owner < comm_->size(); ++owner) {
    const auto positions = sorted.of(owner);
    if (positions.empty()) continue;
    if (storage_->mapped_rows().find(layout_.partition().first(owner)) != nullptr) {
      for (const std::int64_t position : positions)
        copy(position, storage_->mapped_rows().find(request.index[position]));
      continue;
    }
    window::remote& remote = *storage_->remote();
    const auto move = [&](std::span<const std::int64_t> piece, std::span<const std::size_t> offsets) {
      buffer.resize(offsets.size() * bytes);
      if (is_gather) remote.get_rows(owner, offsets, bytes, buffer.data());
      for (std::size_t i = 0; i < piece.size(); ++i) copy(piece[i], buffer.data() + i * bytes);
      if (!is_gather) remote.put_rows(owner, offsets, bytes, buffer.data());
    };
    if (is_gather) {
      for_each_request(layout_, owner, request.index, positions, move);
    } else {
      for_each_request(layout_, owner, request.index, last_of_each_row(positions, request.index), move);
      remote.flush(owner);  // orders this write before later writes of the same rows
    }
  }
}

void whole_tensor::scatter_add(const syncyte_buffer_t* index, const syncyte_buffer_t* source) {
  const row_request request = check_rows(index, source, "source");
  if (request.is_empty) return;
  require_mapped(request);
  rows::add_rows(storage_->mapped_rows(), request.index, request.packed, layout_.dtype(), storage_->locks());
}

void whole_tensor::require_mapped(const row_request& request) const {
  if (storage_->mapped_rows().covers(layout_.rows())) return;
  const bool is_wrapped = storage_->node() == nullptr;
  for (std::int64_t position = 0; position < request.index.count(); ++position) {
    const std::int64_t row = request.index[position];
    if (storage_->mapped_rows().find(row) != nullptr) continue;
    base::refuse(
        SYNCYTE_ERR_UNSUPPORTED,
        {.argument = "index",
         .axis = position,
         .value = fmt::to_string(row),
         .expected = fmt::format("a row that this process can load and store; it belongs to rank {}, {}. Let "
                                 "its owner add",
                                 layout_.partition().owner(row),
                                 is_wrapped ? "whose wrapped memory is not shared" : "which is on another node")});
  }
}

}  // namespace syncyte::tensor
