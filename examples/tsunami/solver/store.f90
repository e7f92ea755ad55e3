! SPDX-License-Identifier: BSD-3-Clause
!> Snapshots in whole tensors: slots that the solver's ranks write strip by strip and that learners read at any time.
!>
!> A slot has a header of eight int64: sequence, run, snapshot number, time in milliseconds, three unused. The sequence
!> is 2 p + 1 while publication p (from 0) is written and 2 p + 2 once it is complete. A reader that finds 2 p + 2
!> before and after its gather has read publication p and nothing else. learner/ring.py uses the same layout.
module tsunami_store
  use syncyte, only: SYNCYTE_FLOAT32, SYNCYTE_INT64, syncyte_comm, syncyte_tensor
  use tsunami_grid, only: grid_t, state_t
  use tsunami_kinds, only: int64, real32, wp
  implicit none
  private
  public :: store_t, make_store, open_slot, fill_slot, close_slot, strip_bytes

  integer, parameter :: header_length = 8, variables = 3

  type :: store_t
    integer(int64) :: slots = 0
    type(syncyte_tensor) :: snapshots              !< real32 (nx, ny, 3, slots): depth and momenta
    type(syncyte_tensor) :: headers                !< int64 (8, slots)
    real(real32), allocatable :: strip(:, :, :)    !< this rank's part of one snapshot
  end type store_t

contains

  !> Makes a store. Collective over world: the learners make the same tensors in the same order, with no rows.
  subroutine make_store(world, grid, slots, name, store)
    type(syncyte_comm), intent(in) :: world
    type(grid_t), intent(in) :: grid
    integer(int64), intent(in) :: slots
    character(len=*), intent(in) :: name
    type(store_t), intent(out) :: store
    integer(int64) :: mine

    store%slots = slots
    mine = slots/grid%ranks + merge(1, 0, grid%rank < modulo(slots, int(grid%ranks, int64)))
    call store%snapshots%create(world, SYNCYTE_FLOAT32, [int(grid%nx, int64), int(grid%ny, int64), &
                                int(variables, int64), slots], local_rows=mine, name=name)
    call store%headers%create(world, SYNCYTE_INT64, [int(header_length, int64), slots], local_rows=mine, &
                              name=name//' headers')
    allocate (store%strip(grid%nx, grid%first:grid%last, variables))
  end subroutine make_store

  !> The slot of a publication, from 1.
  pure integer(int64) function slot_of(store, publication)
    type(store_t), intent(in) :: store
    integer(int64), intent(in) :: publication

    slot_of = 1 + modulo(publication, store%slots)
  end function slot_of

  !> Marks the slot as incomplete for readers. One rank calls it, before any rank fills the slot.
  subroutine open_slot(store, publication)
    type(store_t), intent(inout) :: store
    integer(int64), intent(in) :: publication

    call store%headers%store([1_int64, slot_of(store, publication)], 2*publication + 1)
    call store%headers%flush()  ! the mark is visible before the first byte of the snapshot
  end subroutine open_slot

  !> Writes this rank's strip. Every rank calls it after open_slot.
  subroutine fill_slot(store, publication, grid, state)
    type(store_t), intent(inout) :: store
    integer(int64), intent(in) :: publication
    type(grid_t), intent(in) :: grid
    type(state_t), intent(in) :: state

    associate (n => grid%nx, first => grid%first, last => grid%last)
      store%strip(:, :, 1) = real(state%h(1:n, first:last), real32)
      store%strip(:, :, 2) = real(state%hu(1:n, first:last), real32)
      store%strip(:, :, 3) = real(state%hv(1:n, first:last), real32)
      call store%snapshots%put_box([1_int64, int(first, int64), 1_int64, slot_of(store, publication)], store%strip)
    end associate
    call store%snapshots%flush()
  end subroutine fill_slot

  !> Completes the slot. One rank calls it, after an acquire has shown that all strips are written.
  subroutine close_slot(store, publication, run, snapshot, time)
    type(store_t), intent(inout) :: store
    integer(int64), intent(in) :: publication, run, snapshot
    real(wp), intent(in) :: time
    integer(int64) :: slot

    slot = slot_of(store, publication)
    call store%headers%store([2_int64, slot], run)
    call store%headers%store([3_int64, slot], snapshot)
    call store%headers%store([4_int64, slot], nint(1000*time, int64))
    call store%headers%store([1_int64, slot], 2*publication + 2)
  end subroutine close_slot

  pure integer(int64) function strip_bytes(store)
    type(store_t), intent(in) :: store

    strip_bytes = 4_int64*size(store%strip, kind=int64)
  end function strip_bytes
end module tsunami_store
