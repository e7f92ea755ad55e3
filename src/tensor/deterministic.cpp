// Deterministic adds: each rank sums what it adds exactly. sync() takes the sums to the rows' owners, which add them
// exactly to each other and to the row, and round once. The result therefore depends on no order.

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "comm/collective_call.hpp"
#include "mpi/small_collectives.hpp"
#include "tensor/staged_adds.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {
namespace {

/// Words of records that an owner reads at once, about.
constexpr std::int64_t chunk_words = std::int64_t{1} << 17;

void read_words(whole_tensor& tensor, std::span<const std::int64_t> lower, std::span<const std::int64_t> extent,
                std::int64_t* words) {
  const syncyte_buffer_t output = base::make_buffer(words, SYNCYTE_INT64, extent);
  tensor.get_box(lower, &output);
}

/// Merges the records in [first, end) of a tensor of words.
void merge_records(whole_tensor& records, std::int64_t first, std::int64_t end, rows::exact_rows& sums) {
  std::vector<std::int64_t> words;
  std::int64_t wanted = chunk_words;
  while (first < end) {
    const std::int64_t length = std::min(end - first, wanted);
    words.resize(static_cast<std::size_t>(length));
    read_words(records, {&first, 1}, {&length, 1}, words.data());
    std::size_t used = 0;
    wanted = chunk_words;
    while (used + rows::exact_rows::header_words <= words.size()) {
      const std::size_t record = sums.record_words(&words[used]);
      if (used + record > words.size()) {  // the next chunk begins with it
        wanted = std::max(wanted, static_cast<std::int64_t>(record));
        break;
      }
      sums.merge(&words[used]);
      used += record;
    }
    first += static_cast<std::int64_t>(used);
  }
}

}  // namespace

/// Moves this rank's sums of other ranks' rows to records, by owner; `begin`: of each owner's records, and the end.
std::vector<std::int64_t> whole_tensor::pack_staged(std::vector<std::int64_t>& begin) {
  const std::lock_guard guard(staged_->mutex);
  std::vector<std::vector<std::int64_t>> rows(static_cast<std::size_t>(comm_->size()));
  for (const std::int64_t row : staged_->sums.numbers())
    rows[static_cast<std::size_t>(layout_.partition().owner(row))].push_back(row);
  rows[static_cast<std::size_t>(comm_->rank())].clear();
  std::vector<std::int64_t> records;
  records.reserve(staged_->sums.record_words());
  for (const auto& rows_of_owner : rows) {
    begin.push_back(static_cast<std::int64_t>(records.size()));
    for (const std::int64_t row : rows_of_owner) staged_->sums.move_to_record(row, records);
  }
  begin.push_back(static_cast<std::int64_t>(records.size()));
  return records;
}

/// Adds other ranks' records of this rank's rows to its sums. `records`: all ranks' words; `places`: row r has rank r's
/// `begin`.
void whole_tensor::add_records(whole_tensor& records, whole_tensor& places) {
  const std::lock_guard guard(staged_->mutex);
  const std::int64_t mine = comm_->rank(), extent[] = {1, 2};
  for (std::int64_t rank = 0; rank < comm_->size(); ++rank) {
    const std::int64_t lower[] = {rank, mine};
    std::int64_t bounds[2] = {};
    read_words(places, lower, extent, bounds);
    const std::int64_t first = records.layout_.partition().first(static_cast<int>(rank));
    merge_records(records, first + bounds[0], first + bounds[1], staged_->sums);
  }
}

/// Adds the sums of this rank's rows to the rows.
void whole_tensor::round_staged() {
  const std::lock_guard guard(staged_->mutex);
  staged_->sums.add_all_to(storage_->mapped_rows());
}

/// Collective.
void whole_tensor::add_staged() {
  std::vector<std::int64_t> records, begin;
  {
    comm::collective_call call(*comm_, "tensor_sync", comm::collective_call::always_agrees);
    call.attempt([&] { records = pack_staged(begin); });
    call.fact("creation number of the tensor", static_cast<std::int64_t>(id_));
    call.agree();
  }
  const auto lengths = mpi::allgather(static_cast<std::int64_t>(records.size()), comm_->data());
  const std::int64_t words = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  std::shared_ptr<whole_tensor> shared, places;
  if (words > 0) {
    shared = share_words({words}, records);
    places = share_words({comm_->size(), comm_->size() + 1}, begin);
    records = {};
  }
  comm::collective_call call(*comm_, "tensor_sync", comm::collective_call::always_agrees);
  call.attempt([&] {
    if (shared) add_records(*shared, *places);
    round_staged();
  });
  call.fact("creation number of the tensor", static_cast<std::int64_t>(id_));
  call.agree();  // all ranks have read the records
}

/// A tensor of all ranks' words, of which this rank has `mine`. Collective.
std::shared_ptr<whole_tensor> whole_tensor::share_words(const std::vector<std::int64_t>& shape,
                                                        const std::vector<std::int64_t>& mine) {
  tensor_options options;
  options.local_rows = shape.size() == 1 ? static_cast<std::int64_t>(mine.size()) : 1;
  auto result = create_rows(comm_, SYNCYTE_INT64, static_cast<std::int32_t>(shape.size()), shape.data(), options);
  if (!mine.empty()) std::memcpy(result->local().data, mine.data(), mine.size() * sizeof(std::int64_t));
  result->sync();
  return result;
}

}  // namespace syncyte::tensor
