// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace syncyte::comm {

/// MPI's tags on a control communicator. Messages of the user's channels other than 0 go there, those of large counts
/// with tag 0, and the core's own, whose tags are the other multiples of `channels`: no two of these kinds meet.

/// Channels of messages, numbered from 0.
inline constexpr int channels = 8;

/// Highest tag of a message.
int highest_tag();

/// Tag of messages of a channel other than 0.
constexpr int channel_tag(int tag, int channel) { return tag * channels + channel; }

/// Tag of the core's own messages; numbers wrap round at highest_tag() - group_tags.
int control_tag(std::uint64_t number);
/// Tags of agreements and of groups; no number has them.
int vote_tag();
inline constexpr int group_tags = 1024;
int group_tag(int tag);

}  // namespace syncyte::comm
