// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file bundle.hpp Halos of several fields with layouts in C++; syncyte/bundle.h explains them.

#include "syncyte/bundle.h"
#include "syncyte/layout.hpp"

namespace syncyte {

/// Depth and fields of an operation of a bundle.
struct bundle_options {
  std::int64_t depth = 0;       ///< ghosts at each end of an axis; 0: all; a sum has none
  std::vector<bool> only = {};  ///< whether each field takes part, in the order in which they were added; empty: all do
};

namespace detail {
using bundle_reference = reference<syncyte_bundle_t, syncyte_bundle_retain, syncyte_bundle_destroy>;
}

/// Fields of one communicator, each with a layout, whose halos travel together. Move-only. It is made collectively; the
/// operations are between neighbours only.
class bundle : public detail::bundle_reference {
 public:
  bundle() = default;
  explicit bundle(syncyte_bundle_t raw) noexcept : detail::bundle_reference(raw) {}

  /// Makes a bundle without fields. Collective.
  explicit bundle(const communicator& comm)
      : detail::bundle_reference(detail::fetch<syncyte_bundle_t>(syncyte_bundle_create, comm.get())) {}

  /// Another reference to the same bundle. Local.
  bundle retain() const { return bundle(retained_handle()); }

  /// The communicator. Local.
  communicator comm() const { return communicator(detail::fetch<syncyte_comm_t>(syncyte_bundle_comm, get())); }

  /// Adds a field. arrays: of this rank's blocks, ghosts included; they are used in place and must stay. Collective.
  void add(const std::string& name, const layout& cut, dtype type, std::span<const buffer> arrays) const {
    const auto raw = detail::raw_buffers(arrays);
    check(syncyte_bundle_add(get(), name.c_str(), cut.get(), detail::raw(type), std::ssize(raw), raw.data()));
  }

  /// Adds a field with one block on this rank; see the other overload.
  void add(const std::string& name, const layout& cut, const buffer& array) const {
    add(name, cut, array.type(), {&array, 1});
  }

  /// Takes other arrays for a field: the next operation uses them. Local.
  void set_arrays(const std::string& name, std::span<const buffer> arrays) const {
    const auto raw = detail::raw_buffers(arrays);
    check(syncyte_bundle_set_arrays(get(), name.c_str(), std::ssize(raw), raw.data()));
  }

  /// Fills the ghosts, and the copies of shared points that are not right. All ranks call it; waits for the neighbours
  /// only.
  void exchange(const bundle_options& options = {}) const {
    const flags only(options.only);
    check(syncyte_bundle_exchange(get(), options.depth, only.size(), only.data()));
  }

  /// Adjoint of exchange(): adds the ghosts to the points that they copy, and sets them to 0. All ranks call it.
  void accumulate(const bundle_options& options = {}) const {
    const flags only(options.only);
    check(syncyte_bundle_accumulate(get(), options.depth, only.size(), only.data()));
  }

  /// Replaces each point that several blocks store by the sum of their copies. All ranks call it.
  void sum(const std::vector<bool>& which = {}) const {
    const flags only(which);
    check(syncyte_bundle_sum(get(), only.size(), only.data()));
  }

  /// Starts exchange(); the arrays may not be written, nor read in their ghosts, until the request has ended.
  request iexchange(const bundle_options& options = {}) const {
    const flags only(options.only);
    return detail::started(syncyte_bundle_iexchange, get(), options.depth, only.size(), only.data());
  }

  /// Starts accumulate(); the arrays may not be used until the request has ended.
  request iaccumulate(const bundle_options& options = {}) const {
    const flags only(options.only);
    return detail::started(syncyte_bundle_iaccumulate, get(), options.depth, only.size(), only.data());
  }

  /// Starts sum(); the arrays may not be used until the request has ended.
  request isum(const std::vector<bool>& which = {}) const {
    const flags only(which);
    return detail::started(syncyte_bundle_isum, get(), only.size(), only.data());
  }

 private:
  /// A mask as C takes it.
  class flags {
   public:
    explicit flags(const std::vector<bool>& mask) : values_(mask.begin(), mask.end()) {}
    std::int64_t size() const { return std::ssize(values_); }
    const std::int32_t* data() const { return values_.empty() ? nullptr : values_.data(); }

   private:
    std::vector<std::int32_t> values_;
  };
};

}  // namespace syncyte
