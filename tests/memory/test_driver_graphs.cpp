// SPDX-License-Identifier: BSD-3-Clause
// The driver's rules for streams that are captured into graphs; a part of driver_contract.

#include <gtest/gtest.h>

#include <cstddef>

#include "cuda/driver_graphs.hpp"
#include "memory/driver/context.hpp"

namespace {

using namespace syncyte::memory::driver;
using syncyte::test::captured_graph;
using syncyte::test::graphs;

#define EXPECT_CUDA(call) EXPECT_EQ(call, CUDA_SUCCESS) << #call

class driver_contract_graphs : public ::testing::Test {
 protected:
  driver_contract_graphs() {
    EXPECT_EQ(set_mode(CU_STREAM_CAPTURE_MODE_GLOBAL), CU_STREAM_CAPTURE_MODE_RELAXED);  // a device_scope's
    EXPECT_CUDA(on_->cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    EXPECT_CUDA(on_->cuMemAlloc(&data_, bytes));
    EXPECT_CUDA(on_->cuMemsetD8Async(data_, 0, bytes, nullptr));
    EXPECT_CUDA(on_->cuStreamSynchronize(nullptr));
  }
  ~driver_contract_graphs() override {
    EXPECT_CUDA(on_->cuMemFree(data_));
    EXPECT_CUDA(on_->cuStreamDestroy(stream_));
  }

  CUstreamCaptureMode set_mode(CUstreamCaptureMode mode) const {
    EXPECT_CUDA(on_->cuThreadExchangeStreamCaptureMode(&mode));
    return mode;
  }
  CUresult set(char value) const {
    return on_->cuMemsetD8Async(data_, static_cast<unsigned char>(value), bytes, stream_);
  }
  char read() const {
    char result = -1;
    EXPECT_CUDA(on_->cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(&result), data_, 1, nullptr));
    EXPECT_CUDA(on_->cuStreamSynchronize(nullptr));
    return result;
  }
  CUstreamCaptureStatus status() const {
    CUstreamCaptureStatus result = CU_STREAM_CAPTURE_STATUS_NONE;
    EXPECT_CUDA(on_->cuStreamIsCapturing(stream_, &result));
    return result;
  }
  void begin() const {
    EXPECT_CUDA(graphs().cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EXPECT_EQ(status(), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  }
  /// Ends a capture that a call has spoiled. The stream works again.
  void end_spoiled(const char* by) const {
    SCOPED_TRACE(by);
    CUgraph made = nullptr;
    EXPECT_EQ(status(), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    EXPECT_EQ(graphs().cuStreamEndCapture(stream_, &made), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(made, nullptr);
    EXPECT_CUDA(set(1));
    EXPECT_CUDA(on_->cuStreamSynchronize(stream_));
    EXPECT_EQ(read(), 1);
  }

  static constexpr std::size_t bytes = 64;
  const device_scope on_{0};
  CUstream stream_ = nullptr;
  CUdeviceptr data_ = 0;
};

TEST_F(driver_contract_graphs, captured_operations_run_at_each_launch) {
  const captured_graph graph(stream_, [&] {
    EXPECT_EQ(status(), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    EXPECT_CUDA(set(5));
  });
  EXPECT_EQ(status(), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_CUDA(on_->cuStreamSynchronize(stream_));
  EXPECT_EQ(read(), 0);
  for (int round = 0; round < 2; ++round) {
    EXPECT_CUDA(set(2));
    graph.launch(stream_);
    EXPECT_CUDA(on_->cuStreamSynchronize(stream_));
    EXPECT_EQ(read(), 5);
  }
}

TEST_F(driver_contract_graphs, a_wait_for_the_stream_spoils_the_capture) {
  begin();
  EXPECT_EQ(on_->cuStreamSynchronize(stream_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  end_spoiled("cuStreamSynchronize");
  begin();
  EXPECT_EQ(on_->cuStreamQuery(stream_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  end_spoiled("cuStreamQuery");
  begin();
  EXPECT_EQ(on_->cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  end_spoiled("cuCtxSynchronize");
}

TEST_F(driver_contract_graphs, allocations_and_waits_spoil_the_capture_unless_the_thread_relaxes_the_rules) {
  CUdeviceptr made = 0;
  CUevent event = nullptr;
  CUstream other = nullptr;
  EXPECT_CUDA(on_->cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  EXPECT_CUDA(on_->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  EXPECT_CUDA(on_->cuEventRecord(event, other));
  begin();
  EXPECT_EQ(on_->cuMemAlloc(&made, bytes), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  end_spoiled("cuMemAlloc");
  begin();
  EXPECT_EQ(on_->cuEventQuery(event), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  end_spoiled("cuEventQuery");
  set_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
  const captured_graph graph(stream_, [&] {
    EXPECT_CUDA(on_->cuMemAlloc(&made, bytes));
    EXPECT_CUDA(on_->cuEventSynchronize(event));
    EXPECT_CUDA(on_->cuEventQuery(event));
    EXPECT_CUDA(on_->cuStreamSynchronize(other));
  });
  EXPECT_EQ(set_mode(CU_STREAM_CAPTURE_MODE_GLOBAL), CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CUDA(on_->cuMemFree(made));
  EXPECT_CUDA(on_->cuEventDestroy(event));
  EXPECT_CUDA(on_->cuStreamDestroy(other));
}

TEST_F(driver_contract_graphs, an_event_of_a_capture_cannot_be_asked) {
  CUevent event = nullptr;
  EXPECT_CUDA(on_->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  const captured_graph graph(stream_, [&] { EXPECT_CUDA(on_->cuEventRecord(event, stream_)); });
  EXPECT_EQ(on_->cuEventQuery(event), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_CUDA(on_->cuEventRecord(event, stream_));
  EXPECT_CUDA(on_->cuEventSynchronize(event));
  EXPECT_CUDA(on_->cuEventDestroy(event));
}

TEST_F(driver_contract_graphs, the_default_stream_cannot_be_captured) {
  EXPECT_NE(graphs().cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
}

}  // namespace
