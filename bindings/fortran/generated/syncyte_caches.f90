! SPDX-License-Identifier: BSD-3-Clause
! Generated from methods/caches.methods by bindings/generate; do not edit.
!> The shared cache: type(syncyte_cache), memory that the processes of one user share on a machine.
!>
!> It has a part for parameters at offset 0, and one for computation behind it. No procedure needs MPI or syncyte_init.
module syncyte_caches
  use, intrinsic :: iso_c_binding
  use syncyte_c
  use syncyte_errors
  use syncyte_fortran_c
  use syncyte_spans
  implicit none
  private
  !> A shared cache. A reference: assignment copies the reference; destroy drops one.
  type, public :: syncyte_cache
    type(c_ptr) :: handle = c_null_ptr  !< syncyte_cache_t, for calls of syncyte_c
  contains
    procedure :: create => cache_create
    procedure :: destroy => cache_destroy
    procedure :: is_null => cache_is_null
    procedure :: send => cache_send
    procedure :: receive => cache_receive
    procedure :: sizes => cache_sizes
    procedure :: touch => cache_touch
    !> Points to elements from number first on, from 1: (:) up to the end, or an array of the given shape.
    generic :: pointer => cache_pointer_real4, cache_pointer_real8, cache_pointer_complex4, &
        cache_pointer_complex8, cache_pointer_integer1, cache_pointer_integer2, cache_pointer_integer4, &
        cache_pointer_integer8, cache_pointer_logical1
    procedure, private :: cache_pointer_real4, cache_pointer_real8, cache_pointer_complex4, &
        cache_pointer_complex8, cache_pointer_integer1, cache_pointer_integer2, cache_pointer_integer4, &
        cache_pointer_integer8, cache_pointer_logical1
    procedure :: insert => cache_insert
    procedure :: clear => cache_clear
    !> Allocates an array in the slice that this thread has inserted last; null if it has inserted none.
    generic :: allocate => cache_allocate_real4, cache_allocate_real8, cache_allocate_complex4, &
        cache_allocate_complex8, cache_allocate_integer1, cache_allocate_integer2, cache_allocate_integer4, &
        cache_allocate_integer8, cache_allocate_logical1
    procedure, private :: cache_allocate_real4, cache_allocate_real8, cache_allocate_complex4, &
        cache_allocate_complex8, cache_allocate_integer1, cache_allocate_integer2, cache_allocate_integer4, &
        cache_allocate_integer8, cache_allocate_logical1
    !> Frees an array of allocate, from any thread, and nulls the pointer; a null pointer is ignored.
    generic :: free => cache_free_real4, cache_free_real8, cache_free_complex4, cache_free_complex8, &
        cache_free_integer1, cache_free_integer2, cache_free_integer4, cache_free_integer8, cache_free_logical1
    procedure, private :: cache_free_real4, cache_free_real8, cache_free_complex4, cache_free_complex8, &
        cache_free_integer1, cache_free_integer2, cache_free_integer4, cache_free_integer8, cache_free_logical1
    procedure :: holds => cache_holds
  end type syncyte_cache

contains

  !> Allocates a cache of zeros; sizes that are absent come from the environment, or are defaults.
  subroutine cache_create(self, parameter_bytes, computation_bytes, stat, errmsg)
    class(syncyte_cache), intent(inout) :: self
    ! 0: as SYNCYTE_CACHE_PARAMETER_BYTES says (docs/environment.md)
    type(*), dimension(..), intent(in), target, optional :: parameter_bytes
    type(*), dimension(..), intent(in), target, optional :: computation_bytes  !! 0: as SYNCYTE_CACHE_COMPUTATION_BYTES says
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: parameter_bytes_c
    integer(c_int64_t) :: computation_bytes_c
    type(syncyte_cache_sizes_t) :: options
    type(c_ptr) :: made
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(parameter_bytes)
    call syncyte_set_span(computation_bytes)
    local = SYNCYTE_SUCCESS
    if (present(parameter_bytes) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(parameter_bytes, &
        "parameter_bytes"//c_null_char, parameter_bytes_c)
    if (present(parameter_bytes)) options%parameter_bytes = parameter_bytes_c
    if (present(computation_bytes) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(computation_bytes, &
        "computation_bytes"//c_null_char, computation_bytes_c)
    if (present(computation_bytes)) options%computation_bytes = computation_bytes_c
    made = c_null_ptr
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "cache_create"//c_null_char)
    else
      status = syncyte_cache_create(options, made)
    end if
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_cache_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine cache_create

  !> Drops the reference; a null reference is ignored. Pointers to the cache are then invalid.
  subroutine cache_destroy(self, stat, errmsg)
    class(syncyte_cache), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_cache_destroy(self%handle)
    call finish(status, stat, errmsg)
  end subroutine cache_destroy

  !> Whether the handle is null.
  pure logical function cache_is_null(self)
    class(syncyte_cache), intent(in) :: self

    cache_is_null = .not. c_associated(self%handle)
  end function cache_is_null

  !> Sends the cache to one process of this user, which calls receive before or after. Waits for it.
  subroutine cache_send(self, name, folder, timeout, nonce, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    ! the socket's file is NAME.syncyte; at most 60 bytes; absent: as SYNCYTE_CACHE says
    character(len=*), intent(in), optional :: name
    ! a folder of this user with mode 0700, made if it is missing; absent: as SYNCYTE_CACHE_FOLDER says; a folder
    ! that neither names must not be a symbolic link
    character(len=*), intent(in), optional :: folder
    real(c_double), intent(in), optional :: timeout  !! seconds to wait; negative: as SYNCYTE_CACHE_TIMEOUT says
    type(*), dimension(..), intent(in), target, optional :: nonce  !! two integers of any kind: a secret that both processes know
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: name_c
    character(kind=c_char, len=:), allocatable, target :: folder_c
    integer(c_int64_t), dimension(2) :: nonce_c
    type(syncyte_cache_rendezvous_t) :: options
    integer(c_int32_t) :: status, local

    call syncyte_set_span(nonce)
    local = SYNCYTE_SUCCESS
    call to_c(name, name_c)
    if (allocated(name_c)) options%name = c_loc(name_c)
    call to_c(folder, folder_c)
    if (allocated(folder_c)) options%folder = c_loc(folder_c)
    if (present(timeout)) options%timeout = timeout
    if (present(nonce) .and. local == SYNCYTE_SUCCESS) local = fortran_some_integers(nonce, &
        "nonce"//c_null_char, 2_c_int64_t, nonce_c)
    if (present(nonce)) options%nonce = nonce_c
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "cache_send"//c_null_char)
    else
      status = syncyte_cache_send(self%handle, options)
    end if
    call finish(status, stat, errmsg)
  end subroutine cache_send

  !> Receives the cache that another process of this user sends. Waits for it.
  subroutine cache_receive(self, name, folder, timeout, nonce, stat, errmsg)
    class(syncyte_cache), intent(inout) :: self
    ! the socket's file is NAME.syncyte; at most 60 bytes; absent: as SYNCYTE_CACHE says
    character(len=*), intent(in), optional :: name
    ! a folder of this user with mode 0700, made if it is missing; absent: as SYNCYTE_CACHE_FOLDER says; a folder
    ! that neither names must not be a symbolic link
    character(len=*), intent(in), optional :: folder
    real(c_double), intent(in), optional :: timeout  !! seconds to wait; negative: as SYNCYTE_CACHE_TIMEOUT says
    type(*), dimension(..), intent(in), target, optional :: nonce  !! two integers of any kind: a secret that both processes know
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: name_c
    character(kind=c_char, len=:), allocatable, target :: folder_c
    integer(c_int64_t), dimension(2) :: nonce_c
    type(syncyte_cache_rendezvous_t) :: options
    type(c_ptr) :: made
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(nonce)
    local = SYNCYTE_SUCCESS
    call to_c(name, name_c)
    if (allocated(name_c)) options%name = c_loc(name_c)
    call to_c(folder, folder_c)
    if (allocated(folder_c)) options%folder = c_loc(folder_c)
    if (present(timeout)) options%timeout = timeout
    if (present(nonce) .and. local == SYNCYTE_SUCCESS) local = fortran_some_integers(nonce, &
        "nonce"//c_null_char, 2_c_int64_t, nonce_c)
    if (present(nonce)) options%nonce = nonce_c
    made = c_null_ptr
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "cache_receive"//c_null_char)
    else
      status = syncyte_cache_receive(options, made)
    end if
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_cache_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine cache_receive

  !> Bytes of the two parts.
  subroutine cache_sizes(self, parameter_bytes, computation_bytes, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    type(*), dimension(..), intent(inout), target :: parameter_bytes  !! any integer: bytes from offset 0 on
    type(*), dimension(..), intent(inout), target :: computation_bytes  !! any integer: bytes from offset parameter_bytes on
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: parameter_bytes_c
    integer(c_int64_t) :: computation_bytes_c
    integer(c_int32_t) :: status

    call syncyte_set_span(parameter_bytes)
    call syncyte_set_span(computation_bytes)
    status = syncyte_cache_sizes(self%handle, parameter_bytes_c, computation_bytes_c)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(parameter_bytes, "parameter_bytes"//c_null_char, &
        parameter_bytes_c)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(computation_bytes, &
        "computation_bytes"//c_null_char, computation_bytes_c)
    call finish(status, stat, errmsg)
  end subroutine cache_sizes

  !> Makes bytes resident, so that first uses do not wait for pages. offset: bytes from the start of the cache, 0 or more.
  subroutine cache_touch(self, offset, size, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    type(*), dimension(..), intent(in), target :: offset  !! any integer: bytes from the start of the cache, 0 or more
    type(*), dimension(..), intent(in), target :: size  !! any integer: bytes from offset on, 0 or more
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: offset_c
    integer(c_int64_t) :: size_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(offset)
    call syncyte_set_span(size)
    local = fortran_integer(offset, "offset"//c_null_char, offset_c)
    if (local == SYNCYTE_SUCCESS) local = fortran_integer(size, "size"//c_null_char, size_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "cache_touch"//c_null_char)
    else
      status = syncyte_cache_touch(self%handle, offset_c, size_c)
    end if
    call finish(status, stat, errmsg)
  end subroutine cache_touch

  !> Points to elements from number first on, from 1: (:) up to the end, or an array of the given shape.
  subroutine cache_pointer_real4(self, pointer, first, shape, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    real(c_float), pointer, intent(inout) :: pointer(..)
    ! any integer: from 1, in elements of the pointer's type from the start of the cache
    type(*), dimension(..), intent(in), target :: first
    type(*), dimension(..), intent(in), target, optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    integer(c_int32_t) :: status, local

    interface
      !> Points to memory of a shared cache.
      ! cache [in]: a cache
      ! first [in]: from 1, in elements of the pointer's type from the start of the cache
      ! shape [in]: integers; absent: all up to the end
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_cache_pointer(cache, first, shape, pointer) bind(C, name="fortran_cache_pointer") &
          result(answer)
        import
        type(c_ptr), value :: cache
        integer(c_int64_t), value :: first
        type(*), dimension(..), intent(in), target, asynchronous, optional :: shape
        real(c_float), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_pointer
    end interface

    call syncyte_set_span(first)
    call syncyte_set_span(shape)
    local = fortran_integer(first, "first"//c_null_char, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "cache_pointer"//c_null_char)
    else
      status = fortran_cache_pointer(self%handle, first_c, shape, pointer)
    end if
    call finish(status, stat, errmsg)
  end subroutine cache_pointer_real4

  !> Points to elements from number first on, from 1: (:) up to the end, or an array of the given shape.
  subroutine cache_pointer_real8(self, pointer, first, shape, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    real(c_double), pointer, intent(inout) :: pointer(..)
    ! any integer: from 1, in elements of the pointer's type from the start of the cache
    type(*), dimension(..), intent(in), target :: first
    type(*), dimension(..), intent(in), target, optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    integer(c_int32_t) :: status, local

    interface
      !> Points to memory of a shared cache.
      ! cache [in]: a cache
      ! first [in]: from 1, in elements of the pointer's type from the start of the cache
      ! shape [in]: integers; absent: all up to the end
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_cache_pointer(cache, first, shape, pointer) bind(C, name="fortran_cache_pointer") &
          result(answer)
        import
        type(c_ptr), value :: cache
        integer(c_int64_t), value :: first
        type(*), dimension(..), intent(in), target, asynchronous, optional :: shape
        real(c_double), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_pointer
    end interface

    call syncyte_set_span(first)
    call syncyte_set_span(shape)
    local = fortran_integer(first, "first"//c_null_char, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "cache_pointer"//c_null_char)
    else
      status = fortran_cache_pointer(self%handle, first_c, shape, pointer)
    end if
    call finish(status, stat, errmsg)
  end subroutine cache_pointer_real8

  !> Points to elements from number first on, from 1: (:) up to the end, or an array of the given shape.
  subroutine cache_pointer_complex4(self, pointer, first, shape, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    complex(c_float_complex), pointer, intent(inout) :: pointer(..)
    ! any integer: from 1, in elements of the pointer's type from the start of the cache
    type(*), dimension(..), intent(in), target :: first
    type(*), dimension(..), intent(in), target, optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    integer(c_int32_t) :: status, local

    interface
      !> Points to memory of a shared cache.
      ! cache [in]: a cache
      ! first [in]: from 1, in elements of the pointer's type from the start of the cache
      ! shape [in]: integers; absent: all up to the end
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_cache_pointer(cache, first, shape, pointer) bind(C, name="fortran_cache_pointer") &
          result(answer)
        import
        type(c_ptr), value :: cache
        integer(c_int64_t), value :: first
        type(*), dimension(..), intent(in), target, asynchronous, optional :: shape
        complex(c_float_complex), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_pointer
    end interface

    call syncyte_set_span(first)
    call syncyte_set_span(shape)
    local = fortran_integer(first, "first"//c_null_char, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "cache_pointer"//c_null_char)
    else
      status = fortran_cache_pointer(self%handle, first_c, shape, pointer)
    end if
    call finish(status, stat, errmsg)
  end subroutine cache_pointer_complex4

  !> Points to elements from number first on, from 1: (:) up to the end, or an array of the given shape.
  subroutine cache_pointer_complex8(self, pointer, first, shape, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    complex(c_double_complex), pointer, intent(inout) :: pointer(..)
    ! any integer: from 1, in elements of the pointer's type from the start of the cache
    type(*), dimension(..), intent(in), target :: first
    type(*), dimension(..), intent(in), target, optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    integer(c_int32_t) :: status, local

    interface
      !> Points to memory of a shared cache.
      ! cache [in]: a cache
      ! first [in]: from 1, in elements of the pointer's type from the start of the cache
      ! shape [in]: integers; absent: all up to the end
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_cache_pointer(cache, first, shape, pointer) bind(C, name="fortran_cache_pointer") &
          result(answer)
        import
        type(c_ptr), value :: cache
        integer(c_int64_t), value :: first
        type(*), dimension(..), intent(in), target, asynchronous, optional :: shape
        complex(c_double_complex), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_pointer
    end interface

    call syncyte_set_span(first)
    call syncyte_set_span(shape)
    local = fortran_integer(first, "first"//c_null_char, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "cache_pointer"//c_null_char)
    else
      status = fortran_cache_pointer(self%handle, first_c, shape, pointer)
    end if
    call finish(status, stat, errmsg)
  end subroutine cache_pointer_complex8

  !> Points to elements from number first on, from 1: (:) up to the end, or an array of the given shape.
  subroutine cache_pointer_integer1(self, pointer, first, shape, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    integer(c_int8_t), pointer, intent(inout) :: pointer(..)
    ! any integer: from 1, in elements of the pointer's type from the start of the cache
    type(*), dimension(..), intent(in), target :: first
    type(*), dimension(..), intent(in), target, optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    integer(c_int32_t) :: status, local

    interface
      !> Points to memory of a shared cache.
      ! cache [in]: a cache
      ! first [in]: from 1, in elements of the pointer's type from the start of the cache
      ! shape [in]: integers; absent: all up to the end
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_cache_pointer(cache, first, shape, pointer) bind(C, name="fortran_cache_pointer") &
          result(answer)
        import
        type(c_ptr), value :: cache
        integer(c_int64_t), value :: first
        type(*), dimension(..), intent(in), target, asynchronous, optional :: shape
        integer(c_int8_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_pointer
    end interface

    call syncyte_set_span(first)
    call syncyte_set_span(shape)
    local = fortran_integer(first, "first"//c_null_char, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "cache_pointer"//c_null_char)
    else
      status = fortran_cache_pointer(self%handle, first_c, shape, pointer)
    end if
    call finish(status, stat, errmsg)
  end subroutine cache_pointer_integer1

  !> Points to elements from number first on, from 1: (:) up to the end, or an array of the given shape.
  subroutine cache_pointer_integer2(self, pointer, first, shape, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    integer(c_int16_t), pointer, intent(inout) :: pointer(..)
    ! any integer: from 1, in elements of the pointer's type from the start of the cache
    type(*), dimension(..), intent(in), target :: first
    type(*), dimension(..), intent(in), target, optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    integer(c_int32_t) :: status, local

    interface
      !> Points to memory of a shared cache.
      ! cache [in]: a cache
      ! first [in]: from 1, in elements of the pointer's type from the start of the cache
      ! shape [in]: integers; absent: all up to the end
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_cache_pointer(cache, first, shape, pointer) bind(C, name="fortran_cache_pointer") &
          result(answer)
        import
        type(c_ptr), value :: cache
        integer(c_int64_t), value :: first
        type(*), dimension(..), intent(in), target, asynchronous, optional :: shape
        integer(c_int16_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_pointer
    end interface

    call syncyte_set_span(first)
    call syncyte_set_span(shape)
    local = fortran_integer(first, "first"//c_null_char, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "cache_pointer"//c_null_char)
    else
      status = fortran_cache_pointer(self%handle, first_c, shape, pointer)
    end if
    call finish(status, stat, errmsg)
  end subroutine cache_pointer_integer2

  !> Points to elements from number first on, from 1: (:) up to the end, or an array of the given shape.
  subroutine cache_pointer_integer4(self, pointer, first, shape, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    integer(c_int32_t), pointer, intent(inout) :: pointer(..)
    ! any integer: from 1, in elements of the pointer's type from the start of the cache
    type(*), dimension(..), intent(in), target :: first
    type(*), dimension(..), intent(in), target, optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    integer(c_int32_t) :: status, local

    interface
      !> Points to memory of a shared cache.
      ! cache [in]: a cache
      ! first [in]: from 1, in elements of the pointer's type from the start of the cache
      ! shape [in]: integers; absent: all up to the end
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_cache_pointer(cache, first, shape, pointer) bind(C, name="fortran_cache_pointer") &
          result(answer)
        import
        type(c_ptr), value :: cache
        integer(c_int64_t), value :: first
        type(*), dimension(..), intent(in), target, asynchronous, optional :: shape
        integer(c_int32_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_pointer
    end interface

    call syncyte_set_span(first)
    call syncyte_set_span(shape)
    local = fortran_integer(first, "first"//c_null_char, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "cache_pointer"//c_null_char)
    else
      status = fortran_cache_pointer(self%handle, first_c, shape, pointer)
    end if
    call finish(status, stat, errmsg)
  end subroutine cache_pointer_integer4

  !> Points to elements from number first on, from 1: (:) up to the end, or an array of the given shape.
  subroutine cache_pointer_integer8(self, pointer, first, shape, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    integer(c_int64_t), pointer, intent(inout) :: pointer(..)
    ! any integer: from 1, in elements of the pointer's type from the start of the cache
    type(*), dimension(..), intent(in), target :: first
    type(*), dimension(..), intent(in), target, optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    integer(c_int32_t) :: status, local

    interface
      !> Points to memory of a shared cache.
      ! cache [in]: a cache
      ! first [in]: from 1, in elements of the pointer's type from the start of the cache
      ! shape [in]: integers; absent: all up to the end
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_cache_pointer(cache, first, shape, pointer) bind(C, name="fortran_cache_pointer") &
          result(answer)
        import
        type(c_ptr), value :: cache
        integer(c_int64_t), value :: first
        type(*), dimension(..), intent(in), target, asynchronous, optional :: shape
        integer(c_int64_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_pointer
    end interface

    call syncyte_set_span(first)
    call syncyte_set_span(shape)
    local = fortran_integer(first, "first"//c_null_char, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "cache_pointer"//c_null_char)
    else
      status = fortran_cache_pointer(self%handle, first_c, shape, pointer)
    end if
    call finish(status, stat, errmsg)
  end subroutine cache_pointer_integer8

  !> Points to elements from number first on, from 1: (:) up to the end, or an array of the given shape.
  subroutine cache_pointer_logical1(self, pointer, first, shape, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    logical(c_bool), pointer, intent(inout) :: pointer(..)
    ! any integer: from 1, in elements of the pointer's type from the start of the cache
    type(*), dimension(..), intent(in), target :: first
    type(*), dimension(..), intent(in), target, optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    integer(c_int32_t) :: status, local

    interface
      !> Points to memory of a shared cache.
      ! cache [in]: a cache
      ! first [in]: from 1, in elements of the pointer's type from the start of the cache
      ! shape [in]: integers; absent: all up to the end
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_cache_pointer(cache, first, shape, pointer) bind(C, name="fortran_cache_pointer") &
          result(answer)
        import
        type(c_ptr), value :: cache
        integer(c_int64_t), value :: first
        type(*), dimension(..), intent(in), target, asynchronous, optional :: shape
        logical(c_bool), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_pointer
    end interface

    call syncyte_set_span(first)
    call syncyte_set_span(shape)
    local = fortran_integer(first, "first"//c_null_char, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "cache_pointer"//c_null_char)
    else
      status = fortran_cache_pointer(self%handle, first_c, shape, pointer)
    end if
    call finish(status, stat, errmsg)
  end subroutine cache_pointer_logical1

  !> Inserts a slice: this thread allocates in these bytes, until it inserts another slice or calls clear.
  subroutine cache_insert(self, offset, size, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    type(*), dimension(..), intent(in), target :: offset  !! any integer: a multiple of 512, from 0
    type(*), dimension(..), intent(in), target :: size  !! any integer: bytes from offset on, a multiple of 512, 512 or more
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: offset_c
    integer(c_int64_t) :: size_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(offset)
    call syncyte_set_span(size)
    local = fortran_integer(offset, "offset"//c_null_char, offset_c)
    if (local == SYNCYTE_SUCCESS) local = fortran_integer(size, "size"//c_null_char, size_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "cache_insert"//c_null_char)
    else
      status = syncyte_cache_insert(self%handle, offset_c, size_c)
    end if
    call finish(status, stat, errmsg)
  end subroutine cache_insert

  !> Removes all slices that this thread has inserted, of all caches; an error while arrays of them are not freed.
  subroutine cache_clear(self, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_cache_clear()
    call finish(status, stat, errmsg)
  end subroutine cache_clear

  !> Allocates an array in the slice that this thread has inserted last; null if it has inserted none.
  subroutine cache_allocate_real4(self, pointer, shape, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    real(c_float), pointer, intent(inout) :: pointer(..)
    type(*), dimension(..), intent(in), target :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to a new block of a shared cache, or to nothing if the calling thread has inserted no slice.
      ! shape [in]: integers
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_cache_allocate(shape, pointer) bind(C, name="fortran_cache_allocate") result(answer)
        import
        type(*), dimension(..), intent(in), target, asynchronous :: shape
        real(c_float), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_allocate
    end interface

    call syncyte_set_span(shape)
    status = fortran_cache_allocate(shape, pointer)
    call finish(status, stat, errmsg)
  end subroutine cache_allocate_real4

  !> Allocates an array in the slice that this thread has inserted last; null if it has inserted none.
  subroutine cache_allocate_real8(self, pointer, shape, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    real(c_double), pointer, intent(inout) :: pointer(..)
    type(*), dimension(..), intent(in), target :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to a new block of a shared cache, or to nothing if the calling thread has inserted no slice.
      ! shape [in]: integers
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_cache_allocate(shape, pointer) bind(C, name="fortran_cache_allocate") result(answer)
        import
        type(*), dimension(..), intent(in), target, asynchronous :: shape
        real(c_double), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_allocate
    end interface

    call syncyte_set_span(shape)
    status = fortran_cache_allocate(shape, pointer)
    call finish(status, stat, errmsg)
  end subroutine cache_allocate_real8

  !> Allocates an array in the slice that this thread has inserted last; null if it has inserted none.
  subroutine cache_allocate_complex4(self, pointer, shape, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    complex(c_float_complex), pointer, intent(inout) :: pointer(..)
    type(*), dimension(..), intent(in), target :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to a new block of a shared cache, or to nothing if the calling thread has inserted no slice.
      ! shape [in]: integers
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_cache_allocate(shape, pointer) bind(C, name="fortran_cache_allocate") result(answer)
        import
        type(*), dimension(..), intent(in), target, asynchronous :: shape
        complex(c_float_complex), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_allocate
    end interface

    call syncyte_set_span(shape)
    status = fortran_cache_allocate(shape, pointer)
    call finish(status, stat, errmsg)
  end subroutine cache_allocate_complex4

  !> Allocates an array in the slice that this thread has inserted last; null if it has inserted none.
  subroutine cache_allocate_complex8(self, pointer, shape, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    complex(c_double_complex), pointer, intent(inout) :: pointer(..)
    type(*), dimension(..), intent(in), target :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to a new block of a shared cache, or to nothing if the calling thread has inserted no slice.
      ! shape [in]: integers
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_cache_allocate(shape, pointer) bind(C, name="fortran_cache_allocate") result(answer)
        import
        type(*), dimension(..), intent(in), target, asynchronous :: shape
        complex(c_double_complex), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_allocate
    end interface

    call syncyte_set_span(shape)
    status = fortran_cache_allocate(shape, pointer)
    call finish(status, stat, errmsg)
  end subroutine cache_allocate_complex8

  !> Allocates an array in the slice that this thread has inserted last; null if it has inserted none.
  subroutine cache_allocate_integer1(self, pointer, shape, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    integer(c_int8_t), pointer, intent(inout) :: pointer(..)
    type(*), dimension(..), intent(in), target :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to a new block of a shared cache, or to nothing if the calling thread has inserted no slice.
      ! shape [in]: integers
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_cache_allocate(shape, pointer) bind(C, name="fortran_cache_allocate") result(answer)
        import
        type(*), dimension(..), intent(in), target, asynchronous :: shape
        integer(c_int8_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_allocate
    end interface

    call syncyte_set_span(shape)
    status = fortran_cache_allocate(shape, pointer)
    call finish(status, stat, errmsg)
  end subroutine cache_allocate_integer1

  !> Allocates an array in the slice that this thread has inserted last; null if it has inserted none.
  subroutine cache_allocate_integer2(self, pointer, shape, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    integer(c_int16_t), pointer, intent(inout) :: pointer(..)
    type(*), dimension(..), intent(in), target :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to a new block of a shared cache, or to nothing if the calling thread has inserted no slice.
      ! shape [in]: integers
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_cache_allocate(shape, pointer) bind(C, name="fortran_cache_allocate") result(answer)
        import
        type(*), dimension(..), intent(in), target, asynchronous :: shape
        integer(c_int16_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_allocate
    end interface

    call syncyte_set_span(shape)
    status = fortran_cache_allocate(shape, pointer)
    call finish(status, stat, errmsg)
  end subroutine cache_allocate_integer2

  !> Allocates an array in the slice that this thread has inserted last; null if it has inserted none.
  subroutine cache_allocate_integer4(self, pointer, shape, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    integer(c_int32_t), pointer, intent(inout) :: pointer(..)
    type(*), dimension(..), intent(in), target :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to a new block of a shared cache, or to nothing if the calling thread has inserted no slice.
      ! shape [in]: integers
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_cache_allocate(shape, pointer) bind(C, name="fortran_cache_allocate") result(answer)
        import
        type(*), dimension(..), intent(in), target, asynchronous :: shape
        integer(c_int32_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_allocate
    end interface

    call syncyte_set_span(shape)
    status = fortran_cache_allocate(shape, pointer)
    call finish(status, stat, errmsg)
  end subroutine cache_allocate_integer4

  !> Allocates an array in the slice that this thread has inserted last; null if it has inserted none.
  subroutine cache_allocate_integer8(self, pointer, shape, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    integer(c_int64_t), pointer, intent(inout) :: pointer(..)
    type(*), dimension(..), intent(in), target :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to a new block of a shared cache, or to nothing if the calling thread has inserted no slice.
      ! shape [in]: integers
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_cache_allocate(shape, pointer) bind(C, name="fortran_cache_allocate") result(answer)
        import
        type(*), dimension(..), intent(in), target, asynchronous :: shape
        integer(c_int64_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_allocate
    end interface

    call syncyte_set_span(shape)
    status = fortran_cache_allocate(shape, pointer)
    call finish(status, stat, errmsg)
  end subroutine cache_allocate_integer8

  !> Allocates an array in the slice that this thread has inserted last; null if it has inserted none.
  subroutine cache_allocate_logical1(self, pointer, shape, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    logical(c_bool), pointer, intent(inout) :: pointer(..)
    type(*), dimension(..), intent(in), target :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to a new block of a shared cache, or to nothing if the calling thread has inserted no slice.
      ! shape [in]: integers
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_cache_allocate(shape, pointer) bind(C, name="fortran_cache_allocate") result(answer)
        import
        type(*), dimension(..), intent(in), target, asynchronous :: shape
        logical(c_bool), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_allocate
    end interface

    call syncyte_set_span(shape)
    status = fortran_cache_allocate(shape, pointer)
    call finish(status, stat, errmsg)
  end subroutine cache_allocate_logical1

  !> Frees an array of allocate, from any thread, and nulls the pointer; a null pointer is ignored.
  subroutine cache_free_real4(self, pointer, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    real(c_float), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Frees a block of a shared cache.
      ! pointer [in,out]: of fortran_cache_allocate(), or null; then null
      function fortran_cache_free(pointer) bind(C, name="fortran_cache_free") result(answer)
        import
        real(c_float), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_free
    end interface

    status = fortran_cache_free(pointer)
    call finish(status, stat, errmsg)
  end subroutine cache_free_real4

  !> Frees an array of allocate, from any thread, and nulls the pointer; a null pointer is ignored.
  subroutine cache_free_real8(self, pointer, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    real(c_double), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Frees a block of a shared cache.
      ! pointer [in,out]: of fortran_cache_allocate(), or null; then null
      function fortran_cache_free(pointer) bind(C, name="fortran_cache_free") result(answer)
        import
        real(c_double), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_free
    end interface

    status = fortran_cache_free(pointer)
    call finish(status, stat, errmsg)
  end subroutine cache_free_real8

  !> Frees an array of allocate, from any thread, and nulls the pointer; a null pointer is ignored.
  subroutine cache_free_complex4(self, pointer, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    complex(c_float_complex), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Frees a block of a shared cache.
      ! pointer [in,out]: of fortran_cache_allocate(), or null; then null
      function fortran_cache_free(pointer) bind(C, name="fortran_cache_free") result(answer)
        import
        complex(c_float_complex), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_free
    end interface

    status = fortran_cache_free(pointer)
    call finish(status, stat, errmsg)
  end subroutine cache_free_complex4

  !> Frees an array of allocate, from any thread, and nulls the pointer; a null pointer is ignored.
  subroutine cache_free_complex8(self, pointer, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    complex(c_double_complex), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Frees a block of a shared cache.
      ! pointer [in,out]: of fortran_cache_allocate(), or null; then null
      function fortran_cache_free(pointer) bind(C, name="fortran_cache_free") result(answer)
        import
        complex(c_double_complex), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_free
    end interface

    status = fortran_cache_free(pointer)
    call finish(status, stat, errmsg)
  end subroutine cache_free_complex8

  !> Frees an array of allocate, from any thread, and nulls the pointer; a null pointer is ignored.
  subroutine cache_free_integer1(self, pointer, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    integer(c_int8_t), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Frees a block of a shared cache.
      ! pointer [in,out]: of fortran_cache_allocate(), or null; then null
      function fortran_cache_free(pointer) bind(C, name="fortran_cache_free") result(answer)
        import
        integer(c_int8_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_free
    end interface

    status = fortran_cache_free(pointer)
    call finish(status, stat, errmsg)
  end subroutine cache_free_integer1

  !> Frees an array of allocate, from any thread, and nulls the pointer; a null pointer is ignored.
  subroutine cache_free_integer2(self, pointer, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    integer(c_int16_t), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Frees a block of a shared cache.
      ! pointer [in,out]: of fortran_cache_allocate(), or null; then null
      function fortran_cache_free(pointer) bind(C, name="fortran_cache_free") result(answer)
        import
        integer(c_int16_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_free
    end interface

    status = fortran_cache_free(pointer)
    call finish(status, stat, errmsg)
  end subroutine cache_free_integer2

  !> Frees an array of allocate, from any thread, and nulls the pointer; a null pointer is ignored.
  subroutine cache_free_integer4(self, pointer, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    integer(c_int32_t), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Frees a block of a shared cache.
      ! pointer [in,out]: of fortran_cache_allocate(), or null; then null
      function fortran_cache_free(pointer) bind(C, name="fortran_cache_free") result(answer)
        import
        integer(c_int32_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_free
    end interface

    status = fortran_cache_free(pointer)
    call finish(status, stat, errmsg)
  end subroutine cache_free_integer4

  !> Frees an array of allocate, from any thread, and nulls the pointer; a null pointer is ignored.
  subroutine cache_free_integer8(self, pointer, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    integer(c_int64_t), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Frees a block of a shared cache.
      ! pointer [in,out]: of fortran_cache_allocate(), or null; then null
      function fortran_cache_free(pointer) bind(C, name="fortran_cache_free") result(answer)
        import
        integer(c_int64_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_free
    end interface

    status = fortran_cache_free(pointer)
    call finish(status, stat, errmsg)
  end subroutine cache_free_integer8

  !> Frees an array of allocate, from any thread, and nulls the pointer; a null pointer is ignored.
  subroutine cache_free_logical1(self, pointer, stat, errmsg)
    class(syncyte_cache), intent(in) :: self
    logical(c_bool), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Frees a block of a shared cache.
      ! pointer [in,out]: of fortran_cache_allocate(), or null; then null
      function fortran_cache_free(pointer) bind(C, name="fortran_cache_free") result(answer)
        import
        logical(c_bool), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_cache_free
    end interface

    status = fortran_cache_free(pointer)
    call finish(status, stat, errmsg)
  end subroutine cache_free_logical1

  !> Whether an array begins in a slice that a thread of this process has inserted; false on an error.
  function cache_holds(self, array, stat, errmsg) result(answer)
    class(syncyte_cache), intent(in) :: self
    type(*), dimension(..), intent(in), target :: array
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    logical :: answer
    integer(c_int32_t) :: holds_c
    integer(c_int32_t) :: status

    call syncyte_set_span(array)
    holds_c = 0
    status = fortran_cache_holds(array, holds_c)
    answer = holds_c /= 0
    call finish(status, stat, errmsg)
  end function cache_holds
end module syncyte_caches
