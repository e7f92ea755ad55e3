! SPDX-License-Identifier: BSD-3-Clause
! Generated from methods/named_models.methods by bindings/generate; do not edit.
!> Models by name: a process publishes named arrays, others of the machine bind them without a copy.
!>
!> type(syncyte_models): the models of this process, or of the process that serves them at a socket;
!> type(syncyte_publication): a model that this process publishes; type(syncyte_model): one that it has bound.
!> No procedure needs MPI or syncyte_init.
module syncyte_named_models
  use, intrinsic :: iso_c_binding
  use syncyte_c
  use syncyte_errors
  use syncyte_fortran_c
  use syncyte_spans
  implicit none
  private
  !> Models by name. A reference: assignment copies the reference; destroy drops one.
  type, public :: syncyte_models
    type(c_ptr) :: handle = c_null_ptr  !< syncyte_models_t, for calls of syncyte_c
  contains
    procedure :: create => models_create
    procedure :: connect => models_connect
    procedure :: serve => models_serve
    procedure :: destroy => models_destroy
    procedure :: is_null => models_is_null
    procedure :: publish => models_publish
    procedure :: bind => models_bind
    procedure :: describe => models_describe
    procedure :: remove => models_remove
  end type syncyte_models

  !> A model that this process publishes. A reference, as syncyte_models is.
  type, public :: syncyte_publication
    type(c_ptr) :: handle = c_null_ptr  !< syncyte_publication_t, for calls of syncyte_c
  contains
    procedure :: add => publication_add
    procedure :: start => publication_start
    procedure :: fill => publication_fill
    procedure :: finish => publication_finish
    procedure :: fail => publication_fail
    procedure :: destroy => publication_destroy
    procedure :: is_null => publication_is_null
  end type syncyte_publication

  !> A model that this process has bound. A reference, as syncyte_models is.
  type, public :: syncyte_model
    type(c_ptr) :: handle = c_null_ptr  !< syncyte_model_t, for calls of syncyte_c
  contains
    !> Points to an array of the model; waits for it. What is written to it is this process's own.
    generic :: find => model_find_real4, model_find_real8, model_find_complex4, model_find_complex8, &
        model_find_integer1, model_find_integer2, model_find_integer4, model_find_integer8, model_find_logical1
    procedure, private :: model_find_real4, model_find_real8, model_find_complex4, model_find_complex8, &
        model_find_integer1, model_find_integer2, model_find_integer4, model_find_integer8, model_find_logical1
    procedure :: wait => model_wait
    procedure :: verify => model_verify
    procedure :: destroy => model_destroy
    procedure :: is_null => model_is_null
  end type syncyte_model

contains

  !> Makes an empty set of models in this process. budget: most bytes of all; absent: from the environment.
  subroutine models_create(self, budget, stat, errmsg)
    class(syncyte_models), intent(inout) :: self
    ! most bytes of all models in host memory; 0: as SYNCYTE_CACHE_MODEL_BYTES says (docs/environment.md)
    type(*), dimension(..), intent(in), target, optional :: budget
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: budget_c
    type(syncyte_models_options_t) :: options
    type(c_ptr) :: made
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(budget)
    local = SYNCYTE_SUCCESS
    if (present(budget) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(budget, "budget"//c_null_char, &
        budget_c)
    if (present(budget)) options%budget = budget_c
    made = c_null_ptr
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "models_create"//c_null_char)
    else
      status = syncyte_models_create(options, made)
    end if
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_models_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine models_create

  !> Connects to the models that another process of this user serves. Waits for it.
  subroutine models_connect(self, name, folder, timeout, nonce, stat, errmsg)
    class(syncyte_models), intent(inout) :: self
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
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "models_connect"//c_null_char)
    else
      status = syncyte_models_connect(options, made)
    end if
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_models_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine models_connect

  !> Serves the models at a socket until the last reference is dropped.
  subroutine models_serve(self, name, folder, timeout, nonce, stat, errmsg)
    class(syncyte_models), intent(in) :: self
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
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "models_serve"//c_null_char)
    else
      status = syncyte_models_serve(self%handle, options)
    end if
    call finish(status, stat, errmsg)
  end subroutine models_serve

  !> Drops the reference; a null reference is ignored. What is bound can be used.
  subroutine models_destroy(self, stat, errmsg)
    class(syncyte_models), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_models_destroy(self%handle)
    call finish(status, stat, errmsg)
  end subroutine models_destroy

  !> Whether the handle is null.
  pure logical function models_is_null(self)
    class(syncyte_models), intent(in) :: self

    models_is_null = .not. c_associated(self%handle)
  end function models_is_null

  !> Begins a list of arrays, the model of this name.
  subroutine models_publish(self, name, publication, checksums, stat, errmsg)
    class(syncyte_models), intent(in) :: self
    character(len=*), intent(in) :: name
    type(syncyte_publication), intent(inout) :: publication
    logical, intent(in), optional :: checksums  !! true: checksums of the arrays, which verify compares
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: name_c
    type(c_ptr) :: made
    type(syncyte_publication_options_t) :: options
    integer(c_int32_t) :: status, ignored

    call to_c(name, name_c)
    made = c_null_ptr
    if (present(checksums)) options%checksums = merge(1_c_int32_t, 0_c_int32_t, checksums)
    status = syncyte_publication_create(self%handle, name_c, options, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(publication%handle)) ignored = syncyte_publication_destroy(publication%handle)
      publication%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine models_publish

  !> Maps a model into this process. Does not wait for its arrays.
  subroutine models_bind(self, name, model, stat, errmsg)
    class(syncyte_models), intent(in) :: self
    character(len=*), intent(in) :: name
    type(syncyte_model), intent(inout) :: model
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: name_c
    type(c_ptr) :: made
    integer(c_int32_t) :: status, ignored

    call to_c(name, name_c)
    made = c_null_ptr
    status = syncyte_models_bind(self%handle, name_c, model=made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(model%handle)) ignored = syncyte_model_destroy(model%handle)
      model%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine models_bind

  !> Describes a model of the list, from 1, in alphabetical order. Number 1 asks the server, others are of its answer; name
  !> is empty beyond the last one.
  subroutine models_describe(self, number, name, bytes, groups, ready, holders, stat, errmsg)
    class(syncyte_models), intent(in) :: self
    integer, intent(in) :: number
    character(len=:), allocatable, intent(out) :: name
    integer(c_int64_t), intent(out), optional :: bytes    !! of its memory
    integer(c_int64_t), intent(out), optional :: groups   !! of arrays; 0: not known yet
    integer(c_int64_t), intent(out), optional :: ready    !! groups that are there; less than groups: it is loading
    integer, intent(out), optional :: holders             !! number of bindings
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_published_t) :: found
    integer(c_int32_t) :: status

    status = syncyte_models_describe(self%handle, int(number - 1, c_int64_t), found)
    name = ""
    if (status == SYNCYTE_SUCCESS) name = to_fortran(found%name)
    if (status == SYNCYTE_ERR_INDEX .and. number > 0) status = SYNCYTE_SUCCESS
    if (present(bytes)) bytes = found%bytes
    if (present(groups)) groups = found%groups
    if (present(ready)) ready = found%ready
    if (present(holders)) holders = found%holders
    call finish(status, stat, errmsg)
  end subroutine models_describe

  !> Removes a model that nobody has bound.
  subroutine models_remove(self, name, stat, errmsg)
    class(syncyte_models), intent(in) :: self
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: name_c
    integer(c_int32_t) :: status

    call to_c(name, name_c)
    status = syncyte_models_remove(self%handle, name_c)
    call finish(status, stat, errmsg)
  end subroutine models_remove

  !> Adds an array, which must stay until finish.
  subroutine publication_add(self, tensor, array, stat, errmsg)
    class(syncyte_publication), intent(in) :: self
    character(len=*), intent(in) :: tensor
    ! any strides; its memory must stay until syncyte_publication_finish(). Its address may be absent if
    ! syncyte_publication_fill() gives the elements. Memory of a device too, without gaps between the elements; all
    ! work that writes it must be complete
    type(*), dimension(..), intent(in), target, asynchronous :: array
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: tensor_c
    type(syncyte_buffer_t), target :: array_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(array)
    local = fortran_buffer(array, "array"//c_null_char, array_buffer)
    array_buffer%read_only = 1_c_int32_t
    call to_c(tensor, tensor_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "publication_add"//c_null_char)
    else
      status = syncyte_publication_add(self%handle, tensor_c, array_buffer)
    end if
    call finish(status, stat, errmsg)
  end subroutine publication_add

  !> Takes the name and the memory: from now on processes can bind the model, and wait for its arrays.
  subroutine publication_start(self, stat, errmsg)
    class(syncyte_publication), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_publication_start(self%handle)
    call finish(status, stat, errmsg)
  end subroutine publication_start

  !> Copies the elements of an array into the model, before finish copies those that were added; starts first.
  subroutine publication_fill(self, tensor, array, stat, errmsg)
    class(syncyte_publication), intent(in) :: self
    character(len=*), intent(in) :: tensor
    ! of its type and shape, any strides; of a device as for syncyte_publication_add(), and with the strides that
    ! the tensor has there
    type(*), dimension(..), intent(in), target :: array
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: tensor_c
    type(syncyte_buffer_t), target :: array_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(array)
    local = fortran_buffer(array, "array"//c_null_char, array_buffer)
    array_buffer%read_only = 1_c_int32_t
    call to_c(tensor, tensor_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "publication_fill"//c_null_char)
    else
      status = syncyte_publication_fill(self%handle, tensor_c, array_buffer)
    end if
    call finish(status, stat, errmsg)
  end subroutine publication_fill

  !> Copies all arrays that are not filled, and seals the model.
  subroutine publication_finish(self, stat, errmsg)
    class(syncyte_publication), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_publication_finish(self%handle)
    call finish(status, stat, errmsg)
  end subroutine publication_finish

  !> Gives up: all binders get an error with this code and reason.
  subroutine publication_fail(self, code, reason, stat, errmsg)
    class(syncyte_publication), intent(in) :: self
    integer(c_int32_t), intent(in) :: code  !! SYNCYTE_SUCCESS, ...
    character(len=*), intent(in) :: reason
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: reason_c
    integer(c_int32_t) :: status

    call to_c(reason, reason_c)
    status = syncyte_publication_fail(self%handle, code, reason_c)
    call finish(status, stat, errmsg)
  end subroutine publication_fail

  !> Drops the reference; before finish the last one gives the publication up.
  subroutine publication_destroy(self, stat, errmsg)
    class(syncyte_publication), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_publication_destroy(self%handle)
    call finish(status, stat, errmsg)
  end subroutine publication_destroy

  !> Whether the handle is null.
  pure logical function publication_is_null(self)
    class(syncyte_publication), intent(in) :: self

    publication_is_null = .not. c_associated(self%handle)
  end function publication_is_null

  !> Points to an array of the model; waits for it. What is written to it is this process's own.
  subroutine model_find_real4(self, name, pointer, stat, errmsg)
    class(syncyte_model), intent(in) :: self
    character(len=*), intent(in) :: name
    real(c_float), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: name_c
    integer(c_int32_t) :: status

    interface
      !> Points to a tensor of a bound model, and waits for it.
      ! model [in]: a model
      ! name [in]: of the tensor
      ! pointer [in,out]: of the tensor's rank and type
      function fortran_model_find(model, name, pointer) bind(C, name="fortran_model_find") result(answer)
        import
        type(c_ptr), value :: model
        character(kind=c_char), intent(in) :: name(*)
        real(c_float), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_model_find
    end interface

    call to_c(name, name_c)
    status = fortran_model_find(self%handle, name_c, pointer)
    call finish(status, stat, errmsg)
  end subroutine model_find_real4

  !> Points to an array of the model; waits for it. What is written to it is this process's own.
  subroutine model_find_real8(self, name, pointer, stat, errmsg)
    class(syncyte_model), intent(in) :: self
    character(len=*), intent(in) :: name
    real(c_double), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: name_c
    integer(c_int32_t) :: status

    interface
      !> Points to a tensor of a bound model, and waits for it.
      ! model [in]: a model
      ! name [in]: of the tensor
      ! pointer [in,out]: of the tensor's rank and type
      function fortran_model_find(model, name, pointer) bind(C, name="fortran_model_find") result(answer)
        import
        type(c_ptr), value :: model
        character(kind=c_char), intent(in) :: name(*)
        real(c_double), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_model_find
    end interface

    call to_c(name, name_c)
    status = fortran_model_find(self%handle, name_c, pointer)
    call finish(status, stat, errmsg)
  end subroutine model_find_real8

  !> Points to an array of the model; waits for it. What is written to it is this process's own.
  subroutine model_find_complex4(self, name, pointer, stat, errmsg)
    class(syncyte_model), intent(in) :: self
    character(len=*), intent(in) :: name
    complex(c_float_complex), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: name_c
    integer(c_int32_t) :: status

    interface
      !> Points to a tensor of a bound model, and waits for it.
      ! model [in]: a model
      ! name [in]: of the tensor
      ! pointer [in,out]: of the tensor's rank and type
      function fortran_model_find(model, name, pointer) bind(C, name="fortran_model_find") result(answer)
        import
        type(c_ptr), value :: model
        character(kind=c_char), intent(in) :: name(*)
        complex(c_float_complex), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_model_find
    end interface

    call to_c(name, name_c)
    status = fortran_model_find(self%handle, name_c, pointer)
    call finish(status, stat, errmsg)
  end subroutine model_find_complex4

  !> Points to an array of the model; waits for it. What is written to it is this process's own.
  subroutine model_find_complex8(self, name, pointer, stat, errmsg)
    class(syncyte_model), intent(in) :: self
    character(len=*), intent(in) :: name
    complex(c_double_complex), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: name_c
    integer(c_int32_t) :: status

    interface
      !> Points to a tensor of a bound model, and waits for it.
      ! model [in]: a model
      ! name [in]: of the tensor
      ! pointer [in,out]: of the tensor's rank and type
      function fortran_model_find(model, name, pointer) bind(C, name="fortran_model_find") result(answer)
        import
        type(c_ptr), value :: model
        character(kind=c_char), intent(in) :: name(*)
        complex(c_double_complex), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_model_find
    end interface

    call to_c(name, name_c)
    status = fortran_model_find(self%handle, name_c, pointer)
    call finish(status, stat, errmsg)
  end subroutine model_find_complex8

  !> Points to an array of the model; waits for it. What is written to it is this process's own.
  subroutine model_find_integer1(self, name, pointer, stat, errmsg)
    class(syncyte_model), intent(in) :: self
    character(len=*), intent(in) :: name
    integer(c_int8_t), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: name_c
    integer(c_int32_t) :: status

    interface
      !> Points to a tensor of a bound model, and waits for it.
      ! model [in]: a model
      ! name [in]: of the tensor
      ! pointer [in,out]: of the tensor's rank and type
      function fortran_model_find(model, name, pointer) bind(C, name="fortran_model_find") result(answer)
        import
        type(c_ptr), value :: model
        character(kind=c_char), intent(in) :: name(*)
        integer(c_int8_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_model_find
    end interface

    call to_c(name, name_c)
    status = fortran_model_find(self%handle, name_c, pointer)
    call finish(status, stat, errmsg)
  end subroutine model_find_integer1

  !> Points to an array of the model; waits for it. What is written to it is this process's own.
  subroutine model_find_integer2(self, name, pointer, stat, errmsg)
    class(syncyte_model), intent(in) :: self
    character(len=*), intent(in) :: name
    integer(c_int16_t), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: name_c
    integer(c_int32_t) :: status

    interface
      !> Points to a tensor of a bound model, and waits for it.
      ! model [in]: a model
      ! name [in]: of the tensor
      ! pointer [in,out]: of the tensor's rank and type
      function fortran_model_find(model, name, pointer) bind(C, name="fortran_model_find") result(answer)
        import
        type(c_ptr), value :: model
        character(kind=c_char), intent(in) :: name(*)
        integer(c_int16_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_model_find
    end interface

    call to_c(name, name_c)
    status = fortran_model_find(self%handle, name_c, pointer)
    call finish(status, stat, errmsg)
  end subroutine model_find_integer2

  !> Points to an array of the model; waits for it. What is written to it is this process's own.
  subroutine model_find_integer4(self, name, pointer, stat, errmsg)
    class(syncyte_model), intent(in) :: self
    character(len=*), intent(in) :: name
    integer(c_int32_t), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: name_c
    integer(c_int32_t) :: status

    interface
      !> Points to a tensor of a bound model, and waits for it.
      ! model [in]: a model
      ! name [in]: of the tensor
      ! pointer [in,out]: of the tensor's rank and type
      function fortran_model_find(model, name, pointer) bind(C, name="fortran_model_find") result(answer)
        import
        type(c_ptr), value :: model
        character(kind=c_char), intent(in) :: name(*)
        integer(c_int32_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_model_find
    end interface

    call to_c(name, name_c)
    status = fortran_model_find(self%handle, name_c, pointer)
    call finish(status, stat, errmsg)
  end subroutine model_find_integer4

  !> Points to an array of the model; waits for it. What is written to it is this process's own.
  subroutine model_find_integer8(self, name, pointer, stat, errmsg)
    class(syncyte_model), intent(in) :: self
    character(len=*), intent(in) :: name
    integer(c_int64_t), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: name_c
    integer(c_int32_t) :: status

    interface
      !> Points to a tensor of a bound model, and waits for it.
      ! model [in]: a model
      ! name [in]: of the tensor
      ! pointer [in,out]: of the tensor's rank and type
      function fortran_model_find(model, name, pointer) bind(C, name="fortran_model_find") result(answer)
        import
        type(c_ptr), value :: model
        character(kind=c_char), intent(in) :: name(*)
        integer(c_int64_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_model_find
    end interface

    call to_c(name, name_c)
    status = fortran_model_find(self%handle, name_c, pointer)
    call finish(status, stat, errmsg)
  end subroutine model_find_integer8

  !> Points to an array of the model; waits for it. What is written to it is this process's own.
  subroutine model_find_logical1(self, name, pointer, stat, errmsg)
    class(syncyte_model), intent(in) :: self
    character(len=*), intent(in) :: name
    logical(c_bool), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: name_c
    integer(c_int32_t) :: status

    interface
      !> Points to a tensor of a bound model, and waits for it.
      ! model [in]: a model
      ! name [in]: of the tensor
      ! pointer [in,out]: of the tensor's rank and type
      function fortran_model_find(model, name, pointer) bind(C, name="fortran_model_find") result(answer)
        import
        type(c_ptr), value :: model
        character(kind=c_char), intent(in) :: name(*)
        logical(c_bool), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_model_find
    end interface

    call to_c(name, name_c)
    status = fortran_model_find(self%handle, name_c, pointer)
    call finish(status, stat, errmsg)
  end subroutine model_find_logical1

  !> Waits until all arrays are there.
  subroutine model_wait(self, timeout, stat, errmsg)
    class(syncyte_model), intent(in) :: self
    ! seconds; negative: as long as another group becomes ready within the time limit of the models
    ! (SYNCYTE_CACHE_TIMEOUT); absent: -1
    real(c_double), intent(in), optional :: timeout
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(c_double) :: timeout_c
    integer(c_int32_t) :: status

    timeout_c = -1
    if (present(timeout)) timeout_c = timeout
    status = syncyte_model_wait(self%handle, -1_c_int64_t, timeout_c)
    call finish(status, stat, errmsg)
  end subroutine model_wait

  !> Compares the published bytes with checksums; an error if the model was published without them.
  subroutine model_verify(self, stat, errmsg)
    class(syncyte_model), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_model_verify(self%handle)
    call finish(status, stat, errmsg)
  end subroutine model_verify

  !> Drops the reference; pointers to the model are then invalid.
  subroutine model_destroy(self, stat, errmsg)
    class(syncyte_model), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_model_destroy(self%handle)
    call finish(status, stat, errmsg)
  end subroutine model_destroy

  !> Whether the handle is null.
  pure logical function model_is_null(self)
    class(syncyte_model), intent(in) :: self

    model_is_null = .not. c_associated(self%handle)
  end function model_is_null
end module syncyte_named_models
