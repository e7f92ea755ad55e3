// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace syncyte::fabric::ucx {

/// Descriptors that UCX opens for a worker: some, and one or two for each network device.
inline constexpr int descriptors_of_worker = 64;
/// Descriptors that UCX opens for an endpoint.
inline constexpr int descriptors_of_endpoint = 8;

/// Throws std::runtime_error if the process may not open this many more file descriptors. UCX 1.13 aborts the process
/// where it lacks some.
void need_descriptors(int count);

}  // namespace syncyte::fabric::ucx
