! SPDX-License-Identifier: BSD-3-Clause
! Generated from syncyte/cache.h by bindings/generate; do not edit.
!> A shared cache: memory that processes of one machine share, and allocate blocks from at equal offsets.
module syncyte_cache_c
  use, intrinsic :: iso_c_binding
  use syncyte_base_c
  implicit none
  public

  !> Sizes of a new cache, in bytes, rounded up to pages, and where it lies.
  type, bind(C) :: syncyte_cache_sizes_t
    ! sizeof(syncyte_cache_sizes_t)
    integer(c_size_t) :: struct_size = 40_c_size_t
    ! 0: as SYNCYTE_CACHE_PARAMETER_BYTES says (docs/environment.md)
    integer(c_int64_t) :: parameter_bytes = 0_c_int64_t
    ! 0: as SYNCYTE_CACHE_COMPUTATION_BYTES says
    integer(c_int64_t) :: computation_bytes = 0_c_int64_t
    ! where it lies
    integer(c_int32_t) :: memory = 0_c_int32_t
    ! the device for SYNCYTE_MEMORY_CUDA; -1: that of the thread's context, or 0
    integer(c_int32_t) :: device = -1_c_int32_t
    ! name and version of the framework whose allocations determine offsets, such as "torch 2.15.0", for
    ! syncyte_cache_check_framework(); at most 127 bytes; null: none
    type(c_ptr) :: framework = c_null_ptr
  end type syncyte_cache_sizes_t

  !> The Unix socket, in a folder, by which two processes pass a cache, and how long they wait.
  type, bind(C) :: syncyte_cache_rendezvous_t
    ! sizeof(syncyte_cache_rendezvous_t)
    integer(c_size_t) :: struct_size = 48_c_size_t
    ! the socket's file is NAME.syncyte; at most 60 bytes; null: as SYNCYTE_CACHE says
    type(c_ptr) :: name = c_null_ptr
    ! a folder of this user with mode 0700, made if it is missing; null: as SYNCYTE_CACHE_FOLDER says; a folder that
    ! neither names must not be a symbolic link
    type(c_ptr) :: folder = c_null_ptr
    ! a secret that both processes know; zeros: none
    integer(c_int64_t) :: nonce(2) = 0_c_int64_t
    ! seconds to wait; negative: as SYNCYTE_CACHE_TIMEOUT says
    real(c_double) :: timeout = -1_c_double
  end type syncyte_cache_rendezvous_t

  interface

    !> Allocates a cache of zeros. The system provides pages of host memory when they are first touched, those of a
    !> device at once. Default sizes are scaled down, with a warning in the log, if the machine, its control group
    !> or the device has less memory; on a device also to SYNCYTE_CACHE_DEVICE_BYTES.
    ! options [in]: sizes; null for defaults
    ! cache [out]: the cache
    ! Returns: SYNCYTE_ERR_MEMORY (the machine or the device has less than the chosen sizes, or
    ! SYNCYTE_CACHE_DEVICE_BYTES is less), SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_UNSUPPORTED (no devices, or they cannot
    ! share memory between processes), SYNCYTE_ERR_LIMIT.
    function syncyte_cache_create(options, cache) bind(C, name="syncyte_cache_create") result(answer)
      import
      type(syncyte_cache_sizes_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: cache
      integer(c_int32_t) :: answer
    end function syncyte_cache_create

    !> Adds a reference.
    ! cache [in]: a cache
    function syncyte_cache_retain(cache) bind(C, name="syncyte_cache_retain") result(answer)
      import
      type(c_ptr), value :: cache
      integer(c_int32_t) :: answer
    end function syncyte_cache_retain

    !> Drops a reference. Slices keep the memory until they are cleared.
    ! cache [in]: a cache
    function syncyte_cache_release(cache) bind(C, name="syncyte_cache_release") result(answer)
      import
      type(c_ptr), value :: cache
      integer(c_int32_t) :: answer
    end function syncyte_cache_release

    !> Drops a reference and nulls the handle; a null handle is ignored.
    ! cache [in,out]: a cache
    function syncyte_cache_destroy(cache) bind(C, name="syncyte_cache_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: cache
      integer(c_int32_t) :: answer
    end function syncyte_cache_destroy

    !> Sends a cache to one process of the same user, which calls syncyte_cache_receive() before or after. Waits for
    !> it.
    ! cache [in]: a cache; this process keeps its reference
    ! options [in]: socket and time limit; null for defaults
    ! Returns: SYNCYTE_ERR_TIMEOUT (no process has received it), SYNCYTE_ERR_BUSY (another process sends under this
    ! name), SYNCYTE_ERR_ARGUMENT (the name; a folder of another user, or that other users can open),
    ! SYNCYTE_ERR_IO, SYNCYTE_ERR_INTERRUPTED.
    function syncyte_cache_send(cache, options) bind(C, name="syncyte_cache_send") result(answer)
      import
      type(c_ptr), value :: cache
      type(syncyte_cache_rendezvous_t), intent(in), optional :: options
      integer(c_int32_t) :: answer
    end function syncyte_cache_send

    !> Receives a cache that another process of the same user sends. Waits for it.
    ! options [in]: socket and time limit; null for defaults
    ! cache [out]: the cache
    ! Returns: SYNCYTE_ERR_TIMEOUT (no process has sent one), SYNCYTE_ERR_ARGUMENT (as for syncyte_cache_send(); a
    ! nonce that differs from the sender's), SYNCYTE_ERR_FORMAT (the received file is not a cache),
    ! SYNCYTE_ERR_VERSION (a cache of another version), SYNCYTE_ERR_UNSUPPORTED (a cache on a device that this
    ! process does not see), SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_LIMIT (open files), SYNCYTE_ERR_IO,
    ! SYNCYTE_ERR_INTERRUPTED.
    function syncyte_cache_receive(options, cache) bind(C, name="syncyte_cache_receive") result(answer)
      import
      type(syncyte_cache_rendezvous_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: cache
      integer(c_int32_t) :: answer
    end function syncyte_cache_receive

    !> Checks that a cache was made for the framework of this process. Another version may allocate blocks of other
    !> sizes, or in another order, and so find other contents in them. A process with a framework calls it after
    !> syncyte_cache_receive().
    ! cache [in]: a cache; one that was made for no framework is for all
    ! framework [in]: name and version, as in syncyte_cache_sizes_t; null: none, which is no error
    ! Returns: SYNCYTE_ERR_VERSION, naming both, if the cache was made for another one.
    function syncyte_cache_check_framework(cache, framework) bind(C, name="syncyte_cache_check_framework") &
        result(answer)
      import
      type(c_ptr), value :: cache
      character(kind=c_char), intent(in), optional :: framework(*)
      integer(c_int32_t) :: answer
    end function syncyte_cache_check_framework

    !> Returns the sizes of a cache's parts, in bytes.
    ! cache [in]: a cache
    ! parameter_bytes [out]: bytes from offset 0 on
    ! computation_bytes [out]: bytes from offset parameter_bytes on
    function syncyte_cache_sizes(cache, parameter_bytes, computation_bytes) bind(C, name="syncyte_cache_sizes") &
        result(answer)
      import
      type(c_ptr), value :: cache
      integer(c_int64_t), intent(inout) :: parameter_bytes
      integer(c_int64_t), intent(inout) :: computation_bytes
      integer(c_int32_t) :: answer
    end function syncyte_cache_sizes

    !> Returns where a cache lies.
    ! cache [in]: a cache
    ! memory [out]: the kind of memory
    ! device [out]: the device's number in this process; 0 for host memory
    function syncyte_cache_device(cache, memory, device) bind(C, name="syncyte_cache_device") result(answer)
      import
      type(c_ptr), value :: cache
      integer(c_int32_t), intent(inout) :: memory
      integer(c_int32_t), intent(inout) :: device
      integer(c_int32_t) :: answer
    end function syncyte_cache_device

    !> Returns the address of a cache in this process, a multiple of 2 MiB; it differs between processes. That of a
    !> cache on a device is for its kernels and copies.
    ! cache [in]: a cache
    ! data [out]: its memory, valid while this process has a reference or a slice of the cache
    function syncyte_cache_data(cache, data) bind(C, name="syncyte_cache_data") result(answer)
      import
      type(c_ptr), value :: cache
      type(c_ptr), intent(inout) :: data
      integer(c_int32_t) :: answer
    end function syncyte_cache_data

    !> Makes bytes resident in this process, in huge pages if the machine has some, so that first uses do not wait
    !> for pages. Contents are kept. Those of a device are resident from the start.
    ! cache [in]: a cache
    ! offset [in]: 0 or more
    ! size [in]: bytes from offset on, 0 or more
    ! Returns: SYNCYTE_ERR_ARGUMENT (outside the cache), SYNCYTE_ERR_MEMORY (more than the machine has),
    ! SYNCYTE_ERR_INTERRUPTED (asked every 64 MiB; some of the bytes are resident then).
    function syncyte_cache_touch(cache, offset, size) bind(C, name="syncyte_cache_touch") result(answer)
      import
      type(c_ptr), value :: cache
      integer(c_int64_t), value :: offset
      integer(c_int64_t), value :: size
      integer(c_int32_t) :: answer
    end function syncyte_cache_touch

    !> Inserts a slice: the calling thread acquires blocks from these bytes, until it inserts another slice or calls
    !> syncyte_cache_clear().
    ! cache [in]: a cache
    ! offset [in]: a multiple of 512
    ! size [in]: bytes from offset on, a multiple of 512, 512 or more
    ! Returns: SYNCYTE_ERR_ARGUMENT (outside the cache, not a multiple), SYNCYTE_ERR_BUSY (overlaps a slice that a
    ! thread of this process has inserted and not cleared, or that has blocks of an ended thread or of a forked
    ! child's parent), SYNCYTE_ERR_UNSUPPORTED (a cache on a device).
    function syncyte_cache_insert(cache, offset, size) bind(C, name="syncyte_cache_insert") result(answer)
      import
      type(c_ptr), value :: cache
      integer(c_int64_t), value :: offset
      integer(c_int64_t), value :: size
      integer(c_int32_t) :: answer
    end function syncyte_cache_insert

    !> Removes all slices that the calling thread has inserted, of all caches.
    ! Returns: SYNCYTE_ERR_BUSY, naming offsets and sizes, while blocks of them are in use: nothing has changed
    ! then.
    function syncyte_cache_clear() bind(C, name="syncyte_cache_clear") result(answer)
      import
      integer(c_int32_t) :: answer
    end function syncyte_cache_clear

    !> Acquires a block from the slice that the calling thread has inserted last. A full slice is an error: there is
    !> no fallback to other memory.
    ! size [in]: 0 or more; rounded up to a multiple of 512, at least 512
    ! data [out]: a block at a multiple of 512 bytes; null if the thread has inserted no slice
    ! Returns: SYNCYTE_ERR_MEMORY (the slice has no room), SYNCYTE_ERR_ARGUMENT.
    function syncyte_cache_allocate(size, data) bind(C, name="syncyte_cache_allocate") result(answer)
      import
      integer(c_int64_t), value :: size
      type(c_ptr), intent(inout) :: data
      integer(c_int32_t) :: answer
    end function syncyte_cache_allocate

    !> Returns whether a pointer lies in a slice that this process has inserted, for a thread or a stream.
    ! data [in]: any pointer
    ! holds [out]: 1 if so, otherwise 0
    function syncyte_cache_holds(data, holds) bind(C, name="syncyte_cache_holds") result(answer)
      import
      type(c_ptr), value :: data
      integer(c_int32_t), intent(inout) :: holds
      integer(c_int32_t) :: answer
    end function syncyte_cache_holds

    !> Frees a block, from any thread.
    ! data [in]: a block of syncyte_cache_allocate(); null is ignored
    ! Returns: SYNCYTE_ERR_ARGUMENT for another pointer, or one that was freed before.
    function syncyte_cache_free(data) bind(C, name="syncyte_cache_free") result(answer)
      import
      type(c_ptr), value :: data
      integer(c_int32_t) :: answer
    end function syncyte_cache_free

    !> Inserts a slice of a cache on a device: the stream acquires blocks from these bytes, until it gets another
    !> slice or is cleared. The program must see to it that work which uses the bytes otherwise is done.
    ! cache [in]: a cache on a device
    ! stream [in]: a stream of that device, which must live as long as it has slices
    ! offset [in]: a multiple of 512
    ! size [in]: bytes from offset on, a multiple of 512, 512 or more
    ! may_overlap [in]: 1: the bytes may also be those of slices of other streams, if all of these were inserted
    ! with 1; the program must then not use blocks of several of them at the same time. Otherwise 0
    ! Returns: SYNCYTE_ERR_ARGUMENT (outside the cache, not a multiple), SYNCYTE_ERR_BUSY (overlaps a slice of this
    ! stream, or one of another stream that may not), SYNCYTE_ERR_UNSUPPORTED (a cache in host memory; a forked
    ! child).
    function syncyte_cache_insert_on_stream(cache, stream, offset, size, may_overlap) bind(C, &
        name="syncyte_cache_insert_on_stream") result(answer)
      import
      type(c_ptr), value :: cache
      type(c_ptr), value :: stream
      integer(c_int64_t), value :: offset
      integer(c_int64_t), value :: size
      integer(c_int32_t), value :: may_overlap
      integer(c_int32_t) :: answer
    end function syncyte_cache_insert_on_stream

    !> Waits for a stream, and removes all its slices, of all caches.
    ! device [in]: the stream's device
    ! stream [in]: the stream
    ! Returns: SYNCYTE_ERR_BUSY, naming offsets, while blocks of them are in use, or are freed and used by other
    ! streams: nothing has changed then.
    function syncyte_cache_clear_stream(device, stream) bind(C, name="syncyte_cache_clear_stream") &
        result(answer)
      import
      integer(c_int32_t), value :: device
      type(c_ptr), value :: stream
      integer(c_int32_t) :: answer
    end function syncyte_cache_clear_stream

    !> Removes all slices of the calling thread and of a stream, as syncyte_cache_clear() and
    !> syncyte_cache_clear_stream() do, or none.
    ! device [in]: the stream's device
    ! stream [in]: the stream
    ! Returns: SYNCYTE_ERR_BUSY, as these functions: nothing has changed then, for the thread nor for the stream.
    function syncyte_cache_clear_both(device, stream) bind(C, name="syncyte_cache_clear_both") result(answer)
      import
      integer(c_int32_t), value :: device
      type(c_ptr), value :: stream
      integer(c_int32_t) :: answer
    end function syncyte_cache_clear_both

    !> Returns whether a stream has slices.
    ! device [in]: the stream's device
    ! stream [in]: the stream
    ! has [out]: 1 if so, otherwise 0
    function syncyte_cache_stream_has_slice(device, stream, has) bind(C, name="syncyte_cache_stream_has_slice") &
        result(answer)
      import
      integer(c_int32_t), value :: device
      type(c_ptr), value :: stream
      integer(c_int32_t), intent(inout) :: has
      integer(c_int32_t) :: answer
    end function syncyte_cache_stream_has_slice

    !> Acquires a block from the last slice of a stream, for work that is queued on this stream. A slice that is
    !> full waits for freed blocks that other streams use; if it is full then, it is an error.
    ! device [in]: the stream's device
    ! stream [in]: the stream
    ! size [in]: 0 or more; rounded up to a multiple of 512, at least 512
    ! data [out]: a block at a multiple of 512 bytes; null if the stream has no slice
    ! Returns: SYNCYTE_ERR_MEMORY (the slice has no room), SYNCYTE_ERR_ARGUMENT.
    function syncyte_cache_allocate_on_stream(device, stream, size, data) bind(C, &
        name="syncyte_cache_allocate_on_stream") result(answer)
      import
      integer(c_int32_t), value :: device
      type(c_ptr), value :: stream
      integer(c_int64_t), value :: size
      type(c_ptr), intent(inout) :: data
      integer(c_int32_t) :: answer
    end function syncyte_cache_allocate_on_stream

    !> Notes that work on another stream uses a block. After it is freed, the block is acquired again only once all
    !> is done that the other stream has queued until then.
    ! device [in]: the device of the block's stream
    ! stream [in]: the stream that has acquired the block
    ! data [in]: the block
    ! other [in]: the other stream
    ! Returns: SYNCYTE_ERR_ARGUMENT for a pointer that is no block of the stream.
    function syncyte_cache_record_stream(device, stream, data, other) bind(C, &
        name="syncyte_cache_record_stream") result(answer)
      import
      integer(c_int32_t), value :: device
      type(c_ptr), value :: stream
      type(c_ptr), value :: data
      type(c_ptr), value :: other
      integer(c_int32_t) :: answer
    end function syncyte_cache_record_stream

    !> Frees a block of a stream, from any thread. Work that the stream has queued may still use it.
    ! device [in]: the device of the block's stream
    ! stream [in]: the stream that has acquired the block
    ! data [in]: the block; null is ignored
    ! Returns: SYNCYTE_ERR_ARGUMENT for a pointer that is no block of the stream, or that was freed before.
    function syncyte_cache_free_on_stream(device, stream, data) bind(C, name="syncyte_cache_free_on_stream") &
        result(answer)
      import
      integer(c_int32_t), value :: device
      type(c_ptr), value :: stream
      type(c_ptr), value :: data
      integer(c_int32_t) :: answer
    end function syncyte_cache_free_on_stream
  end interface
end module syncyte_cache_c
