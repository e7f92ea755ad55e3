// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#if __cplusplus <= 201703L
#error "Syncyte's C++ interface needs C++20: compile with -std=c++20 (CMake: target_link_libraries with syncyte::CXX)"
#endif
/// @file base.hpp
/// Errors, element types, buffers, requests and logging of the C++ interface: a header-only layer over the C interface
/// (syncyte/base.h). Functions throw syncyte::error where C returns a status. Handle classes are move-only and drop
/// their reference in the destructor, which never throws, never communicates, and is legal after finalize.

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "syncyte/base.h"
#include "syncyte/generated/enums.hpp"

namespace syncyte {

/// Parts of a failed call's error, beside its text. Fields that do not apply are empty, and -1 for numbers.
struct error_fields {
  std::string operation = {};  ///< name of the C function without "syncyte_"
  std::string object = {};     ///< object that the argument belongs to, or the collective's communicator
  std::string argument = {};   ///< argument that is wrong, or fact that differs between ranks
  std::int64_t axis = -1;      ///< dimension of the argument if ndim is not 0, otherwise its position in an array
  std::int32_t ndim = 0;       ///< number of dimensions of the array that the error is about; 0: not about an array
  std::string value = {};      ///< value of the argument; if it differs between ranks, the values and their ranks
  std::string expected = {};
  int rank = -1;            ///< rank that failed: of the communicator in a collective, otherwise of the world
  std::string reason = {};  ///< the message without operation and rank
};

/// A failed call: what() is the full message (the error, the rank, the argument, how to correct it), code() the status.
class error : public std::runtime_error {
 public:
  error(status code, const std::string& message, error_fields fields = {})
      : std::runtime_error(message), code_(code), fields_(std::make_shared<const error_fields>(std::move(fields))) {}
  status code() const noexcept { return code_; }
  const error_fields& fields() const noexcept { return *fields_; }

 private:
  status code_;
  std::shared_ptr<const error_fields> fields_;  // shared, so that copies of an exception do not throw
};

/// Throws the thread's last error unless a C function returned success. Local; callable at any time.
inline void check(syncyte_status_t result) {
  if (result == SYNCYTE_SUCCESS) return;
  const std::string message = syncyte_last_error();
  syncyte_error_fields_t raw{};
  raw.struct_size = sizeof(raw);
  if (syncyte_last_error_fields(&raw) != SYNCYTE_SUCCESS) throw error(static_cast<status>(result), message);
  throw error(
      static_cast<status>(result), message,
      {raw.operation, raw.object, raw.argument, raw.axis, raw.ndim, raw.value, raw.expected, raw.rank, raw.reason});
}

namespace detail {

/// Calls a C function that has one output, its last parameter, and returns that.
template <typename T, typename Function, typename... Arguments>
T fetch(Function function, Arguments... arguments) {
  T value{};
  if constexpr (requires { value.struct_size; }) value.struct_size = sizeof(value);
  check(function(arguments..., &value));
  return value;
}

/// The C value of an enum.
template <typename Enum>
  requires std::is_enum_v<Enum>
constexpr std::int32_t raw(Enum value) noexcept {
  return static_cast<std::int32_t>(value);
}

/// A name in options.
inline const char* null_if_empty(const std::string& name) noexcept { return name.empty() ? nullptr : name.c_str(); }

}  // namespace detail

/// Version of the loaded library.
struct library_version {
  std::int32_t major, minor, patch, abi;
};

/// Returns the version of the loaded library; the macros SYNCYTE_VERSION_* give that of the headers. Local; callable at
/// any time.
inline library_version version() {
  library_version v{};
  check(syncyte_version(&v.major, &v.minor, &v.patch, &v.abi));
  return v;
}

/// Writes a line with rank and severity to stderr, if SYNCYTE_LOG enables that severity. Local, thread-safe.
inline void log(log_level level, const std::string& message) {
  check(syncyte_log(detail::raw(level), message.c_str()));
}

// ---- element types ------------------------------------------------------------------------------------------------

/// Bytes of an element. Throws status::type for an unknown type.
inline std::int64_t size_of(dtype type) { return detail::fetch<std::int64_t>(syncyte_dtype_size, detail::raw(type)); }

/// Name of a type, for example "float32"; "unknown" for an unknown dtype.
inline std::string_view name_of(dtype type) { return syncyte_dtype_name(detail::raw(type)); }

/// IEEE 754 binary16, storage only.
struct float16 {
  std::uint16_t bits;
  friend bool operator==(const float16&, const float16&) = default;
};

/// Upper half of a binary32, storage only.
struct bfloat16 {
  std::uint16_t bits;
  friend bool operator==(const bfloat16&, const bfloat16&) = default;
};

namespace detail {

template <typename T>
constexpr std::int32_t dtype_number() {
  if constexpr (std::same_as<T, float16>) return SYNCYTE_FLOAT16;
  if constexpr (std::same_as<T, bfloat16>) return SYNCYTE_BFLOAT16;
  if constexpr (std::same_as<T, float>) return SYNCYTE_FLOAT32;
  if constexpr (std::same_as<T, double>) return SYNCYTE_FLOAT64;
  if constexpr (std::same_as<T, std::complex<float>>) return SYNCYTE_COMPLEX64;
  if constexpr (std::same_as<T, std::complex<double>>) return SYNCYTE_COMPLEX128;
  if constexpr (std::same_as<T, bool>) {
    return SYNCYTE_BOOL;
  } else if constexpr (std::integral<T>) {  // a type of characters is neither of the two below
    constexpr std::size_t place = std::countr_zero(sizeof(T));
    constexpr std::array with_sign{SYNCYTE_INT8, SYNCYTE_INT16, SYNCYTE_INT32, SYNCYTE_INT64};
    constexpr std::array without_sign{SYNCYTE_UINT8, SYNCYTE_UINT16, SYNCYTE_UINT32, SYNCYTE_UINT64};
    if (place >= with_sign.size()) return 0;
    if (std::same_as<T, std::make_signed_t<T>>) return with_sign[place];
    if (std::same_as<T, std::make_unsigned_t<T>>) return without_sign[place];
  }
  return 0;
}

}  // namespace detail

/// A C++ type that is an element type of Syncyte.
template <typename T>
concept element = detail::dtype_number<std::remove_cv_t<T>>() != 0;

/// The dtype of a C++ type, for example dtype_of<float> == dtype::float32.
template <element T>
inline constexpr dtype dtype_of = static_cast<dtype>(detail::dtype_number<std::remove_cv_t<T>>());

// ---- buffers ------------------------------------------------------------------------------------------------------

/// Extents or strides of an array.
using extents = std::vector<std::int64_t>;

/// A contiguous range of elements (vector, array, span, C array) that outlives the call it is given to.
template <typename R>
concept element_range = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                        element<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

/// An array argument that is read: address, type, shape and strides. It refers to the caller's memory and owns nothing.
/// Work that is enqueued on memory of a device must be complete before a call, as in C (syncyte_buffer_t).
class const_buffer {
 public:
  using optional_strides = std::optional<std::span<const std::int64_t>>;

  /// One dimension, from a range of elements.
  template <element_range R>
    requires(!std::derived_from<std::remove_cvref_t<R>, const_buffer>)
  const_buffer(R&& range)  // NOLINT: implicit, so that a vector can be passed as a buffer
      : const_buffer(std::ranges::data(range), extents{static_cast<std::int64_t>(std::ranges::size(range))}) {}

  /// An array at data, with given strides, in bytes, or row-major.
  template <element T>
  const_buffer(const T* data, std::span<const std::int64_t> shape, optional_strides strides = std::nullopt)
      : const_buffer(data, dtype_of<T>, shape, strides) {}

  /// An array of a type known at run time.
  const_buffer(const void* data, dtype type, std::span<const std::int64_t> shape,
               optional_strides strides = std::nullopt) {
    check(syncyte_buffer_init_const(data, detail::raw(type), static_cast<std::int32_t>(shape.size()), shape.data(),
                                    &raw_));
    if (!strides) return;
    if (static_cast<std::int64_t>(strides->size()) != raw_.ndim) {
      throw error(status::shape, "buffer: strides has " + std::to_string(strides->size()) + " entries, expected " +
                                     std::to_string(raw_.ndim) + ", one per dimension");
    }
    std::ranges::copy(*strides, raw_.strides);
  }

  explicit const_buffer(const syncyte_buffer_t& raw) : raw_(raw) {}

  const syncyte_buffer_t* get() const noexcept { return &raw_; }
  dtype type() const noexcept { return static_cast<dtype>(raw_.dtype); }
  std::span<const std::int64_t> shape() const noexcept { return {raw_.shape, static_cast<std::size_t>(raw_.ndim)}; }

  /// Number of elements.
  std::int64_t size() const noexcept {
    return std::accumulate(shape().begin(), shape().end(), std::int64_t{1}, std::multiplies<>());
  }

  /// Whether the elements lie in row-major order without gaps.
  bool is_contiguous() const {
    std::int64_t expected = size_of(type());
    for (std::int32_t axis = raw_.ndim - 1; axis >= 0; --axis) {
      if (raw_.shape[axis] != 1 && raw_.strides[axis] != expected) return size() == 0;
      expected *= raw_.shape[axis];
    }
    return true;
  }

 protected:
  const_buffer() = default;

  syncyte_buffer_t raw_{};
};

/// An array argument that is written.
class buffer : public const_buffer {
 public:
  /// One dimension, from a range of elements that are not const.
  template <element_range R>
    requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>> &&
             !std::derived_from<std::remove_cvref_t<R>, const_buffer>)
  buffer(R&& range) : const_buffer(std::forward<R>(range)) {  // NOLINT: implicit, as const_buffer's
    raw_.read_only = 0;
  }

  /// An array at data, with given strides, in bytes, or row-major.
  template <element T>
    requires(!std::is_const_v<T>)
  buffer(T* data, std::span<const std::int64_t> shape, optional_strides strides = std::nullopt)
      : const_buffer(data, shape, strides) {
    raw_.read_only = 0;
  }

  /// An array of a type known at run time.
  buffer(void* data, dtype type, std::span<const std::int64_t> shape, optional_strides strides = std::nullopt)
      : const_buffer(data, type, shape, strides) {
    raw_.read_only = 0;
  }

  explicit buffer(const syncyte_buffer_t& raw) : const_buffer(raw) {}

  /// The elements. Throws status::type if T is another type, status::shape unless the buffer is contiguous, and
  /// status::argument for constant memory.
  template <element T>
  std::span<T> as() const {
    if (type() != dtype_of<T>) {
      throw error(status::type, "buffer: asked for " + std::string(name_of(dtype_of<T>)) + ", but the elements are " +
                                    std::string(name_of(type())));
    }
    if (raw_.memory != SYNCYTE_MEMORY_HOST) {
      throw error(status::unsupported, "buffer: asked for its elements, which are in device memory");
    }
    if (!is_contiguous()) throw error(status::shape, "buffer: asked for its elements, but it has gaps between them");
    if (raw_.read_only != 0) throw error(status::argument, "buffer: asked for its elements, but it is read-only");
    return {static_cast<T*>(raw_.data), static_cast<std::size_t>(size())};
  }
};

// ---- handles ------------------------------------------------------------------------------------------------------

namespace detail {

/// A counted reference to an object of the C interface.
template <typename Raw, syncyte_status_t (*Retain)(Raw), syncyte_status_t (*Destroy)(Raw*)>
class reference {
 public:
  reference() = default;
  explicit reference(Raw raw) noexcept : raw_(raw) {}

  /// The C handle, which this object owns.
  Raw get() const noexcept { return raw_.get(); }
  /// Gives the C handle to the caller, who must destroy it.
  Raw release() noexcept { return raw_.release(); }
  /// Drops the reference now. Local; the object is freed at a collective point once all ranks have dropped it.
  void reset() noexcept { raw_.reset(); }
  explicit operator bool() const noexcept { return raw_ != nullptr; }

 protected:
  /// The handle, with one more reference.
  Raw retained_handle() const {
    check(Retain(get()));
    return get();
  }

 private:
  struct destroyer {
    void operator()(Raw raw) const noexcept { static_cast<void>(Destroy(&raw)); }
  };
  std::unique_ptr<std::remove_pointer_t<Raw>, destroyer> raw_;
};

}  // namespace detail

/// An object whose C handle somebody else owns, such as a caller in C or Fortran: `borrowed<communicator>(handle)`.
/// The handle must stay valid while this is used, and is not destroyed; (*this)->retain() gives a reference of one's
/// own. Local; costs nothing.
template <typename Object>
class borrowed {
 public:
  using handle = decltype(std::declval<Object&>().release());

  explicit borrowed(handle raw) noexcept : object_(raw) {}
  borrowed(const borrowed&) = delete;
  borrowed& operator=(const borrowed&) = delete;
  ~borrowed() { object_.release(); }

  const Object& operator*() const noexcept { return object_; }
  const Object* operator->() const noexcept { return &object_; }

 private:
  Object object_;
};

/// A non-blocking operation. The destructor waits for its end, because MPI cannot cancel; call wait() to get its
/// errors.
class request {
 public:
  request() = default;
  /// Takes over a C request, and memory that C writes until it has ended.
  explicit request(syncyte_request_t raw, std::shared_ptr<void> written = {}) noexcept
      : written_(std::move(written)), raw_(raw) {}
  request(request&& other) noexcept : written_(std::move(other.written_)), raw_(std::exchange(other.raw_, nullptr)) {}
  request& operator=(request&& other) noexcept {
    std::swap(written_, other.written_);
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~request() {
    while (raw_ != nullptr && syncyte_request_wait(&raw_) == SYNCYTE_ERR_INTERRUPTED) {
    }
  }

  /// Returns whether the operation has ended; throws its error if it failed. Local, does not wait.
  bool test() { return detail::fetch<std::int32_t>(syncyte_request_test, &raw_) != 0; }

  /// Waits for the end. Local.
  void wait() { check(syncyte_request_wait(&raw_)); }

  explicit operator bool() const noexcept { return raw_ != nullptr; }

 protected:
  const void* written() const noexcept { return written_.get(); }

 private:
  friend void wait_all(std::span<request> requests);
  friend std::ptrdiff_t wait_any(std::span<request> requests);
  template <typename Wait>
  static syncyte_status_t wait_for(std::span<request> requests, Wait wait) {
    std::vector<syncyte_request_t> raw;
    for (const request& item : requests) raw.push_back(item.raw_);
    const syncyte_status_t result = wait(static_cast<std::int64_t>(raw.size()), raw.data());
    for (std::size_t i = 0; i < raw.size(); ++i) requests[i].raw_ = raw[i];
    return result;
  }

  std::shared_ptr<void> written_;
  syncyte_request_t raw_ = nullptr;
};

namespace detail {

/// Calls a C function whose output, its last parameter, is a request.
template <typename Start, typename... Arguments>
request started(Start start, Arguments... arguments) {
  return request(fetch<syncyte_request_t>(start, arguments...));
}

}  // namespace detail

/// Waits for all; throws the first error after all have ended. An interrupt ends the wait earlier: requests that have
/// not ended are then still active. Local.
inline void wait_all(std::span<request> requests) { check(request::wait_for(requests, syncyte_request_wait_all)); }

/// Waits until one of the requests has ended and returns its position; -1 if none is active. Throws its error; that
/// request is then the one that has become empty. Requests of different objects may be mixed. Local.
inline std::ptrdiff_t wait_any(std::span<request> requests) {
  std::int64_t index = -1;
  const auto wait = [&](std::int64_t count, syncyte_request_t* raw) {
    return syncyte_request_wait_any(count, raw, &index);
  };
  check(request::wait_for(requests, wait));
  return index;
}

}  // namespace syncyte
