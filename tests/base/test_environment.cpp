#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

#include "base/environment.hpp"
#include "base/error.hpp"

namespace {

using namespace syncyte::base;

/// Sets a variable for the duration of a test.
class scoped_variable {
 public:
  explicit scoped_variable(const char* value) { ::setenv(name, value, 1); }
  ~scoped_variable() { ::unsetenv(name); }
  static constexpr const char* name = "SYNCYTE_TEST_VARIABLE";
};

constexpr setting size{.name = scoped_variable::name, .type = setting::kind::bytes};
constexpr setting duration{.name = scoped_variable::name, .type = setting::kind::seconds};
constexpr setting long_duration{.name = scoped_variable::name, .type = setting::kind::seconds, .least = 3};
constexpr setting toggle{.name = scoped_variable::name, .type = setting::kind::choice, .choices = {"off", "on"}};

TEST(environment, sizes_have_units) {
  EXPECT_EQ(environment_bytes(size, 7), 7u);
  const std::pair<const char*, std::size_t> cases[] = {
      {"4096", 4096}, {"64K", 65536}, {"2M", 2097152}, {"1G", 1073741824}};
  for (const auto& [text, bytes] : cases) {
    const scoped_variable variable(text);
    EXPECT_EQ(environment_bytes(size, 7), bytes);
  }
  for (const char* text : {"-1", "x", "1T", "1KK", "99999999999999999999", "9999999999999G"}) {
    const scoped_variable variable(text);
    EXPECT_THROW(environment_bytes(size, 7), error) << text;
  }
}

TEST(environment, seconds_have_bounds) {
  const scoped_variable variable("2.5");
  EXPECT_EQ(environment_seconds(duration, 1.0), 2.5);
  EXPECT_THROW(environment_seconds(long_duration, 1.0), error);
  for (const char* text : {"0", "1e9"}) {
    const scoped_variable good(text);
    EXPECT_EQ(environment_seconds(duration, 1.0), std::stod(text));
  }
  for (const char* text : {"abc", "1s", "nan", "-nan", "inf", "-inf", "-1", "1.000001e9", "1e10", "1e300", "1e400"}) {
    const scoped_variable bad(text);
    EXPECT_THROW(environment_seconds(duration, 1.0), error) << text;
  }
}

TEST(environment, choices_are_listed_in_the_message) {
  const scoped_variable variable("maybe");
  EXPECT_EQ(environment_choice(toggle, 1), 1);
  try {
    check_setting(toggle);
    FAIL() << "expected an error";
  } catch (const error& caught) {
    EXPECT_EQ(caught.status(), SYNCYTE_ERR_ARGUMENT);
    EXPECT_STREQ(caught.what(), "environment variable SYNCYTE_TEST_VARIABLE is \"maybe\"; expected one of off, on");
  }
  const scoped_variable good("on");
  EXPECT_EQ(environment_choice(toggle, 0), 1);
}

TEST(environment, all_settings_are_checked) {
  for (const setting* const each : settings::all) {
    if (each->type == setting::kind::text) continue;
    ::setenv(each->name, "wrong", 1);
    EXPECT_THROW(check_environment(), error) << each->name;
    ::unsetenv(each->name);
  }
  EXPECT_NO_THROW(check_environment());
}

}  // namespace
