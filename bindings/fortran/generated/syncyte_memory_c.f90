! Generated from syncyte/memory.h by bindings/generate; do not edit.
!> Recycled buffers and copies between host and device memory.
module syncyte_memory_c
  use, intrinsic :: iso_c_binding
  use syncyte_base_c
  implicit none
  public

  !> What the pool of recycled buffers holds. Sizes are in bytes.
  type, bind(C) :: syncyte_memory_stats_t
    ! sizeof(syncyte_memory_stats_t)
    integer(c_size_t) :: struct_size = 48_c_size_t
    ! handed out, rounded up to size classes
    integer(c_size_t) :: in_use = 0_c_size_t
    ! kept for re-use
    integer(c_size_t) :: cached = 0_c_size_t
    ! most that is kept: SYNCYTE_POOL_LIMIT, or a 16th of the machine's memory
    integer(c_size_t) :: limit = 0_c_size_t
    ! requests served from the cache
    integer(c_int64_t) :: hits = 0_c_int64_t
    ! requests that needed fresh memory
    integer(c_int64_t) :: misses = 0_c_int64_t
  end type syncyte_memory_stats_t

  interface

    !> Takes a buffer from the pool: recycled pages where there are some. Contents are undefined, alignment 64
    !> bytes.
    ! bytes [in]: size wanted; 0 gives a null pointer
    ! memory [in]: where
    ! device [in]: number of the device; 0 for host memory
    ! data [out]: the buffer; given back by syncyte_memory_release()
    ! Returns: SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_UNSUPPORTED (no such memory in this build), SYNCYTE_ERR_ARGUMENT
    ! (device).
    function syncyte_memory_acquire(bytes, memory, device, data) bind(C, name="syncyte_memory_acquire") &
        result(answer)
      import
      integer(c_size_t), value :: bytes
      integer(c_int32_t), value :: memory
      integer(c_int32_t), value :: device
      type(c_ptr), intent(out) :: data
      integer(c_int32_t) :: answer
    end function syncyte_memory_acquire

    !> Gives a buffer back to the pool.
    ! data [in]: what syncyte_memory_acquire() gave; null is fine
    ! Returns: SYNCYTE_ERR_ARGUMENT for a pointer that is not one of the pool's, or was given back already.
    function syncyte_memory_release(data) bind(C, name="syncyte_memory_release") result(answer)
      import
      type(c_ptr), value :: data
      integer(c_int32_t) :: answer
    end function syncyte_memory_release

    !> Returns all cached buffers to the system.
    function syncyte_memory_trim() bind(C, name="syncyte_memory_trim") result(answer)
      import
      integer(c_int32_t) :: answer
    end function syncyte_memory_trim

    !> Figures of the pool of host buffers.
    ! stats [in,out]: struct_size set by the caller; the rest is filled
    function syncyte_memory_stats(stats) bind(C, name="syncyte_memory_stats") result(answer)
      import
      type(syncyte_memory_stats_t), intent(inout) :: stats
      integer(c_int32_t) :: answer
    end function syncyte_memory_stats

    !> Number of devices of a kind; 1 for host memory, 0 for CUDA in a build without it or without a driver.
    ! memory [in]: kind
    ! count [out]: number of devices
    function syncyte_memory_device_count(memory, count) bind(C, name="syncyte_memory_device_count") &
        result(answer)
      import
      integer(c_int32_t), value :: memory
      integer(c_int32_t), intent(out) :: count
      integer(c_int32_t) :: answer
    end function syncyte_memory_device_count

    !> Copies bytes between contiguous buffers of any memory kinds; returns when the copy is done or, with a stream,
    !> when it is queued.
    ! target [out]: where to; shape and dtype may differ from source, the number of bytes may not
    ! source [in]: where from; must not overlap target
    ! stream [in]: a cudaStream_t; null waits for completion
    ! Returns: SYNCYTE_ERR_SHAPE (different sizes, not contiguous), SYNCYTE_ERR_UNSUPPORTED.
    function syncyte_memory_copy(target, source, stream) bind(C, name="syncyte_memory_copy") &
        result(answer)
      import
      type(syncyte_buffer_t), intent(in) :: target
      type(syncyte_buffer_t), intent(in) :: source
      type(c_ptr), value :: stream
      integer(c_int32_t) :: answer
    end function syncyte_memory_copy
  end interface
end module syncyte_memory_c
