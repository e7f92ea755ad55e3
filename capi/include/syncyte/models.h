/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file models.h
 * @brief Models by name: named tensors that one process publishes, and that other processes of the machine bind without
 * a copy.
 *
 * A process creates ::syncyte_models_t and may serve them at a socket, as of syncyte_cache_send(), which other
 * processes of the user connect to. A thread of that process answers them; it sleeps while nobody asks. Any of these
 * processes publishes models, binds, lists and removes them.
 *
 * - A model is memory of its own: a file without a name that holds a manifest (of each tensor the name, type, shape and
 *   place) and the tensors. It is written once, then sealed: no process can change it. The server holds the file, but
 *   does not read it. The tensors may lie in memory of a CUDA device instead, which has a descriptor of its own; that
 *   memory is freed when no process has it, and cannot be sealed.
 * - Binding maps the file copy-on-write: a process may write to its tensors, and only it sees what it has written.
 *   Binding takes the same time for models of any size; the system maps pages at their first use. Memory of a device is
 *   mapped to be read: a kernel that writes to it fails, and with it the process's use of the device.
 * - A model can be bound in other memory than its own: in host memory, or on another device. That is a copy, which
 *   belongs to the process, and which syncyte_model_find() and syncyte_model_wait() make group by group.
 * - Tensors that share memory when they are added (the same address, type, shape and strides) share it in the model
 * too. Elements lie without gaps, in the order of the strides; a tensor with gaps between its elements becomes
 * row-major.
 * - A model is divided into groups of tensors, in the order in which they were added: at least 8 MiB each, but for the
 *   last one. A model can be bound while it is being published. Its groups become ready one after another. Before that,
 *   an access to their host memory ends the process (SIGSEGV), and memory of a device has other contents: it would read
 * bytes that have not arrived, or write privately to a page that then gets no more of them. syncyte_model_find() waits
 * for the tensor's group.
 * - The server has a budget of bytes for host memory, and one for each device. If a new model does not fit it, models
 *   of that memory that nobody has bound are removed, the least recently used first.
 *
 * The names end with the server's process: bound memory can be used, all other calls return SYNCYTE_ERR_PEER_DIED. A
 * model ends with its publisher's process before syncyte_publication_finish(): binders of it get SYNCYTE_ERR_PEER_DIED.
 * Bindings end with the binder's process.
 *
 * All functions are local and thread-safe, and work before syncyte_init(), without it, and after syncyte_finalize(). A
 * forked child may use memory that its parent has bound, which is then its own copy; for all else it connects again.
 */
#ifndef SYNCYTE_MODELS_H
#define SYNCYTE_MODELS_H

#include "syncyte/base.h"
#include "syncyte/cache.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Models by name, of this process or of the process that serves them. */
typedef struct syncyte_models_s* syncyte_models_t;

/** A model that this process publishes. */
typedef struct syncyte_publication_s* syncyte_publication_t;

/** A model that this process has bound. */
typedef struct syncyte_model_s* syncyte_model_t;

/** Options of new models. */
typedef struct syncyte_models_options_t {
  size_t struct_size;    /**< sizeof(syncyte_models_options_t) */
  int64_t budget;        /**< most bytes of all models in host memory; 0: as SYNCYTE_CACHE_MODEL_BYTES says
                              (docs/environment.md) */
  int64_t device_budget; /**< most bytes on each device; 0: as SYNCYTE_CACHE_DEVICE_MODEL_BYTES says */
} syncyte_models_options_t;

/** All defaults. */
#define SYNCYTE_MODELS_OPTIONS_INIT {sizeof(syncyte_models_options_t), 0, 0}

/** Options of a publication. */
typedef struct syncyte_publication_options_t {
  size_t struct_size;      /**< sizeof(syncyte_publication_options_t) */
  int32_t checksums;       /**< 1: checksums of the tensors, which syncyte_model_verify() compares; or 0 */
  syncyte_memory_t memory; /**< where the model will lie */
  int32_t device;          /**< {default(-1)} the device, for SYNCYTE_MEMORY_CUDA; -1: that of the thread's context, or
                                0 */
  int32_t reserved;        /**< 0 */
} syncyte_publication_options_t;

/** All defaults. */
#define SYNCYTE_PUBLICATION_OPTIONS_INIT {sizeof(syncyte_publication_options_t), 0, SYNCYTE_MEMORY_HOST, -1, 0}

/** A value of syncyte_bind_options_t::memory: where the model lies, without a copy. */
#define SYNCYTE_MEMORY_OF_MODEL (-1)

/** Options of a binding. */
typedef struct syncyte_bind_options_t {
  size_t struct_size;      /**< sizeof(syncyte_bind_options_t) */
  syncyte_memory_t memory; /**< where the tensors are used: a kind of memory, or ::SYNCYTE_MEMORY_OF_MODEL */
  int32_t device;          /**< {default(-1)} the device, for SYNCYTE_MEMORY_CUDA; -1: the model's, if it lies on one
                                that this process sees, otherwise that of the thread's context, or 0 */
  int32_t copy;            /**< 1: memory that the process may write, a copy where it lies on a device; or 0 */
  int32_t reserved;        /**< 0 */
} syncyte_bind_options_t;

/** All defaults. */
#define SYNCYTE_BIND_OPTIONS_INIT {sizeof(syncyte_bind_options_t), SYNCYTE_MEMORY_HOST, -1, 0, 0}

/** Most processes that a ::syncyte_published_t names. */
#define SYNCYTE_MOST_HOLDERS 32

/** A model in a list for people. */
typedef struct syncyte_published_t {
  size_t struct_size;                      /**< sizeof(syncyte_published_t) */
  const char* name;                        /**< of the model; valid until this thread asks the server again */
  int64_t bytes;                           /**< of its file, or of the device's memory */
  int64_t groups;                          /**< number of groups; 0: not known yet */
  int64_t ready;                           /**< number of groups that are ready; less than groups: it is loading */
  int32_t publisher;                       /**< id of the process that has published it */
  int32_t holders;                         /**< number of bindings */
  int32_t processes[SYNCYTE_MOST_HOLDERS]; /**< ids of the first processes that have it bound, then zeros */
  const char* device;                      /**< UUID of the device whose memory it lies in, "GPU-..."; "" for host
                                                memory; valid as the name */
} syncyte_published_t;

/** What a process has bound. */
typedef struct syncyte_model_info_t {
  size_t struct_size;      /**< sizeof(syncyte_model_info_t) */
  int64_t bytes;           /**< from the model's begin to its end */
  int64_t tensors;         /**< number of tensors */
  int64_t groups;          /**< number of groups */
  int64_t ready;           /**< number of groups that this process can use */
  syncyte_memory_t memory; /**< kind of memory of the tensors */
  int32_t device;          /**< their device; 0 for host memory */
  int32_t read_only;       /**< 1: other processes have the same memory, and nobody may write it; or 0 */
  int32_t reserved;        /**< 0 */
} syncyte_model_info_t;

/** A tensor of a model. */
typedef struct syncyte_model_tensor_t {
  size_t struct_size;                /**< sizeof(syncyte_model_tensor_t) */
  const char* name;                  /**< valid while the model is bound */
  void* data;                        /**< first element, for use once its group is ready; at a multiple of 64 bytes */
  int64_t bytes;                     /**< of all elements */
  int64_t group;                     /**< number of its group, from 0 */
  int64_t same_as;                   /**< number of the first tensor that has this memory: its own, or less */
  syncyte_dtype_t dtype;             /**< element type */
  int32_t ndim;                      /**< number of dimensions */
  int64_t shape[SYNCYTE_MAX_NDIM];   /**< extents, in elements */
  int64_t strides[SYNCYTE_MAX_NDIM]; /**< distances of neighbouring elements, in bytes */
} syncyte_model_tensor_t;

/**
 * @brief Makes an empty set of models in this process, which others do not see before syncyte_models_serve().
 * @param[in] options {optional} null for defaults
 * @param[out] models the models
 * @return SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_LIMIT (open files).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_models_create(const syncyte_models_options_t* options,
                                                      syncyte_models_t* models);

/**
 * @brief Connects to models that another process of the same user serves. Waits for it.
 * @param[in] options {optional} socket and time limit of this and of later calls; null for defaults
 * @param[out] models the models
 * @return SYNCYTE_ERR_TIMEOUT (no process serves them), SYNCYTE_ERR_ARGUMENT (as for syncyte_cache_receive()),
 * SYNCYTE_ERR_FORMAT (the process at the socket serves no models), SYNCYTE_ERR_VERSION, SYNCYTE_ERR_IO,
 * SYNCYTE_ERR_INTERRUPTED.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_models_connect(const syncyte_cache_rendezvous_t* options,
                                                       syncyte_models_t* models);

/**
 * @brief {by_hand, cxx_by_hand} Serves the models at a socket until the last reference is dropped. Other processes of
 * this user may then connect.
 * @param[in] models models of this process
 * @param[in] options {optional} socket, and time limit of this call; null for defaults
 * @return SYNCYTE_ERR_BUSY (served already; the name is in use), SYNCYTE_ERR_ARGUMENT (as for syncyte_cache_send();
 * models of another process), SYNCYTE_ERR_IO, SYNCYTE_ERR_TIMEOUT, SYNCYTE_ERR_UNSUPPORTED (a forked child).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_models_serve(syncyte_models_t models,
                                                     const syncyte_cache_rendezvous_t* options);

/**
 * @brief Adds a reference.
 * @param[in] models models
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_models_retain(syncyte_models_t models);

/**
 * @brief Drops a reference. The last one of the process that has made the models ends the service and all names; what
 * is bound can be used.
 * @param[in] models models
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_models_release(syncyte_models_t models);

/**
 * @brief Drops a reference and nulls the handle; a null handle is ignored.
 * @param[in,out] models models
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_models_destroy(syncyte_models_t* models);

/**
 * @brief {by_hand, cxx_by_hand} Describes one model after another. Number 0 asks the server; others are of the answer
 * that this thread has got.
 * @param[in] models models
 * @param[in] number 0, 1, ... until the result is SYNCYTE_ERR_INDEX
 * @param[in,out] published struct_size set by the caller; the rest is filled
 * @return SYNCYTE_ERR_INDEX beyond the last one, SYNCYTE_ERR_PEER_DIED, SYNCYTE_ERR_TIMEOUT.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_models_describe(syncyte_models_t models, int64_t number,
                                                        syncyte_published_t* published);

/**
 * @brief {by_hand, cxx_by_hand} Removes a model that nobody has bound. Its name is free then.
 * @param[in] models models
 * @param[in] name {string} of the model
 * @return SYNCYTE_ERR_NOT_FOUND, SYNCYTE_ERR_BUSY (it is bound, or loading), SYNCYTE_ERR_PEER_DIED,
 * SYNCYTE_ERR_TIMEOUT.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_models_remove(syncyte_models_t models, const char* name);

/**
 * @brief {by_hand, cxx_by_hand} Begins a list of tensors. Nothing is published before syncyte_publication_start().
 * @param[in] models models
 * @param[in] name {string} of the model, 1 to 255 bytes
 * @param[in] options {optional} null for defaults
 * @param[out] publication the publication
 * @return SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_UNSUPPORTED (there is no device).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_publication_create(syncyte_models_t models, const char* name,
                                                           const syncyte_publication_options_t* options,
                                                           syncyte_publication_t* publication);

/**
 * @brief Adds a reference.
 * @param[in] publication a publication
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_publication_retain(syncyte_publication_t publication);

/**
 * @brief Drops a reference. The last one before syncyte_publication_finish() gives the publication up.
 * @param[in] publication a publication
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_publication_release(syncyte_publication_t publication);

/**
 * @brief Drops a reference and nulls the handle; a null handle is ignored.
 * @param[in,out] publication a publication
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_publication_destroy(syncyte_publication_t* publication);

/**
 * @brief {by_hand, cxx_by_hand} Adds a tensor.
 * @param[in] publication a publication that has not started
 * @param[in] tensor {string} its name, 1 to 1024 bytes, which no other tensor of the model has
 * @param[in] buffer {kept} any strides; its memory must stay until syncyte_publication_finish(). Its address may be
 * null if syncyte_publication_fill() gives the elements. Memory of a device too, without gaps between the elements; all
 * work that writes it must be complete
 * @return SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE (gaps in memory of a device).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_publication_add(syncyte_publication_t publication, const char* tensor,
                                                        const syncyte_buffer_t* buffer);

/**
 * @brief {by_hand} Takes the name and the memory. From now on processes can bind the model, and wait for its groups.
 * @param[in] publication a publication with 1 or more tensors; one that has started is left alone
 * @return SYNCYTE_ERR_BUSY (the name is taken), SYNCYTE_ERR_MEMORY (the budget without what is bound; the machine; the
 * device), SYNCYTE_ERR_UNSUPPORTED (the device cannot share memory), SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_LIMIT (open
 * files), SYNCYTE_ERR_PEER_DIED, SYNCYTE_ERR_TIMEOUT.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_publication_start(syncyte_publication_t publication);

/**
 * @brief {by_hand, cxx_by_hand} Copies the elements of a tensor into the model; starts first. A group is ready once all
 * its tensors and those of the groups before it are written.
 * @param[in] publication a publication
 * @param[in] tensor {string} name of the tensor
 * @param[in] buffer of its type and shape, any strides; of a device as for syncyte_publication_add(), and with the
 * strides that the tensor has there
 * @return as syncyte_publication_start(); SYNCYTE_ERR_NOT_FOUND, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_BUSY
 * (its group is ready, so that others may read it).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_publication_fill(syncyte_publication_t publication, const char* tensor,
                                                         const syncyte_buffer_t* buffer);

/**
 * @brief {by_hand} Copies all tensors that are not filled, in the order in which they were added, and seals the model;
 * starts first. On an error after the start, the name is free and binders get the error.
 * @param[in] publication a publication, which ends
 * @return as syncyte_publication_start(); SYNCYTE_ERR_ARGUMENT (a tensor without address is not filled),
 * SYNCYTE_ERR_INTERRUPTED.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_publication_finish(syncyte_publication_t publication);

/**
 * @brief {by_hand, cxx_by_hand} Gives the publication up. All binders get this error.
 * @param[in] publication a publication, which ends
 * @param[in] code status of the error
 * @param[in] reason {string} text of the error
 * @return SYNCYTE_ERR_ARGUMENT (it has ended; a code that is none of an error).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_publication_fail(syncyte_publication_t publication, syncyte_status_t code,
                                                         const char* reason);

/**
 * @brief {by_hand, cxx_by_hand} Binds a model: maps it into this process, or copies it. Waits until its publisher has
 * the memory, but not for its tensors.
 * @param[in] models models
 * @param[in] name {string} of the model
 * @param[in] options {optional} null for defaults
 * @param[out] model the model, which stays while this process has a reference
 * @return SYNCYTE_ERR_NOT_FOUND, SYNCYTE_ERR_FORMAT (a damaged manifest), SYNCYTE_ERR_VERSION (published by another
 * version), SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_LIMIT (open files), SYNCYTE_ERR_UNSUPPORTED (the model lies on a
 * device that this process does not see; its devices cannot share memory), SYNCYTE_ERR_ARGUMENT (no such device),
 * SYNCYTE_ERR_PEER_DIED, SYNCYTE_ERR_TIMEOUT; the error of a failed publication.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_models_bind(syncyte_models_t models, const char* name,
                                                    const syncyte_bind_options_t* options, syncyte_model_t* model);

/**
 * @brief Adds a reference.
 * @param[in] model a model
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_model_retain(syncyte_model_t model);

/**
 * @brief Drops a reference. The last one unmaps the model.
 * @param[in] model a model
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_model_release(syncyte_model_t model);

/**
 * @brief Drops a reference and nulls the handle; a null handle is ignored.
 * @param[in,out] model a model
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_model_destroy(syncyte_model_t* model);

/**
 * @brief {by_hand, cxx_by_hand} Describes a model. Does not wait.
 * @param[in] model a model
 * @param[in,out] info struct_size set by the caller; the rest is filled
 * @return the error of a failed publication, unless all groups are ready.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_model_describe(syncyte_model_t model, syncyte_model_info_t* info);

/**
 * @brief {by_hand, cxx_by_hand} Describes a tensor by its number. Does not wait for its group.
 * @param[in] model a model
 * @param[in] number 0 to the number of tensors - 1, in the order in which they were added
 * @param[in,out] tensor struct_size set by the caller; the rest is filled
 * @return SYNCYTE_ERR_INDEX.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_model_tensor(syncyte_model_t model, int64_t number,
                                                     syncyte_model_tensor_t* tensor);

/**
 * @brief {by_hand, cxx_by_hand} Finds a tensor by its name; waits for its group, or copies it.
 * @param[in] model a model
 * @param[in] name {string} of the tensor
 * @param[in,out] buffer struct_size set by the caller; the rest is filled. The memory is valid while the model is
 * bound; writes are this process's own, unless syncyte_model_info_t::read_only forbids them
 * @return SYNCYTE_ERR_NOT_FOUND; as syncyte_model_wait().
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_model_find(syncyte_model_t model, const char* name, syncyte_buffer_t* buffer);

/**
 * @brief {by_hand} Waits until a group and those before it are ready, and copies them if the binding is a copy.
 * @param[in] model a model
 * @param[in] group 0 to the number of groups - 1; -1: all
 * @param[in] timeout {default(-1)} seconds; negative: as long as another group becomes ready within the time limit of
 * the models (SYNCYTE_CACHE_TIMEOUT)
 * @return SYNCYTE_ERR_INDEX, SYNCYTE_ERR_TIMEOUT, SYNCYTE_ERR_PEER_DIED (the server, or the publisher, has ended), the
 * error of a failed publication, SYNCYTE_ERR_INTERRUPTED.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_model_wait(syncyte_model_t model, int64_t group, double timeout);

/**
 * @brief {by_hand} Compares the published bytes with the checksums that were published. Waits for all groups.
 * @param[in] model a model
 * @return SYNCYTE_ERR_CHECKSUM (names the tensor), SYNCYTE_ERR_UNSUPPORTED (published without checksums, or on a device
 * that this process does not see, also if the binding is a copy); as syncyte_model_wait().
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_model_verify(syncyte_model_t model);

#ifdef __cplusplus
}
#endif

#endif
