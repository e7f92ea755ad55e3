#pragma once
/// @file reducer.hpp Gradient averaging in C++; syncyte/reducer.h explains it.

#include "syncyte/comm.hpp"
#include "syncyte/reducer.h"

namespace syncyte {

/// Type and length of a piece of a reducer.
struct reducer_piece {
  dtype type;             ///< floating-point or complex
  std::int64_t elements;  ///< 0 or more
};

namespace detail {
using reducer_reference = reference<syncyte_reducer_t, syncyte_reducer_retain, syncyte_reducer_destroy>;
}

/// Sums pieces of memory over all ranks, in place, in rounds: each rank fills its pieces, starts them in any order, and
/// waits. Move-only. The memory lives as long as the reducer.
class reducer : public detail::reducer_reference {
 public:
  reducer() = default;
  explicit reducer(syncyte_reducer_t raw) noexcept : detail::reducer_reference(raw) {}

  /// Zeroed pieces; sums are multiplied with `scale`. Collective.
  reducer(const communicator& comm, std::span<const reducer_piece> pieces, double scale = 1)
      : detail::reducer_reference(create(comm, pieces, scale)) {}

  /// Another reference to the same reducer.
  reducer retain() const { return reducer(shared()); }

  /// This rank's memory of a piece; not to be read or written between start() and the end of wait(). T is the piece's
  /// type.
  template <element T>
  std::span<T> piece(int number) const {
    syncyte_buffer_t raw{};
    check(syncyte_reducer_piece(get(), number, &raw));
    if (static_cast<dtype>(raw.dtype) != dtype_of<T>)
      throw error(status::type, "reducer_piece: piece " + std::to_string(number) + " is " +
                                    std::string(name_of(static_cast<dtype>(raw.dtype))) + ", not " +
                                    std::string(name_of(dtype_of<T>)));
    return {static_cast<T*>(raw.data), static_cast<std::size_t>(raw.shape[0])};
  }

  /// Starts a piece, which this rank has filled. Does not wait.
  void start(int number) const { check(syncyte_reducer_start(get(), number)); }

  /// Works on the sums of pieces that all ranks have started. Does not wait.
  void progress() const { check(syncyte_reducer_progress(get())); }

  /// Waits for the end of the round. Collective.
  void wait() const { check(syncyte_reducer_wait(get())); }

  /// Gives up the round: wait() throws on all ranks, this one too. Does not wait.
  void give_up() const { check(syncyte_reducer_give_up(get())); }

 private:
  static syncyte_reducer_t create(const communicator& comm, std::span<const reducer_piece> pieces, double scale) {
    std::vector<syncyte_dtype_t> dtypes;
    std::vector<std::int64_t> elements;
    for (const reducer_piece& each : pieces) {
      dtypes.push_back(static_cast<syncyte_dtype_t>(each.type));
      elements.push_back(each.elements);
    }
    const syncyte_reducer_options_t options{sizeof(options), scale};
    syncyte_reducer_t made = nullptr;
    check(syncyte_reducer_create(comm.get(), static_cast<std::int32_t>(pieces.size()), dtypes.data(), elements.data(),
                                 &options, &made));
    return made;
  }
};

}  // namespace syncyte
