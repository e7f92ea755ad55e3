// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <stdlib.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>
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

constexpr setting size{.name = scoped_variable::name, .type = setting::kind::bytes, .otherwise = "64K"};
constexpr setting duration{.name = scoped_variable::name, .type = setting::kind::seconds, .otherwise = "1"};
constexpr setting list{.name = scoped_variable::name, .type = setting::kind::numbers};
constexpr setting long_duration{.name = scoped_variable::name, .type = setting::kind::seconds, .least = 3};
enum class answer { no, yes };
constexpr auto question = settings::a_choice<answer>(scoped_variable::name, {"no", "yes"}, "yes", "");
constexpr auto open_question = settings::a_choice<answer>(scoped_variable::name, {"no", "yes"}, "nobody knows", "");

TEST(environment, sizes_have_units) {
  EXPECT_EQ(environment_bytes(size), std::nullopt);
  EXPECT_EQ(default_bytes(size), 65536u);
  const std::pair<const char*, std::size_t> cases[] = {
      {"4096", 4096}, {"64K", 65536}, {"2M", 2097152}, {"1G", 1073741824}};
  for (const auto& [text, bytes] : cases) {
    const scoped_variable variable(text);
    EXPECT_EQ(environment_bytes(size), bytes);
  }
  for (const char* text : {"-1", "x", "1T", "1KK", "99999999999999999999", "9999999999999G"}) {
    const scoped_variable variable(text);
    EXPECT_THROW(environment_bytes(size), error) << text;
  }
}

TEST(environment, numbers_have_commas) {
  EXPECT_EQ(environment_numbers(list), std::vector<std::int64_t>{});
  const std::pair<const char*, std::vector<std::int64_t>> cases[] = {
      {"0", {0}}, {"7,12", {7, 12}}, {"9223372036854775807,1,1", {9223372036854775807, 1, 1}}};
  for (const auto& [text, numbers] : cases) {
    const scoped_variable variable(text);
    EXPECT_EQ(environment_numbers(list), numbers);
  }
  for (const char* text : {"-1", "x", "7,", ",7", "7,,8", "7 8", "7, 8", "7x", "1.5", "9223372036854775808"}) {
    const scoped_variable variable(text);
    EXPECT_THROW(environment_numbers(list), error) << text;
  }
}

TEST(environment, seconds_have_bounds) {
  EXPECT_EQ(environment_seconds(duration), 1.0);
  const scoped_variable variable("2.5");
  EXPECT_EQ(environment_seconds(duration), 2.5);
  EXPECT_THROW(environment_seconds(long_duration), error);
  for (const char* text : {"0", "1e9"}) {
    const scoped_variable good(text);
    EXPECT_EQ(environment_seconds(duration), std::stod(text));
  }
  for (const char* text : {"abc", "1s", "nan", "-nan", "inf", "-inf", "-1", "1.000001e9", "1e10", "1e300", "1e400"}) {
    const scoped_variable bad(text);
    EXPECT_THROW(environment_seconds(duration), error) << text;
  }
}

TEST(environment, seconds_have_a_point_where_the_locale_has_a_comma) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "locales_of_test_environment";
  std::filesystem::create_directories(folder);
  const std::string made = folder / "de_DE.UTF-8";
  const bool is_made = std::system(("localedef -i de_DE -f UTF-8 " + made + " >/dev/null 2>&1").c_str()) == 0;
  ::setenv("LOCPATH", folder.c_str(), 1);
  const bool is_set = is_made && std::setlocale(LC_NUMERIC, "de_DE.UTF-8") != nullptr;
  const scoped_variable variable("2.5");
  if (is_set) {
    EXPECT_EQ(environment_seconds(duration), 2.5);
  }
  std::setlocale(LC_NUMERIC, "C");
  ::unsetenv("LOCPATH");
  if (!is_set) GTEST_SKIP() << "localedef makes no German locale here";
}

TEST(environment, choices_are_listed_in_the_message) {
  EXPECT_EQ(environment_choice(question), answer::yes);
  EXPECT_EQ(environment_choice(open_question), std::nullopt);
  const scoped_variable variable("maybe");
  EXPECT_EQ(environment_choice(question), answer::yes);
  try {
    check_setting(question);
    FAIL() << "expected an error";
  } catch (const error& caught) {
    EXPECT_EQ(caught.status(), SYNCYTE_ERR_ARGUMENT);
    EXPECT_STREQ(caught.what(), "environment variable SYNCYTE_TEST_VARIABLE is \"maybe\"; expected one of no, yes");
  }
  const scoped_variable good("no");
  EXPECT_EQ(environment_choice(question), answer::no);
  EXPECT_EQ(environment_choice(open_question), answer::no);
}

TEST(environment, defaults_are_values) {
  for (const setting* const each : {&settings::watchdog, &settings::fabric_deadline, &settings::cache_timeout})
    EXPECT_GT(environment_seconds(*each), 0.0) << each->name;
  for (const setting* const each : {&settings::cache_parameter_bytes, &settings::cache_computation_bytes})
    EXPECT_GT(default_bytes(*each), 0u) << each->name;
  EXPECT_TRUE(environment_choice(settings::check));
  EXPECT_TRUE(environment_choice(settings::watchdog_action));
  EXPECT_TRUE(environment_choice(settings::log));
  EXPECT_TRUE(environment_choice(settings::huge_pages));
  EXPECT_EQ(environment_choice(settings::cuda_aware), std::nullopt);
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
