#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "fabric/caller.hpp"
#include "fabric/group.hpp"
#include "kv/key_homes.hpp"
#include "kv/table_target.hpp"

namespace syncyte::kv {

/// The requests of one operation to one owner's table_target: as many keys in each as fit.
class key_requests final : public fabric::request_source {
 public:
  /// Values of one key travel in one message.
  static constexpr std::int64_t most_values = (fabric::most_payload - sizeof(std::uint64_t)) / sizeof(float);

  struct owner {
    int rank;
    const fabric::group* ranks;  // name it in errors
    fabric::object_name object;
    key_range keys;                    // their slots
    const key_homes* homes = nullptr;  // name a key in errors
  };

  /// `values`: of the list that `keys` are from; they are only read unless the operation is pull.
  key_requests(owner to, table_operation what, std::span<const listed_key> keys, const key_layout& layout,
               float* values)
      : owner_(to), what_(what), keys_(keys), layout_(layout), values_(values) {}

  int rank() const { return owner_.rank; }
  /// Names the owner's first key of the list too: "rank 3 of world (home of key 17 and 5 more keys of the list)".
  std::string owner_name() const override;
  std::shared_ptr<fabric::message> next() override;
  void on_answer(const fabric::message_header& request, std::span<const std::byte> payload) override;

 private:
  struct piece {
    std::size_t keys;
    std::size_t value_bytes;
  };
  piece next_piece() const;
  void encode(std::span<const listed_key> keys, std::byte* list) const;

  owner owner_;
  table_operation what_;
  std::span<const listed_key> keys_;
  const key_layout& layout_;
  float* values_;
  std::size_t done_ = 0;
};

}  // namespace syncyte::kv
