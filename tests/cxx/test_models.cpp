// SPDX-License-Identifier: BSD-3-Clause
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <syncyte/syncyte.hpp>
#include <vector>

#include "expect.hpp"

namespace {

using syncyte::test::expect_error;

TEST(models, are_published_and_bound) {
  auto models = syncyte::models::create(std::int64_t{1} << 24);
  std::vector<float> weight(1000), bias(10, 0.5F);
  std::iota(weight.begin(), weight.end(), 0.0F);
  {
    const auto publication = models.publish("net", {.checksums = true});
    publication.add("weight", weight);
    publication.add("bias", bias);
    publication.start();
    bias[0] = 7;
    publication.fill("bias", bias);
    publication.finish();
    expect_error(syncyte::status::argument, {"has ended"}, [&] { publication.finish(); });
  }
  const auto model = models.bind("net"), other = models.bind("net");
  EXPECT_EQ(model.info().tensors, 2);
  EXPECT_STREQ(model.tensor(1).name, "bias");
  model.wait(-1);
  model.verify();
  const auto mine = model.find("weight").as<float>();
  EXPECT_TRUE(std::ranges::equal(mine, weight));
  std::ranges::fill(mine, 3.0F);
  EXPECT_EQ(other.find("weight").as<float>()[999], 999.0F);
  EXPECT_EQ(other.find("bias").as<float>()[0], 7.0F);
  const auto all = models.describe();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].name, "net");
  EXPECT_EQ(all[0].ready, 1);
  EXPECT_EQ(all[0].holders, (std::vector<std::int32_t>{getpid(), getpid()}));
  expect_error(syncyte::status::busy, {"net"}, [&] { models.remove("net"); });
  expect_error(syncyte::status::not_found, {"\"gone\"", "\"net\""}, [&] { models.bind("gone"); });
  const auto failing = models.publish("failing");
  failing.add("bias", bias);
  failing.start();
  const auto waiting = models.bind("failing");
  failing.fail(syncyte::status::io, "no disk");
  expect_error(syncyte::status::io, {"no disk"}, [&] { waiting.find("bias"); });
}

TEST(models, are_served_to_another_process) {
  std::string folder = "cxx-models-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const syncyte::cache_rendezvous where{.name = "cxx", .folder = folder, .nonce = {1, 2}};
  const pid_t child = fork();
  if (child == 0) {
    try {
      const auto models = syncyte::models::connect(where);
      const auto model = models.bind("net");
      _exit(model.find("x").as<std::int32_t>()[1] == 2 ? 0 : 2);
    } catch (...) {
      _exit(1);
    }
  }
  {
    const auto models = syncyte::models::create();
    const std::vector<std::int32_t> x{1, 2, 3};
    const auto publication = models.publish("net");
    publication.add("x", x);
    publication.finish();
    models.serve(where);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
