// SPDX-License-Identifier: BSD-3-Clause
// A stand-in for NVIDIA's runtime library (libcudart), for the stock PyTorch: NVIDIA's own asks its driver for private
// tables, which the stand-in driver does not have. It has what PyTorch needs for memory, streams and events, each a
// call of the driver. The library's other functions are generated (runtime_stubs.py) and return cudaErrorNotSupported,
// as does the launch of a kernel: tests/bindings/torch/host_ops.cpp runs PyTorch's operators on the CPU.
//
// Environment: STANDIN_TRACE=1 writes to stderr which functions and kernels were not there.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#ifdef cudaGetDeviceProperties  // CUDA 12: the header means cudaGetDeviceProperties_v2
#undef cudaGetDeviceProperties
#endif

#define RUNTIME_API extern "C" __attribute__((visibility("default")))

namespace {

thread_local cudaError_t last_error = cudaSuccess;

/// The runtime's codes are the driver's.
cudaError_t status_of(CUresult code) {
  if (code != CUDA_SUCCESS && code != CUDA_ERROR_NOT_READY) last_error = static_cast<cudaError_t>(code);
  return static_cast<cudaError_t>(code);
}

CUresult set_device(int number) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUresult code = cuDeviceGet(&device, number);
  if (code == CUDA_SUCCESS) code = cuDevicePrimaryCtxRetain(&context, device);
  return code == CUDA_SUCCESS ? cuCtxSetCurrent(context) : code;
}

/// Starts the driver; a thread without a context gets that of device 0.
CUresult start() {
  static const CUresult started = cuInit(0);
  CUcontext context = nullptr;
  if (started != CUDA_SUCCESS || (cuCtxGetCurrent(&context) == CUDA_SUCCESS && context != nullptr)) return started;
  return set_device(0);
}

/// Calls a function of the driver with a device's context.
template <class... Parameters, class... Arguments>
cudaError_t call(CUresult (*function)(Parameters...), Arguments... arguments) {
  const CUresult code = start();
  return status_of(code == CUDA_SUCCESS ? function(arguments...) : code);
}

CUdeviceptr address_of(const void* data) { return reinterpret_cast<CUdeviceptr>(data); }

bool is_traced() { return std::getenv("STANDIN_TRACE") != nullptr; }

std::map<const void*, std::string>& kernels() {
  static auto* const names = new std::map<const void*, std::string>;  // leaked: libraries end in any order
  return *names;
}

}  // namespace

/// What the generated functions return.
extern "C" int standin_unsupported(const char* name) {
  if (is_traced()) std::fprintf(stderr, "[stand-in] %s is not there\n", name);
  return status_of(CUDA_ERROR_NOT_SUPPORTED);
}

// Devices

RUNTIME_API cudaError_t cudaGetDeviceCount(int* count) { return call(&cuDeviceGetCount, count); }

RUNTIME_API cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;  // PyTorch refuses an older driver than that of its runtime
  return cudaSuccess;
}

RUNTIME_API cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

RUNTIME_API cudaError_t cudaGetDevice(int* device) { return call(&cuCtxGetDevice, device); }

RUNTIME_API cudaError_t cudaSetDevice(int device) { return call(&set_device, device); }

RUNTIME_API cudaError_t cudaDeviceSynchronize() { return call(&cuCtxSynchronize); }

RUNTIME_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  std::memset(properties, 0, sizeof *properties);
  std::snprintf(properties->name, sizeof properties->name, "stand-in for a device, %d", device);
  properties->major = 9;
  properties->warpSize = 32;
  properties->multiProcessorCount = 2;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->sharedMemPerBlock = std::size_t{48} << 10;
  std::size_t free = 0;
  return call(&cuMemGetInfo, &free, &properties->totalGlobalMem);
}

#if CUDART_VERSION < 13000
RUNTIME_API cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp* properties, int device) {
  return cudaGetDeviceProperties(properties, device);
}
#endif

RUNTIME_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call(&cuDeviceGetAttribute, value, static_cast<CUdevice_attribute>(attribute), device);
}

RUNTIME_API cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 1;
  return cudaSuccess;
}

RUNTIME_API cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }

// Streams and events

RUNTIME_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return cudaSuccess;
}

RUNTIME_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call(&cuStreamCreate, stream, flags);
}

RUNTIME_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return call(&cuStreamCreate, stream, flags);
}

RUNTIME_API cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) {
  *priority = 0;
  return cudaSuccess;
}

RUNTIME_API cudaError_t cudaStreamDestroy(cudaStream_t stream) { return call(&cuStreamDestroy, stream); }

RUNTIME_API cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return call(&cuStreamSynchronize, stream); }

RUNTIME_API cudaError_t cudaStreamQuery(cudaStream_t stream) { return call(&cuStreamQuery, stream); }

RUNTIME_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return call(&cuStreamWaitEvent, stream, event, flags);
}

RUNTIME_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call(&cuStreamIsCapturing, stream, reinterpret_cast<CUstreamCaptureStatus*>(status));
}

#if CUDART_VERSION >= 13000
RUNTIME_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                 unsigned long long* id, cudaGraph_t*, const cudaGraphNode_t**,
                                                 const cudaGraphEdgeData**, std::size_t*) {
#else
RUNTIME_API cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                    unsigned long long* id, cudaGraph_t*, const cudaGraphNode_t**,
                                                    std::size_t*) {
#endif
  if (id != nullptr) *id = reinterpret_cast<std::uintptr_t>(stream);
  return cudaStreamIsCapturing(stream, status);
}

RUNTIME_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call(&cuThreadExchangeStreamCaptureMode, reinterpret_cast<CUstreamCaptureMode*>(mode));
}

RUNTIME_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call(&cuStreamBeginCapture, stream, static_cast<CUstreamCaptureMode>(mode));
}

RUNTIME_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call(&cuStreamEndCapture, stream, graph);
}

RUNTIME_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long flags) {
  return call(&cuGraphInstantiateWithFlags, made, graph, flags);
}

RUNTIME_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* made, cudaGraph_t graph,
                                                      unsigned long long flags) {
  return cudaGraphInstantiate(made, graph, flags);
}

RUNTIME_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return call(&cuGraphGetNodes, graph, nodes, count);
}

RUNTIME_API cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  return call(&cuGraphLaunch, graph, stream);
}

RUNTIME_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return call(&cuGraphDestroy, graph); }

RUNTIME_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) { return call(&cuGraphExecDestroy, graph); }

RUNTIME_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call(&cuEventCreate, event, flags);
}

RUNTIME_API cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }

RUNTIME_API cudaError_t cudaEventDestroy(cudaEvent_t event) { return call(&cuEventDestroy, event); }

RUNTIME_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call(&cuEventRecord, event, stream);
}

RUNTIME_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}

RUNTIME_API cudaError_t cudaEventQuery(cudaEvent_t event) { return call(&cuEventQuery, event); }

RUNTIME_API cudaError_t cudaEventSynchronize(cudaEvent_t event) { return call(&cuEventSynchronize, event); }

// Memory

RUNTIME_API cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  return call(&cuMemAlloc, reinterpret_cast<CUdeviceptr*>(data), bytes);
}

RUNTIME_API cudaError_t cudaFree(void* data) { return call(&cuMemFree, address_of(data)); }

RUNTIME_API cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call(&cuMemGetInfo, free, total);
}

RUNTIME_API cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned flags) {
  return call(&cuMemHostAlloc, data, bytes, flags);
}

RUNTIME_API cudaError_t cudaFreeHost(void* data) { return call(&cuMemFreeHost, data); }

RUNTIME_API cudaError_t cudaMemcpyAsync(void* target, const void* source, std::size_t bytes, cudaMemcpyKind,
                                        cudaStream_t stream) {
  return call(&cuMemcpyAsync, address_of(target), address_of(source), bytes, stream);
}

RUNTIME_API cudaError_t cudaMemcpy(void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
  const cudaError_t code = cudaMemcpyAsync(target, source, bytes, kind, nullptr);
  return code == cudaSuccess ? cudaStreamSynchronize(nullptr) : code;
}

RUNTIME_API cudaError_t cudaMemcpyPeerAsync(void* target, int writer, const void* source, int reader, std::size_t bytes,
                                            cudaStream_t stream) {
  CUcontext of_writer = nullptr, of_reader = nullptr;
  for (const auto& [device, context] : {std::pair(writer, &of_writer), std::pair(reader, &of_reader)})
    if (const cudaError_t code = call(&cuDevicePrimaryCtxRetain, context, device); code != cudaSuccess) return code;
  return call(&cuMemcpyPeerAsync, address_of(target), of_writer, address_of(source), of_reader, bytes, stream);
}

RUNTIME_API cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream) {
  return call(&cuMemsetD8Async, address_of(data), static_cast<unsigned char>(value), bytes, stream);
}

RUNTIME_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
  std::memset(attributes, 0, sizeof *attributes);
  attributes->type = cudaMemoryTypeUnregistered;
  if (const CUresult code = start(); code != CUDA_SUCCESS) return status_of(code);
  unsigned kind = 0;
  const CUdeviceptr at = address_of(data);
  if (cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) != CUDA_SUCCESS) return cudaSuccess;
  attributes->type = kind == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
  attributes->devicePointer = const_cast<void*>(data);
  attributes->hostPointer = kind == CU_MEMORYTYPE_HOST ? const_cast<void*>(data) : nullptr;
  return call(&cuPointerGetAttribute, &attributes->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at);
}

// Errors

RUNTIME_API cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }

RUNTIME_API cudaError_t cudaPeekAtLastError() { return last_error; }

RUNTIME_API const char* cudaGetErrorString(cudaError_t code) {
  const char* text = nullptr;
  cuGetErrorString(static_cast<CUresult>(code), &text);
  return text;
}

RUNTIME_API const char* cudaGetErrorName(cudaError_t code) {
  const char* name = nullptr;
  cuGetErrorName(static_cast<CUresult>(code), &name);
  return name;
}

// The driver's functions, and kernels

RUNTIME_API cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                                         unsigned long long flags,
                                                         cudaDriverEntryPointQueryResult* result) {
  const CUresult code = start();
  if (code != CUDA_SUCCESS) return status_of(code);
  const bool is_there = cuGetProcAddress(name, function, static_cast<int>(version), flags, nullptr) == CUDA_SUCCESS;
  if (!is_there && is_traced()) std::fprintf(stderr, "[stand-in] the driver has no %s\n", name);
  if (result != nullptr) *result = is_there ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

RUNTIME_API void** __cudaRegisterFatBinary(void*) {
  static void* one = nullptr;
  return &one;
}

RUNTIME_API void __cudaRegisterFatBinaryEnd(void**) {}

RUNTIME_API void __cudaUnregisterFatBinary(void**) {}

RUNTIME_API void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, void*, void*, void*,
                                        void*, int*) {
  if (is_traced()) kernels()[host] = name;
}

RUNTIME_API void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}

RUNTIME_API unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, void*) { return 0; }

RUNTIME_API cudaError_t __cudaPopCallConfiguration(void*, void*, void*, void*) { return cudaSuccess; }

RUNTIME_API cudaError_t cudaLaunchKernel(const void* kernel, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return static_cast<cudaError_t>(standin_unsupported(("kernel " + kernels()[kernel]).c_str()));
}
