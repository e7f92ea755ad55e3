! SPDX-License-Identifier: BSD-3-Clause
!> Pointers and gathers of every type, arrays that a function's result has allocated, and sizes of structures, which must
!> equal C's.
program test_kinds
  use, intrinsic :: iso_c_binding
  use syncyte
  use syncyte_c  ! both modules have a syncyte_finalize
  use checks
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_tensor) :: t
  integer(c_int32_t) :: last

  call structures()
  call syncyte_init()
  call world%from_world()
  last = 2*world%size()
  call reals()
  call complexes()
  call integers()
  call bits()
  call flags()
  call spans()
  call components()
  call world%destroy()
  call syncyte_finalize()
  call checks_end()

contains

  !> A tensor of 3 x (two rows for each rank).
  subroutine make(dtype)
    integer(c_int32_t), intent(in) :: dtype

    call t%create(world, dtype, [3, last])
  end subroutine make

  subroutine reals()
    real(c_float), pointer :: p4(:, :), n4(:, :)
    real(c_double), pointer :: p8(:, :), n8(:, :)
    real(c_float) :: r4(3)
    real(c_double) :: r8(3)

    call make(SYNCYTE_FLOAT32)
    call t%local(p4)
    call t%node(n4)
    p4 = 1.5
    call t%sync()
    call t%gather(last, r4)
    call check(all(r4 == 1.5) .and. all(n4 == 1.5), "real(4)")
    call t%sync()
    call make(SYNCYTE_FLOAT64)
    call t%local(p8)
    call t%node(n8)
    p8 = 2.5d0
    call t%sync()
    call t%gather(last, r8)
    call check(all(r8 == 2.5d0) .and. all(n8 == 2.5d0), "real(8)")
    call t%sync()
  end subroutine reals

  subroutine complexes()
    complex(c_float_complex), pointer :: p4(:, :), n4(:, :)
    complex(c_double_complex), pointer :: p8(:, :), n8(:, :)
    complex(c_float_complex) :: r4(3)
    complex(c_double_complex) :: r8(3)

    call make(SYNCYTE_COMPLEX64)
    call t%local(p4)
    call t%node(n4)
    p4 = (1.0, 2.0)
    call t%sync()
    call t%gather(last, r4)
    call check(all(r4 == (1.0, 2.0)) .and. all(n4 == (1.0, 2.0)), "complex(4)")
    call t%sync()
    call make(SYNCYTE_COMPLEX128)
    call t%local(p8)
    call t%node(n8)
    p8 = (3.0, 4.0)
    call t%sync()
    call t%gather(last, r8)
    call check(all(r8 == (3.0, 4.0)) .and. all(n8 == (3.0, 4.0)), "complex(8)")
    call t%sync()
  end subroutine complexes

  subroutine integers()
    integer(c_int8_t), pointer :: p1(:, :), n1(:, :)
    integer(c_int16_t), pointer :: p2(:, :), n2(:, :)
    integer(c_int32_t), pointer :: p4(:, :), n4(:, :)
    integer(c_int64_t), pointer :: p8(:, :), n8(:, :)

    call make(SYNCYTE_INT8)
    call t%local(p1)
    p1 = -1_c_int8_t
    call t%sync()
    call t%node(n1)
    call check(all(n1 == -1), "integer(1)")
    call t%sync()
    call make(SYNCYTE_INT16)
    call t%local(p2)
    p2 = 2_c_int16_t
    call t%sync()
    call t%node(n2)
    call check(all(n2 == 2), "integer(2)")
    call t%sync()
    call make(SYNCYTE_INT32)
    call t%local(p4)
    p4 = 4
    call t%sync()
    call t%node(n4)
    call check(all(n4 == 4), "integer(4)")
    call t%sync()
    call make(SYNCYTE_INT64)
    call t%local(p8)
    p8 = 8_c_int64_t
    call t%sync()
    call t%node(n8)
    call check(all(n8 == 8), "integer(8)")
    call t%sync()
  end subroutine integers

  !> Types that Fortran does not have, unsigned integers and 16-bit floats, are integers of the same size.
  subroutine bits()
    integer(c_int8_t), pointer :: bytes(:, :)
    integer(c_int16_t), pointer :: halves(:, :)
    integer(c_int64_t), pointer :: longs(:, :)
    integer(c_int64_t) :: long_row(3)
    integer(c_int16_t) :: row(3)
    integer(c_int8_t) :: byte_row(3)

    call make(SYNCYTE_UINT8)
    call t%local(bytes)
    bytes = -1_c_int8_t
    call t%sync()
    call t%gather(last, byte_row)
    call check(all(byte_row == -1), "255 as integer(1)")
    call t%sync()
    call make(SYNCYTE_UINT64)
    call t%local(longs)
    longs = -1_c_int64_t
    call t%sync()
    call t%gather(last, long_row)
    call check(all(long_row == -1), "2**64 - 1 as integer(8)")
    call t%sync()
    call make(SYNCYTE_FLOAT16)
    call t%local(halves)
    halves = int(z'3C00', c_int16_t)
    call t%sync()
    call t%scatter_add([last], [halves(1, ubound(halves, 2)), 0_c_int16_t, 0_c_int16_t])
    call t%sync()
    call t%gather(last, row)
    call check_equal(int(row(2)), int(z'3C00'), "1.0 in half precision, untouched")
    if (world%size() == 1) call check_equal(int(row(1)), int(z'4000'), "1.0 + 1.0 in half precision")
    call t%sync()
  end subroutine bits

  subroutine flags()
    logical(c_bool), pointer :: p(:, :), n(:, :)
    logical(c_bool) :: row(3)

    call make(SYNCYTE_BOOL)
    call t%local(p)
    p(2, :) = .true._c_bool
    call t%sync()
    call t%node(n)
    call t%gather(last, row)
    call check(all(row .eqv. [.false., .true., .false.]), "logical(c_bool)")
    call check(count(n) == last, "logical(c_bool) on the node")
    call t%sync()
    call t%destroy()
  end subroutine flags

  !> Arrays that an assignment has allocated, whole and in sections; their descriptors are as gfortran 14 leaves them.
  subroutine spans()
    interface
      subroutine unset_span(array, span)
        import :: c_double
        real(c_double), allocatable, intent(inout) :: array(:, :)
        integer, intent(in) :: span
      end subroutine unset_span
    end interface
    real(c_double), allocatable :: whole(:, :), got(:, :), part(:, :)
    integer, allocatable :: odd(:)
    integer, parameter :: no_spans(*) = [0, 4, -8, huge(0)]
    integer :: i, k, span

    call make(SYNCYTE_FLOAT64)
    do i = 1, size(no_spans)
      span = no_spans(i)
      if (allocated(whole)) deallocate (whole, got, part)
      whole = reshape([(real(k, c_double), k=1, 3*last)], [3, int(last)])
      got = reshape([(0.0_c_double, k=1, 3*last)], [3, int(last)])
      part = reshape([(0.0_c_double, k=1, 6)], [3, 2])
      call unset_span(whole, span)
      if (world%rank() == 0) call t%put([1, 1], shape(whole), whole)
      call t%sync()
      call unset_span(got, span)
      call t%get([2, 1], [3, int(last)], got(2:3, :))
      call check(all(got(2:3, :) == whole(2:3, :)) .and. all(got(1, :) == 0), "a section of an assigned array")
      odd = pack([(k, k=1, last)], [(mod(k, 2) == 1, k=1, last)])
      got = 0
      call unset_span(got, span)
      call t%gather(odd, got(:, :size(odd)))
      call check(all(got(:, :size(odd)) == whole(:, odd)), "rows by packed numbers")
      call unset_span(whole, span)
      call unset_span(part, span)
      call world%scatter_along(whole, part, root=0)
      call check(all(part == whole(:, 2*world%rank() + 1:2*world%rank() + 2)), "an assigned array's parts")
      call t%sync()
    end do
  end subroutine spans

  !> A dummy pointer to a component: the span of its descriptor is the size of the derived type.
  subroutine components()
    type :: particle
      real(c_double) :: x = 0, y = 0, z = 0
    end type particle
    type(particle), target :: particles(3)
    real(c_double), pointer :: y(:)
    real(c_double) :: got(3, 1)

    call make(SYNCYTE_FLOAT64)
    particles%y = [1, 2, 3]
    particles%z = 9
    y => particles%y
    if (world%rank() == 0) call put_row(y)
    call t%sync()
    call t%gather([1], got)
    call check(all(got(:, 1) == particles%y), "a pointer to a component")
    call t%sync()
    call t%destroy()
  end subroutine components

  subroutine put_row(y)
    real(c_double), pointer, intent(in) :: y(:)
    call t%put([1, 1], [3, 1], y)
    call check(all(y == [1, 2, 3]), "the pointer stays as it is")
  end subroutine put_row

  !> struct_size and the size of each structure equal those in C (support/sizes.c).
  subroutine structures()
    type(syncyte_buffer_t) :: buffer
    type(syncyte_trace_event_t) :: event
    type(syncyte_init_options_t) :: init
    type(syncyte_comm_options_t) :: comm
    type(syncyte_collective_options_t) :: collective
    type(syncyte_topology_t) :: topology
    type(syncyte_memory_stats_t) :: stats
    type(syncyte_tensor_options_t) :: tensor
    type(syncyte_window_options_t) :: window
    integer(c_size_t) :: here(9), c(9)
    real(c_double), target :: x

    interface
      subroutine c_sizes(sizes) bind(C, name="c_sizes")
        import
        integer(c_size_t), intent(out) :: sizes(*)
      end subroutine c_sizes
    end interface

    call c_sizes(c)
    here = [buffer%struct_size, event%struct_size, init%struct_size, comm%struct_size, collective%struct_size, &
            topology%struct_size, stats%struct_size, tensor%struct_size, window%struct_size]
    call check(all(here == c), "struct_size as in C")
    here = [c_sizeof(buffer), c_sizeof(event), c_sizeof(init), c_sizeof(comm), c_sizeof(collective), &
            c_sizeof(topology), c_sizeof(stats), c_sizeof(tensor), c_sizeof(window)]
    call check(all(here == c), "sizes as in C")
    call check(init%thread_level == 3 .and. comm%check == -1 .and. tensor%local_rows == -1, "defaults")
    call check_equal(int(syncyte_buffer_set(c_loc(x), SYNCYTE_FLOAT64, 0_c_int32_t, buffer=buffer)), 0, "buffer_init")
    call check(c_associated(buffer%data, c_loc(x)) .and. buffer%dtype == SYNCYTE_FLOAT64, "members as in C")
  end subroutine structures

end program test_kinds
