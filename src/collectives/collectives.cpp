#include "collectives/collectives.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <vector>

#include "collectives/forms.hpp"
#include "comm/cart.hpp"
#include "mpi/exchange.hpp"
#include "mpi/large_counts.hpp"
#include "mpi/process.hpp"
#include "syncyte/messages.h"

namespace syncyte::collectives {
namespace {

/// Hash of "source sends count elements to target"; nothing sent counts nothing.
std::uint64_t pair_hash(int source, int target, std::int64_t count) {
  const std::int64_t pair[3] = {source, target, count};
  return count == 0 ? 0 : XXH3_64bits(pair, sizeof pair);
}

/// This rank's term of a sum over all ranks (modulo 2^64) that is 0 if every rank expects what is sent to it.
std::uint64_t count_difference(int rank, mpi::counts_view send_counts, mpi::counts_view recv_counts) {
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < send_counts.size(); ++i) {
    const int other = static_cast<int>(i);
    result += pair_hash(rank, other, send_counts[i]) - pair_hash(other, rank, recv_counts[i]);
  }
  return result;
}

/// Compares the counts that i sends to j with those that j expects from i; throws on all ranks if a pair differs.
void compare_count_matrix(comm::collective_call& call, mpi::counts_view send_counts, mpi::counts_view recv_counts) {
  comm::communicator& comm = call.comm();
  std::vector<std::int64_t> announced(static_cast<std::size_t>(comm.size()));
  mpi::alltoall(send_counts, announced, comm.control());
  call.attempt([&] {
    for (std::size_t rank = 0; rank < announced.size(); ++rank)
      base::require(announced[rank] == recv_counts[rank], SYNCYTE_ERR_MISMATCH,
                    "rank {} sends {} elements, but recv_counts[{}] is {}", rank, announced[rank], rank,
                    recv_counts[rank]);
  });
  call.agree();
}

class broadcast {
 public:
  broadcast(comm::agreement& terms, form how, int root, const syncyte_buffer_t* buffer)
      : root_(checked_root(terms, root)), buffer_(checked_to_move(buffer, "buffer", how)) {
    terms.named_fact("dtype of buffer", buffer_.dtype(), base::dtype_name);
    terms.fact("elements of buffer", buffer_.elements());
  }

  template <class Moves>
  void move(Moves& by) {
    by.bcast(buffer_.data(), buffer_.elements(), root_, buffer_.dtype());
  }
  void finish() {}

 private:
  int root_;
  base::buffer buffer_;
};

/// allgather, with equal counts, and allgatherv.
class all_gathering {
 public:
  all_gathering(comm::agreement& terms, form how, const syncyte_buffer_t* input, const syncyte_buffer_t* output)
      : all_gathering(terms, input, output, how) {
    output_.require_elements(input_.elements() * terms.comm().size());
    terms.fact("elements of input", input_.elements());
    counts_.assign(static_cast<std::size_t>(terms.comm().size()), input_.elements());
  }

  all_gathering(comm::agreement& terms, form how, const syncyte_buffer_t* input, given_counts counts,
                const syncyte_buffer_t* output)
      : all_gathering(terms, input, output, how) {
    const auto all = checked_counts(terms.comm(), counts, "counts");
    output_.require_elements(mpi::sum_of(all), ", the sum of counts");
    input_.require_elements(all[static_cast<std::size_t>(terms.comm().rank())], ", this rank's in counts");
    comm::add_counts(terms, all, "sum of counts", "hash of counts");
    counts_.assign(all.begin(), all.end());
  }

  template <class Moves>
  void move(Moves& by) {
    by.allgather(input_.data(), counts_, output_.data(), input_.dtype());
  }
  void finish() {}

 private:
  all_gathering(comm::agreement& terms, const syncyte_buffer_t* input, const syncyte_buffer_t* output, form how)
      : input_(checked_to_move(input, "input", how)), output_(checked_to_move(output, "output", how)) {
    output_.require_dtype(input_.dtype());
    require_apart(input_, output_);
    terms.named_fact("dtype of input", input_.dtype(), base::dtype_name);
  }

  base::buffer input_;
  base::buffer output_;
  std::vector<std::int64_t> counts_;
};

class all_to_all {
 public:
  all_to_all(comm::agreement& terms, form how, const syncyte_buffer_t* input, given_counts send_counts,
             given_counts recv_counts, const syncyte_buffer_t* output)
      : input_(checked_to_move(input, "input", how)),
        output_(checked_to_move(output, "output", how)),
        send_counts_(checked_counts(terms.comm(), send_counts, "send_counts")),
        recv_counts_(checked_counts(terms.comm(), recv_counts, "recv_counts")) {
    const auto rank = static_cast<std::size_t>(terms.comm().rank());
    input_.require_elements(mpi::sum_of(send_counts_), ", the sum of send_counts");
    output_.require_dtype(input_.dtype()).require_elements(mpi::sum_of(recv_counts_), ", the sum of recv_counts");
    require_apart(input_, output_);
    base::require(send_counts_[rank] == recv_counts_[rank], SYNCYTE_ERR_ARGUMENT,
                  "send_counts[{0}] is {1}, but recv_counts[{0}], from this rank itself, is {2}", rank,
                  send_counts_[rank], recv_counts_[rank]);
    terms.named_fact("dtype of input", input_.dtype(), base::dtype_name);
  }

  /// One rank may have much to send and another little: all must choose the same way. The sum of the differences
  /// travels with it.
  void compare(comm::collective_call& call) {
    const comm::communicator& comm = call.comm();
    const std::uint64_t is_long = std::max(input_.elements(), output_.elements()) > mpi::piece_limit();
    std::uint64_t sums[2] = {is_long, count_difference(comm.rank(), send_counts_, recv_counts_)};
    mpi::allreduce(sums, MPI_SUM, comm.control());
    const bool differ = sums[1] != 0 && comm.check() != comm::check_level::off;
    if (differ || comm.check() == comm::check_level::full) compare_count_matrix(call, send_counts_, recv_counts_);
    is_long_ = sums[0] != 0;
  }

  template <class Moves>
  void move(Moves& by) {
    by.alltoall(input_.data(), send_counts_, recv_counts_, output_.data(), input_.dtype(), is_long_);
  }
  void finish() {}

 private:
  base::buffer input_;
  base::buffer output_;
  mpi::counts_view send_counts_;
  mpi::counts_view recv_counts_;
  bool is_long_ = false;
};

/// A block to and from each neighbour on the grid; blocks of missing neighbours stay as they are.
class neighbor_exchange {
 public:
  neighbor_exchange(comm::agreement& terms, form how, const syncyte_buffer_t* input, const syncyte_buffer_t* output)
      : input_(checked_to_move(input, "input", how)), output_(checked_to_move(output, "output", how)) {
    mpi::require_rank_process();  // in a forked child even a grid of one rank would send messages
    const int dimensions = comm::require_grid(terms.comm()).ndim();
    for (int d = 0; d < dimensions; ++d) {
      const auto [below, above] = comm::shift_along(terms.comm(), d, 1);
      neighbours_.insert(neighbours_.end(), {below, above});
    }
    base::require(input_.elements() % (2 * dimensions) == 0, SYNCYTE_ERR_SHAPE,
                  "input has {} elements; expected a multiple of {}, a block for each neighbour", input_.elements(),
                  2 * dimensions);
    output_.require_dtype(input_.dtype()).require_elements(input_.elements());
    require_apart(input_, output_);
    terms.named_fact("dtype of input", input_.dtype(), base::dtype_name);
    terms.fact("elements of input", input_.elements());
  }

  /// Blocks of the two neighbours of a dimension lie next to each other. If they are one rank, its messages keep their
  /// order, and the first one, which it sends downwards, comes from above.
  template <class Moves>
  void move(Moves& by) {
    const std::int64_t block = input_.elements() / std::ssize(neighbours_);
    const std::size_t block_bytes = static_cast<std::size_t>(block) * base::dtype_size(input_.dtype());
    for (std::size_t i = 0; i < neighbours_.size(); ++i)
      if (const std::size_t opposite = i ^ 1; neighbours_[opposite] != SYNCYTE_PROC_NULL)
        by.receive(neighbours_[opposite], output_.data() + opposite * block_bytes, block, input_.dtype());
    for (std::size_t i = 0; i < neighbours_.size(); ++i)
      if (neighbours_[i] != SYNCYTE_PROC_NULL)
        by.send(neighbours_[i], input_.data() + i * block_bytes, block, input_.dtype());
    by.wait_for_messages();
  }
  void finish() {}

 private:
  base::buffer input_;
  base::buffer output_;
  std::vector<int> neighbours_;
};

}  // namespace

void barrier(comm::communicator& comm) {
  comm::collective_call call(comm, "comm_barrier", comm::collective_call::lifecycle);
  call.agree();  // nobody leaves an Allreduce before all have entered it
}

void bcast(comm::communicator& comm, int root, const syncyte_buffer_t* buffer, const extras& extras) {
  run<broadcast>(comm, "comm_bcast", extras, root, buffer);
}

started_t ibcast(const std::shared_ptr<comm::communicator>& comm, int root, const syncyte_buffer_t* buffer,
                 const extras& extras) {
  return start<broadcast>(comm, "comm_ibcast", extras, root, buffer);
}

void allgather(comm::communicator& comm, const syncyte_buffer_t* input, const syncyte_buffer_t* output,
               const extras& extras) {
  run<all_gathering>(comm, "comm_allgather", extras, input, output);
}

void allgatherv(comm::communicator& comm, const syncyte_buffer_t* input, given_counts counts,
                const syncyte_buffer_t* output, const extras& extras) {
  run<all_gathering>(comm, "comm_allgatherv", extras, input, counts, output);
}

void alltoallv(comm::communicator& comm, const syncyte_buffer_t* input, given_counts send_counts,
               given_counts recv_counts, const syncyte_buffer_t* output, const extras& extras) {
  run<all_to_all>(comm, "comm_alltoallv", extras, input, send_counts, recv_counts, output);
}

void neighbor_alltoall(comm::communicator& comm, const syncyte_buffer_t* input, const syncyte_buffer_t* output,
                       const extras& extras) {
  run<neighbor_exchange>(comm, "comm_neighbor_alltoall", extras, input, output);
}

}  // namespace syncyte::collectives
