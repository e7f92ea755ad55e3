// SPDX-License-Identifier: BSD-3-Clause
// The driver's rules that Syncyte relies on. This program passes on the stand-in (tests/support/cuda) and on NVIDIA's
// driver, so that the stand-in claims nothing that the driver does not keep.

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "memory/driver/library.hpp"
#include "processes.hpp"
#include "rows/cuda/bodies.hpp"
#include "rows/kernels.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::memory::driver;
using handle = CUmemGenericAllocationHandle;

#define EXPECT_CUDA(call) EXPECT_EQ(call, CUDA_SUCCESS) << #call
#define ASSERT_CUDA(call) ASSERT_EQ(call, CUDA_SUCCESS) << #call

const CUmemAllocationProp& on_device_0() {
  static const CUmemAllocationProp wanted = [] {
    CUmemAllocationProp result{};
    result.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    result.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    result.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return result;
  }();
  return wanted;
}

class driver_contract : public ::testing::Test {
 protected:
  driver_contract() {
    CUdevice device = 0;
    CUcontext context = nullptr;
    EXPECT_CUDA(cuda_.cuDeviceGet(&device, 0));
    EXPECT_CUDA(cuda_.cuDevicePrimaryCtxRetain(&context, device));
    EXPECT_CUDA(cuda_.cuCtxPushCurrent(context));
    EXPECT_CUDA(cuda_.cuMemGetAllocationGranularity(&page_, &on_device_0(), CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  }
  ~driver_contract() override { EXPECT_CUDA(cuda_.cuCtxPopCurrent(nullptr)); }

  CUresult allow(CUdeviceptr at, std::size_t bytes, CUmemAccess_flags flags) const {
    const CUmemAccessDesc access{on_device_0().location, flags};
    return cuda_.cuMemSetAccess(at, bytes, &access, 1);
  }

  /// Maps an allocation at a new range of addresses, with access.
  CUdeviceptr map(handle of, std::size_t bytes) const {
    CUdeviceptr at = 0;
    EXPECT_CUDA(cuda_.cuMemAddressReserve(&at, bytes, 0, 0, 0));
    EXPECT_CUDA(cuda_.cuMemMap(at, bytes, 0, of, 0));
    EXPECT_CUDA(allow(at, bytes, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    return at;
  }

  void unmap(CUdeviceptr at, std::size_t bytes) const {
    EXPECT_CUDA(cuda_.cuMemUnmap(at, bytes));
    EXPECT_CUDA(cuda_.cuMemAddressFree(at, bytes));
  }

  std::vector<char> read(CUdeviceptr from, std::size_t bytes) const {
    std::vector<char> result(bytes);
    EXPECT_CUDA(cuda_.cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(result.data()), from, bytes, nullptr));
    EXPECT_CUDA(cuda_.cuStreamSynchronize(nullptr));
    return result;
  }

  const functions& cuda_ = started();
  std::size_t page_ = 0;
};

TEST_F(driver_contract, a_device_has_what_shared_memory_needs) {
  for (const auto attribute :
       {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING}) {
    int has = 0;
    EXPECT_CUDA(cuda_.cuDeviceGetAttribute(&has, attribute, 0));
    EXPECT_EQ(has, 1);
  }
  EXPECT_GE(page_, 1u);
  EXPECT_EQ(page_ & (page_ - 1), 0u) << "a power of two";
  std::size_t recommended = 0;
  EXPECT_CUDA(cuda_.cuMemGetAllocationGranularity(&recommended, &on_device_0(), CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  EXPECT_GE(recommended, page_);
  EXPECT_EQ(recommended % page_, 0u);
  EXPECT_EQ(recommended & (recommended - 1), 0u) << "a power of two";
}

TEST_F(driver_contract, memory_is_of_whole_pages) {
  handle made = 0;
  EXPECT_EQ(cuda_.cuMemCreate(&made, page_ / 2, &on_device_0(), 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda_.cuMemCreate(&made, 0, &on_device_0(), 0), CUDA_ERROR_INVALID_VALUE);
  CUmemAllocationProp elsewhere = on_device_0();
  elsewhere.location.id = 1000;
  EXPECT_EQ(cuda_.cuMemCreate(&made, page_, &elsewhere, 0), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(driver_contract, blocks_are_aligned_and_freed_once) {
  CUdeviceptr block = 0;
  EXPECT_EQ(cuda_.cuMemAlloc(&block, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_CUDA(cuda_.cuMemAlloc(&block, 100));
  EXPECT_EQ(block % 256, 0u);
  int device = -1;
  EXPECT_CUDA(cuda_.cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, block));
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cuda_.cuMemFree(block + 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuda_.cuMemFree(block));
  EXPECT_EQ(cuda_.cuMemFree(block), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuda_.cuMemFree(0));
}

TEST_F(driver_contract, pinned_host_memory_is_known_and_other_is_not) {
  void* pinned = nullptr;
  ASSERT_CUDA(cuda_.cuMemHostAlloc(&pinned, 100, 0));
  unsigned kind = 0;
  EXPECT_CUDA(
      cuda_.cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(pinned)));
  EXPECT_EQ(kind, unsigned{CU_MEMORYTYPE_HOST});
  EXPECT_EQ(cuda_.cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(&kind)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuda_.cuMemFreeHost(pinned));
}

TEST_F(driver_contract, host_memory_is_registered_once_and_keeps_its_address) {
  int has = 0;
  EXPECT_CUDA(cuda_.cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 0));
  EXPECT_EQ(has, 1);
  constexpr std::size_t bytes = 1 << 16;
  const int file = ::memfd_create("shared", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(file, bytes), 0);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_CUDA(cuda_.cuMemHostRegister(memory, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
  EXPECT_EQ(cuda_.cuMemHostRegister(memory, bytes, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  const auto at = reinterpret_cast<CUdeviceptr>(memory);
  CUdeviceptr seen = 0;
  EXPECT_CUDA(cuda_.cuPointerGetAttribute(&seen, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, at));
  EXPECT_EQ(seen, at);
  EXPECT_CUDA(cuda_.cuMemsetD8Async(at, 7, bytes, nullptr));
  EXPECT_CUDA(cuda_.cuStreamSynchronize(nullptr));
  EXPECT_EQ(static_cast<const char*>(memory)[bytes - 1], 7);
  EXPECT_CUDA(cuda_.cuMemHostUnregister(memory));
  EXPECT_EQ(cuda_.cuMemHostUnregister(memory), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_EQ(cuda_.cuPointerGetAttribute(&seen, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, at), CUDA_ERROR_INVALID_VALUE);
  ::munmap(memory, bytes);
  ::close(file);
}

TEST_F(driver_contract, ranges_are_freed_without_mappings) {
  handle of = 0;
  ASSERT_CUDA(cuda_.cuMemCreate(&of, page_, &on_device_0(), 0));
  const CUdeviceptr at = map(of, page_);
  EXPECT_EQ(cuda_.cuMemMap(at, page_, 0, of, 0), CUDA_ERROR_INVALID_VALUE) << "mapped already";
  EXPECT_NE(cuda_.cuMemAddressFree(at, page_), CUDA_SUCCESS) << "still mapped";
  unmap(at, page_);
  EXPECT_CUDA(cuda_.cuMemRelease(of));
  EXPECT_NE(cuda_.cuMemRelease(of), CUDA_SUCCESS);
}

/// Two handles in one range: copies cross from one page to the next. The handles may be released before.
TEST_F(driver_contract, a_range_has_pages_of_several_allocations) {
  CUdeviceptr range = 0;
  ASSERT_CUDA(cuda_.cuMemAddressReserve(&range, 2 * page_, 0, 0, 0));
  for (int part = 0; part < 2; ++part) {
    handle of = 0;
    ASSERT_CUDA(cuda_.cuMemCreate(&of, page_, &on_device_0(), 0));
    ASSERT_CUDA(cuda_.cuMemMap(range + part * page_, page_, 0, of, 0));
    EXPECT_CUDA(cuda_.cuMemRelease(of));
  }
  ASSERT_CUDA(allow(range, 2 * page_, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  std::vector<char> bytes(1000);
  std::iota(bytes.begin(), bytes.end(), char{1});
  const CUdeviceptr across = range + page_ - 500;
  EXPECT_CUDA(cuda_.cuMemcpyAsync(across, reinterpret_cast<CUdeviceptr>(bytes.data()), 1000, nullptr));
  EXPECT_EQ(read(across, 1000), bytes);
  unmap(range, 2 * page_);
}

TEST_F(driver_contract, streams_and_events_keep_order) {
  CUdeviceptr block = 0;
  CUstream first = nullptr, second = nullptr;
  CUevent event = nullptr;
  ASSERT_CUDA(cuda_.cuMemAlloc(&block, 1 << 20));
  ASSERT_CUDA(cuda_.cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
  ASSERT_CUDA(cuda_.cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  ASSERT_CUDA(cuda_.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  EXPECT_CUDA(cuda_.cuEventQuery(event)) << "not recorded yet";
  EXPECT_CUDA(cuda_.cuMemsetD8Async(block, 7, 1 << 20, first));
  EXPECT_CUDA(cuda_.cuEventRecord(event, first));
  EXPECT_CUDA(cuda_.cuStreamWaitEvent(second, event, 0));
  EXPECT_CUDA(cuda_.cuMemsetD8Async(block, 8, 1 << 19, second));
  EXPECT_CUDA(cuda_.cuStreamSynchronize(second));
  EXPECT_CUDA(cuda_.cuEventQuery(event));
  std::vector<char> expected(1 << 20, 7);
  std::fill_n(expected.begin(), 1 << 19, char{8});
  EXPECT_EQ(read(block, 1 << 20), expected);
  EXPECT_CUDA(cuda_.cuEventDestroy(event));
  EXPECT_CUDA(cuda_.cuStreamDestroy(first));
  EXPECT_CUDA(cuda_.cuStreamDestroy(second));
  EXPECT_CUDA(cuda_.cuMemFree(block));
}

/// Memory that is not pinned has been read when a copy to a device returns.
TEST_F(driver_contract, copies_of_other_host_memory_are_staged) {
  CUdeviceptr block = 0;
  CUstream stream = nullptr;
  ASSERT_CUDA(cuda_.cuMemAlloc(&block, 64));
  ASSERT_CUDA(cuda_.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  std::vector<char> bytes(64, 3);
  EXPECT_CUDA(cuda_.cuMemcpyAsync(block, reinterpret_cast<CUdeviceptr>(bytes.data()), 64, stream));
  std::ranges::fill(bytes, 4);
  EXPECT_CUDA(cuda_.cuStreamSynchronize(stream));
  EXPECT_EQ(read(block, 64), std::vector<char>(64, 3));
  EXPECT_CUDA(cuda_.cuStreamDestroy(stream));
  EXPECT_CUDA(cuda_.cuMemFree(block));
}

/// Starts this program again with an option, as a process that can use devices.
pid_t start_again(std::vector<std::string> arguments) {
  return test::start_process([&] {
    std::vector<char*> all{const_cast<char*>("driver_contract")};
    for (std::string& each : arguments) all.push_back(each.data());
    all.push_back(nullptr);
    ::execv("/proc/self/exe", all.data());
    return 98;
  });
}

int run_again(const std::vector<std::string>& arguments) { return test::wait_process(start_again(arguments)); }

void send_file(int socket, int file) {
  char byte = 0, control[CMSG_SPACE(sizeof file)] = {};
  iovec data{&byte, 1};
  msghdr message{};
  message.msg_iov = &data, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof file);
  std::memcpy(CMSG_DATA(header), &file, sizeof file);
  ASSERT_EQ(::sendmsg(socket, &message, 0), 1);
}

int receive_file(int socket) {
  int file = -1;
  char byte = 0, control[CMSG_SPACE(sizeof file)] = {};
  iovec data{&byte, 1};
  msghdr message{};
  message.msg_iov = &data, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  if (::recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message) != nullptr)
    std::memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
  return file;
}

/// A page of device 0, mapped for it alone.
struct mapped_page {
  explicit mapped_page(const functions& cuda) {
    check(cuda.cuMemGetAllocationGranularity(&bytes, &on_device_0(), CU_MEM_ALLOC_GRANULARITY_MINIMUM), "granularity");
    check(cuda.cuMemCreate(&of, bytes, &on_device_0(), 0), "cuMemCreate");
    check(cuda.cuMemAddressReserve(&at, bytes, 0, 0, 0), "cuMemAddressReserve");
    check(cuda.cuMemMap(at, bytes, 0, of, 0), "cuMemMap");
    const CUmemAccessDesc access{on_device_0().location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    check(cuda.cuMemSetAccess(at, bytes, &access, 1), "cuMemSetAccess");
  }

  std::size_t bytes = 0;
  handle of = 0;
  CUdeviceptr at = 0;
};

/// UUIDs of the devices, in their order; none without a device.
std::vector<std::string> device_ids() {
  std::vector<std::string> result;
  try {
    int count = 0;
    check(started().cuDeviceGetCount(&count), "cuDeviceGetCount");
    for (int number = 0; number < count; ++number) {
      CUuuid id{};
      check(started().cuDeviceGetUuid(&id, number), "cuDeviceGetUuid");
      result.push_back(fmt::format("{:02x}", fmt::join(std::vector<unsigned char>(id.bytes, id.bytes + 16), "")));
    }
  } catch (const base::error& error) {
    std::fprintf(stderr, "no device: %s\n", error.what());
  }
  return result;
}

using rows::cuda::bad_index;

/// Host memory that devices access at the same addresses.
struct pinned_rows {
  std::int64_t index[4] = {3, 0, 99, 1};
  std::int32_t rows[4] = {-1, -1, -1, -1};
  bad_index bad{};

  static pinned_rows* make(const functions& cuda) {
    void* memory = nullptr;
    check(cuda.cuMemHostAlloc(&memory, sizeof(pinned_rows), CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
          "cuMemHostAlloc");
    return new (memory) pinned_rows;
  }
};

/// A kernel on rows of 4 bytes: rows[i] = table[index[i]] for the rows of a table of 4.
class gather_kernel {
 public:
  explicit gather_kernel(const functions& cuda) : cuda_(cuda) {
    check(cuda.cuLibraryLoadData(&library_, rows::kernel_image().binary, nullptr, nullptr, 0, nullptr, nullptr, 0),
          "cuLibraryLoadData");
    check(find("syncyte_gather_4"), "cuLibraryGetKernel");
  }

  CUresult find(const char* name) { return cuda_.cuLibraryGetKernel(&kernel_, library_, name); }

  CUresult launch(CUdeviceptr table, pinned_rows& memory, CUstream stream) const {
    rows::cuda::row_arguments given{.table = reinterpret_cast<std::byte*>(table),
                                    .table_rows = 4,
                                    .stride = 4,
                                    .index = memory.index,
                                    .count = 4,
                                    .packed = reinterpret_cast<std::byte*>(memory.rows),
                                    .row_elements = 1,
                                    .bad = &memory.bad,
                                    .operation = 0,
                                    .lane_bits = 0,
                                    .is_wide = 1};
    void* arguments[] = {&given};
    const CUresult code =
        cuda_.cuLaunchKernel(reinterpret_cast<CUfunction>(kernel_), 1, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr);
    std::memset(static_cast<void*>(&given), 0, sizeof given);  // the driver has copied it
    return code;
  }

 private:
  const functions& cuda_;
  CUlibrary library_ = nullptr;
  CUkernel kernel_ = nullptr;
};

}  // namespace

/// Writes to device 0's memory by device 1, without access: in a process of its own (`test_driver_contract
/// --intruder`), which can use no device afterwards. Returns whether the driver has refused it.
bool is_intruder_refused() {
  const functions& cuda = started();
  CUcontext first = nullptr, second = nullptr;
  check(cuda.cuDevicePrimaryCtxRetain(&first, 0), "cuDevicePrimaryCtxRetain");
  check(cuda.cuDevicePrimaryCtxRetain(&second, 1), "cuDevicePrimaryCtxRetain");
  check(cuda.cuCtxPushCurrent(second), "cuCtxPushCurrent");
  const mapped_page page(cuda);
  return cuda.cuMemsetD8Async(page.at, 1, page.bytes, nullptr) != CUDA_SUCCESS ||
         cuda.cuStreamSynchronize(nullptr) != CUDA_SUCCESS;
}

/// The maker of shared memory: a process of its own (`test_driver_contract --maker SOCKET`), which is killed.
int make_and_wait(int socket) {
  const functions& cuda = started();
  CUdevice device = 0;
  CUcontext context = nullptr;
  int file = -1;
  check(cuda.cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuda.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuda.cuCtxPushCurrent(context), "cuCtxPushCurrent");
  const mapped_page page(cuda);
  check(cuda.cuMemsetD8Async(page.at, 42, page.bytes, nullptr), "cuMemsetD8Async");
  check(cuda.cuStreamSynchronize(nullptr), "cuStreamSynchronize");
  check(cuda.cuMemExportToShareableHandle(&file, page.of, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), "export");
  send_file(socket, file);
  for (;;) ::pause();
}

/// Lets a kernel read addresses without memory: a process of its own (`test_driver_contract --lost`), which can use no
/// device afterwards. Returns the number of calls that do not have the kernel's error.
int count_calls_without_the_error() {
  const functions& cuda = started();
  CUcontext context = nullptr;
  check(cuda.cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
  check(cuda.cuCtxPushCurrent(context), "cuCtxPushCurrent");
  CUdeviceptr block = 0, lost = 0;
  CUstream stream = nullptr;
  std::size_t page = 0;
  check(cuda.cuMemGetAllocationGranularity(&page, &on_device_0(), CU_MEM_ALLOC_GRANULARITY_MINIMUM), "granularity");
  check(cuda.cuMemAddressReserve(&lost, page, 0, 0, 0), "cuMemAddressReserve");
  check(cuda.cuMemAlloc(&block, 16), "cuMemAlloc");
  check(cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  pinned_rows& memory = *pinned_rows::make(cuda);
  const gather_kernel gather(cuda);
  check(gather.launch(lost, memory, stream), "cuLaunchKernel");
  int others = 0;
  const auto expect = [&](CUresult code, const char* call) {
    if (code == CUDA_ERROR_ILLEGAL_ADDRESS) return;
    std::fprintf(stderr, "%s: error %d\n", call, code);
    ++others;
  };
  expect(cuda.cuStreamSynchronize(stream), "the first wait");
  expect(cuda.cuStreamSynchronize(nullptr), "a wait for another stream");
  expect(cuda.cuStreamQuery(stream), "cuStreamQuery");
  expect(cuda.cuCtxSynchronize(), "cuCtxSynchronize");
  expect(cuda.cuMemsetD8Async(block, 1, 16, nullptr), "cuMemsetD8Async");
  expect(cuda.cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(memory.rows), block, 16, stream), "cuMemcpyAsync");
  expect(gather.launch(block, memory, stream), "cuLaunchKernel");
  expect(cuda.cuMemAlloc(&block, 16), "cuMemAlloc");
  return others;
}

namespace {

TEST_F(driver_contract, memory_can_be_mapped_to_be_read) {
  handle of = 0;
  ASSERT_CUDA(cuda_.cuMemCreate(&of, page_, &on_device_0(), 0));
  const CUdeviceptr at = map(of, page_);
  EXPECT_CUDA(cuda_.cuMemsetD8Async(at, 42, page_, nullptr));
  EXPECT_CUDA(cuda_.cuStreamSynchronize(nullptr));
  CUdeviceptr other = 0;
  ASSERT_CUDA(cuda_.cuMemAddressReserve(&other, page_, 0, 0, 0));
  ASSERT_CUDA(cuda_.cuMemMap(other, page_, 0, of, 0));
  EXPECT_CUDA(allow(other, page_, CU_MEM_ACCESS_FLAGS_PROT_READ));
  EXPECT_EQ(read(other, page_), std::vector<char>(page_, 42));
  unmap(other, page_);
  unmap(at, page_);
  EXPECT_CUDA(cuda_.cuMemRelease(of));
}

TEST_F(driver_contract, each_device_needs_access_of_its_own) {
  int count = 0, is_peer = 0;
  ASSERT_CUDA(cuda_.cuDeviceGetCount(&count));
  if (count > 1) is_peer = cuda_.cuDeviceCanAccessPeer(&is_peer, 1, 0) == CUDA_SUCCESS && is_peer != 0;
  if (is_peer == 0) GTEST_SKIP() << "no two devices that can access each other's memory";
  EXPECT_EQ(run_again({"--intruder"}), 0) << "device 1 has written without access";

  handle of = 0;
  ASSERT_CUDA(cuda_.cuMemCreate(&of, page_, &on_device_0(), 0));
  const CUdeviceptr at = map(of, page_);
  CUcontext first = nullptr, second = nullptr;
  ASSERT_CUDA(cuda_.cuDevicePrimaryCtxRetain(&first, 0));
  ASSERT_CUDA(cuda_.cuDevicePrimaryCtxRetain(&second, 1));
  ASSERT_CUDA(cuda_.cuCtxPushCurrent(second));
  CUdeviceptr block = 0;
  ASSERT_CUDA(cuda_.cuMemAlloc(&block, page_));
  EXPECT_CUDA(cuda_.cuMemcpyPeerAsync(block, second, at, first, page_, nullptr));
  EXPECT_CUDA(cuda_.cuStreamSynchronize(nullptr)) << "a copy between devices needs no access";
  EXPECT_CUDA(cuda_.cuMemFree(block));
  CUmemAccessDesc access{on_device_0().location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  access.location.id = 1;
  ASSERT_CUDA(cuda_.cuMemSetAccess(at, page_, &access, 1));
  EXPECT_CUDA(cuda_.cuMemsetD8Async(at, 42, page_, nullptr));
  EXPECT_CUDA(cuda_.cuStreamSynchronize(nullptr));
  EXPECT_CUDA(cuda_.cuCtxPopCurrent(nullptr));
  EXPECT_EQ(read(at, page_), std::vector<char>(page_, 42)) << "device 0 keeps its access";
  unmap(at, page_);
  EXPECT_CUDA(cuda_.cuMemRelease(of));
}

/// A context's wait is for the streams of its device.
TEST_F(driver_contract, work_of_another_device_has_a_wait_of_its_own) {
  int count = 0;
  ASSERT_CUDA(cuda_.cuDeviceGetCount(&count));
  if (count < 2) GTEST_SKIP() << "one device";
  CUcontext second = nullptr;
  CUstream stream = nullptr;
  void* pinned = nullptr;
  ASSERT_CUDA(cuda_.cuMemHostAlloc(&pinned, 1, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  ASSERT_CUDA(cuda_.cuDevicePrimaryCtxRetain(&second, 1));
  ASSERT_CUDA(cuda_.cuCtxPushCurrent(second));
  ASSERT_CUDA(cuda_.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_CUDA(cuda_.cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(pinned), 42, 1, stream));
  EXPECT_CUDA(cuda_.cuCtxSynchronize());
  EXPECT_EQ(*static_cast<char*>(pinned), 42);
  EXPECT_CUDA(cuda_.cuStreamDestroy(stream));
  EXPECT_CUDA(cuda_.cuCtxPopCurrent(nullptr));
  EXPECT_CUDA(cuda_.cuMemFreeHost(pinned));
}

/// Another process's memory is mapped by a descriptor, and stays after that process was killed.
TEST_F(driver_contract, memory_outlives_its_maker) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const pid_t maker = start_again({"--maker", std::to_string(ends[1])});
  ::close(ends[1]);
  const int file = receive_file(ends[0]);
  ASSERT_GE(file, 0);
  handle of = 0;
  ASSERT_CUDA(cuda_.cuMemImportFromShareableHandle(&of, reinterpret_cast<void*>(static_cast<std::intptr_t>(file)),
                                                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  ::close(file);
  const CUdeviceptr at = map(of, page_);
  ::kill(maker, SIGKILL);
  EXPECT_EQ(test::wait_process(maker), -SIGKILL);
  EXPECT_EQ(read(at, page_), std::vector<char>(page_, 42));
  unmap(at, page_);
  EXPECT_CUDA(cuda_.cuMemRelease(of));
  ::close(ends[0]);
}

TEST_F(driver_contract, devices_are_known_by_their_uuids) {
  const std::vector<std::string> all = device_ids();
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
  const auto seen_by_another = [&](const char* visible, std::vector<std::string> expected) {
    const test::environment_scope with("CUDA_VISIBLE_DEVICES", visible);
    expected.insert(expected.begin(), "--devices");
    EXPECT_EQ(run_again(expected), 0) << (visible == nullptr ? "all" : visible);
  };
  if (std::getenv("CUDA_VISIBLE_DEVICES") != nullptr) GTEST_SKIP() << "some devices are hidden";
  seen_by_another(nullptr, all);
  const std::size_t last = all.size() - 1;
  seen_by_another(std::to_string(last).c_str(), {all[last]});
  seen_by_another("", {});
  seen_by_another(fmt::format("0,{}", last + 1).c_str(), {all[0]});  // those before one that there is not
  if (last > 0) seen_by_another(fmt::format("{},0", last).c_str(), {all[last], all[0]});
}

/// Our own kernels.
class driver_kernels : public driver_contract {
 protected:
  void SetUp() override {
    try {
      rows::kernel_image();
    } catch (const base::error& error) {
      GTEST_SKIP() << error.what();
    }
    int version = 0;
    ASSERT_CUDA(cuda_.cuDriverGetVersion(&version));
    if (version / 1000 < CUDA_VERSION / 1000) GTEST_SKIP() << "the driver is older than the kernels";
    ASSERT_CUDA(cuda_.cuMemAlloc(&table_, 4 * sizeof(std::int32_t)));
    ASSERT_CUDA(cuda_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    memory_ = pinned_rows::make(cuda_);
  }
  void TearDown() override {
    if (IsSkipped()) return;
    EXPECT_CUDA(cuda_.cuStreamDestroy(stream_));
    EXPECT_CUDA(cuda_.cuMemFree(table_));
    EXPECT_CUDA(cuda_.cuMemFreeHost(memory_));
  }

  CUdeviceptr table_ = 0;
  CUstream stream_ = nullptr;
  pinned_rows* memory_ = nullptr;
};

TEST_F(driver_kernels, are_found_by_name) {
  gather_kernel kernel(cuda_);
  EXPECT_EQ(kernel.find("syncyte_gather_5"), CUDA_ERROR_NOT_FOUND);
  EXPECT_CUDA(kernel.find("syncyte_scatter_16"));
}

TEST_F(driver_kernels, read_and_write_pinned_memory_at_the_hosts_address) {
  const std::array<std::int32_t, 4> values{10, 11, 12, 13};
  EXPECT_CUDA(cuda_.cuMemcpyAsync(table_, reinterpret_cast<CUdeviceptr>(values.data()), sizeof values, stream_));
  EXPECT_CUDA(gather_kernel(cuda_).launch(table_, *memory_, stream_));
  EXPECT_CUDA(cuda_.cuStreamSynchronize(stream_));
  EXPECT_EQ(std::to_array(memory_->rows), (std::array<std::int32_t, 4>{13, 10, 0, 11}));
  EXPECT_EQ(memory_->bad.position, 2u);
  EXPECT_EQ(memory_->bad.value, 99);
}

/// A launch is ordered with what is before and after it on its stream, and is complete after a wait for an event.
TEST_F(driver_kernels, run_in_the_order_of_their_stream) {
  CUevent event = nullptr;
  ASSERT_CUDA(cuda_.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  EXPECT_CUDA(cuda_.cuMemsetD8Async(table_, 7, 16, stream_));
  EXPECT_CUDA(gather_kernel(cuda_).launch(table_, *memory_, stream_));
  EXPECT_CUDA(cuda_.cuEventRecord(event, stream_));
  EXPECT_CUDA(cuda_.cuMemsetD8Async(table_, 8, 16, stream_));
  EXPECT_CUDA(cuda_.cuEventSynchronize(event));
  constexpr std::int32_t sevens = 0x07070707;
  EXPECT_EQ(std::to_array(memory_->rows), (std::array{sevens, sevens, 0, sevens}));
  EXPECT_CUDA(cuda_.cuStreamSynchronize(stream_));
  EXPECT_EQ(read(table_, 16), std::vector<char>(16, 8));
  EXPECT_CUDA(cuda_.cuEventDestroy(event));
}

/// A context can do nothing after an illegal access; other processes are not concerned.
TEST_F(driver_kernels, that_read_no_memory_end_their_process_use_of_the_device) {
  EXPECT_EQ(run_again({"--lost"}), 0) << "calls have other results than the kernel's error";
  EXPECT_CUDA(gather_kernel(cuda_).launch(table_, *memory_, stream_));
  EXPECT_CUDA(cuda_.cuStreamSynchronize(stream_));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--maker") return make_and_wait(std::stoi(argv[2]));
  if (argc == 2 && std::string(argv[1]) == "--intruder") return is_intruder_refused() ? 0 : 1;
  if (argc == 2 && std::string(argv[1]) == "--lost") return count_calls_without_the_error();
  if (argc >= 2 && std::string(argv[1]) == "--devices")
    return device_ids() == std::vector<std::string>(argv + 2, argv + argc) ? 0 : 1;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
