// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <future>
#include <string>
#include <thread>

#include "cache/rendezvous.hpp"
#include "memory/local_socket.hpp"
#include "models_fixture.hpp"

namespace {

using namespace syncyte;
using namespace std::chrono_literals;
using cache::model;
using cache::models;
using cache::publication;
using test::buffer_of;
using test::contains;
using test::data_of;
using test::mib;
using test::models_test;
using test::numbers;
using test::outcome;
using test::publish;
using test::shape_of;
namespace fs = std::filesystem;

constexpr std::size_t group_numbers = 8 * mib / sizeof(std::int32_t);  // numbers that fill a group

std::vector<fs::path> model_files() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = fs::read_symlink(entry.path(), gone);
    if (contains(target.string(), "memfd:syncyte-model ")) found.push_back(entry.path());
  }
  return found;
}

/// The file of the only model, mapped so that it cannot be sealed.
memory::mapping map_writable() {
  const auto files = model_files();
  const memory::descriptor file(open(files.at(0).c_str(), O_RDWR | O_CLOEXEC));
  return memory::map_shared(file.number(), 4096);
}

TEST_F(models_test, a_file_whose_pages_are_in_use_is_sealed_later) {
  const auto all = models::create({});
  all->serve(place(0.3));
  auto values = numbers(10, 1);
  const syncyte_buffer_t buffer = buffer_of(values);
  publication slow(all, "slow", false);
  slow.add("x", &buffer);
  slow.start();
  auto in_use = map_writable();
  auto done = std::async(std::launch::async, [&] { slow.finish(); });
  EXPECT_EQ(done.wait_for(50ms), std::future_status::timeout);
  in_use.reset();
  done.get();
  EXPECT_EQ(data_of(*model::bind(*all, "slow"), "x")[9], 10);
  all->remove("slow");

  publication never(all, "never", false);
  never.add("x", &buffer);
  never.start();
  in_use = map_writable();
  const auto [status, text] = outcome([&] { never.finish(); });
  EXPECT_EQ(status, SYNCYTE_ERR_TIMEOUT);
  EXPECT_TRUE(contains(text, "\"never\" cannot be sealed")) << text;
}

TEST_F(models_test, one_process_alone_publishes_and_binds) {
  const auto all = models::create({});
  publish(all, "net", numbers(1000, 5));
  const auto first = model::bind(*all, "net"), second = model::bind(*all, "net");
  EXPECT_EQ(data_of(*first, "x")[999], 1004);
  data_of(*first, "x")[999] = 1;  // only in this mapping
  EXPECT_EQ(data_of(*first, "x")[999], 1);
  EXPECT_EQ(data_of(*second, "x")[999], 1004);
  EXPECT_EQ(data_of(*model::bind(*all, "net"), "x")[999], 1004);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data_of(*first, "x")) % 64, 0u);
}

TEST_F(models_test, nobody_can_change_the_published_bytes) {
  const auto all = models::create({});
  publish(all, "net", numbers(1000, 5));
  const auto bound = model::bind(*all, "net");
  const auto files = model_files();
  ASSERT_GE(files.size(), 2u) << "the server's and the model's";
  for (const auto& path : files) {
    const memory::descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
    const char byte = 1;
    EXPECT_LT(pwrite(file.number(), &byte, 1, 0), 0);
    EXPECT_NE(ftruncate(file.number(), 0), 0);
    EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0), MAP_FAILED);
  }
}

TEST_F(models_test, tensors_are_found_by_name_whatever_their_form) {
  const auto all = models::create({});
  std::vector<std::int32_t> matrix = numbers(12, 0);
  std::vector<double> empty;
  std::int64_t scalar = 77;
  publication made(all, "net", true);
  syncyte_buffer_t turned = base::make_buffer(matrix.data(), SYNCYTE_INT32, std::vector<std::int64_t>{3, 4});
  turned.strides[0] = 4, turned.strides[1] = 12;
  syncyte_buffer_t every_other = base::make_buffer(matrix.data(), SYNCYTE_INT32, std::vector<std::int64_t>{6});
  every_other.strides[0] = 8;
  const syncyte_buffer_t one = base::make_buffer(&scalar, SYNCYTE_INT64, {});
  const syncyte_buffer_t none = base::make_buffer(empty.data(), SYNCYTE_FLOAT64, std::vector<std::int64_t>{4, 0});
  made.add("turned", &turned);
  made.add("every other", &every_other);
  made.add("one", &one);
  made.add("none", &none);
  made.add("tied", &turned);
  made.finish();
  const auto bound = model::bind(*all, "net");
  for (int at = 0; at < 12; ++at) EXPECT_EQ(data_of(*bound, "turned")[at], at) << "the bytes are in their order";
  for (int at = 0; at < 6; ++at) EXPECT_EQ(data_of(*bound, "every other")[at], 2 * at);
  EXPECT_EQ(*reinterpret_cast<std::int64_t*>(data_of(*bound, "one")), 77);
  EXPECT_EQ(data_of(*bound, "tied"), data_of(*bound, "turned"));
  EXPECT_EQ(bound->layout().tensors()[bound->layout().find("none")].bytes, 0u);
  bound->verify();
}

TEST_F(models_test, names_are_checked_and_may_be_odd) {
  const auto all = models::create({});
  const std::vector<std::string> names{"a", "../../etc/passwd", "\n\"\xff\x01", "ünïcode", std::string(255, 'n')};
  for (const std::string& name : names) {
    publish(all, name, numbers(3, 1));
    EXPECT_EQ(data_of(*model::bind(*all, name), "x")[2], 3);
    all->remove(name);
  }
  EXPECT_EQ(outcome([&] { publication(all, "", false); }).first, SYNCYTE_ERR_ARGUMENT);
  EXPECT_EQ(outcome([&] { publication(all, std::string(256, 'n'), false); }).first, SYNCYTE_ERR_ARGUMENT);
  EXPECT_EQ(outcome([&] { model::bind(*all, ""); }).first, SYNCYTE_ERR_ARGUMENT);
  EXPECT_EQ(outcome([&] { all->remove(std::string(256, 'n')); }).first, SYNCYTE_ERR_ARGUMENT);
}

TEST_F(models_test, a_name_has_one_publisher) {
  const auto all = models::create({});
  publication loading(all, "net", false);
  const syncyte_buffer_t shape = shape_of(10);
  loading.add("x", &shape);
  loading.start();
  auto [status, text] = outcome([&] { publish(all, "net", numbers(3, 1)); });
  EXPECT_EQ(status, SYNCYTE_ERR_BUSY);
  EXPECT_TRUE(contains(text, "\"net\" is being published by process " + std::to_string(getpid()))) << text;
  EXPECT_EQ(outcome([&] { all->remove("net"); }).first, SYNCYTE_ERR_BUSY);
  auto values = numbers(10, 0);
  const syncyte_buffer_t source = buffer_of(values);
  loading.fill("x", &source);
  loading.finish();
  EXPECT_EQ(outcome([&] { publish(all, "net", numbers(3, 1)); }).first, SYNCYTE_ERR_BUSY);
  EXPECT_EQ(outcome([&] { loading.finish(); }).first, SYNCYTE_ERR_ARGUMENT) << "it has ended";
  auto bound = model::bind(*all, "net");
  const auto [busy, who] = outcome([&] { all->remove("net"); });
  EXPECT_EQ(busy, SYNCYTE_ERR_BUSY);
  EXPECT_TRUE(contains(who, "bound by process " + std::to_string(getpid()))) << who;
  bound.reset();
  EXPECT_TRUE(test::becomes_true([&] { return outcome([&] { all->remove("net"); }).first == SYNCYTE_SUCCESS; }));
  const auto [missing, names] = outcome([&] { model::bind(*all, "net"); });
  EXPECT_EQ(missing, SYNCYTE_ERR_NOT_FOUND);
  EXPECT_TRUE(contains(names, "no model \"net\"; none is published")) << names;
}

TEST_F(models_test, the_budget_evicts_what_nobody_has_bound) {
  const auto all = models::create({10 * mib});
  const auto numbers_of = [](std::uint64_t bytes) { return numbers(bytes / 4 - 2048, 1); };  // less a manifest
  for (const char* name : {"a", "b", "c"}) publish(all, name, numbers_of(3 * mib));
  auto used = model::bind(*all, "a");  // b is now the one that was not used for the longest time
  publish(all, "d", numbers_of(3 * mib));
  EXPECT_EQ(outcome([&] { model::bind(*all, "b"); }).first, SYNCYTE_ERR_NOT_FOUND);
  EXPECT_EQ(outcome([&] { model::bind(*all, "c"); }).first, SYNCYTE_SUCCESS);
  const auto [status, text] = outcome([&] { publish(all, "large", numbers_of(8 * mib)); });
  EXPECT_EQ(status, SYNCYTE_ERR_MEMORY);
  EXPECT_TRUE(contains(text, "\"large\" needs 8")) << text;
  EXPECT_EQ(outcome([&] { model::bind(*all, "d"); }).first, SYNCYTE_SUCCESS) << "a refusal evicts nothing";
  publish(all, "medium", numbers_of(6 * mib));  // c and d go, a stays
  EXPECT_EQ(test::holders_of(*all, "c"), std::vector<pid_t>{-1});
  EXPECT_EQ(test::holders_of(*all, "d"), std::vector<pid_t>{-1});
  EXPECT_EQ(data_of(*used, "x")[0], 1);
  used.reset();
  EXPECT_TRUE(test::becomes_true([&] { return test::holders_of(*all, "a").empty(); }));
  publish(all, "whole", numbers_of(10 * mib));
  EXPECT_EQ(test::holders_of(*all, "a"), std::vector<pid_t>{-1});
}

TEST_F(models_test, more_than_the_machine_has_is_refused) {
  const auto all = models::create({std::uint64_t{1} << 50});
  publication made(all, "net", false);
  const syncyte_buffer_t shape = shape_of(std::size_t{1} << 40);
  made.add("x", &shape);
  const auto [status, text] = outcome([&] { made.start(); });
  EXPECT_EQ(status, SYNCYTE_ERR_MEMORY);
  EXPECT_TRUE(contains(text, "are available")) << text;
  publish(all, "net", numbers(3, 1));  // the name is free
  const test::environment_scope budget("SYNCYTE_CACHE_MODEL_BYTES", "64K");
  EXPECT_TRUE(contains(outcome([] { publish(models::create({}), "net", numbers(20000, 1)); }).second, "65536 bytes"));
  const test::environment_scope wrong("SYNCYTE_CACHE_MODEL_BYTES", "many");
  EXPECT_EQ(outcome([] { models::create({}); }).first, SYNCYTE_ERR_ARGUMENT);
}

/// A model of three groups of one tensor each: "x0", "x1", "x2".
class loading_models : public models_test {
 protected:
  void SetUp() override {
    models_test::SetUp();
    all_ = served();
    loading_ = std::make_unique<publication>(all_, "net", true);
    const syncyte_buffer_t shape = shape_of(group_numbers);
    for (int group = 0; group < 3; ++group) loading_->add("x" + std::to_string(group), &shape);
    loading_->start();
  }
  void fill(int group) {
    auto values = numbers(group_numbers, 10 * group);
    const syncyte_buffer_t source = buffer_of(values);
    loading_->fill("x" + std::to_string(group), &source);
  }

  std::shared_ptr<models> all_;
  std::unique_ptr<publication> loading_;
};

TEST_F(loading_models, groups_become_ready_in_their_order) {
  const auto there = models::connect(place());
  const auto bound = model::bind(*there, "net");
  EXPECT_EQ(bound->ready(), 0u);
  EXPECT_EQ(outcome([&] { bound->wait(0, 0.05); }).first, SYNCYTE_ERR_TIMEOUT);
  fill(1);
  EXPECT_EQ(outcome([&] { bound->wait(0, 0.05); }).first, SYNCYTE_ERR_TIMEOUT) << "the first one is missing";
  fill(0);
  EXPECT_EQ(data_of(*bound, "x0")[1], 1);
  EXPECT_EQ(data_of(*bound, "x1")[1], 11);
  EXPECT_EQ(bound->ready(), 2u);
  const auto [status, text] = outcome([&] { bound->wait(2, 0.05); });
  EXPECT_EQ(status, SYNCYTE_ERR_TIMEOUT);
  EXPECT_TRUE(contains(text, "2 of 3 groups of the model \"net\"")) << text;
  EXPECT_EQ(outcome([&] { fill(0); }).first, SYNCYTE_ERR_BUSY) << "processes may read it";
  auto last = std::async(std::launch::async, [&] { return data_of(*bound, "x2")[1]; });
  fill(2);
  EXPECT_EQ(last.wait_for(50ms), std::future_status::timeout) << "before the file is sealed";
  loading_->finish();
  EXPECT_EQ(last.get(), 21);
  bound->verify();
  EXPECT_EQ(outcome([&] { bound->wait(3); }).first, SYNCYTE_ERR_INDEX);
}

TEST_F(loading_models, private_writes_to_ready_groups_lose_nothing) {
  const auto bound = model::bind(*all_, "net");
  fill(0);
  std::int32_t* const first = data_of(*bound, "x0");
  std::fill_n(first, group_numbers, -1);
  fill(1);
  fill(2);
  loading_->finish();
  EXPECT_EQ(std::count(first, first + group_numbers, -1), static_cast<std::ptrdiff_t>(group_numbers));
  for (const int group : {1, 2}) {
    const std::int32_t* const values = data_of(*bound, "x" + std::to_string(group));
    EXPECT_TRUE(std::equal(values, values + group_numbers, numbers(group_numbers, 10 * group).begin()));
  }
  EXPECT_EQ(data_of(*model::bind(*all_, "net"), "x0")[1], 1);
}

TEST_F(loading_models, memory_of_a_group_that_is_not_ready_has_no_access) {
  fill(0);
  for (const bool writes : {false, true}) {
    const int status = test::run_process([&] {
      signal(SIGSEGV, SIG_DFL);
      const auto bound = model::bind(*models::connect(place()), "net");
      if (data_of(*bound, "x0")[1] != 1) return 1;
      auto* const early = reinterpret_cast<volatile std::int32_t*>(bound->data(bound->layout().tensors()[1]));
      if (writes) early[0] = 1;
      return early[0] == 12345 ? 2 : 3;
    });
    EXPECT_EQ(status, -SIGSEGV);
  }
}

TEST_F(loading_models, an_error_of_the_loader_reaches_every_waiter) {
  const auto there = models::connect(place());
  std::vector<std::shared_ptr<model>> bound;
  std::vector<std::future<std::pair<syncyte_status_t, std::string>>> waits;
  for (int waiter = 0; waiter < 6; ++waiter) {
    bound.push_back(model::bind(waiter % 2 == 0 ? *all_ : *there, "net"));
    waits.push_back(
        std::async(std::launch::async, [&, each = bound.back()] { return outcome([&] { each->wait(2); }); }));
  }
  fill(0);
  loading_->fail(SYNCYTE_ERR_IO, "the disk is gone");
  for (auto& each : waits) {
    const auto [status, text] = each.get();
    EXPECT_EQ(status, SYNCYTE_ERR_IO);
    EXPECT_TRUE(contains(text, "\"net\" has failed: the disk is gone")) << text;
  }
  EXPECT_EQ(outcome([&] { bound[0]->wait(1); }).first, SYNCYTE_ERR_IO) << "again";
  publish(all_, "net", numbers(3, 1));  // the name is free
  EXPECT_EQ(data_of(*model::bind(*all_, "net"), "x")[0], 1);
}

TEST_F(loading_models, an_unfinished_publication_leaves_nothing) {
  const auto bound = model::bind(*all_, "net");
  fill(0);
  bound->wait(0);
  loading_.reset();
  EXPECT_EQ(outcome([&] { bound->wait(2); }).first, SYNCYTE_ERR_PEER_DIED);
  EXPECT_EQ(data_of(*bound, "x0")[1], 1) << "what was there can be used";
  EXPECT_EQ(outcome([&] { model::bind(*all_, "net"); }).first, SYNCYTE_ERR_NOT_FOUND);
}

TEST_F(loading_models, finish_needs_all_tensors) {
  const auto bound = model::bind(*all_, "net");
  fill(0);
  fill(2);
  const auto [status, text] = outcome([&] { loading_->finish(); });
  EXPECT_EQ(status, SYNCYTE_ERR_ARGUMENT);
  EXPECT_TRUE(contains(text, "\"x1\"")) << text;
  EXPECT_EQ(outcome([&] { bound->wait(2); }).first, SYNCYTE_ERR_ARGUMENT) << "binders get the error";
}

TEST_F(loading_models, wrong_tensors_are_refused) {
  auto values = numbers(10, 0);
  syncyte_buffer_t buffer = buffer_of(values);
  EXPECT_EQ(outcome([&] { loading_->fill("y", &buffer); }).first, SYNCYTE_ERR_NOT_FOUND);
  EXPECT_EQ(outcome([&] { loading_->fill("x0", &buffer); }).first, SYNCYTE_ERR_SHAPE);
  EXPECT_EQ(outcome([&] { loading_->add("y", &buffer); }).first, SYNCYTE_ERR_ARGUMENT) << "it has started";
  buffer.dtype = SYNCYTE_FLOAT32;
  EXPECT_EQ(outcome([&] { loading_->fill("x0", &buffer); }).first, SYNCYTE_ERR_TYPE);
}

TEST_F(loading_models, others_are_bound_meanwhile) {
  publish(all_, "other", numbers(100, 7));
  const auto first = model::bind(*models::connect(place()), "other"), second = model::bind(*all_, "other");
  fill(0);
  EXPECT_EQ(data_of(*first, "x")[99], 106);
  EXPECT_EQ(data_of(*second, "x")[99], 106);
  fill(1);
  fill(2);
  loading_->finish();
  EXPECT_EQ(test::holders_of(*all_, "other").size(), 2u);
}

TEST_F(models_test, the_socket_asks_for_the_nonce_and_has_one_owner) {
  const auto all = served();
  EXPECT_EQ(outcome([&] { models::connect(place(5, {1, 3})); }).first, SYNCYTE_ERR_ARGUMENT);
  EXPECT_EQ(outcome([&] { models::connect(place(5)); }).first, SYNCYTE_SUCCESS);
  EXPECT_EQ(outcome([&] { all->serve(place()); }).first, SYNCYTE_ERR_BUSY);
  EXPECT_EQ(outcome([&] { models::create({})->serve(place()); }).first, SYNCYTE_ERR_BUSY);
  EXPECT_EQ(outcome([&] { models::connect(place())->serve(place()); }).first, SYNCYTE_ERR_ARGUMENT);
  EXPECT_EQ(
      outcome([&] { models::connect({.name = "absent", .folder = folder_, .nonce = {}, .seconds = 0.05}); }).first,
      SYNCYTE_ERR_TIMEOUT);
}

TEST_F(models_test, a_cache_and_models_are_not_taken_for_each_other) {
  const auto all = served();
  EXPECT_EQ(outcome([&] { cache::receive(place(0.3)); }).first, SYNCYTE_ERR_TIMEOUT);
  cache::rendezvous other = place(1);
  other.name = "region";
  auto sender = std::async(std::launch::async, [&] {
    const auto file = memory::open_memfd("test");
    return outcome([&] { cache::send({&file, 1}, other); }).first;
  });
  const auto [status, text] = outcome([&] { models::connect(other); });
  EXPECT_EQ(status, SYNCYTE_ERR_FORMAT) << text;
  EXPECT_EQ(sender.get(), SYNCYTE_ERR_TIMEOUT);
}

/// Sends bytes as the first message to a server; returns its answer.
std::string answer_to(const fs::path& socket, const std::string& bytes) {
  const auto made = memory::connect_to(socket, [] { return false; });
  EXPECT_TRUE(made.socket);
  if (!bytes.empty()) {
    EXPECT_EQ(memory::send_message(made.socket, bytes), 0);
  }
  EXPECT_TRUE(memory::wait_readable(made.socket, std::chrono::steady_clock::now() + 10s));
  return memory::receive_message(made.socket).bytes;
}

TEST_F(models_test, strange_messages_do_not_disturb_the_server) {
  const auto all = served();
  publish(all, "net", numbers(3, 1));
  const fs::path socket = folder_ / "models.syncyte";
  cache::request asked = cache::make_request(cache::purpose::bind, {1, 2}, "net", {});
  const auto bytes = [&] { return std::string(reinterpret_cast<const char*>(&asked), sizeof(asked)); };
  EXPECT_EQ(cache::note::decode(answer_to(socket, bytes())).status, SYNCYTE_SUCCESS);
  asked.version = 9;
  EXPECT_EQ(cache::note::decode(answer_to(socket, bytes())).status, SYNCYTE_ERR_VERSION);
  EXPECT_EQ(cache::note::decode(answer_to(socket, bytes() + "more")).status, SYNCYTE_ERR_VERSION);
  asked.version = 1;
  EXPECT_EQ(cache::note::decode(answer_to(socket, bytes() + "more")).status, SYNCYTE_ERR_VERSION);
  asked.what = static_cast<cache::purpose>(99);
  EXPECT_EQ(answer_to(socket, bytes()), "");
  std::ranges::fill(asked.name, 'x');
  EXPECT_EQ(answer_to(socket, bytes()), "");
  EXPECT_EQ(answer_to(socket, "hello"), "");
  EXPECT_EQ(answer_to(socket, std::string(20000, 'x')), "");
  EXPECT_EQ(answer_to(socket, ""), "") << "one that says nothing is dropped after a while";
  EXPECT_EQ(data_of(*model::bind(*models::connect(place()), "net"), "x")[0], 1);
}

/// A publisher that sends a file of its own making.
std::pair<syncyte_status_t, std::string> publish_file(const models& all, const std::string& name,
                                                      const memory::descriptor& file, std::uint64_t announced,
                                                      std::uint64_t groups = 1, bool seals = true) {
  return outcome([&] {
    const cache::deadline until(10);
    const auto connection = all.open(cache::purpose::publish, name, {announced}, until);
    cache::receive(connection, until, "a test");
    cache::send(connection, cache::note{.what = cache::news::memory, .value = groups}.encode(), until, {&file, 1});
    if (seals) fcntl(file.number(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL);
    cache::send(connection, cache::note{.what = cache::news::done, .value = groups}.encode(), until);
    cache::receive(connection, until, "a test");
  });
}

memory::descriptor test_file(std::uint64_t bytes, const std::string& content = "") {
  memory::descriptor file = memory::open_memfd("test");
  EXPECT_EQ(ftruncate(file.number(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(pwrite(file.number(), content.data(), content.size(), 0), static_cast<ssize_t>(content.size()));
  fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  return file;
}

TEST_F(models_test, files_that_are_no_models_are_refused) {
  const auto all = served();
  EXPECT_EQ(publish_file(*all, "short", test_file(4096), 8192).first, SYNCYTE_ERR_FORMAT);
  EXPECT_EQ(publish_file(*all, "grown", memory::open_memfd("test"), 0).first, SYNCYTE_ERR_FORMAT);
  EXPECT_EQ(publish_file(*all, "open", test_file(4096), 4096, 1, false).first, SYNCYTE_ERR_FORMAT);
  EXPECT_EQ(publish_file(*all, "no group", test_file(4096), 4096, 0).first, SYNCYTE_ERR_FORMAT);
  EXPECT_EQ(publish_file(*all, "zeros", test_file(4096), 4096).first, SYNCYTE_SUCCESS);
  EXPECT_EQ(outcome([&] { model::bind(*all, "zeros"); }).first, SYNCYTE_ERR_FORMAT);
  EXPECT_TRUE(test::becomes_true([&] { return test::holders_of(*all, "zeros").empty(); }));
}

TEST_F(models_test, damaged_bytes_and_other_versions_are_found) {
  const auto all = served();
  cache::model_layout layout;
  const syncyte_buffer_t shape = base::make_buffer(&layout, SYNCYTE_INT8, std::vector<std::int64_t>{100});
  layout.add("weight", base::buffer(&shape, "buffer"), false);
  layout.set_checksums(true);
  layout.plan();
  const auto manifest = layout.encode();
  std::string content(reinterpret_cast<const char*>(manifest.data()), manifest.size());
  EXPECT_EQ(publish_file(*all, "wrong sum", test_file(layout.file_bytes(), content), layout.file_bytes()).first,
            SYNCYTE_SUCCESS);
  const auto [status, text] = outcome([&] { model::bind(*all, "wrong sum")->verify(); });
  EXPECT_EQ(status, SYNCYTE_ERR_CHECKSUM);
  EXPECT_TRUE(contains(text, "\"weight\"")) << text;
  content[16] = 9;
  EXPECT_EQ(publish_file(*all, "newer", test_file(layout.file_bytes(), content), layout.file_bytes()).first,
            SYNCYTE_SUCCESS);
  EXPECT_EQ(outcome([&] { model::bind(*all, "newer"); }).first, SYNCYTE_ERR_VERSION);
  publish(all, "no sums", numbers(3, 1));
  EXPECT_EQ(outcome([&] { model::bind(*all, "no sums")->verify(); }).first, SYNCYTE_ERR_UNSUPPORTED);
}

TEST_F(models_test, ten_thousand_tensors) {
  const auto all = models::create({});
  std::vector<std::int32_t> values = numbers(10000, 0);
  publication made(all, "net", false);
  for (std::int32_t& each : values) {
    const syncyte_buffer_t one = base::make_buffer(&each, SYNCYTE_INT32, {});
    made.add("layers." + std::to_string(each) + ".weight", &one);
  }
  made.finish();
  const auto bound = model::bind(*all, "net");
  for (const std::int32_t each : values)
    ASSERT_EQ(*data_of(*bound, "layers." + std::to_string(each) + ".weight"), each);
}

TEST_F(models_test, cycles_leave_no_page_and_no_descriptor) {
  const auto all = served();
  const auto there = models::connect(place());
  const auto count = [](const char* folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  };
  const auto cycle = [&] {
    publish(all, "net", numbers(5000, 1));
    EXPECT_EQ(data_of(*model::bind(*there, "net"), "x")[4999], 5000);
    EXPECT_TRUE(test::becomes_true([&] { return outcome([&] { there->remove("net"); }).first == SYNCYTE_SUCCESS; }));
  };
  const auto mapped = [] {
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    long pages = -1;
    EXPECT_EQ(std::fscanf(file, "%ld", &pages), 1);
    std::fclose(file);
    return pages;
  };
  for (int round = 0; round < 20; ++round) cycle();
  const auto open_before = count("/proc/self/fd"), threads_before = count("/proc/self/task");
  const long mapped_before = mapped();
  for (int round = 0; round < 300; ++round) cycle();
  EXPECT_TRUE(test::becomes_true([&] { return count("/proc/self/fd") <= open_before; })) << count("/proc/self/fd");
  EXPECT_EQ(count("/proc/self/task"), threads_before);
  EXPECT_LE(mapped(), mapped_before + 64);
}

TEST_F(models_test, the_thread_sleeps_while_nobody_asks) {
  const auto all = served();
  publish(all, "net", numbers(3, 1));
  const auto bound = model::bind(*models::connect(place()), "net");
  usleep(50000);
  timespec before{}, after{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  usleep(300000);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  const long spent = (after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec;
  EXPECT_LT(spent, 3000000);
}

}  // namespace
