// SPDX-License-Identifier: BSD-3-Clause
// Regions in the memory of CUDA devices, in several processes.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "../memory/status.hpp"
#include "device_fixture.hpp"
#include "memory/capacity.hpp"
#include "region_files.hpp"

namespace {

using namespace syncyte;
using cache::receive;
using cache::region;
using cache::send;
using test::contains;
using test::device_page;
using test::environment_scope;
using test::fill;
using test::outcome;
using test::read;
using test::run_checks;
using test::start_checks;
using test::wait_process;

using cache_device_region = test::device_fixture;

const bool is_standin = std::getenv("STANDIN_BYTES") != nullptr;
#define NEEDS_STANDIN() \
  if (!is_standin) GTEST_SKIP() << "for the stand-in driver"

TEST_F(cache_device_region, processes_share_its_bytes) {
  const pid_t owner = start_checks([&] {
    const auto made = allocate({device_page + 1, 5});
    EXPECT_EQ(made->sizes().parameters, 2 * device_page);
    EXPECT_EQ(made->sizes().computation, device_page);
    EXPECT_EQ(made->memory(), SYNCYTE_MEMORY_CUDA);
    EXPECT_EQ(read(made->data(), 0, made->bytes()), std::string(made->bytes(), '\0'));
    fill(made->data() + 2 * device_page - 1, 0, 2, 'a');  // across the parts
    send(made->files(), place());
    send(made->files(), place());
    EXPECT_EQ(read(made->data() + made->bytes() - 1, 0, 1), "b");
  });
  const auto work = [&] {
    const auto got = region::attach(receive(place()));
    EXPECT_EQ(got->sizes().parameters, 2 * device_page);
    EXPECT_EQ(read(got->data() + 2 * device_page - 2, got->device(), 4), std::string("\0aa\0", 4));
    fill(got->data() + got->bytes() - 1, got->device(), 1, 'b');
  };
  EXPECT_EQ(run_checks(work), 0);
  EXPECT_EQ(run_checks(work), 0);
  EXPECT_EQ(wait_process(owner), 0);
}

TEST_F(cache_device_region, a_process_may_have_another_number_for_the_device) {
  NEEDS_STANDIN();
  const pid_t owner = start_checks([&] {
    const auto made = allocate({1, 1}, 1);
    EXPECT_EQ(made->device(), 1);
    fill(made->data(), 1, 1, 'x');
    send(made->files(), place());
    send(made->files(), place());
  });
  EXPECT_EQ(run_checks([&] {
              const environment_scope visible("CUDA_VISIBLE_DEVICES", "1");
              const auto got = region::attach(receive(place()));
              EXPECT_EQ(got->device(), 0);
              EXPECT_EQ(read(got->data(), 0, 1), "x");
            }),
            0);
  EXPECT_EQ(run_checks([&] {
              const environment_scope visible("CUDA_VISIBLE_DEVICES", "0");
              const auto [status, text] = outcome([&] { region::attach(receive(place())); });
              EXPECT_EQ(status, SYNCYTE_ERR_UNSUPPORTED);
              EXPECT_EQ(text,
                        "the shared cache that was received is on GPU-53000000-0000-0000-0000-000000000001, "
                        "which this process does not see (CUDA_VISIBLE_DEVICES)");
              EXPECT_EQ(test::held_by_driver(), 0u);
            }),
            0);
  EXPECT_EQ(wait_process(owner), 0);
}

TEST_F(cache_device_region, a_process_without_devices_says_so) {
  NEEDS_STANDIN();
  EXPECT_EQ(run_checks([] {
              const environment_scope none("CUDA_VISIBLE_DEVICES", "");
              const auto [status, text] = outcome([] { allocate({1, 1}); });
              EXPECT_EQ(status, SYNCYTE_ERR_UNSUPPORTED);
              EXPECT_TRUE(contains(text, "there is no CUDA device: no CUDA-capable device is detected")) << text;
            }),
            0);
  EXPECT_EQ(run_checks([] {
              const auto [status, text] = outcome([] { allocate({1, 1}, 7); });
              EXPECT_EQ(status, SYNCYTE_ERR_ARGUMENT);
              EXPECT_TRUE(contains(text, "device is 7; expected 0 to 1")) << text;
              EXPECT_EQ(outcome([] { allocate({1, 1}, -2); }).first, SYNCYTE_ERR_ARGUMENT);
              const environment_scope single("STANDIN_LACKS", "102");
              EXPECT_TRUE(contains(outcome([] { allocate({1, 1}); }).second, "cannot share memory between processes"));
            }),
            0);
}

TEST_F(cache_device_region, default_sizes_fit_the_device_and_the_limit) {
  NEEDS_STANDIN();
  EXPECT_EQ(run_checks([] {
              const environment_scope small("STANDIN_BYTES", "67108864");
              EXPECT_EQ(allocate({0, 0})->bytes(), 24 * device_page);
              EXPECT_EQ(allocate({16 << 20, 0})->sizes().computation, 18 * device_page);
              const environment_scope limit("SYNCYTE_CACHE_DEVICE_BYTES", "16M");
              EXPECT_EQ(allocate({0, 0})->sizes().parameters, 4 * device_page);
              EXPECT_EQ(allocate({12 << 20, 0})->sizes().computation, 2 * device_page);
              EXPECT_EQ(allocate({14 << 20, 1})->bytes(), 8 * device_page);
              const environment_scope uneven("SYNCYTE_CACHE_DEVICE_BYTES", "15M");  // between two pages
              EXPECT_EQ(allocate({0, 0})->bytes(), 6 * device_page);
              EXPECT_EQ(allocate({(10 << 20) + 1, 0})->bytes(), 7 * device_page);
            }),
            0);
}

TEST_F(cache_device_region, chosen_sizes_above_the_limit_are_an_error) {
  NEEDS_STANDIN();
  EXPECT_EQ(run_checks([] {
              const auto expect = [](cache::region_sizes sizes, const char* part) {
                const auto [status, text] = outcome([&] { allocate(sizes); });
                EXPECT_EQ(status, SYNCYTE_ERR_MEMORY);
                EXPECT_TRUE(contains(text, part)) << text;
                EXPECT_EQ(test::held_by_driver(), 0u);
              };
              const environment_scope limit("SYNCYTE_CACHE_DEVICE_BYTES", "16M");
              expect({16 << 20, 1},
                     "a shared cache with parameter_bytes 16777216 and computation_bytes 2097152 needs 18874368 bytes "
                     "of device 0, which has pages of 2097152; SYNCYTE_CACHE_DEVICE_BYTES is 16777216");
              expect({0, 16 << 20}, "SYNCYTE_CACHE_DEVICE_BYTES is 16777216");  // no room for the other part
              const environment_scope chosen("SYNCYTE_CACHE_PARAMETER_BYTES", "1G");
              expect({0, 0}, "parameter_bytes 1073741824");
              EXPECT_EQ(allocate({1 << 20, 1 << 20})->bytes(), 2 * device_page);
              const environment_scope small("SYNCYTE_CACHE_DEVICE_BYTES", "3M");
              expect({1, 1}, "SYNCYTE_CACHE_DEVICE_BYTES is 3145728");  // less than a page for each part
            }),
            0);
}

TEST_F(cache_device_region, chosen_sizes_that_the_device_has_not_are_an_error) {
  NEEDS_STANDIN();
  EXPECT_EQ(run_checks([] {
              const environment_scope small("STANDIN_BYTES", "67108864");
              const auto [status, text] = outcome([] { allocate({64 << 20, 1}); });
              EXPECT_EQ(status, SYNCYTE_ERR_MEMORY);
              EXPECT_TRUE(contains(text,
                                   "a shared cache with parameter_bytes 67108864 and computation_bytes 2097152 on "
                                   "device 0: CUDA: cuMemCreate failed"))
                  << text;
              EXPECT_EQ(test::held_by_driver(), 0u);
            }),
            0);
}

TEST_F(cache_device_region, a_receiver_with_another_framework_is_told) {
  const pid_t owner = start_checks([&] {
    const auto made = region::allocate({1, 1}, SYNCYTE_MEMORY_CUDA, 0, "torch 2.15.0");
    made->check_framework("torch 2.15.0");
    send(made->files(), place());
  });
  EXPECT_EQ(run_checks([&] {
              const auto got = region::attach(receive(place()));
              got->check_framework("torch 2.15.0");
              const auto [status, text] = outcome([&] { got->check_framework("torch 2.11.0"); });
              EXPECT_EQ(status, SYNCYTE_ERR_VERSION);
              EXPECT_TRUE(contains(text, "made for torch 2.15.0, and this process has torch 2.11.0")) << text;
              allocate({1, 1})->check_framework("torch 2.11.0");
            }),
            0);
  EXPECT_EQ(wait_process(owner), 0);
}

TEST_F(cache_device_region, touching_is_free_and_checked) {
  EXPECT_EQ(run_checks([] {
              const auto made = allocate({1, 1});
              made->touch(0, static_cast<std::int64_t>(made->bytes()));
              EXPECT_EQ(outcome([&] { made->touch(-1, 1); }).first, SYNCYTE_ERR_ARGUMENT);
              EXPECT_EQ(outcome([&] { made->touch(1, static_cast<std::int64_t>(made->bytes())); }).first,
                        SYNCYTE_ERR_ARGUMENT);
            }),
            0);
}

/// Every step of the driver in making and mapping a region.
TEST_F(cache_device_region, a_failed_step_leaves_nothing) {
  NEEDS_STANDIN();
  const auto expect_clean = [](const char* step, const auto& work, std::size_t kept) {
    const std::size_t files = test::open_files();
    const environment_scope fail("STANDIN_FAIL", step);
    const auto [status, text] = outcome(work);
    EXPECT_EQ(status, SYNCYTE_ERR_MEMORY) << step;
    EXPECT_TRUE(contains(text, "on device 0: CUDA: " + std::string(step).substr(0, std::strlen(step) - 2))) << text;
    EXPECT_EQ(test::held_by_driver(), kept) << step;
    EXPECT_EQ(test::open_files(), files) << step;
  };
  EXPECT_EQ(run_checks([&] {
              allocate({1, 1});  // starts the driver, whose own files stay
              for (const char* const step : {"cuMemAddressReserve:1", "cuMemCreate:1", "cuMemMap:1", "cuMemSetAccess:1",
                                             "cuMemExportToShareableHandle:1", "cuMemCreate:2", "cuMemMap:2",
                                             "cuMemSetAccess:2", "cuMemExportToShareableHandle:2"})
                expect_clean(step, [] { allocate({1, 1}); }, 0);
              const auto made = allocate({1, 1});
              const std::size_t kept = test::held_by_driver();
              for (const char* const step :
                   {"cuMemAddressReserve:1", "cuMemImportFromShareableHandle:1", "cuMemMap:1", "cuMemSetAccess:1",
                    "cuMemImportFromShareableHandle:2", "cuMemMap:2", "cuMemSetAccess:2"})
                expect_clean(step, [&] { region::attach(test::files_of(*made)); }, kept);
              region::attach(test::files_of(*made));
            }),
            0);
}

TEST_F(cache_device_region, too_many_open_files_are_named) {
  NEEDS_STANDIN();
  const auto with_few = [](const auto& work) {
    bool has_worked = false;
    for (rlim_t more = 0; more < 12 && !has_worked; ++more) {
      const int next = dup(0);
      close(next);
      rlimit before{};
      getrlimit(RLIMIT_NOFILE, &before);
      const rlimit few{static_cast<rlim_t>(next) + more, before.rlim_max};
      setrlimit(RLIMIT_NOFILE, &few);
      const auto [status, text] = outcome(work);
      setrlimit(RLIMIT_NOFILE, &before);
      has_worked = status == SYNCYTE_SUCCESS;
      EXPECT_TRUE(has_worked || (status == SYNCYTE_ERR_LIMIT && contains(text, "RLIMIT_NOFILE")))
          << more << ": " << text;
      EXPECT_TRUE(more > 0 || status == SYNCYTE_ERR_LIMIT) << text;
    }
    EXPECT_TRUE(has_worked);
  };
  const pid_t owner = start_checks([&] {
    allocate({1, 1});
    with_few([] { allocate({1, 1}); });
    const auto made = allocate({1, 1});
    EXPECT_EQ(outcome([&] { send(made->files(), place()); }).first, SYNCYTE_SUCCESS);
  });
  EXPECT_EQ(run_checks([&] { with_few([&] { receive(place(1)); }); }), 0);
  EXPECT_EQ(wait_process(owner), 0);
}

memory::descriptor header_of(std::uint64_t version, cache::region_sizes sizes, memory::device_id device) {
  return cache::region_header{.version = version, .sizes = sizes, .device = device}.make_file(4096);
}

TEST_F(cache_device_region, another_layout_is_refused) {
  EXPECT_EQ(run_checks([] {
              const auto made = allocate({1, 1});
              const auto expect = [&](std::uint64_t version, cache::region_sizes sizes, std::size_t files,
                                      syncyte_status_t status, const char* part) {
                auto given = test::files_of(*made);
                given.front() = header_of(version, sizes, memory::cuda_system().id(0));
                given.erase(given.begin() + static_cast<std::ptrdiff_t>(files), given.end());
                const auto [found, text] = outcome([&] { region::attach(std::move(given)); });
                EXPECT_EQ(found, status) << text;
                EXPECT_TRUE(contains(text, part)) << text;
              };
              const cache::region_sizes sizes = made->sizes();
              constexpr std::uint64_t layout = cache::region_header::on_device;
              expect(2, sizes, 3, SYNCYTE_ERR_VERSION, "layout 2; expected 3 or 4");
              expect(layout, sizes, 1, SYNCYTE_ERR_FORMAT, "1 files, and 3 were expected");
              expect(layout, {0, sizes.computation}, 3, SYNCYTE_ERR_FORMAT, "its parts have 0 and");
              expect(layout, {sizes.parameters, 5}, 3, SYNCYTE_ERR_FORMAT, "of pages of 2097152");
              expect(layout, {~std::uint64_t{0}, sizes.computation}, 3, SYNCYTE_ERR_FORMAT, "larger than any memory");
              expect(layout, {sizes.parameters * 2, sizes.computation}, 3, SYNCYTE_ERR_INTERNAL, "cuMemMap failed");
            }),
            0);
}

TEST_F(cache_device_region, the_others_keep_it_when_one_is_killed) {
  const auto expect_whole = [](const region& got) {
    EXPECT_EQ(read(got.data() + got.bytes() - 3, got.device(), 3), "abc");
  };
  const pid_t owner = test::start_process([&] {
    const auto made = allocate({1, 1});
    std::string text = "abc";
    memory::copy_now({made->data() + made->bytes() - 3, SYNCYTE_MEMORY_CUDA, 0}, {text.data(), SYNCYTE_MEMORY_HOST, 0},
                     3);
    send(made->files(), place());
    pause();
    return 1;
  });
  const pid_t second = start_checks([&] {
    {
      const auto got = region::attach(receive(place()));
      kill(owner, SIGKILL);
      while (kill(owner, 0) == 0) usleep(1000);  // until its socket is closed
      expect_whole(*got);
      send(got->files(), place());  // any process that has it may send it
      expect_whole(*got);
    }
    EXPECT_EQ(test::held_by_driver(), 0u);
  });
  EXPECT_EQ(wait_process(owner), -SIGKILL);
  const pid_t third = test::start_process([&] {
    const auto got = region::attach(receive(place()));
    expect_whole(*got);
    raise(SIGKILL);
    return 1;
  });
  EXPECT_EQ(wait_process(third), -SIGKILL);
  EXPECT_EQ(wait_process(second), 0);
}

TEST_F(cache_device_region, a_forked_child_cannot_use_it) {
  EXPECT_EQ(run_checks([&] {
              auto made = allocate({1, 1});
              fill(made->data(), 0, 1, 'p');
              EXPECT_EQ(run_checks([&] {
                          const auto [status, text] = outcome([] { allocate({1, 1}); });
                          EXPECT_EQ(status, SYNCYTE_ERR_UNSUPPORTED);
                          EXPECT_TRUE(contains(text, "forked after its parent has used CUDA")) << text;
                          EXPECT_EQ(outcome([&] { region::attach(test::files_of(*made)); }).first,
                                    SYNCYTE_ERR_UNSUPPORTED);
                          made.reset();
                        }),
                        0);
              EXPECT_EQ(read(made->data(), 0, 1), "p");
            }),
            0);
}

TEST_F(cache_device_region, another_user_gets_nothing) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const pid_t owner = start_checks([&] {
    const auto made = allocate({1, 1});
    EXPECT_EQ(outcome([&] { send(made->files(), place(0.5)); }).first, SYNCYTE_ERR_TIMEOUT);
  });
  EXPECT_EQ(run_checks([&] {
              ASSERT_EQ(setuid(65534), 0);
              EXPECT_NE(outcome([&] { receive(place(0.5)); }).first, SYNCYTE_SUCCESS);
            }),
            0);
  EXPECT_EQ(wait_process(owner), 0);
}

}  // namespace
