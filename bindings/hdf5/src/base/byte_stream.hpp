// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace syncyte::hdf5 {

static_assert(std::endian::native == std::endian::little,
              "the file format is little-endian; a big-endian machine needs "
              "conversion");

/// Appends numbers and strings to bytes.
class byte_writer {
 public:
  template <class Number>
  void number(Number value) {
    static_assert(std::is_integral_v<Number>);
    raw(&value, sizeof value);
  }
  void raw(const void* data, std::size_t bytes) {
    const auto* first = static_cast<const std::byte*>(data);
    data_.insert(data_.end(), first, first + bytes);
  }
  void string(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size()));
    raw(text.data(), text.size());
  }
  std::vector<std::byte> take() { return std::move(data_); }

 private:
  std::vector<std::byte> data_;
};

/// Reads the output of byte_writer. After a read past the end, good() is false and numbers are 0.
class byte_reader {
 public:
  byte_reader(const std::byte* data, std::size_t bytes) : next_(data), left_(bytes) {}

  template <class Number>
  Number number() {
    static_assert(std::is_integral_v<Number>);
    Number value = 0;
    raw(&value, sizeof value);
    return value;
  }
  void raw(void* target, std::size_t bytes) {
    if (bytes > left_) {
      good_ = false;
      left_ = 0;
      return;
    }
    if (bytes > 0) std::memcpy(target, next_, bytes);
    next_ += bytes;
    left_ -= bytes;
  }
  std::string string() {
    const auto length = number<std::uint32_t>();
    if (length > left_) good_ = false;
    std::string text(good_ ? length : 0, '\0');
    raw(text.data(), text.size());
    return text;
  }
  bool good() const { return good_; }
  std::size_t left() const { return left_; }

 private:
  const std::byte* next_;
  std::size_t left_;
  bool good_ = true;
};

}  // namespace syncyte::hdf5
