! SPDX-License-Identifier: BSD-3-Clause
! Generated from syncyte/reducer.h by bindings/generate; do not edit.
!> Buckets of memory that all ranks sum in place while they compute: gradient averaging.
module syncyte_reducer_c
  use, intrinsic :: iso_c_binding
  use syncyte_comm_c, c_syncyte_finalize => syncyte_finalize
  implicit none
  public
  private :: c_syncyte_finalize

  !> Options of a reducer.
  type, bind(C) :: syncyte_reducer_options_t
    ! sizeof(syncyte_reducer_options_t)
    integer(c_size_t) :: struct_size = 16_c_size_t
    ! factor of the sums; 1 / number of ranks gives means
    real(c_double) :: scale = 1_c_double
  end type syncyte_reducer_options_t

  interface

    !> Makes a reducer with zeroed buckets. Collective; facts: buckets, dtypes, elements, options->scale.
    ! comm [in]: a communicator, which the reducer keeps alive
    ! buckets [in]: number of buckets, 1 or more
    ! dtypes [in]: element types, floating-point or complex; 16-bit floats are summed in float32 and rounded once
    ! elements [in]: numbers of elements, 0 or more; all buckets together have at most 2^56 bytes
    ! options [in]: null for defaults
    ! reducer [out]: the reducer
    ! Returns: SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_MEMORY (all ranks' buckets of a node together do
    ! not fit), SYNCYTE_ERR_MISMATCH.
    function syncyte_reducer_create(comm, buckets, dtypes, elements, options, reducer) bind(C, &
        name="syncyte_reducer_create") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: buckets
      integer(c_int32_t), intent(in) :: dtypes(*)
      integer(c_int64_t), intent(in) :: elements(*)
      type(syncyte_reducer_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: reducer
      integer(c_int32_t) :: answer
    end function syncyte_reducer_create

    !> Adds a reference. Local, thread-safe, without MPI.
    ! reducer [in]: a reducer
    function syncyte_reducer_retain(reducer) bind(C, name="syncyte_reducer_retain") result(answer)
      import
      type(c_ptr), value :: reducer
      integer(c_int32_t) :: answer
    end function syncyte_reducer_retain

    !> Drops a reference. The last release frees this rank's buckets and gives up the round; ranks may drop their
    !> reducers in any order. Local, thread-safe, without MPI.
    ! reducer [in]: a reducer
    function syncyte_reducer_release(reducer) bind(C, name="syncyte_reducer_release") result(answer)
      import
      type(c_ptr), value :: reducer
      integer(c_int32_t) :: answer
    end function syncyte_reducer_release

    !> Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_reducer_release().
    ! reducer [in,out]: a reducer
    function syncyte_reducer_destroy(reducer) bind(C, name="syncyte_reducer_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: reducer
      integer(c_int32_t) :: answer
    end function syncyte_reducer_destroy

    !> Returns this rank's memory of a bucket. Local. It must not be read or written from the start of the bucket
    !> until the end of the round.
    ! reducer [in]: a reducer
    ! bucket [in]: 0 to buckets - 1
    ! buffer [in,out]: struct_size set by the caller; data, dtype and extent (one dimension), owned by the reducer
    ! Returns: SYNCYTE_ERR_ARGUMENT for a bucket that does not exist.
    function syncyte_reducer_bucket(reducer, bucket, buffer) bind(C, name="syncyte_reducer_bucket") &
        result(answer)
      import
      type(c_ptr), value :: reducer
      integer(c_int32_t), value :: bucket
      type(syncyte_buffer_t), intent(inout) :: buffer
      integer(c_int32_t) :: answer
    end function syncyte_reducer_bucket

    !> Starts the sum of a bucket that this rank has filled. All ranks start all buckets in each round, in any
    !> order. Does not wait for other ranks; sums parts of buckets that all ranks of the node have started.
    ! reducer [in]: a reducer
    ! bucket [in]: 0 to buckets - 1
    ! Returns: SYNCYTE_ERR_BUSY if this rank has already started it in this round; SYNCYTE_ERR_ARGUMENT for a bucket
    ! that does not exist.
    function syncyte_reducer_start(reducer, bucket) bind(C, name="syncyte_reducer_start") result(answer)
      import
      type(c_ptr), value :: reducer
      integer(c_int32_t), value :: bucket
      integer(c_int32_t) :: answer
    end function syncyte_reducer_start

    !> Sums parts of buckets that all ranks of the node have started, without waiting. Local.
    ! reducer [in]: a reducer
    function syncyte_reducer_progress(reducer) bind(C, name="syncyte_reducer_progress") result(answer)
      import
      type(c_ptr), value :: reducer
      integer(c_int32_t) :: answer
    end function syncyte_reducer_progress

    !> Waits for the end of the round: all buckets hold the sums. Collective.
    ! reducer [in]: a reducer
    ! Returns: SYNCYTE_ERR_ARGUMENT if this rank has not started all buckets: the round continues.
    ! SYNCYTE_ERR_MISMATCH if a rank has given up the round: it has ended, and the contents of the buckets are
    ! undefined.
    function syncyte_reducer_wait(reducer) bind(C, name="syncyte_reducer_wait") result(answer)
      import
      type(c_ptr), value :: reducer
      integer(c_int32_t) :: answer
    end function syncyte_reducer_wait

    !> Gives up the round: syncyte_reducer_wait() returns SYNCYTE_ERR_MISMATCH with this rank's number on all ranks.
    !> This rank must call syncyte_reducer_wait() too. Local; does not wait.
    ! reducer [in]: a reducer
    function syncyte_reducer_give_up(reducer) bind(C, name="syncyte_reducer_give_up") result(answer)
      import
      type(c_ptr), value :: reducer
      integer(c_int32_t) :: answer
    end function syncyte_reducer_give_up
  end interface
end module syncyte_reducer_c
