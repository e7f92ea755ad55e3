#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "comm/collective.hpp"
#include "core_world.hpp"
#include "window/window.hpp"

namespace syncyte::test {

using window_pointer = std::shared_ptr<window::window>;

inline int rank() { return world().rank(); }
inline int ranks() { return world().size(); }

/// True if windows use MPI: atomics then take milliseconds, if there are more ranks than processors.
inline bool goes_through_mpi() { return world().node().count > 1; }

inline window_pointer make_window(std::size_t bytes, const char* name = "test") {
  comm::collective_call call(world(), "test_window_create", comm::collective_call::lifecycle);
  return window::window::create(call, bytes, name);
}

/// A window over each rank's own memory: other ranks are accessed through MPI, also on the same node.
inline window_pointer make_window_over(std::vector<std::byte>& mine, std::shared_ptr<void> owner = nullptr) {
  comm::collective_call call(world(), "test_window_over", comm::collective_call::lifecycle);
  return window::window::over(call, std::span(mine), std::move(owner), "over");
}

template <class T>
void put(window::window& target, int to, std::size_t place, T value) {
  target.put_bytes(to, place * sizeof(T), &value, sizeof(T));
}

template <class T>
T get(window::window& source, int from, std::size_t place) {
  T value;
  source.get_bytes(from, place * sizeof(T), &value, sizeof(T));
  return value;
}

}  // namespace syncyte::test
