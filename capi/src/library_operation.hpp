// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace syncyte::capi {

/// A step of finalize: true when all operations of syncyte_request_create() have ended, or finalize has given up
/// waiting for the others.
bool end_library_operations(bool have_all_entered) noexcept;

}  // namespace syncyte::capi
