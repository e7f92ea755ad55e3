// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "comm/communicator.hpp"
#include "distribution/layout.hpp"

namespace syncyte::collectives {

/// A layout of arrays among the ranks of a communicator, equal on all of them.
class shared_layout {
 public:
  shared_layout(std::shared_ptr<comm::communicator> comm, distribution::layout cut)
      : comm_(std::move(comm)), cut_(std::move(cut)) {}

  const std::shared_ptr<comm::communicator>& comm() const { return comm_; }
  const distribution::layout& cut() const { return cut_; }

 private:
  std::shared_ptr<comm::communicator> comm_;
  distribution::layout cut_;
};

/// Makes a layout that every rank computes from its own arguments; they must come to the same one. Collective.
std::shared_ptr<shared_layout> make_layout(std::shared_ptr<comm::communicator> comm, const char* operation,
                                           const std::function<distribution::layout()>& compute);

/// The blocks that a rank has chosen: what the other ranks get to know. `error`: found by the caller on this rank.
struct own_blocks {
  std::vector<std::int64_t> whole;  // cells of each axis, equal on all ranks
  std::vector<distribution::box> boxes;
  std::optional<base::error> error;
};

/// Makes a layout of all ranks' blocks; finish(layout) adds points and ghosts. Collective.
std::shared_ptr<shared_layout> gather_blocks(
    std::shared_ptr<comm::communicator> comm, const char* operation, const own_blocks& mine,
    const std::function<distribution::layout(const distribution::layout&)>& finish);

/// A hash of everything that the layout consists of, for agreements: 0 or more.
std::int64_t hash_of(const distribution::layout& cut);

}  // namespace syncyte::collectives
