#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <set>
#include <string>

#include "base/error.hpp"

namespace {

using namespace syncyte::base;

template <class Thrower>
error caught_from(Thrower&& thrower) {
  try {
    thrower();
  } catch (...) {
    return current_error();
  }
  return error(SYNCYTE_SUCCESS, "");
}

TEST(error, every_code_has_a_name_of_its_own) {
  std::set<std::string> names;
  for (syncyte_status_t status = SYNCYTE_SUCCESS; status <= SYNCYTE_ERR_INTERRUPTED; ++status) {
    EXPECT_STRNE(status_name(status), "SYNCYTE_ERR_UNKNOWN") << status;
    names.insert(status_name(status));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(SYNCYTE_ERR_INTERRUPTED) + 1);
  EXPECT_STREQ(status_name(-1), "SYNCYTE_ERR_UNKNOWN");
  EXPECT_STREQ(status_name(SYNCYTE_ERR_INTERRUPTED + 1), "SYNCYTE_ERR_UNKNOWN");
}

TEST(error, exceptions_become_statuses) {
  EXPECT_EQ(caught_from([] { fail(SYNCYTE_ERR_INDEX, "index {} is bad", 7); }).status(), SYNCYTE_ERR_INDEX);
  EXPECT_STREQ(caught_from([] { fail(SYNCYTE_ERR_INDEX, "index {} is bad", 7); }).what(), "index 7 is bad");
  EXPECT_EQ(caught_from([] { throw std::bad_alloc(); }).status(), SYNCYTE_ERR_MEMORY);
  EXPECT_EQ(caught_from([] { throw std::logic_error("odd"); }).status(), SYNCYTE_ERR_INTERNAL);
  EXPECT_EQ(caught_from([] { throw 3; }).status(), SYNCYTE_ERR_INTERNAL);
}

TEST(error, errno_is_told_in_words_and_by_name) { EXPECT_EQ(errno_text(EACCES), "Permission denied (EACCES)"); }

}  // namespace
