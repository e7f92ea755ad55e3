// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "watchdog/records.hpp"

namespace syncyte::test {

/// A rank's record, in which this process's scopes are written during the object's lifetime.
class own_record {
 public:
  own_record() { watchdog::record_of_scopes = watchdog::record_of_started_scopes = record_.get(); }
  ~own_record() { watchdog::record_of_scopes = watchdog::record_of_started_scopes = nullptr; }
  own_record(const own_record&) = delete;
  own_record& operator=(const own_record&) = delete;

  watchdog::rank_record& operator*() const { return *record_; }
  watchdog::rank_record* operator->() const { return record_.get(); }

 private:
  std::unique_ptr<watchdog::rank_record> record_ = std::make_unique<watchdog::rank_record>();
};

}  // namespace syncyte::test
