// Gather, scatter and scatter-add: routes rows between this process and their owners.

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "fabric/process_engine.hpp"
#include "rows/add_rows.hpp"
#include "rows/copy_rows.hpp"
#include "tensor/row_request.hpp"
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
rows_by_owner sort_by_owner(const distribution::partition& parts, const rows::row_index& index) {
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
  explicit remote_part(std::byte* packed) : packed_(packed) {}

  /// The index is the same in all calls.
  void add(int owner, std::span<const std::int64_t> positions, const layout& shape, const rows::row_index& index) {
    // The owners' lists of offsets are spans of one list, which must not move.
    if (owners_.empty()) offsets_.reserve(static_cast<std::size_t>(index.count()));
    const std::size_t begin = offsets_.size();
    for (const std::int64_t position : positions) offsets_.push_back(shape.offset_at_owner(owner, index[position]));
    owners_.push_back({owner, shape.row_bytes(), std::span(offsets_).subspan(begin), packed_, positions});
  }

  std::span<const window::remote_rows> owners() const { return owners_; }

 private:
  std::byte* packed_;
  std::vector<std::size_t> offsets_;
  std::vector<window::remote_rows> owners_;
};

}  // namespace

whole_tensor::row_request whole_tensor::check_rows(const syncyte_buffer_t* index, const syncyte_buffer_t* packed,
                                                   const char* packed_name, bool is_written) const {
  const rows::row_index rows(base::buffer(index, "index"));
  const base::buffer values(packed, packed_name);
  if (is_written) values.require_writable();
  values.require_dtype(layout_.dtype()).require_host().require_contiguous();
  std::int64_t elements = 0;
  base::expect(!__builtin_mul_overflow(rows.count(), layout_.row_elements(), &elements), SYNCYTE_ERR_SHAPE,
               "number of indices", rows.count(), "at most 2^63 - 1 elements, in rows of {}", layout_.row_elements());
  values.require_elements(elements);
  rows.require_inside(layout_.rows());
  return {rows, values.data(), elements == 0, packed_name, base::range_of(values)};
}

/// Rows in flight to or from owners elsewhere.
class whole_tensor::row_transfer final : public window::transfer {
 public:
  row_transfer(const whole_tensor& of, const row_request& request, window::row_access what)
      : sorted_(sort_by_owner(of.layout_.partition(), request.index)), others_(request.packed) {
    for (int owner = 0; owner < of.comm_->size(); ++owner) {
      const auto positions = sorted_.of(owner);
      if (positions.empty()) continue;
      if (of.is_mapped(owner))
        mapped_.insert(mapped_.end(), positions.begin(), positions.end());
      else
        others_.add(owner, positions, of.layout_, request.index);
    }
    if (!others_.owners().empty())
      in_flight_ = of.storage_->remote()->start_rows(what, others_.owners(), SYNCYTE_OP_SUM);
  }

  /// Positions of rows that this process loads and stores, with which the transfer has nothing to do.
  std::span<const std::int64_t> mapped() const { return mapped_; }

  bool test() override { return !in_flight_ || in_flight_->test(); }
  void wait() override {
    if (in_flight_) in_flight_->wait();
  }
  void drive() override {
    if (in_flight_) in_flight_->drive();
  }
  bool then(const window::element_change& change) override { return in_flight_ && in_flight_->then(change); }

 private:
  rows_by_owner sorted_;
  remote_part others_;
  std::vector<std::int64_t> mapped_;
  std::unique_ptr<window::transfer> in_flight_;
};

/// Starts an access to rows of all owners; rows that are mapped here are done on return. Null: all are.
std::unique_ptr<window::transfer> whole_tensor::start(const syncyte_buffer_t* index, const syncyte_buffer_t* packed,
                                                      window::row_access what) {
  const bool is_get = what == window::row_access::get;
  const row_request request = check_rows(index, packed, is_get ? "output" : "source", is_get);
  if (request.is_empty) return nullptr;
  if (what == window::row_access::add && staged_) {
    stage_rows(request);
    return nullptr;
  }
  if (what == window::row_access::add && storage_->remote() != nullptr && !storage_->remote()->can_add_rows())
    require_mapped(request);
  require_apart(request, is_get);
  if (storage_->mapped_rows().covers(layout_.rows())) {
    access_mapped(request, what);
    return nullptr;
  }
  auto started = std::make_unique<row_transfer>(*this, request, what);
  access_mapped_at(request, started->mapped(), what);
  return started;
}

/// Adds rows to the sums that sync() takes to their owners.
void whole_tensor::stage_rows(const row_request& request) {
  constexpr std::int64_t ahead = 4;
  const std::int64_t count = request.index.count();
  const std::lock_guard guard(staged_->mutex);
  for (std::int64_t i = 0; i < count; ++i) {
    staged_->sums.prefetch(request.index[std::min(i + ahead, count - 1)]);
    staged_->sums.add(request.index[i], request.packed + static_cast<std::size_t>(i) * layout_.row_bytes());
  }
}

void whole_tensor::access_mapped(const row_request& request, window::row_access what) {
  const rows::row_map& map = storage_->mapped_rows();
  if (what == window::row_access::get)
    rows::gather_rows(map, request.index, request.packed);
  else if (what == window::row_access::put)
    rows::scatter_rows(map, request.index, request.packed);
  else
    rows::add_rows(map, request.index, request.packed, layout_.dtype(), storage_->locks());
}

/// As access_mapped(), for some positions of the request.
void whole_tensor::access_mapped_at(const row_request& request, std::span<const std::int64_t> positions,
                                    window::row_access what) {
  const rows::row_map& map = storage_->mapped_rows();
  if (what == window::row_access::add) {
    std::vector<std::int64_t> rows;
    rows.reserve(positions.size());
    for (const std::int64_t position : positions) rows.push_back(request.index[position]);
    rows::add_rows_at(map, rows::row_index(std::span<const std::int64_t>(rows)), positions, request.packed,
                      layout_.dtype(), storage_->locks());
    return;
  }
  const std::size_t bytes = layout_.row_bytes();
  for (const std::int64_t position : positions) {
    std::byte* const packed = request.packed + static_cast<std::size_t>(position) * bytes;
    std::byte* const row = map.find(request.index[position]);
    const bool is_get = what == window::row_access::get;
    std::memcpy(is_get ? packed : row, is_get ? row : packed, bytes);
  }
}

void whole_tensor::gather(const syncyte_buffer_t* index, const syncyte_buffer_t* output) {
  if (const auto started = start(index, output, window::row_access::get)) started->wait();
}

void whole_tensor::scatter(const syncyte_buffer_t* index, const syncyte_buffer_t* source) {
  if (const auto started = start(index, source, window::row_access::put)) started->wait();
}

void whole_tensor::put_signal(const syncyte_buffer_t* index, const syncyte_buffer_t* source, whole_tensor& counters,
                              std::int64_t element, syncyte_op_t op, std::int64_t value) {
  if (const auto started = start_put_signal(index, source, counters, element, op, value)) started->wait();
}

/// Starts the writes of rows, with the change of the counter as their last step. Null: all is done.
std::unique_ptr<window::transfer> whole_tensor::start_put_signal(const syncyte_buffer_t* index,
                                                                 const syncyte_buffer_t* source, whole_tensor& counters,
                                                                 std::int64_t element, syncyte_op_t op,
                                                                 std::int64_t value) {
  counters.require_signal(element, op, value);
  auto rows = start(index, source, window::row_access::put);
  flush();  // rows that are mapped here, and by MPI RMA all rows, are at their owners
  if (rows && counters.signal_after(*rows, element, op, value)) return rows;
  if (rows) rows->wait();
  return counters.start_change(element, op, value, nullptr);
}

void whole_tensor::scatter_add(const syncyte_buffer_t* index, const syncyte_buffer_t* source) {
  if (const auto started = start(index, source, window::row_access::add)) started->wait();
}

std::unique_ptr<window::started_access> whole_tensor::igather(const syncyte_buffer_t* index,
                                                              const syncyte_buffer_t* output) {
  return std::make_unique<window::started_access>(shared_from_this(), start(index, output, window::row_access::get));
}

std::unique_ptr<window::started_access> whole_tensor::iscatter(const syncyte_buffer_t* index,
                                                               const syncyte_buffer_t* source) {
  return std::make_unique<window::started_access>(shared_from_this(), start(index, source, window::row_access::put));
}

std::unique_ptr<window::started_access> whole_tensor::iscatter_add(const syncyte_buffer_t* index,
                                                                   const syncyte_buffer_t* source) {
  return std::make_unique<window::started_access>(shared_from_this(), start(index, source, window::row_access::add));
}

std::unique_ptr<window::started_access> whole_tensor::iput_signal(const syncyte_buffer_t* index,
                                                                  const syncyte_buffer_t* source,
                                                                  const std::shared_ptr<whole_tensor>& counters,
                                                                  std::int64_t element, syncyte_op_t op,
                                                                  std::int64_t value) {
  auto both = std::make_shared<std::array<std::shared_ptr<whole_tensor>, 2>>(std::array{shared_from_this(), counters});
  return std::make_unique<window::started_access>(std::move(both),
                                                  start_put_signal(index, source, *counters, element, op, value));
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
  std::string reason;
  if (fabric::process_engine(reason) != nullptr) reason = "another rank has none";
  base::refuse(SYNCYTE_ERR_UNSUPPORTED,
               {.argument = argument,
                .axis = position,
                .value = fmt::to_string(row),
                .expected = fmt::format("a row that this process can load and store: it belongs to rank {}, {}, and {} "
                                        "does not use the fabric: {}",
                                        layout_.partition().owner(row),
                                        is_wrapped ? "whose wrapped memory is not shared" : "which is on another node",
                                        comm_->name(), reason)});
}

}  // namespace syncyte::tensor
