// SPDX-License-Identifier: BSD-3-Clause
// The kernels of src/rows as host code, for the stand-in (kernels.cpp): the threads run one after another, in a random
// order.

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include "rows/cuda/kernel_list.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::rows::cuda;

/// The addresses among a kernel's arguments.
auto addresses(row_arguments& of) { return std::tie(of.table, of.index, of.packed, of.bad); }
auto addresses(list_arguments& of) { return std::tie(of.index, of.list, of.bad); }
auto addresses(merge_arguments& of) { return std::tie(of.from, of.to); }
auto addresses(update_arguments& of) { return std::tie(of.table, of.state, of.list, of.gradients, of.locks, of.bad); }

template <class Arguments, class Body>
void run(void* argument, void* (*own)(const void*), std::int64_t threads, Body&& body) {
  Arguments given = *static_cast<const Arguments*>(argument);
  bool is_legal = true;
  const auto translate = [&]<class T>(T*& address) {
    void* const found = own(address);
    is_legal = is_legal && (address == nullptr || found != nullptr);
    address = static_cast<T*>(found);
  };
  std::apply([&](auto&... each) { (translate(each), ...); }, addresses(given));
  if (!is_legal) return;
  static std::mt19937_64 random(1);
  std::vector<std::int64_t> order(static_cast<std::size_t>(threads));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, random);
  for (const std::int64_t thread : order) body(given, thread, threads);
}

}  // namespace

#define STANDIN_KERNEL(name, arguments, ...)                                                                     \
  static void standin_##name(void* argument, void* (*own)(const void*), std::int64_t threads) {                  \
    run<arguments>(argument, own, threads, [](const arguments& given, std::int64_t thread, std::int64_t count) { \
      __VA_ARGS__(given, thread, count);                                                                         \
    });                                                                                                          \
  }                                                                                                              \
  extern "C" __attribute__((visibility("default"))) const std::size_t standin_bytes_syncyte_##name =             \
      sizeof(arguments);                                                                                         \
  extern "C" __attribute__((visibility("default"))) void (*const standin_run_syncyte_##name)(                    \
      void*, void* (*)(const void*), std::int64_t) = standin_##name;
SYNCYTE_ROW_KERNELS(STANDIN_KERNEL)

extern "C" __attribute__((visibility("default"))) const int standin_toolkit = STANDIN_TOOLKIT;
