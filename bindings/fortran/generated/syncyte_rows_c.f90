! SPDX-License-Identifier: BSD-3-Clause
! Generated from syncyte/rows.h by bindings/generate; do not edit.
!> Rows of any array in this process's memory.
module syncyte_rows_c
  use, intrinsic :: iso_c_binding
  use syncyte_base_c
  implicit none
  public

  interface

    !> Reads rows of an array: output[i] = table[index[i]], converted if the types differ. Local, without MPI;
    !> callable at any time, by several threads at once. Rows may repeat. float16, bfloat16, float32 and float64 are
    !> converted into each other, rounded to nearest even; float64 is converted to 16-bit types by way of float32.
    !> All three may be on one device: the operation is queued on the stream of memory_set_stream(), or complete on
    !> return if there is none. An index that is out of range is skipped then; it is the error of the call or, if it
    !> was queued, of the next call for a table of this device, or of tensor_sync() of a tensor on it, that finds it
    !> done; its row of the output is zeros.
    ! table [in]: 1 or more dimensions, any strides; the dimensions after the first form a row, which is contiguous
    ! in device memory
    ! index [in]: int32 or int64, contiguous, any number of dimensions
    ! output [out]: contiguous, index's elements times a row's elements; must not overlap the table
    ! Returns: SYNCYTE_ERR_INDEX (names the first index that is out of range and its position; nothing is written in
    ! host memory), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_ARGUMENT (output overlaps the table, or they
    ! lie on different devices), SYNCYTE_ERR_UNSUPPORTED (a build without kernels).
    function syncyte_rows_gather(table, index, output) bind(C, name="syncyte_rows_gather") result(answer)
      import
      type(syncyte_buffer_t), intent(in) :: table
      type(syncyte_buffer_t), intent(in) :: index
      type(syncyte_buffer_t), intent(in) :: output
      integer(c_int32_t) :: answer
    end function syncyte_rows_gather
  end interface
end module syncyte_rows_c
