// SPDX-License-Identifier: BSD-3-Clause
// When the serving thread polls before it sleeps.

#include <gtest/gtest.h>

#include "fabric/brief_polling.hpp"

namespace {

using namespace std::chrono_literals;
using syncyte::fabric::brief_polling;

TEST(brief_polling, not_after_a_lone_request) {
  brief_polling polling;
  EXPECT_FALSE(polling.goes_on(1s));
  polling.served(1s, 1s + 30us);
  EXPECT_FALSE(polling.goes_on(1s + 31us));
}

TEST(brief_polling, after_requests_that_follow_each_other_and_not_for_long) {
  brief_polling polling;
  polling.served(1s, 1s + 30us);
  polling.served(1s + 60us, 1s + 300us);  // however long they take
  EXPECT_TRUE(polling.goes_on(1s + 301us));
  EXPECT_FALSE(polling.goes_on(1s + 300us + brief_polling::longest));
  polling.served(2s, 2s + 30us);  // the next one comes late
  EXPECT_FALSE(polling.goes_on(2s + 31us));
}

TEST(brief_polling, not_where_another_thread_computes) {
  brief_polling polling;
  polling.served(1s, 1s + 30us);
  polling.served(1s + 60us, 1s + 90us);
  polling.yielded(1s + 91us, 1s + 95us);
  EXPECT_TRUE(polling.goes_on(1s + 95us));
  const auto late = 1s + 95us + 3ms;
  polling.yielded(1s + 95us, late);
  polling.served(late, late + 30us);
  polling.served(late + 60us, late + 90us);
  EXPECT_FALSE(polling.goes_on(late + 91us));
  const auto later = late + brief_polling::pause;
  polling.served(later, later + 30us);
  polling.served(later + 60us, later + 90us);
  EXPECT_TRUE(polling.goes_on(later + 91us));
}

}  // namespace
