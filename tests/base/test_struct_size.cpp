// SPDX-License-Identifier: BSD-3-Clause
// Structs that have grown: callers of the first release, of this one, and of a later one.
#include "base/struct_size.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace {

using namespace syncyte;
using namespace syncyte::base;

struct first_release {
  std::size_t struct_size;
  std::int64_t a;
};
struct grown {
  std::size_t struct_size;
  std::int64_t a;
  std::int64_t b;  // default 0
};
struct later {
  std::size_t struct_size;
  std::int64_t a, b, c;
};
struct with_reserved {
  std::size_t struct_size;
  std::int32_t a;
  std::int32_t reserved;
};

}  // namespace

template <>
inline constexpr std::size_t syncyte::base::first_size<grown> = sizeof(first_release);
template <>
inline constexpr std::size_t syncyte::base::first_size<with_reserved> = sizeof(with_reserved);

namespace {

template <class Theirs>
grown read(const Theirs& theirs) {
  return read_struct(reinterpret_cast<const grown*>(&theirs), "options", grown{sizeof(grown), 1, 0});
}

template <class Theirs>
Theirs filled(Theirs theirs) {
  fill_struct(reinterpret_cast<grown*>(&theirs), "stats", grown{sizeof(grown), 11, 12});
  return theirs;
}

syncyte_status_t status_of_reading(const later& theirs) {
  try {
    read(theirs);
  } catch (const error& wrong) {
    return wrong.status();
  }
  return SYNCYTE_SUCCESS;
}

TEST(struct_size, members_that_a_caller_lacks_have_their_defaults) {
  const grown known = read(first_release{sizeof(first_release), 5});
  EXPECT_EQ(known.struct_size, sizeof(grown));
  EXPECT_EQ(known.a, 5);
  EXPECT_EQ(known.b, 0);
}

TEST(struct_size, members_that_only_the_caller_knows_must_be_zero) {
  const grown known = read(later{sizeof(later), 5, 6, 0});
  EXPECT_EQ(known.struct_size, sizeof(grown));
  EXPECT_EQ(known.b, 6);
  EXPECT_EQ(status_of_reading({sizeof(later), 5, 6, 1}), SYNCYTE_ERR_VERSION);
}

TEST(struct_size, sizes_of_no_version_are_refused) {
  for (const std::size_t size : {0, 8, 12, 20, 4104})
    EXPECT_EQ(status_of_reading({size, 1, 2, 0}), SYNCYTE_ERR_ARGUMENT);
}

TEST(struct_size, bytes_without_a_meaning_must_be_zero) {
  const with_reserved defaults{sizeof(with_reserved), 1, 0}, zero{sizeof(with_reserved), 5, 0}, set{sizeof(set), 5, 7};
  EXPECT_EQ(read_struct(&zero, "options", defaults).a, 5);
  try {
    read_struct(&set, "options", defaults);
    FAIL() << "options->reserved is 7";
  } catch (const error& wrong) {
    EXPECT_EQ(wrong.status(), SYNCYTE_ERR_ARGUMENT);
    EXPECT_NE(std::string(wrong.what()).find("options->reserved is 7; expected 0"), std::string::npos);
  }
}

TEST(struct_size, outputs_are_filled_as_far_as_both_know_them) {
  const auto shorter = filled(first_release{sizeof(first_release), 0});
  EXPECT_EQ(shorter.struct_size, sizeof(first_release));
  EXPECT_EQ(shorter.a, 11);
  const auto longer = filled(later{sizeof(later), 0, 0, 99});
  EXPECT_EQ(longer.struct_size, sizeof(grown));
  EXPECT_EQ(longer.b, 12);
  EXPECT_EQ(longer.c, 0);
}

TEST(struct_size, memory_behind_a_shorter_output_stays) {
  std::array<std::int64_t, 3> memory = {sizeof(first_release), 0, 77};
  fill_struct(reinterpret_cast<grown*>(memory.data()), "stats", grown{sizeof(grown), 11, 12});
  EXPECT_EQ(memory[1], 11);
  EXPECT_EQ(memory[2], 77);
}

}  // namespace
