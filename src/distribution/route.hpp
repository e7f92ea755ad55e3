// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "distribution/box.hpp"
#include "distribution/layout.hpp"
#include "distribution/passage.hpp"

namespace syncyte::distribution {

/// The boxes that `rank` sends and receives, in order of peers: every place of a block of `to` gets the point that the
/// owner in `from` has. Blocks that several ranks have are sent by all of them: each rank receives from itself if it
/// can, otherwise from the one with its number modulo theirs. Throws SYNCYTE_ERR_SHAPE unless both layouts are of
/// arrays of the same extents and of as many ranks.
route find_route(const layout& from, const layout& to, int rank);

/// The same where one of the two arrays is a box of the other one, and begins at the other one's point `first`. Throws
/// SYNCYTE_ERR_SHAPE if it is not.
route find_route(const layout& from, const layout& to, int rank, const per_axis& first);

}  // namespace syncyte::distribution
