! SPDX-License-Identifier: BSD-3-Clause
! Generated from syncyte/memory.h by bindings/generate; do not edit.
!> Recycled buffers and copies between host and device memory.
module syncyte_memory_c
  use, intrinsic :: iso_c_binding
  use syncyte_base_c
  implicit none
  public

  !> Statistics of the pools of recycled buffers: of host memory, and of all devices in sum. Sizes are in bytes.
  type, bind(C) :: syncyte_memory_stats_t
    ! sizeof(syncyte_memory_stats_t)
    integer(c_size_t) :: struct_size = 88_c_size_t
    ! acquired and not released, rounded up to size classes
    integer(c_int64_t) :: in_use = 0_c_int64_t
    ! kept for re-use
    integer(c_int64_t) :: cached = 0_c_int64_t
    ! limit of cached (SYNCYTE_POOL_LIMIT)
    integer(c_int64_t) :: limit = 0_c_int64_t
    ! requests served from the cache
    integer(c_int64_t) :: hits = 0_c_int64_t
    ! requests that needed fresh memory
    integer(c_int64_t) :: misses = 0_c_int64_t
    ! in_use of devices
    integer(c_int64_t) :: device_in_use = 0_c_int64_t
    ! cached of devices
    integer(c_int64_t) :: device_cached = 0_c_int64_t
    ! limit of devices: each has SYNCYTE_POOL_LIMIT
    integer(c_int64_t) :: device_limit = 0_c_int64_t
    ! hits of devices
    integer(c_int64_t) :: device_hits = 0_c_int64_t
    ! misses of devices
    integer(c_int64_t) :: device_misses = 0_c_int64_t
  end type syncyte_memory_stats_t

  !> Memory of a device that an object of this process has, in a list for people.
  type, bind(C) :: syncyte_device_use_t
    ! sizeof(syncyte_device_use_t)
    integer(c_size_t) :: struct_size = 32_c_size_t
    ! UUID of the device, "GPU-..."; valid until this thread asks again
    type(c_ptr) :: device = c_null_ptr
    ! the object, such as `tensor "table" (float32, [10, 4])`; valid as device
    type(c_ptr) :: holder = c_null_ptr
    ! of the device's pages that it has
    integer(c_int64_t) :: bytes = 0_c_int64_t
  end type syncyte_device_use_t

  interface

    !> Acquires a buffer from the pool of the memory's kind and device, recycled if possible. Its contents are
    !> undefined; its alignment is 64 bytes. Work that was enqueued on a recycled buffer of a device has ended.
    ! size [in]: bytes; 0 gives a null pointer
    ! memory [in]: kind of memory
    ! device [in]: number of the device; 0 for host memory
    ! data [out]: the buffer, to be released by syncyte_memory_free()
    ! Returns: SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_UNSUPPORTED (no such memory in this build), SYNCYTE_ERR_ARGUMENT
    ! (device).
    function syncyte_memory_allocate(size, memory, device, data) bind(C, name="syncyte_memory_allocate") &
        result(answer)
      import
      integer(c_int64_t), value :: size
      integer(c_int32_t), value :: memory
      integer(c_int32_t), value :: device
      type(c_ptr), intent(inout) :: data
      integer(c_int32_t) :: answer
    end function syncyte_memory_allocate

    !> Releases a buffer to its pool. For a buffer of a device it first waits for all work that is enqueued on the
    !> device, as cudaFree does: the caller need not wait, but must enqueue nothing on the buffer from the call on.
    ! data [in]: a buffer of syncyte_memory_allocate(); null is ignored
    ! Returns: SYNCYTE_ERR_ARGUMENT for a pointer that is not the pool's, or that was released before.
    function syncyte_memory_free(data) bind(C, name="syncyte_memory_free") result(answer)
      import
      type(c_ptr), value :: data
      integer(c_int32_t) :: answer
    end function syncyte_memory_free

    !> Returns all cached buffers to the system and to the devices.
    function syncyte_memory_trim() bind(C, name="syncyte_memory_trim") result(answer)
      import
      integer(c_int32_t) :: answer
    end function syncyte_memory_trim

    !> Returns statistics of the pools.
    ! stats [in,out]: struct_size set by the caller; the rest is filled
    function syncyte_memory_stats(stats) bind(C, name="syncyte_memory_stats") result(answer)
      import
      type(syncyte_memory_stats_t), intent(inout) :: stats
      integer(c_int32_t) :: answer
    end function syncyte_memory_stats

    !> Describes one after another the objects of this process that have memory of devices, in the order in which
    !> they were made: whole tensors (this rank's pages), with the states of their optimizers, and shared caches,
    !> also those that other processes have too. Buffers are in memory_stats(), models in models_describe(). Number
    !> 0 begins; others are of the same moment.
    ! number [in]: 0, 1, ... until the result is SYNCYTE_ERR_INDEX
    ! use [in,out]: struct_size set by the caller; the rest is filled
    ! Returns: SYNCYTE_ERR_INDEX beyond the last one.
    function syncyte_memory_describe(number, use) bind(C, name="syncyte_memory_describe") result(answer)
      import
      integer(c_int64_t), value :: number
      type(syncyte_device_use_t), intent(inout) :: use
      integer(c_int32_t) :: answer
    end function syncyte_memory_describe

    !> Returns the number of devices of a kind of memory: 1 for host memory; for CUDA 0 without a driver, or in a
    !> build without CUDA. Devices are counted without starting the driver where NVIDIA's management library is
    !> installed: children that are forked afterwards may use them. A child that is forked after the first use of a
    !> device cannot.
    ! memory [in]: kind
    ! count [out]: number of devices
    function syncyte_memory_device_count(memory, count) bind(C, name="syncyte_memory_device_count") &
        result(answer)
      import
      integer(c_int32_t), value :: memory
      integer(c_int32_t), intent(inout) :: count
      integer(c_int32_t) :: answer
    end function syncyte_memory_device_count

    !> Copies bytes between contiguous buffers of any memory kinds; returns when the copy is done or, with a stream,
    !> when it is queued.
    ! target [out]: buffer to write; shape and dtype may differ from source, the number of bytes may not
    ! source [in]: buffer to read; must not overlap target
    ! stream [in]: a cudaStream_t; null waits for completion
    ! Returns: SYNCYTE_ERR_SHAPE (different sizes, not contiguous), SYNCYTE_ERR_UNSUPPORTED.
    function syncyte_memory_copy(target, source, stream) bind(C, name="syncyte_memory_copy") result(answer)
      import
      type(syncyte_buffer_t), intent(in) :: target
      type(syncyte_buffer_t), intent(in) :: source
      type(c_ptr), value :: stream
      integer(c_int32_t) :: answer
    end function syncyte_memory_copy

    !> Chooses the stream on which operations of the calling thread on tensors and tables in device memory are
    !> queued from now on.
    ! memory [in]: SYNCYTE_MEMORY_CUDA
    ! stream [in]: a cudaStream_t of the device; null: operations run on the device's default stream and are
    ! complete on return. cudaStreamLegacy is the default stream, without this wait
    function syncyte_memory_set_stream(memory, stream) bind(C, name="syncyte_memory_set_stream") result(answer)
      import
      integer(c_int32_t), value :: memory
      type(c_ptr), value :: stream
      integer(c_int32_t) :: answer
    end function syncyte_memory_set_stream
  end interface
end module syncyte_memory_c
