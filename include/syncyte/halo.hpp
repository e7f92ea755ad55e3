// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file halo.hpp Halo exchange in C++; syncyte/halo.h explains it.

#include "syncyte/cart.hpp"
#include "syncyte/halo.h"

namespace syncyte {

/// Options of a halo.
struct halo_options {
  /// Axis that each dimension of the grid cuts, negative from the end; empty: 0, 1...
  std::vector<std::int32_t> axes = {};
  bool corners = true;  ///< whether to include ghosts beyond the interior along several axes
};

namespace detail {
using halo_reference = reference<syncyte_halo_t, syncyte_halo_retain, syncyte_halo_destroy>;
}

/// The plan of an exchange of ghost cells, for arrays of one type and shape. Move-only. It is made once, collectively;
/// exchanges are between neighbours only.
class halo : public detail::halo_reference {
 public:
  halo() = default;
  explicit halo(syncyte_halo_t raw) noexcept : detail::halo_reference(raw) {}

  /// Makes a halo for arrays of type T. shape: this rank's extents, ghosts included; low and high: ghosts at both ends
  /// along each dimension of the grid. Collective.
  template <element T>
  static halo of(const cartesian_communicator& cart, std::span<const std::int64_t> shape,
                 std::span<const std::int64_t> low, std::span<const std::int64_t> high,
                 const halo_options& options = {}) {
    return halo(cart, dtype_of<T>, shape, low, high, options);
  }

  /// Makes a halo for arrays of a type known at run time; see of().
  halo(const cartesian_communicator& cart, dtype type, std::span<const std::int64_t> shape,
       std::span<const std::int64_t> low, std::span<const std::int64_t> high, const halo_options& options = {}) {
    const syncyte_halo_options_t raw{sizeof(raw), options.corners ? 1 : 0, 0};
    *this = halo(detail::fetch<syncyte_halo_t>(syncyte_halo_create, cart.get(), detail::raw(type),
                                               static_cast<std::int32_t>(shape.size()), shape.data(), std::ssize(low),
                                               low.data(), std::ssize(high), high.data(), std::ssize(options.axes),
                                               options.axes.empty() ? nullptr : options.axes.data(), &raw));
  }

  /// Another reference to the same halo.
  halo retain() const { return halo(retained_handle()); }

  /// Fills the ghosts. All ranks call it; waits for the neighbours only.
  void exchange(const buffer& array) const { check(syncyte_halo_exchange(get(), array.get())); }

  /// Adjoint of exchange(): adds the ghosts to the cells that they copy, and sets them to 0. All ranks call it.
  void accumulate(const buffer& array) const { check(syncyte_halo_accumulate(get(), array.get())); }

  /// Starts to fill the ghosts; the array's memory must stay until the request has ended.
  request iexchange(const buffer& array) const { return detail::started(syncyte_halo_iexchange, get(), array.get()); }

  /// Starts the adjoint; the array's memory must stay, and may not be used, until the request has ended.
  request iaccumulate(const buffer& array) const {
    return detail::started(syncyte_halo_iaccumulate, get(), array.get());
  }
};

}  // namespace syncyte
