// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <set>
#include <string>
#include <system_error>

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
  const error no_thread =
      caught_from([] { throw std::system_error(EAGAIN, std::generic_category()); });  // as std::thread does
  EXPECT_EQ(no_thread.status(), SYNCYTE_ERR_LIMIT);
  EXPECT_NE(std::string(no_thread.what()).find("ulimit -u"), std::string::npos);
  EXPECT_EQ(caught_from([] { throw std::logic_error("odd"); }).status(), SYNCYTE_ERR_INTERNAL);
  EXPECT_EQ(caught_from([] { throw 3; }).status(), SYNCYTE_ERR_INTERNAL);
}

TEST(error, goes_to_other_ranks_with_its_fields_whatever_the_texts_are) {
  const error sent(
      SYNCYTE_ERR_ARGUMENT, "a text\x1f of a user's",
      {.object = "a \x1fname", .argument = "counts", .axis = 3, .value = "-5", .expected = "0 or more", .rank = 2});
  const error got = error::unpack(SYNCYTE_ERR_ARGUMENT, sent.pack());
  EXPECT_STREQ(got.what(), sent.what());
  EXPECT_EQ(got.fields().object, "a  name");
  EXPECT_EQ(got.fields().argument, "counts");
  EXPECT_EQ(got.fields().axis, 3);
  EXPECT_EQ(got.fields().value, "-5");
  EXPECT_EQ(got.fields().expected, "0 or more");
  EXPECT_EQ(got.fields().rank, 2);
  EXPECT_EQ(error::unpack(SYNCYTE_ERR_IO, "what nobody has packed").fields().axis, -1);
}

TEST(error, errno_is_told_in_words_and_by_name) { EXPECT_EQ(errno_text(EACCES), "Permission denied (EACCES)"); }

}  // namespace
