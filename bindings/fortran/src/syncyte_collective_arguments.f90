! SPDX-License-Identifier: BSD-3-Clause
!> Arguments of collectives that other ranks determine: whether this rank is root, and the counts of all ranks.
module syncyte_collective_arguments
  use, intrinsic :: iso_c_binding
  use syncyte_c
  use syncyte_fortran_c
  implicit none
  private
  public :: is_root, collect_counts

contains

  !> Whether this rank is root; false on an error, which the collective reports.
  logical function is_root(comm, root)
    type(c_ptr), intent(in) :: comm
    integer, intent(in) :: root
    integer(c_int32_t) :: rank

    is_root = .false.
    if (syncyte_comm_rank(comm, rank) == SYNCYTE_SUCCESS) is_root = rank == root
  end function is_root

  !> Collects the extents of all ranks' parts along an axis, which counts from the end. Collective.
  integer(c_int32_t) function collect_counts(comm, part, axis, counts) result(status)
    type(c_ptr), intent(in) :: comm
    type(syncyte_buffer_t), intent(in) :: part
    integer(c_int32_t), intent(in) :: axis
    integer(c_int64_t), allocatable, intent(out) :: counts(:)
    integer(c_int32_t) :: ranks

    status = syncyte_comm_size(comm, ranks)
    if (status /= SYNCYTE_SUCCESS) return
    allocate (counts(ranks))
    status = syncyte_comm_counts(comm, part%shape(part%ndim + axis + 1), counts=counts, &
                                 counts_length=size(counts, kind=c_int64_t))
  end function collect_counts

end module syncyte_collective_arguments
