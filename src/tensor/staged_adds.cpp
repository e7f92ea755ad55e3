// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/staged_adds.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "access/started.hpp"
#include "comm/collective_call.hpp"
#include "memory/scratch.hpp"
#include "mpi/small_collectives.hpp"
#include "tensor/box_operations.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {
namespace {

/// Words of records that an owner reads at once, about.
constexpr std::size_t chunk_words = std::size_t{1} << 17;

/// Merges the records that begin in `words`, and returns how many words they have. `next`: set to the words of the
/// record behind them, if its header is in `words`.
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
    access::run<get_box>(records, base::array_argument<std::int64_t>{&first, 1}, &output);
    first += static_cast<std::int64_t>(merge_whole_records(words, sums, next));
  }
}

/// A tensor of the words of all ranks' records. Collective.
std::shared_ptr<whole_tensor> share_records(const std::shared_ptr<comm::communicator>& comm,
                                            const std::vector<std::int64_t>& mine) {
  const auto words = static_cast<std::int64_t>(mpi::allreduce(mine.size(), MPI_SUM, comm->data()));
  if (words == 0) return nullptr;
  tensor_options options;
  options.local_rows = std::ssize(mine);
  auto shared = whole_tensor::create(comm, SYNCYTE_INT64, 1, &words, options);
  if (!mine.empty()) std::memcpy(shared->local().data, mine.data(), mine.size() * sizeof(std::int64_t));
  return shared;
}

}  // namespace

void staged_adds::add(const rows::row_index& index, const std::byte* packed) {
  constexpr std::int64_t ahead = 4;
  const std::int64_t count = index.count();
  const std::lock_guard guard(mutex_);
  for (std::int64_t i = 0; i < count; ++i) {
    sums_.prefetch(index[std::min(i + ahead, count - 1)]);
    sums_.add(index[i], packed + static_cast<std::size_t>(i) * row_bytes_);
  }
}

void staged_adds::add(std::span<const rows::row_piece> pieces, std::size_t bytes, const std::byte* values) {
  const memory::scratch row(row_bytes_);
  const std::lock_guard guard(mutex_);
  for (std::size_t i = 0; i < pieces.size();) {
    const std::int64_t number = pieces[i].row;
    std::memset(row.data(), 0, row_bytes_);
    for (; i < pieces.size() && pieces[i].row == number; ++i)
      std::memcpy(row.data() + pieces[i].inset, values + i * bytes, bytes);
    sums_.add(number, row.data());
  }
}

/// Sums that sync() has taken from the staged adds: this rank's rows, and records of other ranks' rows.
struct staged_adds::taken_sums {
  rows::exact_rows own;
  std::vector<std::int64_t> records;  // by owner
  std::vector<std::int64_t> begin;    // first word for each rank; after the exchange: at each rank, for this one
  std::vector<std::int64_t> length;   // words for each rank, exchanged likewise
};

/// Takes this rank's sums; sums of other ranks' rows become records.
void staged_adds::take(const whole_tensor& of, taken_sums& to) {
  {
    const std::lock_guard guard(mutex_);
    std::swap(sums_, to.own);
  }
  const comm::communicator& comm = *of.comm();
  std::vector<std::vector<std::int64_t>> rows(static_cast<std::size_t>(comm.size()));
  for (const std::int64_t row : to.own.rows())
    rows[static_cast<std::size_t>(of.layout().partition().owner(row))].push_back(row);
  rows[static_cast<std::size_t>(comm.rank())].clear();
  to.records.reserve(to.own.record_words());
  for (const auto& rows_of_owner : rows) {
    to.begin.push_back(std::ssize(to.records));
    for (const std::int64_t row : rows_of_owner) to.own.move_to_record(row, to.records);
    to.length.push_back(std::ssize(to.records) - to.begin.back());
  }
}

/// Stages again what take() has taken.
void staged_adds::stage_again(taken_sums& taken) {
  for (const std::int64_t row : taken.own.rows()) taken.own.move_to_record(row, taken.records);
  const std::lock_guard guard(mutex_);
  std::size_t next = 0;
  merge_whole_records(taken.records, sums_, next);
}

void staged_adds::sync(whole_tensor& to) {
  comm::communicator& comm = *to.comm();
  taken_sums taken{none(), {}, {}, {}};
  std::shared_ptr<whole_tensor> records;
  try {
    {
      comm::collective_call call(comm, "tensor_sync", comm::collective_call::always_agrees);
      call.attempt([&] { take(to, taken); });
      call.fact("creation number of the tensor", to.creation_number());
      call.agree();
    }
    records = share_records(to.comm(), taken.records);
    if (records) {
      const std::vector<std::int64_t> begin = taken.begin, length = taken.length;
      mpi::alltoall(begin, taken.begin, comm.data());
      mpi::alltoall(length, taken.length, comm.data());
      records->sync();
    }
  } catch (...) {
    stage_again(taken);
    throw;
  }
  comm::collective_call call(comm, "tensor_sync", comm::collective_call::always_agrees);
  call.attempt([&] {
    for (int rank = 0; records != nullptr && rank < comm.size(); ++rank) {
      const auto from = static_cast<std::size_t>(rank);
      const std::int64_t first = records->layout().partition().first(rank) + taken.begin[from];
      merge_records(*records, first, first + taken.length[from], taken.own);
    }
    taken.own.add_all_to(to.held()->mapped_rows());
  });
  call.fact("creation number of the tensor", to.creation_number());
  call.agree();  // all ranks have read the records
}

}  // namespace syncyte::tensor
