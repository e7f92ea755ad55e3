// SPDX-License-Identifier: BSD-3-Clause
// The kernels of src/rows as host code, for the stand-in (kernels.cpp): the threads run one after another, in a random
// order.

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "rows/cuda/kernel_list.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::rows::cuda;

template <class Body>
void run(void* argument, void* (*own)(const void*), std::int64_t threads, Body&& body) {
  row_arguments given = *static_cast<const row_arguments*>(argument);
  given.table = static_cast<std::byte*>(own(given.table));
  given.index = own(given.index);
  given.packed = static_cast<std::byte*>(own(given.packed));
  given.bad = static_cast<bad_index*>(own(given.bad));
  static std::mt19937_64 random(1);
  std::vector<std::int64_t> order(static_cast<std::size_t>(threads));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, random);
  for (const std::int64_t thread : order) body(given, thread, threads);
}

}  // namespace

#define STANDIN_KERNEL(name, ...)                                                                         \
  static void standin_##name(void* argument, void* (*own)(const void*), std::int64_t threads) {           \
    run(argument, own, threads, [](const row_arguments& given, std::int64_t thread, std::int64_t count) { \
      __VA_ARGS__(given, thread, count);                                                                  \
    });                                                                                                   \
  }                                                                                                       \
  extern "C" __attribute__((visibility("default"))) const std::size_t standin_bytes_syncyte_##name =      \
      sizeof(row_arguments);                                                                              \
  extern "C" __attribute__((visibility("default"))) void (*const standin_run_syncyte_##name)(             \
      void*, void* (*)(const void*), std::int64_t) = standin_##name;
SYNCYTE_ROW_KERNELS(STANDIN_KERNEL)

extern "C" __attribute__((visibility("default"))) const int standin_toolkit = STANDIN_TOOLKIT;
