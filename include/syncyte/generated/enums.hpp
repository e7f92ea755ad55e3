// SPDX-License-Identifier: BSD-3-Clause
// Generated from syncyte/*.h by bindings/generate; do not edit.
// clang-format off
#pragma once

#include <cstdint>

#include "syncyte.h"

namespace syncyte {

/// Status codes; never renumbered. If ranks fail with different ones, an agreement gives all the highest.
enum class status : std::int32_t {
  success = SYNCYTE_SUCCESS,
  argument = SYNCYTE_ERR_ARGUMENT,  ///< an argument's value is not allowed
  handle = SYNCYTE_ERR_HANDLE,  ///< null, freed or foreign handle
  index = SYNCYTE_ERR_INDEX,  ///< an index is out of range
  type = SYNCYTE_ERR_TYPE,  ///< unknown element type, or the wrong one
  shape = SYNCYTE_ERR_SHAPE,  ///< wrong shape, size or strides
  mismatch = SYNCYTE_ERR_MISMATCH,  ///< ranks disagree
  not_initialized = SYNCYTE_ERR_NOT_INITIALIZED,  ///< called before syncyte_init(), or after finalize
  memory = SYNCYTE_ERR_MEMORY,  ///< not enough memory
  unsupported = SYNCYTE_ERR_UNSUPPORTED,  ///< not available in this build, or for these arguments
  busy = SYNCYTE_ERR_BUSY,  ///< in use by another thread or an active request
  peer_died = SYNCYTE_ERR_PEER_DIED,  ///< a rank has died, or data are damaged because it died while it changed them; also from a wait for a counter or lock that no remaining rank can end
  mpi = SYNCYTE_ERR_MPI,  ///< MPI reported an error
  io = SYNCYTE_ERR_IO,  ///< the operating system reported an error on a file
  format = SYNCYTE_ERR_FORMAT,  ///< not a Syncyte file, or a truncated one
  checksum = SYNCYTE_ERR_CHECKSUM,  ///< stored data is damaged
  not_found = SYNCYTE_ERR_NOT_FOUND,  ///< no such file or key
  version = SYNCYTE_ERR_VERSION,  ///< library or file of another version
  timeout = SYNCYTE_ERR_TIMEOUT,  ///< a stated time limit passed
  internal = SYNCYTE_ERR_INTERNAL,  ///< a defect of Syncyte; please report it
  limit = SYNCYTE_ERR_LIMIT,  ///< a limit of the system, as on open files, is reached; the message names it
  interrupted = SYNCYTE_ERR_INTERRUPTED,  ///< the application ended a wait: see syncyte_interrupt_set()
};

/// Element types; never renumbered. Complex numbers are pairs (real, imaginary); bool is one byte, 0 or 1.
enum class dtype : std::int32_t {
  float16 = SYNCYTE_FLOAT16,
  bfloat16 = SYNCYTE_BFLOAT16,
  float32 = SYNCYTE_FLOAT32,
  float64 = SYNCYTE_FLOAT64,
  complex64 = SYNCYTE_COMPLEX64,
  complex128 = SYNCYTE_COMPLEX128,
  int8 = SYNCYTE_INT8,
  int16 = SYNCYTE_INT16,
  int32 = SYNCYTE_INT32,
  int64 = SYNCYTE_INT64,
  uint8 = SYNCYTE_UINT8,
  boolean = SYNCYTE_BOOL,
  uint16 = SYNCYTE_UINT16,
  uint32 = SYNCYTE_UINT32,
  uint64 = SYNCYTE_UINT64,
};

/// Reductions; never renumbered.
enum class op : std::int32_t {
  sum = SYNCYTE_OP_SUM,  ///< sum; logical or for bool
  prod = SYNCYTE_OP_PROD,  ///< product; logical and for bool
  min = SYNCYTE_OP_MIN,  ///< minimum; not for complex; NaN if an operand is NaN; -0 is less than +0
  max = SYNCYTE_OP_MAX,  ///< maximum; not for complex; NaN if an operand is NaN; -0 is less than +0
  logical_and = SYNCYTE_OP_LAND,  ///< logical and; integers and bool
  logical_or = SYNCYTE_OP_LOR,  ///< logical or; integers and bool
  bit_and = SYNCYTE_OP_BAND,  ///< bitwise and; integers and bool
  bit_or = SYNCYTE_OP_BOR,  ///< bitwise or; integers and bool
  bit_xor = SYNCYTE_OP_BXOR,  ///< bitwise exclusive or; integers and bool
  replace = SYNCYTE_OP_REPLACE,  ///< the new value (windows, tensor_put_signal)
  logical_xor = SYNCYTE_OP_LXOR,  ///< logical exclusive or; integers and bool
};

/// Kinds of memory; never renumbered.
enum class memory_kind : std::int32_t {
  host = SYNCYTE_MEMORY_HOST,  ///< host memory of the process or the node
  cuda = SYNCYTE_MEMORY_CUDA,  ///< memory of a CUDA device
};

/// Severities.
enum class log_level : std::int32_t {
  off = SYNCYTE_LOG_OFF,  ///< as a threshold: no lines
  error = SYNCYTE_LOG_ERROR,
  warn = SYNCYTE_LOG_WARN,
  info = SYNCYTE_LOG_INFO,
  debug = SYNCYTE_LOG_DEBUG,
};

/// Kinds of locks.
enum class lock_kind : std::int32_t {
  shared = SYNCYTE_LOCK_SHARED,  ///< several ranks may hold it
  exclusive = SYNCYTE_LOCK_EXCLUSIVE,  ///< one rank may hold it
};

/// Comparisons of tensor_wait().
enum class compare : std::int32_t {
  equal = SYNCYTE_COMPARE_EQ,  ///< equal
  not_equal = SYNCYTE_COMPARE_NE,  ///< not equal
  at_least = SYNCYTE_COMPARE_GE,  ///< greater or equal
  at_most = SYNCYTE_COMPARE_LE,  ///< less or equal
};

/// Optimizers of tensor_set_optimizer(). All are lazy: an update changes only rows that have a gradient.
enum class optimizer : std::int32_t {
  sgd = SYNCYTE_OPTIMIZER_SGD,  ///< gradient descent, as torch.optim.SGD; with momentum if options->momentum > 0
  adagrad = SYNCYTE_OPTIMIZER_ADAGRAD,  ///< AdaGrad, as torch.optim.Adagrad
  adam = SYNCYTE_OPTIMIZER_ADAM,  ///< Adam, as torch.optim.SparseAdam
};

/// Ways to divide the keys among P ranks. Each gives the ranks equal numbers of keys, or one more.
enum class store_homes : std::int32_t {
  cyclic = SYNCYTE_STORE_HOMES_CYCLIC,  ///< k mod P, for ranks that are counted one of each node in turn
  hash = SYNCYTE_STORE_HOMES_HASH,  ///< mixed: keys of any stride, such as a power of two, are spread evenly
  block = SYNCYTE_STORE_HOMES_BLOCK,  ///< in order, as the rows of a tensor: often used keys that are neighbours share a rank
};

/// Effects of intents on a key, between nodes.
enum class store_intents : std::int32_t {
  move_or_copy = SYNCYTE_STORE_INTENTS_MOVE_OR_COPY,  ///< it moves to the node that intends to use it; each of several gets a copy
  move = SYNCYTE_STORE_INTENTS_MOVE,  ///< it moves to the first node, and others use it there: it is linearizable
  copy = SYNCYTE_STORE_INTENTS_COPY,  ///< each node gets a copy; only localize moves keys
};

/// Schemes of sampling.
enum class sampling_scheme : std::int32_t {
  prepared = SYNCYTE_STORE_PREPARED,  ///< keys are drawn when the sample is prepared
  intended = SYNCYTE_STORE_INTENDED,  ///< as prepared, with an intent for the keys until the sample ends
  shared = SYNCYTE_STORE_SHARED,  ///< as intended, from a set of keys that the process's workers share
  local = SYNCYTE_STORE_LOCAL,  ///< keys are drawn when they are pulled; then the next local key upwards is taken
};

/// Distributions over a range of n keys.
enum class sampling_distribution : std::int32_t {
  uniform = SYNCYTE_STORE_UNIFORM,  ///< all keys have the same probability
  log_uniform = SYNCYTE_STORE_LOG_UNIFORM,  ///< the i-th key, i from 1, has the probability log((i + 1) / i) / log(n + 1)
};

/// Rules for points that two blocks store.
enum class truth : std::int32_t {
  equal = SYNCYTE_TRUTH_EQUAL,  ///< all copies are equal
  lower = SYNCYTE_TRUTH_LOWER,  ///< the copy of the block with the lower cells
  upper = SYNCYTE_TRUTH_UPPER,  ///< the copy of the block with the higher cells
};

}  // namespace syncyte
