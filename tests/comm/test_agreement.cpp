// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <thread>

#include "collectives/collectives.hpp"
#include "comm/collective_call.hpp"
#include "comm/split.hpp"
#include "core_world.hpp"

namespace {

using namespace syncyte;
using comm::collective_call;
using test::expect_error;
using test::outcome_of;
using test::world;

/// True on the odd rank, which makes the mistakes of these tests: the last one.
bool is_odd_one() { return world().size() > 1 && world().rank() == world().size() - 1; }

TEST(agreement, succeeds_where_all_are_well) {
  for (int i = 0; i < 100; ++i) {
    collective_call call(world(), "test_operation");
    call.attempt([] {});
    call.fact("number", i);
    call.agree();
    call.fact("another", 2 * i);
    call.agree();
  }
}

TEST(agreement, an_error_on_one_rank_is_every_ranks) {
  for (int failing = 0; failing < world().size(); ++failing) {
    const auto result = outcome_of([&] {
      collective_call call(world(), "test_operation");
      call.attempt([&] { base::require(world().rank() != failing, SYNCYTE_ERR_INDEX, "index {} is too large", 12); });
      call.fact("number", 1);
      call.agree();
    });
    EXPECT_EQ(result.status, SYNCYTE_ERR_INDEX);
    EXPECT_EQ(result.message, fmt::format("test_operation failed on rank {} of world: index 12 is too large", failing));
  }
}

TEST(agreement, of_several_errors_the_lowest_rank_with_the_highest_status_speaks) {
  const int size = world().size();
  const auto result = outcome_of([&] {
    collective_call call(world(), "test_operation");
    call.attempt(
        [&] { base::fail(world().rank() == 0 ? SYNCYTE_ERR_ARGUMENT : SYNCYTE_ERR_IO, "from {}", world().rank()); });
    call.agree();
  });
  EXPECT_EQ(result.status, size == 1 ? SYNCYTE_ERR_ARGUMENT : SYNCYTE_ERR_IO);
  expect_error(result, result.status, size == 1 ? "from 0" : "from 1");
  if (size > 2) expect_error(result, result.status, size == 3 ? "(failed on ranks 0, 2 too)" : "(failed on ranks 0, 2");
}

TEST(agreement, a_status_that_is_no_code_is_an_error_all_the_same) {
  for (const int status : {-1, 0, 4711}) {
    const auto result = outcome_of([&] {
      collective_call call(world(), "test_operation");
      if (is_odd_one() || world().size() == 1) call.set_error(base::error(status, "a strange one"));
      call.agree();
    });
    EXPECT_EQ(result.status, status == 0 ? 1 : status);
    EXPECT_NE(result.message.find("a strange one"), std::string::npos) << result.message;
  }
  collectives::barrier(world());
}

TEST(agreement, different_facts_are_named_with_their_ranks) {
  if (world().size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const auto result = outcome_of([&] {
    collective_call call(world(), "test_operation");
    call.fact("first", 5);
    call.fact("second", is_odd_one() ? 8 : 7);
    call.agree();
  });
  const int last = world().size() - 1;
  expect_error(result, SYNCYTE_ERR_MISMATCH, "second is 7 on rank");
  expect_error(result, SYNCYTE_ERR_MISMATCH, fmt::format("but 8 on rank {}", last));
}

TEST(agreement, different_numbers_of_facts_are_the_same_error_on_all_ranks) {
  if (world().size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const auto result = outcome_of([&] {
    collective_call call(world(), "test_operation");
    call.fact("first", 5);
    if (is_odd_one()) call.fact("second", 7);
    call.agree();
  });
  expect_error(result, SYNCYTE_ERR_MISMATCH, "number of facts is 1 on rank");
  expect_error(result, SYNCYTE_ERR_MISMATCH, fmt::format("but 2 on rank {}", world().size() - 1));
}

TEST(agreement, any_number_of_facts_counts_and_long_names_are_whole) {
  if (world().size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const char* const name = "a name that is longer than twenty-three characters, and than the forty-eight of others";
  const auto differ_in = [&](int odd_fact, int facts) {
    return outcome_of([&] {
      collective_call call(world(), "test_operation");
      for (int i = 0; i < facts; ++i)
        call.fact(i == odd_fact ? name : "another", i == odd_fact && is_odd_one() ? -1 : i);
      call.agree();
    });
  };
  for (const int fact : {0, 39, 40, 100}) {
    const auto text = fmt::format("{} is {} on rank", name, fact);
    expect_error(differ_in(fact, 101), SYNCYTE_ERR_MISMATCH, text.c_str());
  }
  expect_error(differ_in(190, 200), SYNCYTE_ERR_MISMATCH, "hash of the facts, of which the first 128 are equal");
  expect_error(differ_in(-1, 200 + is_odd_one()), SYNCYTE_ERR_MISMATCH, "number of facts is 200 on rank");
  EXPECT_EQ(differ_in(-1, 200).status, SYNCYTE_SUCCESS);
}

TEST(agreement, names_of_what_is_made_are_equal_on_all_ranks) {
  if (world().size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const auto named = [&](const std::string& usual, const std::string& odd) {
    return outcome_of([&] {
      collective_call call(world(), "test_create");
      call.name_fact("sample", is_odd_one() ? odd : usual);
      call.agree();
    });
  };
  EXPECT_EQ(named("pressure", "pressure").status, SYNCYTE_SUCCESS);
  EXPECT_EQ(named("", "").status, SYNCYTE_SUCCESS);
  const auto swapped = named("pressure", "source");
  expect_error(swapped, SYNCYTE_ERR_MISMATCH,
               "the ranks of world disagree: name of sample number 3 is \"pressure\" on rank");
  expect_error(swapped, SYNCYTE_ERR_MISMATCH, fmt::format("but \"source\" on rank {}", world().size() - 1));
  expect_error(named("", "pressure"), SYNCYTE_ERR_MISMATCH, "name of sample number 4 is none on rank");
  expect_error(named("none", ""), SYNCYTE_ERR_MISMATCH, "is \"none\" on rank");
  expect_error(named("Temperatur der Nordsee °", "Temperatur der Nordsee"), SYNCYTE_ERR_MISMATCH,
               "Nordsee °\" on rank");
  const std::string any_length(300, 'a'), umlauts = "x" + [] {
    std::string text;
    for (int i = 0; i < 100; ++i) text += "ä";
    return text;
  }();
  expect_error(named(any_length + "1", any_length + "2"), SYNCYTE_ERR_MISMATCH, "aaa...\" (301 bytes, hash ");
  expect_error(named(umlauts + "1", umlauts + "2"), SYNCYTE_ERR_MISMATCH, "ä...\" (202 bytes, hash ");
}

TEST(agreement, an_error_of_all_ranks_says_which_of_them_this_one_is) {
  const auto own_rank = [&](auto&& step) {
    try {
      collective_call call(world(), "test_operation");
      step(call);
      call.agree();
    } catch (const comm::agreed_error& error) {
      return error.own_rank;
    }
    return -2;
  };
  EXPECT_EQ(own_rank([](auto& call) { call.set_error(base::error(SYNCYTE_ERR_IO, "all")); }), world().rank());
  if (world().size() == 1) return;
  EXPECT_EQ(own_rank([](auto& call) { call.fact("number", is_odd_one() ? 1 : 2); }), world().rank());
}

TEST(agreement, texts_do_not_grow_with_the_number_of_ranks) {
  collective_call call(world(), "test_operation");
  call.fact("number", 0);
  std::vector<comm::fact_record> records(10000, call.record(1));
  for (std::size_t i = 1; i < records.size(); i += 2) records[i].values[0] = 1;
  EXPECT_STREQ(call.mismatch(records).what(),
               "test_operation: the ranks of world disagree: number is 0 on ranks 0, 2, 4, 6, 8, 10, ..., 9998 (5000 "
               "ranks), but 1 on ranks 1, 3, 5, 7, 9, 11, ..., 9999 (5000 ranks)");
  records.resize(100);
  for (std::size_t i = 0; i < records.size(); ++i) records[i].values[0] = static_cast<std::int64_t>(i);
  EXPECT_STREQ(call.mismatch(records).what(),
               "test_operation: the ranks of world disagree: number is 0 on rank 0, 1 on rank 1, 2 on rank 2, 3 on "
               "rank 3, 4 on rank 4, 5 on rank 5, 93 other values on further ranks, but 99 on rank 99");
}

TEST(agreement, different_operations_are_named) {
  if (world().size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const auto result = outcome_of([&] {
    collective_call call(world(), is_odd_one() ? "another_operation" : "test_operation");
    call.agree();
  });
  expect_error(result, SYNCYTE_ERR_MISMATCH, "the ranks called different operations");
  expect_error(result, SYNCYTE_ERR_MISMATCH, "another_operation on rank");
}

TEST(agreement, works_again_after_errors) {
  for (int i = 0; i < 20; ++i) {
    outcome_of([&] {
      collective_call call(world(), "test_operation");
      call.fact("number", world().rank());
      call.agree();
    });
    EXPECT_EQ(outcome_of([] { collectives::barrier(world()); }).status, SYNCYTE_SUCCESS);
  }
}

TEST(agreement, a_second_thread_gets_busy) {
  collective_call call(world(), "test_operation");
  test::outcome other;
  std::thread([&] { other = outcome_of([] { collectives::barrier(world()); }); }).join();
  expect_error(other, SYNCYTE_ERR_BUSY, "another thread is inside a collective of communicator world");
  call.agree();
}

TEST(agreement, off_leaves_an_error_with_its_rank) {
  comm::communicator_options options;
  options.check = 0;
  const auto unchecked = comm::duplicate(world(), options);
  const auto result = outcome_of([&] {
    collective_call call(*unchecked, "test_operation");
    call.attempt([&] { base::require(unchecked->rank() != 0, SYNCYTE_ERR_SHAPE, "bad"); });
    call.agree();
  });
  EXPECT_EQ(result.status, unchecked->rank() == 0 ? SYNCYTE_ERR_SHAPE : SYNCYTE_SUCCESS);
}

}  // namespace
