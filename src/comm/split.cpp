// SPDX-License-Identifier: BSD-3-Clause
#include "comm/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "comm/cart.hpp"
#include "comm/collective_call.hpp"
#include "mpi/communicators.hpp"
#include "mpi/small_collectives.hpp"

namespace syncyte::comm {

namespace {

/// `operation`: the C function that is called, without syncyte_. A part without a name in `options` gets the parent's
/// and `usual_name`, or its colour.
std::shared_ptr<communicator> make_part(const char* operation, communicator& parent, int color, int key,
                                        const communicator_options& options, const std::string& usual_name = "") {
  collective_call call(parent, operation, collective_call::always_agrees);
  check_level check = parent.check();
  call.attempt([&] {
    if (options.error) throw *options.error;
    base::expect(color >= 0 || color == MPI_UNDEFINED, SYNCYTE_ERR_ARGUMENT, "color", color,
                 "0 or more, or -1 for no part");
    check = chosen_check(options, parent.check());
  });
  call.fact("check", static_cast<int>(check));
  call.agree();
  const MPI_Comm data = mpi::split(parent.data(), color, key);
  const std::string part = usual_name.empty() ? fmt::to_string(color) : usual_name;
  return parent.add_part(data, options.name_or(fmt::format("{}/{}", parent.name(), part)), check);
}

}  // namespace

std::shared_ptr<communicator> split(communicator& parent, int color, int key, const communicator_options& options) {
  return make_part("comm_split", parent, color, key, options);
}

std::shared_ptr<communicator> split_program(communicator& parent, const std::string& program,
                                            const communicator_options& options) {
  constexpr std::size_t limit = 256;
  std::array<char, limit> mine{};
  {
    collective_call call(parent, "comm_split_program", collective_call::always_agrees);
    call.attempt([&] {
      if (options.error) throw *options.error;
      base::expect(!program.empty() && program.size() < limit, SYNCYTE_ERR_ARGUMENT, "name",
                   fmt::format("of {} bytes", program.size()), "1 to {}", limit - 1);
      std::copy(program.begin(), program.end(), mine.begin());
    });
    call.agree();
  }
  const auto names = mpi::allgather(mine, parent.data());
  int color = 0;  // the lowest rank of the same name
  while (program != names[static_cast<std::size_t>(color)].data()) ++color;
  return make_part("comm_split_program", parent, color, parent.rank(), options, program);
}

std::shared_ptr<communicator> split_node(communicator& parent, const communicator_options& options) {
  const int node = parent.node().index;
  return make_part("comm_split_node", parent, node, parent.rank(), options, fmt::format("node{}", node));
}

std::shared_ptr<communicator> split_leaders(communicator& parent, const communicator_options& options) {
  const int color = parent.node().rank == 0 ? 0 : MPI_UNDEFINED;
  return make_part("comm_split_leaders", parent, color, parent.rank(), options, "leaders");
}

std::shared_ptr<communicator> duplicate(communicator& parent, const communicator_options& options) {
  if (const cartesian_grid* const grid = parent.grid()) return make_cartesian(parent, *grid, options);
  return make_part("comm_dup", parent, 0, parent.rank(), options);
}

}  // namespace syncyte::comm
