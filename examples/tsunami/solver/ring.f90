! SPDX-License-Identifier: BSD-3-Clause
!> Tensors that solver and learners share: the sea at rest, held-out runs, a ring of training snapshots, counters.
!>
!> The solver's first rank, which is rank 0 of the job, decides whether a snapshot is written; the other ranks wait for
!> its ticket. A rank that waits sleeps on a counter. learner/ring.py is the learners' side.
module tsunami_ring
  use syncyte, only: SYNCYTE_COMPARE_GE, SYNCYTE_FLOAT32, SYNCYTE_INT64, syncyte_comm, syncyte_tensor
  use tsunami_grid, only: grid_t, state_t
  use tsunami_kinds, only: int64, real32, wp
  use tsunami_options, only: options_t
  use tsunami_store, only: close_slot, fill_slot, make_store, open_slot, store_t, strip_bytes
  implicit none
  private
  public :: ring_t, open_ring, close_ring, publish, publish_held_out, stop_wanted

  integer(int64), parameter :: layout_version = 2

  !> Counters, int64 elements of one tensor; the same numbers, from 0, are in learner/ring.py.
  integer, parameter, public :: &
    published = 1, &       !< training snapshots that are complete
    reads = 2, &           !< the learners' reads of training snapshots
    held_published = 3, &  !< held-out snapshots that are complete
    stop_flag = 4, &       !< set when the learners need no more snapshots
    finished = 5, &        !< learners that have ended
    bytes_put = 6, &       !< written into the ring and the held-out tensor
    overwritten = 7, &     !< snapshots overwritten before they were read often enough
    ticket = 8, &          !< slots that the solver's ranks may fill
    filled = 9, &          !< strips that the solver's other ranks have filled
    asked = 13, &          !< forecasts that the solver has asked for
    used = 14, &           !< and got in time
    time_alone = 15, &     !< milliseconds in which the solver has computed the held-out runs alone
    time_together = 16, &  !< and with forecasts
    counter_count = 16

  type :: ring_t
    type(store_t) :: training, held_out
    type(syncyte_tensor) :: counters
    type(syncyte_tensor) :: rest_depth            !< real32 (nx, ny), metres
    integer(int64) :: publication = 0             !< next of the training ring
    integer(int64) :: held_publication = 0
    integer(int64) :: tickets = 0                 !< slots filled so far, of both stores
    integer(int64) :: reads_wanted = 0            !< reads of a snapshot before it may be overwritten
    integer(int64) :: learners = 0
    real(wp) :: wait_limit = 2                    !< s
  end type ring_t

contains

  !> Makes all tensors. Collective over world: the learners learn the sizes from rank 0 and make the same ones.
  subroutine open_ring(world, grid, options, ring)
    type(syncyte_comm), intent(in) :: world
    type(grid_t), intent(in) :: grid
    type(options_t), intent(in) :: options
    type(ring_t), intent(out) :: ring
    integer(int64) :: sizes(9), held_slots, slots

    held_slots = int(options%held_out_runs, int64)*options%snapshots
    slots = int(options%ring_runs, int64)*options%snapshots
    sizes = [layout_version, int(grid%nx, int64), int(grid%ny, int64), slots, held_slots, &
             int(options%snapshots, int64), nint(1000*options%interval, int64), int(grid%ranks, int64), &
             int(merge(options%forecast_lead, 0, options%forecast_every > 0), int64)]
    call world%bcast(sizes, 0)
    call ring%counters%create(world, SYNCYTE_INT64, [counter_count], name='counters', &
                              local_rows=int(merge(counter_count, 0, grid%rank == 0), int64))
    call share_rest_depth(world, grid, ring%rest_depth)
    call make_store(world, grid, held_slots, 'held-out', ring%held_out)
    call make_store(world, grid, slots, 'ring', ring%training)
    ring%reads_wanted = options%reads
    ring%wait_limit = options%wait_limit
    ring%learners = world%size() - grid%ranks
  end subroutine open_ring

  !> Makes the tensor of the depth at rest. Every rank writes its strip in place; sync() makes it visible to all ranks.
  subroutine share_rest_depth(world, grid, rest_depth)
    type(syncyte_comm), intent(in) :: world
    type(grid_t), intent(in) :: grid
    type(syncyte_tensor), intent(out) :: rest_depth
    real(real32), pointer :: depth(:, :)

    call rest_depth%create(world, SYNCYTE_FLOAT32, [grid%nx, grid%ny], &
                           local_rows=int(grid%last - grid%first + 1, int64), name='depth at rest')
    call rest_depth%local(depth)
    depth(:, grid%first:grid%last) = real(max(0.0_wp, -grid%bed(1:grid%nx, grid%first:grid%last)), real32)
    call rest_depth%sync()
  end subroutine share_rest_depth

  !> Writes a snapshot into the ring. All solver ranks call it. If the learners need no more snapshots, alive is false
  !> and nothing is written.
  subroutine publish(ring, grid, state, run, snapshot, time, alive)
    type(ring_t), intent(inout) :: ring
    type(grid_t), intent(in) :: grid
    type(state_t), intent(in) :: state
    integer(int64), intent(in) :: run, snapshot
    real(wp), intent(in) :: time
    logical, intent(out) :: alive

    if (grid%rank == 0) call wait_for_readers(ring)
    call write_snapshot(ring, ring%training, ring%publication, grid, state, run, snapshot, time, alive)
    if (.not. alive) return
    ring%publication = ring%publication + 1
    if (grid%rank == 0) call ring%counters%store(published, ring%publication)
  end subroutine publish

  !> Writes a snapshot into the held-out tensor, where it is never overwritten.
  subroutine publish_held_out(ring, grid, state, run, snapshot, time, alive)
    type(ring_t), intent(inout) :: ring
    type(grid_t), intent(in) :: grid
    type(state_t), intent(in) :: state
    integer(int64), intent(in) :: run, snapshot
    real(wp), intent(in) :: time
    logical, intent(out) :: alive

    call write_snapshot(ring, ring%held_out, ring%held_publication, grid, state, run, snapshot, time, alive)
    if (.not. alive) return
    ring%held_publication = ring%held_publication + 1
    if (grid%rank == 0) call ring%counters%store(held_published, ring%held_publication)
  end subroutine publish_held_out

  !> While the ring is full and its oldest snapshot has not been read often enough, sleeps, at most for the limit.
  subroutine wait_for_readers(ring)
    type(ring_t), intent(inout) :: ring
    integer(int64) :: oldest
    logical :: timed_out

    oldest = ring%publication - ring%training%slots
    if (oldest < 0) return
    call ring%counters%wait(reads, SYNCYTE_COMPARE_GE, (oldest + 1)*ring%reads_wanted, timeout=ring%wait_limit, &
                            timed_out=timed_out)
    if (timed_out) call ring%counters%fetch_add(overwritten, 1)
  end subroutine wait_for_readers

  subroutine write_snapshot(ring, store, publication, grid, state, run, snapshot, time, alive)
    type(ring_t), intent(inout) :: ring
    type(store_t), intent(inout) :: store
    integer(int64), intent(in) :: publication, run, snapshot
    type(grid_t), intent(in) :: grid
    type(state_t), intent(in) :: state
    real(wp), intent(in) :: time
    logical, intent(out) :: alive

    ring%tickets = ring%tickets + 1
    alive = .true.
    if (grid%rank == 0) then
      alive = .not. stop_wanted(ring)
      if (alive) call open_slot(store, publication)
    end if
    if (grid%ranks > 1) call follow_ticket(ring, grid, alive)
    if (.not. alive) return
    call fill_slot(store, publication, grid, state)
    call ring%counters%fetch_add(bytes_put, strip_bytes(store))
    if (grid%rank > 0) then
      call ring%counters%fetch_add(filled, 1)
    else
      call ring%counters%wait(filled, SYNCYTE_COMPARE_GE, ring%tickets*(grid%ranks - 1))
      call close_slot(store, publication, run, snapshot, time)
    end if
  end subroutine write_snapshot

  !> Rank 0 issues the ticket that lets the other ranks fill the slot, or the last ticket, which stops them.
  subroutine follow_ticket(ring, grid, alive)
    type(ring_t), intent(inout) :: ring
    type(grid_t), intent(in) :: grid
    logical, intent(inout) :: alive
    integer(int64), parameter :: last_ticket = huge(1_int64)
    integer(int64) :: found

    if (grid%rank == 0) then
      call ring%counters%store(ticket, merge(ring%tickets, last_ticket, alive))
    else
      call ring%counters%wait(ticket, SYNCYTE_COMPARE_GE, ring%tickets, found=found)
      alive = found < last_ticket
    end if
  end subroutine follow_ticket

  logical function stop_wanted(ring)
    type(ring_t), intent(in) :: ring

    stop_wanted = ring%counters%load(stop_flag) /= 0
  end function stop_wanted

  !> Sleeps until all learners have ended, and destroys the tensors.
  subroutine close_ring(ring)
    type(ring_t), intent(inout) :: ring

    call ring%counters%wait(finished, SYNCYTE_COMPARE_GE, ring%learners)
    call ring%training%snapshots%destroy()
    call ring%training%headers%destroy()
    call ring%held_out%snapshots%destroy()
    call ring%held_out%headers%destroy()
    call ring%rest_depth%destroy()
    call ring%counters%destroy()
  end subroutine close_ring
end module tsunami_ring
