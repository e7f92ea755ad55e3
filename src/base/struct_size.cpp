// SPDX-License-Identifier: BSD-3-Clause
#include "base/struct_size.hpp"

#include <span>

namespace syncyte::base {
namespace {

std::size_t size_of(const void* any_struct) {
  std::size_t size = 0;
  std::memcpy(&size, any_struct, sizeof size);
  return size;
}

}  // namespace

void require_struct(const void* theirs, std::size_t first, std::size_t current, const char* name) {
  expect(theirs != nullptr, SYNCYTE_ERR_ARGUMENT, name, "null", "a struct");
  const std::size_t size = size_of(theirs);
  if (size >= first && size <= largest_struct && size % 8 == 0) [[likely]]
    return;
  refuse(SYNCYTE_ERR_ARGUMENT,
         {.argument = fmt::format("{}->struct_size", name),
          .value = fmt::format("{}", size),
          .expected = fmt::format("{} (the sizeof of the struct), or another multiple of 8 from {} to {}", current,
                                  first, largest_struct)});
}

void require_same_size(const void* element, std::size_t size, const char* name, std::int64_t index) {
  const std::size_t given = size_of(element);
  if (given == size) [[likely]]
    return;
  refuse(SYNCYTE_ERR_ARGUMENT, {.argument = fmt::format("{}[{}].struct_size", name, index),
                                .value = fmt::format("{}", given),
                                .expected = fmt::format("{}, as in {}[0]", size, name)});
}

void require_nothing_beyond(const void* theirs, std::size_t size, std::size_t known, const char* name) {
  const std::span beyond(static_cast<const std::byte*>(theirs) + known, size - known);
  const auto set = std::ranges::find_if(beyond, [](std::byte each) { return each != std::byte{0}; });
  require(
      set == beyond.end(), SYNCYTE_ERR_VERSION,
      "{} has {} bytes, and its byte {} is set; this library knows the first {} alone: the program was compiled with "
      "headers of a later version",
      name, size, known + static_cast<std::size_t>(set - beyond.begin()), known);
}

void require_reserved(std::int64_t value, const char* name) {
  if (value == 0) [[likely]]
    return;
  refuse(SYNCYTE_ERR_ARGUMENT,
         {.argument = fmt::format("{}->reserved", name), .value = fmt::format("{}", value), .expected = "0"});
}

void read_bytes(const void* theirs, const char* name, std::size_t first, void* ours) {
  const std::size_t known = size_of(ours);
  require_struct(theirs, first, known, name);
  const std::size_t size = size_of(theirs);
  if (size > known) require_nothing_beyond(theirs, size, known, name);
  std::memcpy(ours, theirs, std::min(size, known));
  std::memcpy(ours, &known, sizeof known);
}

}  // namespace syncyte::base
