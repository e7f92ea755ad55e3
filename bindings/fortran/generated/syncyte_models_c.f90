! SPDX-License-Identifier: BSD-3-Clause
! Generated from syncyte/models.h by bindings/generate; do not edit.
!> Models by name: named tensors that one process publishes, and that other processes of the machine bind without a
!> copy.
module syncyte_models_c
  use, intrinsic :: iso_c_binding
  use syncyte_base_c
  use syncyte_cache_c
  implicit none
  public

  !> A value of syncyte_bind_options_t::memory: where the model lies, without a copy.
  integer(c_int32_t), parameter :: SYNCYTE_MEMORY_OF_MODEL = -1_c_int32_t

  !> Most processes that a syncyte_published_t names.
  integer(c_int32_t), parameter :: SYNCYTE_MOST_HOLDERS = 32_c_int32_t

  !> Options of new models.
  type, bind(C) :: syncyte_models_options_t
    ! sizeof(syncyte_models_options_t)
    integer(c_size_t) :: struct_size = 24_c_size_t
    ! most bytes of all models in host memory; 0: as SYNCYTE_CACHE_MODEL_BYTES says (docs/environment.md)
    integer(c_int64_t) :: budget = 0_c_int64_t
    ! most bytes on each device; 0: as SYNCYTE_CACHE_DEVICE_MODEL_BYTES says
    integer(c_int64_t) :: device_budget = 0_c_int64_t
  end type syncyte_models_options_t

  !> Options of a publication.
  type, bind(C) :: syncyte_publication_options_t
    ! sizeof(syncyte_publication_options_t)
    integer(c_size_t) :: struct_size = 24_c_size_t
    ! 1: checksums of the tensors, which syncyte_model_verify() compares; or 0
    integer(c_int32_t) :: checksums = 0_c_int32_t
    ! where the model will lie
    integer(c_int32_t) :: memory = 0_c_int32_t
    ! the device, for SYNCYTE_MEMORY_CUDA; -1: that of the thread's context, or 0
    integer(c_int32_t) :: device = -1_c_int32_t
    ! 0
    integer(c_int32_t) :: reserved = 0_c_int32_t
  end type syncyte_publication_options_t

  !> Options of a binding.
  type, bind(C) :: syncyte_bind_options_t
    ! sizeof(syncyte_bind_options_t)
    integer(c_size_t) :: struct_size = 24_c_size_t
    ! where the tensors are used: a kind of memory, or SYNCYTE_MEMORY_OF_MODEL
    integer(c_int32_t) :: memory = 0_c_int32_t
    ! the device, for SYNCYTE_MEMORY_CUDA; -1: the model's, if it lies on one that this process sees, otherwise that
    ! of the thread's context, or 0
    integer(c_int32_t) :: device = -1_c_int32_t
    ! 1: memory that the process may write, a copy where it lies on a device; or 0
    integer(c_int32_t) :: copy = 0_c_int32_t
    ! 0
    integer(c_int32_t) :: reserved = 0_c_int32_t
  end type syncyte_bind_options_t

  !> A model in a list for people.
  type, bind(C) :: syncyte_published_t
    ! sizeof(syncyte_published_t)
    integer(c_size_t) :: struct_size = 184_c_size_t
    ! of the model; valid until this thread asks the server again
    type(c_ptr) :: name = c_null_ptr
    ! of its file, or of the device's memory
    integer(c_int64_t) :: bytes = 0_c_int64_t
    ! number of groups; 0: not known yet
    integer(c_int64_t) :: groups = 0_c_int64_t
    ! number of groups that are ready; less than groups: it is loading
    integer(c_int64_t) :: ready = 0_c_int64_t
    ! id of the process that has published it
    integer(c_int32_t) :: publisher = 0_c_int32_t
    ! number of bindings
    integer(c_int32_t) :: holders = 0_c_int32_t
    ! ids of the first processes that have it bound, then zeros
    integer(c_int32_t) :: processes(32) = 0_c_int32_t
    ! UUID of the device whose memory it lies in, "GPU-..."; "" for host memory; valid as the name
    type(c_ptr) :: device = c_null_ptr
  end type syncyte_published_t

  !> What a process has bound.
  type, bind(C) :: syncyte_model_info_t
    ! sizeof(syncyte_model_info_t)
    integer(c_size_t) :: struct_size = 56_c_size_t
    ! from the model's begin to its end
    integer(c_int64_t) :: bytes = 0_c_int64_t
    ! number of tensors
    integer(c_int64_t) :: tensors = 0_c_int64_t
    ! number of groups
    integer(c_int64_t) :: groups = 0_c_int64_t
    ! number of groups that this process can use
    integer(c_int64_t) :: ready = 0_c_int64_t
    ! kind of memory of the tensors
    integer(c_int32_t) :: memory = 0_c_int32_t
    ! their device; 0 for host memory
    integer(c_int32_t) :: device = 0_c_int32_t
    ! 1: other processes have the same memory, and nobody may write it; or 0
    integer(c_int32_t) :: read_only = 0_c_int32_t
    ! 0
    integer(c_int32_t) :: reserved = 0_c_int32_t
  end type syncyte_model_info_t

  !> A tensor of a model.
  type, bind(C) :: syncyte_model_tensor_t
    ! sizeof(syncyte_model_tensor_t)
    integer(c_size_t) :: struct_size = 184_c_size_t
    ! valid while the model is bound
    type(c_ptr) :: name = c_null_ptr
    ! first element, for use once its group is ready; at a multiple of 64 bytes
    type(c_ptr) :: data = c_null_ptr
    ! of all elements
    integer(c_int64_t) :: bytes = 0_c_int64_t
    ! number of its group, from 0
    integer(c_int64_t) :: group = 0_c_int64_t
    ! number of the first tensor that has this memory: its own, or less
    integer(c_int64_t) :: same_as = 0_c_int64_t
    ! element type
    integer(c_int32_t) :: dtype = 0_c_int32_t
    ! number of dimensions
    integer(c_int32_t) :: ndim = 0_c_int32_t
    ! extents, in elements
    integer(c_int64_t) :: shape(8) = 0_c_int64_t
    ! distances of neighbouring elements, in bytes
    integer(c_int64_t) :: strides(8) = 0_c_int64_t
  end type syncyte_model_tensor_t

  interface

    !> Makes an empty set of models in this process, which others do not see before syncyte_models_serve().
    ! options [in]: null for defaults
    ! models [out]: the models
    ! Returns: SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_LIMIT (open files).
    function syncyte_models_create(options, models) bind(C, name="syncyte_models_create") result(answer)
      import
      type(syncyte_models_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: models
      integer(c_int32_t) :: answer
    end function syncyte_models_create

    !> Connects to models that another process of the same user serves. Waits for it.
    ! options [in]: socket and time limit of this and of later calls; null for defaults
    ! models [out]: the models
    ! Returns: SYNCYTE_ERR_TIMEOUT (no process serves them), SYNCYTE_ERR_ARGUMENT (as for syncyte_cache_receive()),
    ! SYNCYTE_ERR_FORMAT (the process at the socket serves no models), SYNCYTE_ERR_VERSION, SYNCYTE_ERR_IO,
    ! SYNCYTE_ERR_INTERRUPTED.
    function syncyte_models_connect(options, models) bind(C, name="syncyte_models_connect") result(answer)
      import
      type(syncyte_cache_rendezvous_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: models
      integer(c_int32_t) :: answer
    end function syncyte_models_connect

    !> Serves the models at a socket until the last reference is dropped. Other processes of this user may then
    !> connect.
    ! models [in]: models of this process
    ! options [in]: socket, and time limit of this call; null for defaults
    ! Returns: SYNCYTE_ERR_BUSY (served already; the name is in use), SYNCYTE_ERR_ARGUMENT (as for
    ! syncyte_cache_send(); models of another process), SYNCYTE_ERR_IO, SYNCYTE_ERR_TIMEOUT, SYNCYTE_ERR_UNSUPPORTED
    ! (a forked child).
    function syncyte_models_serve(models, options) bind(C, name="syncyte_models_serve") result(answer)
      import
      type(c_ptr), value :: models
      type(syncyte_cache_rendezvous_t), intent(in), optional :: options
      integer(c_int32_t) :: answer
    end function syncyte_models_serve

    !> Adds a reference.
    ! models [in]: models
    function syncyte_models_retain(models) bind(C, name="syncyte_models_retain") result(answer)
      import
      type(c_ptr), value :: models
      integer(c_int32_t) :: answer
    end function syncyte_models_retain

    !> Drops a reference. The last one of the process that has made the models ends the service and all names; what
    !> is bound can be used.
    ! models [in]: models
    function syncyte_models_release(models) bind(C, name="syncyte_models_release") result(answer)
      import
      type(c_ptr), value :: models
      integer(c_int32_t) :: answer
    end function syncyte_models_release

    !> Drops a reference and nulls the handle; a null handle is ignored.
    ! models [in,out]: models
    function syncyte_models_destroy(models) bind(C, name="syncyte_models_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: models
      integer(c_int32_t) :: answer
    end function syncyte_models_destroy

    !> Describes one model after another. Number 0 asks the server; others are of the answer that this thread has
    !> got.
    ! models [in]: models
    ! number [in]: 0, 1, ... until the result is SYNCYTE_ERR_INDEX
    ! published [in,out]: struct_size set by the caller; the rest is filled
    ! Returns: SYNCYTE_ERR_INDEX beyond the last one, SYNCYTE_ERR_PEER_DIED, SYNCYTE_ERR_TIMEOUT.
    function syncyte_models_describe(models, number, published) bind(C, name="syncyte_models_describe") &
        result(answer)
      import
      type(c_ptr), value :: models
      integer(c_int64_t), value :: number
      type(syncyte_published_t), intent(inout) :: published
      integer(c_int32_t) :: answer
    end function syncyte_models_describe

    !> Removes a model that nobody has bound. Its name is free then.
    ! models [in]: models
    ! name [in]: of the model
    ! Returns: SYNCYTE_ERR_NOT_FOUND, SYNCYTE_ERR_BUSY (it is bound, or loading), SYNCYTE_ERR_PEER_DIED,
    ! SYNCYTE_ERR_TIMEOUT.
    function syncyte_models_remove(models, name) bind(C, name="syncyte_models_remove") result(answer)
      import
      type(c_ptr), value :: models
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t) :: answer
    end function syncyte_models_remove

    !> Begins a list of tensors. Nothing is published before syncyte_publication_start().
    ! models [in]: models
    ! name [in]: of the model, 1 to 255 bytes
    ! options [in]: null for defaults
    ! publication [out]: the publication
    ! Returns: SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_UNSUPPORTED (there is no device).
    function syncyte_publication_create(models, name, options, publication) bind(C, &
        name="syncyte_publication_create") result(answer)
      import
      type(c_ptr), value :: models
      character(kind=c_char), intent(in) :: name(*)
      type(syncyte_publication_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: publication
      integer(c_int32_t) :: answer
    end function syncyte_publication_create

    !> Adds a reference.
    ! publication [in]: a publication
    function syncyte_publication_retain(publication) bind(C, name="syncyte_publication_retain") result(answer)
      import
      type(c_ptr), value :: publication
      integer(c_int32_t) :: answer
    end function syncyte_publication_retain

    !> Drops a reference. The last one before syncyte_publication_finish() gives the publication up.
    ! publication [in]: a publication
    function syncyte_publication_release(publication) bind(C, name="syncyte_publication_release") result(answer)
      import
      type(c_ptr), value :: publication
      integer(c_int32_t) :: answer
    end function syncyte_publication_release

    !> Drops a reference and nulls the handle; a null handle is ignored.
    ! publication [in,out]: a publication
    function syncyte_publication_destroy(publication) bind(C, name="syncyte_publication_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: publication
      integer(c_int32_t) :: answer
    end function syncyte_publication_destroy

    !> Adds a tensor.
    ! publication [in]: a publication that has not started
    ! tensor [in]: its name, 1 to 1024 bytes, which no other tensor of the model has
    ! buffer [in]: any strides; its memory must stay until syncyte_publication_finish(). Its address may be null if
    ! syncyte_publication_fill() gives the elements. Memory of a device too, without gaps between the elements; all
    ! work that writes it must be complete
    ! Returns: SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE (gaps in memory of a device).
    function syncyte_publication_add(publication, tensor, buffer) bind(C, name="syncyte_publication_add") &
        result(answer)
      import
      type(c_ptr), value :: publication
      character(kind=c_char), intent(in) :: tensor(*)
      type(syncyte_buffer_t), intent(in) :: buffer
      integer(c_int32_t) :: answer
    end function syncyte_publication_add

    !> Takes the name and the memory. From now on processes can bind the model, and wait for its groups.
    ! publication [in]: a publication with 1 or more tensors; one that has started is left alone
    ! Returns: SYNCYTE_ERR_BUSY (the name is taken), SYNCYTE_ERR_MEMORY (the budget without what is bound; the
    ! machine; the device), SYNCYTE_ERR_UNSUPPORTED (the device cannot share memory), SYNCYTE_ERR_ARGUMENT,
    ! SYNCYTE_ERR_LIMIT (open files), SYNCYTE_ERR_PEER_DIED, SYNCYTE_ERR_TIMEOUT.
    function syncyte_publication_start(publication) bind(C, name="syncyte_publication_start") result(answer)
      import
      type(c_ptr), value :: publication
      integer(c_int32_t) :: answer
    end function syncyte_publication_start

    !> Copies the elements of a tensor into the model; starts first. A group is ready once all its tensors and those
    !> of the groups before it are written.
    ! publication [in]: a publication
    ! tensor [in]: name of the tensor
    ! buffer [in]: of its type and shape, any strides; of a device as for syncyte_publication_add(), and with the
    ! strides that the tensor has there
    ! Returns: as syncyte_publication_start(); SYNCYTE_ERR_NOT_FOUND, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE,
    ! SYNCYTE_ERR_BUSY (its group is ready, so that others may read it).
    function syncyte_publication_fill(publication, tensor, buffer) bind(C, name="syncyte_publication_fill") &
        result(answer)
      import
      type(c_ptr), value :: publication
      character(kind=c_char), intent(in) :: tensor(*)
      type(syncyte_buffer_t), intent(in) :: buffer
      integer(c_int32_t) :: answer
    end function syncyte_publication_fill

    !> Copies all tensors that are not filled, in the order in which they were added, and seals the model; starts
    !> first. On an error after the start, the name is free and binders get the error.
    ! publication [in]: a publication, which ends
    ! Returns: as syncyte_publication_start(); SYNCYTE_ERR_ARGUMENT (a tensor without address is not filled),
    ! SYNCYTE_ERR_INTERRUPTED.
    function syncyte_publication_finish(publication) bind(C, name="syncyte_publication_finish") result(answer)
      import
      type(c_ptr), value :: publication
      integer(c_int32_t) :: answer
    end function syncyte_publication_finish

    !> Gives the publication up. All binders get this error.
    ! publication [in]: a publication, which ends
    ! code [in]: status of the error
    ! reason [in]: text of the error
    ! Returns: SYNCYTE_ERR_ARGUMENT (it has ended; a code that is none of an error).
    function syncyte_publication_fail(publication, code, reason) bind(C, name="syncyte_publication_fail") &
        result(answer)
      import
      type(c_ptr), value :: publication
      integer(c_int32_t), value :: code
      character(kind=c_char), intent(in) :: reason(*)
      integer(c_int32_t) :: answer
    end function syncyte_publication_fail

    !> Binds a model: maps it into this process, or copies it. Waits until its publisher has the memory, but not for
    !> its tensors.
    ! models [in]: models
    ! name [in]: of the model
    ! options [in]: null for defaults
    ! model [out]: the model, which stays while this process has a reference
    ! Returns: SYNCYTE_ERR_NOT_FOUND, SYNCYTE_ERR_FORMAT (a damaged manifest), SYNCYTE_ERR_VERSION (published by
    ! another version), SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_LIMIT (open files), SYNCYTE_ERR_UNSUPPORTED (the model lies
    ! on a device that this process does not see; its devices cannot share memory), SYNCYTE_ERR_ARGUMENT (no such
    ! device), SYNCYTE_ERR_PEER_DIED, SYNCYTE_ERR_TIMEOUT; the error of a failed publication.
    function syncyte_models_bind(models, name, options, model) bind(C, name="syncyte_models_bind") &
        result(answer)
      import
      type(c_ptr), value :: models
      character(kind=c_char), intent(in) :: name(*)
      type(syncyte_bind_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: model
      integer(c_int32_t) :: answer
    end function syncyte_models_bind

    !> Adds a reference.
    ! model [in]: a model
    function syncyte_model_retain(model) bind(C, name="syncyte_model_retain") result(answer)
      import
      type(c_ptr), value :: model
      integer(c_int32_t) :: answer
    end function syncyte_model_retain

    !> Drops a reference. The last one unmaps the model.
    ! model [in]: a model
    function syncyte_model_release(model) bind(C, name="syncyte_model_release") result(answer)
      import
      type(c_ptr), value :: model
      integer(c_int32_t) :: answer
    end function syncyte_model_release

    !> Drops a reference and nulls the handle; a null handle is ignored.
    ! model [in,out]: a model
    function syncyte_model_destroy(model) bind(C, name="syncyte_model_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: model
      integer(c_int32_t) :: answer
    end function syncyte_model_destroy

    !> Describes a model. Does not wait.
    ! model [in]: a model
    ! info [in,out]: struct_size set by the caller; the rest is filled
    ! Returns: the error of a failed publication, unless all groups are ready.
    function syncyte_model_describe(model, info) bind(C, name="syncyte_model_describe") result(answer)
      import
      type(c_ptr), value :: model
      type(syncyte_model_info_t), intent(inout) :: info
      integer(c_int32_t) :: answer
    end function syncyte_model_describe

    !> Describes a tensor by its number. Does not wait for its group.
    ! model [in]: a model
    ! number [in]: 0 to the number of tensors - 1, in the order in which they were added
    ! tensor [in,out]: struct_size set by the caller; the rest is filled
    ! Returns: SYNCYTE_ERR_INDEX.
    function syncyte_model_tensor(model, number, tensor) bind(C, name="syncyte_model_tensor") result(answer)
      import
      type(c_ptr), value :: model
      integer(c_int64_t), value :: number
      type(syncyte_model_tensor_t), intent(inout) :: tensor
      integer(c_int32_t) :: answer
    end function syncyte_model_tensor

    !> Finds a tensor by its name; waits for its group, or copies it.
    ! model [in]: a model
    ! name [in]: of the tensor
    ! buffer [in,out]: struct_size set by the caller; the rest is filled. The memory is valid while the model is
    ! bound; writes are this process's own, unless syncyte_model_info_t::read_only forbids them
    ! Returns: SYNCYTE_ERR_NOT_FOUND; as syncyte_model_wait().
    function syncyte_model_find(model, name, buffer) bind(C, name="syncyte_model_find") result(answer)
      import
      type(c_ptr), value :: model
      character(kind=c_char), intent(in) :: name(*)
      type(syncyte_buffer_t), intent(inout) :: buffer
      integer(c_int32_t) :: answer
    end function syncyte_model_find

    !> Waits until a group and those before it are ready, and copies them if the binding is a copy.
    ! model [in]: a model
    ! group [in]: 0 to the number of groups - 1; -1: all
    ! timeout [in]: seconds; negative: as long as another group becomes ready within the time limit of the models
    ! (SYNCYTE_CACHE_TIMEOUT)
    ! Returns: SYNCYTE_ERR_INDEX, SYNCYTE_ERR_TIMEOUT, SYNCYTE_ERR_PEER_DIED (the server, or the publisher, has
    ! ended), the error of a failed publication, SYNCYTE_ERR_INTERRUPTED.
    function syncyte_model_wait(model, group, timeout) bind(C, name="syncyte_model_wait") result(answer)
      import
      type(c_ptr), value :: model
      integer(c_int64_t), value :: group
      real(c_double), value :: timeout
      integer(c_int32_t) :: answer
    end function syncyte_model_wait

    !> Compares the published bytes with the checksums that were published. Waits for all groups.
    ! model [in]: a model
    ! Returns: SYNCYTE_ERR_CHECKSUM (names the tensor), SYNCYTE_ERR_UNSUPPORTED (published without checksums, or on
    ! a device that this process does not see, also if the binding is a copy); as syncyte_model_wait().
    function syncyte_model_verify(model) bind(C, name="syncyte_model_verify") result(answer)
      import
      type(c_ptr), value :: model
      integer(c_int32_t) :: answer
    end function syncyte_model_verify
  end interface
end module syncyte_models_c
