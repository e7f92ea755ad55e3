// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <c10/cuda/CUDACachingAllocator.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace syncyte::torch_binding {

namespace api = c10::cuda::CUDACachingAllocator;

/// The type of CUDAAllocator::getExpandableSegmentSizes(), which torch 2.6 does not have.
template <class Allocator>
struct segment_sizes {
  using type = void;
};
template <class Allocator>
  requires requires(Allocator& its) { its.getExpandableSegmentSizes(c10::DeviceIndex{}); }
struct segment_sizes<Allocator> {
  using type = decltype(std::declval<Allocator&>().getExpandableSegmentSizes(c10::DeviceIndex{}));
};

/// An allocator of torch's that calls another one, for versions 2.6 and later. `Base` is torch's CUDAAllocator.
///
/// Functions of versions that are not this one's override nothing, and are then never compiled, because the class is a
/// template: hence no `override`. A test compares them with those of torch's header.
template <class Base>
class forwarding_allocator : public Base {
 public:
  using device = c10::DeviceIndex;
  using pool = std::pair<unsigned long long, unsigned long long>;  // c10::MempoolId_t
  using texts = std::vector<std::string>;
  using Base::recordStream;  // its other form calls the one below

  explicit forwarding_allocator(Base* own) : own_(own) {}

  // NOLINTBEGIN(modernize-use-override)
  // c10::Allocator
  c10::DataPtr allocate(std::size_t bytes) { return own_->allocate(bytes); }
  bool is_simple_data_ptr(const c10::DataPtr& data) const { return own_->is_simple_data_ptr(data); }
  c10::DeleterFnPtr raw_deleter() const { return own_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const { own_->copy_data(to, from, bytes); }

  // c10::DeviceAllocator
  bool initialized() { return own_->initialized(); }
  void emptyCache() { own_->emptyCache(); }
  void emptyCache(pool id) { own_->emptyCache(id); }
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(device of) { return own_->getDeviceStats(of); }
  void resetAccumulatedStats(device of) { own_->resetAccumulatedStats(of); }
  void resetPeakStats(device of) { own_->resetPeakStats(of); }
  std::pair<std::size_t, std::size_t> getMemoryInfo(device of) { return own_->getMemoryInfo(of); }

  // CUDAAllocator
  void* raw_alloc(std::size_t bytes) { return own_->raw_alloc(bytes); }
  void* raw_alloc_with_stream(std::size_t bytes, cudaStream_t on) { return own_->raw_alloc_with_stream(bytes, on); }
  void raw_delete(void* data) { own_->raw_delete(data); }
  void init(int devices) { own_->init(devices); }
  double getMemoryFraction(device of) { return own_->getMemoryFraction(of); }
  void setMemoryFraction(double part, device of) { own_->setMemoryFraction(part, of); }
  typename segment_sizes<Base>::type getExpandableSegmentSizes(device of) {
    return own_->getExpandableSegmentSizes(of);
  }
  void enable(bool is_on) { own_->enable(is_on); }
  bool isEnabled() const { return own_->isEnabled(); }
  void cacheInfo(device of, std::size_t* largest) { own_->cacheInfo(of, largest); }
  void* getBaseAllocation(void* data, std::size_t* bytes) { return own_->getBaseAllocation(data, bytes); }
  void recordStream(const c10::DataPtr& data, c10::cuda::CUDAStream by) { own_->recordStream(data, by); }
  api::SnapshotInfo snapshot() { return own_->snapshot(); }
  api::SnapshotInfo snapshot(pool id) { return own_->snapshot(id); }
  api::SnapshotInfo snapshot(pool id, bool has_traces) { return own_->snapshot(id, has_traces); }
  void beginAllocateToPool(device of, pool id, std::function<bool(cudaStream_t)> takes) {
    own_->beginAllocateToPool(of, id, std::move(takes));
  }
  void endAllocateToPool(device of, pool id) { own_->endAllocateToPool(of, id); }
  void markCaptureBegin(device of) { own_->markCaptureBegin(of); }
  void markCaptureEnd(device of) { own_->markCaptureEnd(of); }
  void releasePool(device of, pool id) { own_->releasePool(of, id); }
  int getPoolUseCount(device of, pool id) { return own_->getPoolUseCount(of, id); }
  void ensureExistsAndIncrefPool(device of, pool id) { own_->ensureExistsAndIncrefPool(of, id); }
  void createOrIncrefPool(device of, pool id, std::shared_ptr<Base> by) {
    own_->createOrIncrefPool(of, id, std::move(by));
  }
  void setUseOnOOM(device of, pool id) { own_->setUseOnOOM(of, id); }
  void setUseOnOOM(device of, pool id, bool is_used) { own_->setUseOnOOM(of, id, is_used); }
  void setNoSplit(device of, pool id) { own_->setNoSplit(of, id); }
  bool checkPoolLiveAllocations(device of, pool id, const std::unordered_set<void*>& expected) {
    return own_->checkPoolLiveAllocations(of, id, expected);
  }
  api::ShareableHandle shareIpcHandle(void* data) { return own_->shareIpcHandle(data); }
  std::shared_ptr<void> getIpcDevPtr(std::string handle) { return own_->getIpcDevPtr(std::move(handle)); }
  bool isHistoryEnabled() { return own_->isHistoryEnabled(); }
  std::shared_ptr<c10::GatheredContext> getContextForPointer(const void* data) {
    return own_->getContextForPointer(data);
  }
  void recordHistory(bool is_on, api::CreateContextFn make, std::size_t most, api::RecordContext when) {
    own_->recordHistory(is_on, make, most, when);
  }
  void recordHistory(bool is_on, api::CreateContextFn make, std::size_t most, api::RecordContext when, bool clears) {
    own_->recordHistory(is_on, make, most, when, clears);
  }
  void recordHistory(bool is_on, api::CreateContextFn make, std::size_t most, api::RecordContext when, bool clears,
                     const texts& skipped) {
    own_->recordHistory(is_on, make, most, when, clears, skipped);
  }
  void recordAnnotation(const std::vector<std::pair<std::string, std::string>>& what) { own_->recordAnnotation(what); }
  void pushCompileContext(std::string& what) { own_->pushCompileContext(what); }
  void popCompileContext() { own_->popCompileContext(); }
  bool supportsUserMetadata() { return own_->supportsUserMetadata(); }
  void setUserMetadata(const std::string& what) { own_->setUserMetadata(what); }
  std::string getUserMetadata() { return own_->getUserMetadata(); }
  void annotateMemory(const void* data, const std::string& what) { own_->annotateMemory(data, what); }
  void attachOutOfMemoryObserver(api::OutOfMemoryObserver by) { own_->attachOutOfMemoryObserver(std::move(by)); }
  void attachOomRejectionObserver(std::function<void(std::int64_t, std::size_t, std::size_t, std::size_t)> by) {
    own_->attachOomRejectionObserver(std::move(by));
  }
  void attachAllocatorTraceTracker(api::AllocatorTraceTracker by) { own_->attachAllocatorTraceTracker(std::move(by)); }
  void enablePeerAccess(device of, device to) { own_->enablePeerAccess(of, to); }
  cudaError_t memcpyAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                          cudaStream_t on, bool by_peers) {
    return own_->memcpyAsync(to, to_device, from, from_device, bytes, on, by_peers);
  }
  std::shared_ptr<api::AllocatorState> getCheckpointState(device of, pool id) {
    return own_->getCheckpointState(of, id);
  }
  api::CheckpointDelta setCheckpointPoolState(device of, std::shared_ptr<api::AllocatorState> state) {
    return own_->setCheckpointPoolState(of, std::move(state));
  }
  c10::DataPtr allocateWithAddress(std::size_t bytes, void* at) { return own_->allocateWithAddress(bytes, at); }
  std::string name() { return own_->name(); }
  // NOLINTEND(modernize-use-override)

 protected:
  Base* own() const { return own_; }

 private:
  Base* own_;
};

}  // namespace syncyte::torch_binding
