// Deterministic adds: each rank sums what it adds exactly. sync() takes the sums to the rows' owners, which add them
// exactly to each other and to the row, and round once. The result therefore depends on no order.

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "comm/collective_call.hpp"
#include "mpi/small_collectives.hpp"
#include "tensor/staged_adds.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {
namespace {

/// Words of records that an owner reads at once, about.
constexpr std::size_t chunk_words = std::size_t{1} << 17;

/// Merges the records that begin in `words`, and returns how many words they have. `next`: at least as many words hold
/// the record behind them.
std::size_t merge_whole_records(std::span<const std::int64_t> words, rows::exact_rows& sums, std::size_t& next) {
  std::size_t used = 0;
  while (used + rows::exact_rows::header_words <= words.size()) {
    next = sums.record_words(&words[used]);
    if (used + next > words.size()) break;
    sums.merge(&words[used]);
    used += next;
  }
  return used;
}

/// Merges the records in [first, end) of a tensor of words.
void merge_records(whole_tensor& records, std::int64_t first, std::int64_t end, rows::exact_rows& sums) {
  std::vector<std::int64_t> words;
  std::size_t next = 0;
  while (first < end) {
    words.resize(std::min(static_cast<std::size_t>(end - first), std::max(chunk_words, next)));
    const std::int64_t length = std::ssize(words);
    const syncyte_buffer_t output = base::make_buffer(words.data(), SYNCYTE_INT64, {&length, 1});
    records.get_box({&first, 1}, &output);
    first += static_cast<std::int64_t>(merge_whole_records(words, sums, next));
  }
}

}  // namespace

/// Sums that sync() has taken from the staged adds: this rank's rows, and records of other ranks' rows.
struct whole_tensor::taken_sums {
  rows::exact_rows own;
  std::vector<std::int64_t> records;  // by owner
  std::vector<std::int64_t> begin;    // of the records for each rank; after share_records() of those from each rank
  std::vector<std::int64_t> length;   // the same, in words
};

/// Takes this rank's sums; those of other ranks' rows become records.
void whole_tensor::take_staged(taken_sums& to) {
  staged_->exchange(to.own);
  std::vector<std::vector<std::int64_t>> rows(static_cast<std::size_t>(comm_->size()));
  for (const std::int64_t row : to.own.numbers())
    rows[static_cast<std::size_t>(layout_.partition().owner(row))].push_back(row);
  rows[static_cast<std::size_t>(comm_->rank())].clear();
  to.records.reserve(to.own.record_words());
  for (const auto& rows_of_owner : rows) {
    to.begin.push_back(std::ssize(to.records));
    for (const std::int64_t row : rows_of_owner) to.own.move_to_record(row, to.records);
    to.length.push_back(std::ssize(to.records) - to.begin.back());
  }
}

/// Stages again what take_staged() has taken.
void whole_tensor::stage_again(taken_sums& taken) {
  for (const std::int64_t row : taken.own.numbers()) taken.own.move_to_record(row, taken.records);
  const std::lock_guard guard(staged_->mutex);
  std::size_t next = 0;
  merge_whole_records(taken.records, staged_->sums, next);
}

/// A tensor of the words of all ranks' records. Collective.
std::shared_ptr<whole_tensor> whole_tensor::share_records(taken_sums& taken) {
  const std::vector<std::int64_t>& mine = taken.records;
  const auto words = static_cast<std::int64_t>(mpi::allreduce(mine.size(), MPI_SUM, comm_->data()));
  if (words == 0) return nullptr;
  tensor_options options;
  options.local_rows = std::ssize(mine);
  auto shared = create_rows(comm_, SYNCYTE_INT64, 1, &words, options);
  if (!mine.empty()) std::memcpy(shared->local().data, mine.data(), mine.size() * sizeof(std::int64_t));
  const std::vector<std::int64_t> begin = taken.begin, length = taken.length;
  mpi::alltoall(begin, taken.begin, comm_->data());
  mpi::alltoall(length, taken.length, comm_->data());
  shared->sync();
  return shared;
}

/// Collective. Sums that another thread stages meanwhile wait for the next one.
void whole_tensor::add_staged() {
  taken_sums taken{staged_->none(), {}, {}, {}};
  std::shared_ptr<whole_tensor> records;
  try {
    {
      comm::collective_call call(*comm_, "tensor_sync", comm::collective_call::always_agrees);
      call.attempt([&] { take_staged(taken); });
      call.fact("creation number of the tensor", static_cast<std::int64_t>(id_));
      call.agree();
    }
    records = share_records(taken);
  } catch (...) {
    stage_again(taken);
    throw;
  }
  comm::collective_call call(*comm_, "tensor_sync", comm::collective_call::always_agrees);
  call.attempt([&] {
    for (int rank = 0; records != nullptr && rank < comm_->size(); ++rank) {
      const auto from = static_cast<std::size_t>(rank);
      const std::int64_t first = records->layout_.partition().first(rank) + taken.begin[from];
      merge_records(*records, first, first + taken.length[from], taken.own);
    }
    taken.own.add_all_to(storage_->mapped_rows());
  });
  call.fact("creation number of the tensor", static_cast<std::int64_t>(id_));
  call.agree();  // all ranks have read the records
}

}  // namespace syncyte::tensor
