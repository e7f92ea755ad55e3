#include "comm/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "comm/cart.hpp"
#include "comm/collective.hpp"
#include "mpi/communicators.hpp"
#include "mpi/exchange.hpp"

namespace syncyte::comm {

std::shared_ptr<communicator> split(communicator& parent, int color, int key, const communicator_options& options) {
  collective_call call(parent, "comm_split", collective_call::lifecycle);
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
  return parent.add_part(data, options.name.empty() ? fmt::format("{}/{}", parent.name(), color) : options.name, check);
}

std::shared_ptr<communicator> split_program(communicator& parent, const std::string& program,
                                            const communicator_options& options) {
  constexpr std::size_t limit = 256;
  std::array<char, limit> mine{};
  {
    collective_call call(parent, "comm_split_program", collective_call::lifecycle);
    call.attempt([&] {
      if (options.error) throw *options.error;
      base::expect(!program.empty() && program.size() < limit, SYNCYTE_ERR_ARGUMENT, "name",
                   fmt::format("of {} bytes", program.size()), "1 to {}", limit - 1);
      std::copy(program.begin(), program.end(), mine.begin());
    });
    call.agree();
  }
  const auto names = mpi::allgather(mine, parent.control());
  int color = 0;  // the lowest rank of the same name
  while (program != names[static_cast<std::size_t>(color)].data()) ++color;
  communicator_options named = options;
  if (named.name.empty()) named.name = fmt::format("{}/{}", parent.name(), program);
  return split(parent, color, parent.rank(), named);
}

std::shared_ptr<communicator> split_node(communicator& parent, const communicator_options& options) {
  communicator_options named = options;
  if (named.name.empty()) named.name = fmt::format("{}/node{}", parent.name(), parent.node().index);
  return split(parent, parent.node().index, parent.rank(), named);
}

std::shared_ptr<communicator> split_leaders(communicator& parent, const communicator_options& options) {
  communicator_options named = options;
  if (named.name.empty()) named.name = fmt::format("{}/leaders", parent.name());
  return split(parent, parent.node().rank == 0 ? 0 : MPI_UNDEFINED, parent.rank(), named);
}

std::shared_ptr<communicator> duplicate(communicator& parent, const communicator_options& options) {
  if (const cartesian_grid* const grid = parent.grid()) return make_cartesian(parent, *grid, options);
  return split(parent, 0, parent.rank(), options);
}

}  // namespace syncyte::comm
