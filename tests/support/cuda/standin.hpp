// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// A stand-in for NVIDIA's driver (libcuda.so.1), so that programs that use devices are tested where there is none.
//
// Device memory are memory files, which several processes share. The program sees device addresses that it may not
// touch: a load or store is a segmentation fault, as with a real device. The stand-in works on a second mapping of the
// same files. Operations on streams run as late as possible, when something waits for them, so that a missing wait
// shows. What it claims of the driver's rules, tests/memory/test_driver_contract.cpp checks, also on a real driver.
//
// Environment: STANDIN_DEVICES (2), CUDA_VISIBLE_DEVICES (numbers), STANDIN_BYTES of each device (8 GiB),
// STANDIN_VERSION of the driver (that of the toolkit), STANDIN_FAIL=cuMemMap:3 (the third call of cuMemMap finds no
// memory; cuMemMap:3:101 has error 101; cuMemMap:3:kill kills the process), STANDIN_LACKS=102,103 (attributes of
// devices that are 0), STANDIN_NO_PEERS=1 (devices cannot access each other's memory), STANDIN_NO_ATOMICS=1 (they can,
// without atomics).

#include <cuda.h>

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#define STANDIN_API extern "C" __attribute__((visibility("default")))

namespace standin {

/// Held by every function; the driver's functions call each other.
std::recursive_mutex& mutex();

/// The error that STANDIN_FAIL wants of this call of a function; CUDA_SUCCESS if it wants none.
CUresult failure_now(const char* function);

// Devices. Numbers are those of the program, unless they are called physical.
const std::vector<int>& visible();  // physical numbers
int number_of(int physical);        // -1: not visible
CUdevice device_of(CUcontext context);

// Addresses.
constexpr std::size_t arena_bytes = std::size_t{1} << 42;
constexpr std::size_t granularity = std::size_t{2} << 20;
bool open_arena();
bool is_device_address(const void* address);
/// The stand-in's own address of the same byte; host addresses stay.
void* own_address(const void* address);

/// Later ones include the earlier.
enum class rights { none, read, write };
/// Whether all bytes are mapped with this access for a device; true for host memory.
bool is_accessible(CUdevice by, const void* address, std::size_t bytes, rights wanted);
/// Whether copies to or from the address run later than the call: device memory, or host memory that is pinned.
bool is_pinned(const void* address);
std::size_t bytes_per_device();

// Streams.
using operation = std::function<void(CUdevice)>;  // of the stream
/// Adds an operation, which runs later. Null is the default stream of the current context's device.
CUresult add_to_stream(CUstream on, operation what);
/// The error of a call that allocates or waits while a stream is captured, which spoils the capture; CUDA_SUCCESS if
/// none is, or this thread may do so.
CUresult refuse_in_capture();
/// An error that all later calls return, as after an illegal access on a device; CUDA_SUCCESS if there is none.
CUresult& sticky();

}  // namespace standin
