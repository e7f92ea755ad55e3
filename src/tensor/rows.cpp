// Gather, scatter and scatter-add: routes rows between this process and their owners.

#include <cstring>
#include <utility>
#include <vector>

#include "rows/add_rows.hpp"
#include "rows/copy_rows.hpp"
#include "tensor/staged_adds.hpp"
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

/// Rows of a request at owners whose memory is not mapped here.
class remote_part {
 public:
  remote_part(const layout& shape, const rows::row_index& index, std::byte* packed)
      : layout_(shape), index_(index), packed_(packed) {}

  void add(int owner, std::span<const std::int64_t> positions) {
    // The owners' lists of offsets are spans of one list, which must not move.
    if (owners_.empty()) offsets_.reserve(static_cast<std::size_t>(index_.count()));
    const std::size_t begin = offsets_.size();
    for (const std::int64_t position : positions) offsets_.push_back(layout_.offset_at_owner(owner, index_[position]));
    owners_.push_back({owner, layout_.row_bytes(), std::span(offsets_).subspan(begin), packed_, positions});
  }

  std::span<const window::remote_rows> owners() const { return owners_; }

 private:
  const layout& layout_;
  const rows::row_index& index_;
  std::byte* packed_;
  std::vector<std::size_t> offsets_;
  std::vector<window::remote_rows> owners_;
};

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
  remote_part others(layout_, request.index, request.packed);
  for (int owner = 0; owner < comm_->size(); ++owner) {
    const auto positions = sorted.of(owner);
    if (positions.empty()) continue;
    if (!is_mapped(owner)) {
      others.add(owner, positions);
      continue;
    }
    for (const std::int64_t position : positions) copy(position, storage_->mapped_rows().find(request.index[position]));
  }
  if (others.owners().empty()) return;
  if (is_gather)
    storage_->remote()->get_rows(others.owners());
  else
    storage_->remote()->put_rows(others.owners());
}

void whole_tensor::put_signal(const syncyte_buffer_t* index, const syncyte_buffer_t* source, whole_tensor& counters,
                              std::int64_t element, syncyte_op_t op, std::int64_t value) {
  counters.require_signal(element, op, value);
  scatter(index, source);
  flush();  // the rows are at their owners
  if (op == SYNCYTE_OP_SUM)
    counters.fetch_add(element, value);
  else
    counters.store(element, value);
}

void whole_tensor::scatter_add(const syncyte_buffer_t* index, const syncyte_buffer_t* source) {
  const row_request request = check_rows(index, source, "source");
  if (request.is_empty) return;
  if (staged_) {
    const std::lock_guard guard(staged_->mutex);
    for (std::int64_t i = 0; i < request.index.count(); ++i)
      staged_->sums.add(request.index[i], request.packed + static_cast<std::size_t>(i) * layout_.row_bytes());
    return;
  }
  if (storage_->mapped_rows().covers(layout_.rows()) || !storage_->remote()->can_add_rows()) {
    require_mapped(request);
    rows::add_rows(storage_->mapped_rows(), request.index, request.packed, layout_.dtype(), storage_->locks());
  } else {
    add_everywhere(request);
  }
}

/// Adds to rows of all owners, on this node and on others.
void whole_tensor::add_everywhere(const row_request& request) {
  const rows_by_owner sorted = sort_by_owner(layout_.partition(), request.index);
  remote_part others(layout_, request.index, request.packed);
  std::vector<std::int64_t> mapped;
  for (int owner = 0; owner < comm_->size(); ++owner) {
    const auto positions = sorted.of(owner);
    if (positions.empty()) continue;
    if (is_mapped(owner))
      mapped.insert(mapped.end(), positions.begin(), positions.end());
    else
      others.add(owner, positions);
  }
  std::vector<std::int64_t> rows;
  rows.reserve(mapped.size());
  for (const std::int64_t position : mapped) rows.push_back(request.index[position]);
  rows::add_rows_at(storage_->mapped_rows(), rows::row_index(std::span<const std::int64_t>(rows)), mapped,
                    request.packed, layout_.dtype(), storage_->locks());
  if (!others.owners().empty()) storage_->remote()->add_rows(others.owners(), SYNCYTE_OP_SUM);
}

/// Whether this process loads and stores an owner's rows, of which there is at least one.
bool whole_tensor::is_mapped(int owner) const {
  return storage_->mapped_rows().find(layout_.partition().first(owner)) != nullptr;
}

void whole_tensor::require_mapped(const row_request& request) const {
  if (storage_->mapped_rows().covers(layout_.rows())) return;
  for (std::int64_t position = 0; position < request.index.count(); ++position) {
    const std::int64_t row = request.index[position];
    if (storage_->mapped_rows().find(row) == nullptr) refuse_to_add("index", position, row);
  }
}

void whole_tensor::refuse_to_add(const char* argument, std::int64_t position, std::int64_t row) const {
  const bool is_wrapped = storage_->node() == nullptr;
  base::refuse(
      SYNCYTE_ERR_UNSUPPORTED,
      {.argument = argument,
       .axis = position,
       .value = fmt::to_string(row),
       .expected = fmt::format("a row that this process can load and store; it belongs to rank {}, {}. Let its owner "
                               "add",
                               layout_.partition().owner(row),
                               is_wrapped ? "whose wrapped memory is not shared" : "which is on another node")});
}

}  // namespace syncyte::tensor
