// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "base/error.hpp"
#include "collectives/shared_layout.hpp"
#include "distribution/passage.hpp"
#include "halo/plan.hpp"
#include "halo/transfer.hpp"

namespace syncyte::halo {

/// A field that a caller adds to a bundle, on every rank.
struct field_description {
  std::string name;
  std::shared_ptr<collectives::shared_layout> layout;
  syncyte_dtype_t dtype = 0;
  std::vector<syncyte_buffer_t> arrays;  // of this rank's blocks; they must stay
  std::optional<base::error> error;      // found by the caller on this rank; all ranks get it
};

/// A field of a bundle.
struct field {
  std::string name;
  std::shared_ptr<collectives::shared_layout> layout;
  syncyte_dtype_t dtype;
  std::vector<base::buffer> arrays;                      // of this rank's blocks
  std::map<std::int64_t, distribution::route> halos;     // by depth
  std::map<std::int64_t, distribution::route> adjoints;  // likewise
  distribution::route copies;
};

/// Arguments of an operation of a bundle.
struct bundle_request {
  operation way;
  std::int64_t depth = 0;  // most ghosts at each end of an axis; 0: all
  bool has_only = false;
  std::vector<bool> only = {};            // if there is one: whether each field takes part
  std::optional<base::error> error = {};  // found by the caller on this rank
  // In place of the arrays of the fields that take part, field by field.
  std::optional<std::vector<syncyte_buffer_t>> arrays = {};
  base::struct_array<syncyte_fact_t> facts = {};  // the caller's, at most most_caller_facts
};

/// Fields with layouts over one communicator, whose halos travel together: one message from each rank to each of its
/// neighbours, diagonal ones included, for all fields.
class bundle final : public plan {
 public:
  static constexpr std::int64_t most_caller_facts = 2;

  /// Collective. `error`: found by the caller on this rank; all ranks get it.
  static std::shared_ptr<bundle> create(std::shared_ptr<comm::communicator> comm,
                                        const std::optional<base::error>& error = {});

  /// Collective. Throws SYNCYTE_ERR_BUSY while a transfer of this bundle is in flight.
  void add(field_description asked);

  /// Takes other arrays for a field. Local. Throws SYNCYTE_ERR_BUSY while a transfer of this bundle is in flight.
  void set_arrays(const std::string& name, std::span<const syncyte_buffer_t> arrays);

  std::int64_t fields() const { return std::ssize(fields_); }
  /// `number` is less than fields().
  const field& field_at(std::size_t number) const { return fields_[number]; }

  const char* name_of(operation way) const override;
  std::span<const place> cleared() const override { return cleared_; }
  std::string difference(std::size_t fact, const char* name, std::int64_t theirs, int sender,
                         std::int64_t mine) const override;

 private:
  /// The operation, depth and fields for which the sides have their places.
  struct setting {
    operation way;
    std::int64_t depth;
    std::vector<bool> only;
    bool operator==(const setting&) const = default;
  };

  friend std::unique_ptr<transfer> start(const std::shared_ptr<bundle>& on, const bundle_request& asked);

  bundle(std::shared_ptr<comm::communicator> comm, std::uint64_t number) : plan("bundle", std::move(comm), number) {}
  std::size_t field_of(const std::string& name) const;
  field checked_field(field_description asked) const;
  phase sides_for(std::span<const field> fields) const;
  setting checked_setting(const bundle_request& asked) const;
  std::int64_t widest() const;
  void require_apart(std::span<const base::buffer> arrays, const std::string& name) const;
  const distribution::route& route_of(field& of, const setting& wanted) const;
  void set_places(const setting& wanted);
  std::vector<base::buffer> arrays() const;
  std::vector<base::buffer> arrays_with(std::span<const syncyte_buffer_t> others, const setting& wanted) const;
  std::vector<element_form> forms() const;

  std::vector<field> fields_;
  std::optional<setting> current_;
  std::vector<place> cleared_;
};

/// Starts a transfer. Throws SYNCYTE_ERR_BUSY while another transfer of this bundle is in flight; all other errors come
/// at the end.
std::unique_ptr<transfer> start(const std::shared_ptr<bundle>& on, const bundle_request& asked);

}  // namespace syncyte::halo
