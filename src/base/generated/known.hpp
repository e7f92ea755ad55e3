// SPDX-License-Identifier: BSD-3-Clause
// Generated from syncyte/*.h by bindings/generate; do not edit.
// clang-format off
#pragma once

#include <cstdint>

/// One struct for each enum of the C interface, with the values that it knows.
namespace syncyte::base::known {

/// Status codes; never renumbered. If ranks fail with different ones, an agreement gives all the highest.
struct status {
  static constexpr std::int32_t last = 21;
  static constexpr const char* text = "SYNCYTE_SUCCESS (0) to SYNCYTE_ERR_INTERRUPTED (21)";
  static constexpr bool contains(std::int32_t value) { return (value >= 0 && value <= 21); }

  /// The constant's name; null for an unknown value.
  static constexpr const char* name(std::int32_t value) {
    switch (value) {
      case 0: return "SYNCYTE_SUCCESS";
      case 1: return "SYNCYTE_ERR_ARGUMENT";
      case 2: return "SYNCYTE_ERR_HANDLE";
      case 3: return "SYNCYTE_ERR_INDEX";
      case 4: return "SYNCYTE_ERR_TYPE";
      case 5: return "SYNCYTE_ERR_SHAPE";
      case 6: return "SYNCYTE_ERR_MISMATCH";
      case 7: return "SYNCYTE_ERR_NOT_INITIALIZED";
      case 8: return "SYNCYTE_ERR_MEMORY";
      case 9: return "SYNCYTE_ERR_UNSUPPORTED";
      case 10: return "SYNCYTE_ERR_BUSY";
      case 11: return "SYNCYTE_ERR_PEER_DIED";
      case 12: return "SYNCYTE_ERR_MPI";
      case 13: return "SYNCYTE_ERR_IO";
      case 14: return "SYNCYTE_ERR_FORMAT";
      case 15: return "SYNCYTE_ERR_CHECKSUM";
      case 16: return "SYNCYTE_ERR_NOT_FOUND";
      case 17: return "SYNCYTE_ERR_VERSION";
      case 18: return "SYNCYTE_ERR_TIMEOUT";
      case 19: return "SYNCYTE_ERR_INTERNAL";
      case 20: return "SYNCYTE_ERR_LIMIT";
      case 21: return "SYNCYTE_ERR_INTERRUPTED";
      default: return nullptr;
    }
  }
};

/// Element types; never renumbered. Complex numbers are pairs (real, imaginary); bool is one byte, 0 or 1.
struct dtype {
  static constexpr std::int32_t last = 15;
  static constexpr const char* text = "SYNCYTE_FLOAT16 (1) to SYNCYTE_UINT64 (15)";
  static constexpr bool contains(std::int32_t value) { return (value >= 1 && value <= 15); }

  /// The constant's name; null for an unknown value.
  static constexpr const char* name(std::int32_t value) {
    switch (value) {
      case 1: return "SYNCYTE_FLOAT16";
      case 2: return "SYNCYTE_BFLOAT16";
      case 3: return "SYNCYTE_FLOAT32";
      case 4: return "SYNCYTE_FLOAT64";
      case 5: return "SYNCYTE_COMPLEX64";
      case 6: return "SYNCYTE_COMPLEX128";
      case 7: return "SYNCYTE_INT8";
      case 8: return "SYNCYTE_INT16";
      case 9: return "SYNCYTE_INT32";
      case 10: return "SYNCYTE_INT64";
      case 11: return "SYNCYTE_UINT8";
      case 12: return "SYNCYTE_BOOL";
      case 13: return "SYNCYTE_UINT16";
      case 14: return "SYNCYTE_UINT32";
      case 15: return "SYNCYTE_UINT64";
      default: return nullptr;
    }
  }
};

/// Reductions; never renumbered.
struct op {
  static constexpr std::int32_t last = 11;
  static constexpr const char* text = "SYNCYTE_OP_SUM (1) to SYNCYTE_OP_LXOR (11)";
  static constexpr bool contains(std::int32_t value) { return (value >= 1 && value <= 11); }

  /// The constant's name; null for an unknown value.
  static constexpr const char* name(std::int32_t value) {
    switch (value) {
      case 1: return "SYNCYTE_OP_SUM";
      case 2: return "SYNCYTE_OP_PROD";
      case 3: return "SYNCYTE_OP_MIN";
      case 4: return "SYNCYTE_OP_MAX";
      case 5: return "SYNCYTE_OP_LAND";
      case 6: return "SYNCYTE_OP_LOR";
      case 7: return "SYNCYTE_OP_BAND";
      case 8: return "SYNCYTE_OP_BOR";
      case 9: return "SYNCYTE_OP_BXOR";
      case 10: return "SYNCYTE_OP_REPLACE";
      case 11: return "SYNCYTE_OP_LXOR";
      default: return nullptr;
    }
  }
};

/// op without SYNCYTE_OP_REPLACE.
struct reduction {
  static constexpr std::int32_t last = 11;
  static constexpr const char* text = "SYNCYTE_OP_SUM (1) to SYNCYTE_OP_BXOR (9) or SYNCYTE_OP_LXOR (11)";
  static constexpr bool contains(std::int32_t value) { return (value >= 1 && value <= 9) || value == 11; }
};

/// Kinds of memory; never renumbered.
struct memory {
  static constexpr std::int32_t last = 1;
  static constexpr const char* text = "SYNCYTE_MEMORY_HOST (0) or SYNCYTE_MEMORY_CUDA (1)";
  static constexpr bool contains(std::int32_t value) { return (value >= 0 && value <= 1); }

  /// The constant's name; null for an unknown value.
  static constexpr const char* name(std::int32_t value) {
    switch (value) {
      case 0: return "SYNCYTE_MEMORY_HOST";
      case 1: return "SYNCYTE_MEMORY_CUDA";
      default: return nullptr;
    }
  }
};

/// Severities.
struct log_level {
  static constexpr std::int32_t last = 4;
  static constexpr const char* text = "SYNCYTE_LOG_OFF (0) to SYNCYTE_LOG_DEBUG (4)";
  static constexpr bool contains(std::int32_t value) { return (value >= 0 && value <= 4); }

  /// The constant's name; null for an unknown value.
  static constexpr const char* name(std::int32_t value) {
    switch (value) {
      case 0: return "SYNCYTE_LOG_OFF";
      case 1: return "SYNCYTE_LOG_ERROR";
      case 2: return "SYNCYTE_LOG_WARN";
      case 3: return "SYNCYTE_LOG_INFO";
      case 4: return "SYNCYTE_LOG_DEBUG";
      default: return nullptr;
    }
  }
};

/// log_level without SYNCYTE_LOG_OFF.
struct severity {
  static constexpr std::int32_t last = 4;
  static constexpr const char* text = "SYNCYTE_LOG_ERROR (1), WARN (2), INFO (3) or DEBUG (4)";
  static constexpr bool contains(std::int32_t value) { return (value >= 1 && value <= 4); }
};

/// Rules for points that two blocks store.
struct truth {
  static constexpr std::int32_t last = 2;
  static constexpr const char* text = "SYNCYTE_TRUTH_EQUAL (0), LOWER (1) or UPPER (2)";
  static constexpr bool contains(std::int32_t value) { return (value >= 0 && value <= 2); }

  /// The constant's name; null for an unknown value.
  static constexpr const char* name(std::int32_t value) {
    switch (value) {
      case 0: return "SYNCYTE_TRUTH_EQUAL";
      case 1: return "SYNCYTE_TRUTH_LOWER";
      case 2: return "SYNCYTE_TRUTH_UPPER";
      default: return nullptr;
    }
  }
};

/// Kinds of locks.
struct lock {
  static constexpr std::int32_t last = 2;
  static constexpr const char* text = "SYNCYTE_LOCK_SHARED (1) or SYNCYTE_LOCK_EXCLUSIVE (2)";
  static constexpr bool contains(std::int32_t value) { return (value >= 1 && value <= 2); }

  /// The constant's name; null for an unknown value.
  static constexpr const char* name(std::int32_t value) {
    switch (value) {
      case 1: return "SYNCYTE_LOCK_SHARED";
      case 2: return "SYNCYTE_LOCK_EXCLUSIVE";
      default: return nullptr;
    }
  }
};

/// Comparisons of tensor_wait().
struct compare {
  static constexpr std::int32_t last = 4;
  static constexpr const char* text = "SYNCYTE_COMPARE_EQ (1), NE (2), GE (3) or LE (4)";
  static constexpr bool contains(std::int32_t value) { return (value >= 1 && value <= 4); }

  /// The constant's name; null for an unknown value.
  static constexpr const char* name(std::int32_t value) {
    switch (value) {
      case 1: return "SYNCYTE_COMPARE_EQ";
      case 2: return "SYNCYTE_COMPARE_NE";
      case 3: return "SYNCYTE_COMPARE_GE";
      case 4: return "SYNCYTE_COMPARE_LE";
      default: return nullptr;
    }
  }
};

/// Optimizers of tensor_set_optimizer(). All are lazy: an update changes only rows that have a gradient.
struct optimizer {
  static constexpr std::int32_t last = 3;
  static constexpr const char* text = "SYNCYTE_OPTIMIZER_SGD (1), ADAGRAD (2) or ADAM (3)";
  static constexpr bool contains(std::int32_t value) { return (value >= 1 && value <= 3); }

  /// The constant's name; null for an unknown value.
  static constexpr const char* name(std::int32_t value) {
    switch (value) {
      case 1: return "SYNCYTE_OPTIMIZER_SGD";
      case 2: return "SYNCYTE_OPTIMIZER_ADAGRAD";
      case 3: return "SYNCYTE_OPTIMIZER_ADAM";
      default: return nullptr;
    }
  }
};

/// Ways to divide the keys among P ranks. Each gives the ranks equal numbers of keys, or one more.
struct store_homes {
  static constexpr std::int32_t last = 3;
  static constexpr const char* text = "SYNCYTE_STORE_HOMES_CYCLIC (1), HASH (2) or BLOCK (3)";
  static constexpr bool contains(std::int32_t value) { return (value >= 1 && value <= 3); }

  /// The constant's name; null for an unknown value.
  static constexpr const char* name(std::int32_t value) {
    switch (value) {
      case 1: return "SYNCYTE_STORE_HOMES_CYCLIC";
      case 2: return "SYNCYTE_STORE_HOMES_HASH";
      case 3: return "SYNCYTE_STORE_HOMES_BLOCK";
      default: return nullptr;
    }
  }
};

/// Effects of intents on a key, between nodes.
struct store_intents {
  static constexpr std::int32_t last = 3;
  static constexpr const char* text = "SYNCYTE_STORE_INTENTS_MOVE_OR_COPY (1), MOVE (2) or COPY (3)";
  static constexpr bool contains(std::int32_t value) { return (value >= 1 && value <= 3); }

  /// The constant's name; null for an unknown value.
  static constexpr const char* name(std::int32_t value) {
    switch (value) {
      case 1: return "SYNCYTE_STORE_INTENTS_MOVE_OR_COPY";
      case 2: return "SYNCYTE_STORE_INTENTS_MOVE";
      case 3: return "SYNCYTE_STORE_INTENTS_COPY";
      default: return nullptr;
    }
  }
};

/// Schemes of sampling.
struct store_scheme {
  static constexpr std::int32_t last = 4;
  static constexpr const char* text = "SYNCYTE_STORE_PREPARED (1), INTENDED (2), SHARED (3) or LOCAL (4)";
  static constexpr bool contains(std::int32_t value) { return (value >= 1 && value <= 4); }

  /// The constant's name; null for an unknown value.
  static constexpr const char* name(std::int32_t value) {
    switch (value) {
      case 1: return "SYNCYTE_STORE_PREPARED";
      case 2: return "SYNCYTE_STORE_INTENDED";
      case 3: return "SYNCYTE_STORE_SHARED";
      case 4: return "SYNCYTE_STORE_LOCAL";
      default: return nullptr;
    }
  }
};

/// Distributions over a range of n keys.
struct store_distribution {
  static constexpr std::int32_t last = 2;
  static constexpr const char* text = "SYNCYTE_STORE_UNIFORM (1) or SYNCYTE_STORE_LOG_UNIFORM (2)";
  static constexpr bool contains(std::int32_t value) { return (value >= 1 && value <= 2); }

  /// The constant's name; null for an unknown value.
  static constexpr const char* name(std::int32_t value) {
    switch (value) {
      case 1: return "SYNCYTE_STORE_UNIFORM";
      case 2: return "SYNCYTE_STORE_LOG_UNIFORM";
      default: return nullptr;
    }
  }
};

}  // namespace syncyte::base::known
