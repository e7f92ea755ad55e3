#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/target.hpp"
#include "kv/key_range.hpp"
#include "kv/table.hpp"

namespace syncyte::kv {

/// Operations of table_target. Arguments of each: the number of keys, and the caller's own (key_requests). The payload
/// is the list of keys, for push and set followed by their values. The answer of pull is the values.
///
/// A list of keys has each key's offset among the owner's keys, as 32-bit numbers, or as 64-bit numbers if the
/// owner has more than 2^32 keys.
enum class table_operation : std::uint16_t { pull = 1, push, set };

/// Bytes of each key in a list of keys at a rank that has `keys`.
inline std::size_t list_bytes_each(const key_range& keys) { return keys.count > std::int64_t{1} << 32 ? 8 : 4; }

/// Keys of this rank, whose values it pulls, pushes and sets for ranks of other nodes.
class table_target final : public fabric::target {
 public:
  /// `keys`: this rank's slots. `memory` keeps the table's memory.
  table_target(table values, key_range keys, std::shared_ptr<void> memory)
      : values_(std::move(values)), keys_(keys), memory_(std::move(memory)) {}

  bool serve(fabric::served_request& request, fabric::answer& reply) override;

 private:
  std::size_t decode(const fabric::served_request& request);
  bool write(table_operation what, fabric::served_request& request, const std::byte* given);

  table values_;
  key_range keys_;
  std::shared_ptr<void> memory_;
  std::vector<std::int64_t> asked_;  // slots of the request that is served
};

}  // namespace syncyte::kv
