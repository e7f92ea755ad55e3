// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <complex>
#include <syncyte/syncyte.hpp>
#include <type_traits>
#include <vector>

#include "expect.hpp"

namespace {

using syncyte::test::expect_error;

static_assert(syncyte::dtype_of<float> == syncyte::dtype::float32);
static_assert(syncyte::dtype_of<const double> == syncyte::dtype::float64);
static_assert(syncyte::dtype_of<std::complex<float>> == syncyte::dtype::complex64);
static_assert(syncyte::dtype_of<long> == syncyte::dtype::int64 &&
              syncyte::dtype_of<long long> == syncyte::dtype::int64);
static_assert(syncyte::dtype_of<signed char> == syncyte::dtype::int8);
static_assert(syncyte::dtype_of<bool> == syncyte::dtype::boolean);
static_assert(syncyte::dtype_of<unsigned int> == syncyte::dtype::uint32);
static_assert(!syncyte::element<char> && !syncyte::element<wchar_t> && !syncyte::element<std::string>);
static_assert(!std::is_constructible_v<syncyte::buffer, const std::vector<int>&>, "what is const is not written");
static_assert(std::is_constructible_v<syncyte::const_buffer, const std::vector<int>&>);
static_assert(std::is_convertible_v<syncyte::buffer, syncyte::const_buffer>);
static_assert(!std::is_copy_constructible_v<syncyte::communicator> && !std::is_copy_constructible_v<syncyte::window>);
static_assert(std::is_nothrow_move_constructible_v<syncyte::tensor> && !std::is_copy_assignable_v<syncyte::tensor>);

template <typename T>
void expect_type(const char* name) {
  EXPECT_EQ(syncyte::size_of(syncyte::dtype_of<T>), sizeof(T));
  EXPECT_EQ(syncyte::name_of(syncyte::dtype_of<T>), name);
}

TEST(base, types_have_the_librarys_sizes_and_names) {
  expect_type<syncyte::float16>("float16");
  expect_type<syncyte::bfloat16>("bfloat16");
  expect_type<float>("float32");
  expect_type<double>("float64");
  expect_type<std::complex<float>>("complex64");
  expect_type<std::complex<double>>("complex128");
  expect_type<std::int8_t>("int8");
  expect_type<std::int16_t>("int16");
  expect_type<std::int32_t>("int32");
  expect_type<std::int64_t>("int64");
  expect_type<std::uint8_t>("uint8");
  expect_type<std::uint16_t>("uint16");
  expect_type<std::uint32_t>("uint32");
  expect_type<std::uint64_t>("uint64");
  expect_type<bool>("bool");
  expect_error(syncyte::status::type, {"99"}, [] { syncyte::size_of(static_cast<syncyte::dtype>(99)); });
}

TEST(base, version_is_the_headers) {
  EXPECT_EQ(syncyte::version().major, SYNCYTE_VERSION_MAJOR);
  EXPECT_EQ(syncyte::version().abi, SYNCYTE_ABI_VERSION);
}

TEST(base, buffers_describe_their_memory) {
  std::vector<double> values(12);
  const syncyte::buffer flat(values);
  EXPECT_EQ(flat.get()->data, values.data());
  EXPECT_EQ(flat.size(), 12);
  EXPECT_EQ(flat.as<double>().size(), 12U);

  const syncyte::extents shape{3, 4};
  const syncyte::buffer matrix(values.data(), shape);
  EXPECT_EQ(matrix.get()->strides[0], 32);
  EXPECT_EQ(matrix.get()->strides[1], 8);
  EXPECT_EQ(matrix.size(), 12);

  void* const untyped = values.data();
  EXPECT_EQ(syncyte::buffer(untyped, syncyte::dtype::float64, shape).get()->strides[0], 32);

  const syncyte::extents column_major{8, 24};
  EXPECT_EQ(syncyte::const_buffer(values.data(), shape, column_major).get()->strides[1], 24);
  const std::array<int, 3> fixed{1, 2, 3};
  EXPECT_EQ(syncyte::const_buffer(fixed).size(), 3);
  EXPECT_EQ(syncyte::const_buffer(std::vector<int>{}).size(), 0);
}

TEST(base, wrong_buffers_throw) {
  std::vector<double> values(12);
  const syncyte::extents shape{3, 4};
  const syncyte::extents negative{3, -4};
  const syncyte::extents short_strides{8};
  expect_error(syncyte::status::shape, {"-4"}, [&] { syncyte::buffer(values.data(), negative); });
  expect_error(syncyte::status::shape, {"strides", "1", "2"},
               [&] { syncyte::buffer(values.data(), shape, short_strides); });
  expect_error(syncyte::status::type, {"float32", "float64"}, [&] { syncyte::buffer(values).as<float>(); });
}

TEST(base, errors_have_the_fields_of_the_c_interface) {
  const syncyte::extents negative{3, -4};
  try {
    const std::vector<double> values(12);
    syncyte::const_buffer(values.data(), negative);
    FAIL() << "nothing was thrown";
  } catch (const syncyte::error& thrown) {
    const syncyte::error copied = thrown;  // NOLINT: the copy must have the fields too
    const syncyte::error_fields& fields = copied.fields();
    EXPECT_EQ(fields.operation, "buffer_init");
    EXPECT_EQ(fields.argument, "shape");
    EXPECT_EQ(fields.axis, 1);
    EXPECT_EQ(fields.ndim, 2);
    EXPECT_EQ(fields.value, "-4");
    EXPECT_EQ(fields.rank, syncyte::communicator::world().rank());
    EXPECT_NE(std::string(thrown.what()).find(fields.reason), std::string::npos);
  }
  EXPECT_EQ(syncyte::error(syncyte::status::io, "the disk is full").fields().axis, -1);
}

struct counted {
  int needed = 3;
  int polls = 0;
  int freed = 0;
  syncyte_status_t result = SYNCYTE_SUCCESS;
};

syncyte::request countdown(counted& counter) {
  syncyte_request_t raw = nullptr;
  const auto poll = [](void* context, std::int32_t* done) -> syncyte_status_t {
    auto& mine = *static_cast<counted*>(context);
    *done = ++mine.polls >= mine.needed ? 1 : 0;
    if (*done == 0 || mine.result == SYNCYTE_SUCCESS) return SYNCYTE_SUCCESS;
    return syncyte_error_set(mine.result, "countdown: it failed");
  };
  syncyte::check(syncyte_request_create(
      poll, nullptr, [](void* context) { ++static_cast<counted*>(context)->freed; }, &counter, &raw));
  return syncyte::request(raw);
}

TEST(base, requests_are_tested_and_waited_for) {
  counted tested, waited, dropped, failed;
  auto first = countdown(tested);
  EXPECT_FALSE(first.test());
  EXPECT_FALSE(first.test());
  EXPECT_TRUE(first.test());
  EXPECT_FALSE(static_cast<bool>(first));
  {
    std::vector<syncyte::request> all;
    all.push_back(countdown(waited));
    wait_all(all);
    const auto left_to_the_destructor = countdown(dropped);
  }
  EXPECT_EQ(tested.freed, 1);
  EXPECT_EQ(waited.freed, 1);
  EXPECT_EQ(dropped.freed, 1);
  failed.result = SYNCYTE_ERR_IO;
  expect_error(syncyte::status::io, {"it failed"}, [&] { countdown(failed).wait(); });
}

TEST(base, elements_of_a_buffer_are_contiguous_and_may_be_written) {
  std::array<int, 6> numbers{0, 1, 2, 3, 4, 5};
  const std::array<std::int64_t, 2> shape{3, 1}, columns{8, 4}, none{0, 2};
  EXPECT_EQ(syncyte::buffer(numbers.data(), shape).as<int>().size(), 3U);
  EXPECT_TRUE(syncyte::buffer(numbers.data(), none, columns).as<int>().empty());
  expect_error(syncyte::status::shape, {"gaps"}, [&] { syncyte::buffer(numbers.data(), shape, columns).as<int>(); });
  expect_error(syncyte::status::type, {"float64", "int32"}, [&] { syncyte::buffer(numbers).as<double>(); });
  syncyte_buffer_t constant = *syncyte::const_buffer(numbers).get();
  expect_error(syncyte::status::argument, {"read-only"}, [&] { syncyte::buffer(constant).as<int>(); });
}

TEST(base, wait_any_returns_the_first_end_and_throws_its_error) {
  counted slow{.needed = 1000}, quick, failed{.result = SYNCYTE_ERR_IO};
  std::array<syncyte::request, 3> requests{countdown(slow), syncyte::request(), countdown(quick)};
  EXPECT_EQ(wait_any(requests), 2);
  EXPECT_FALSE(requests[2]);
  EXPECT_TRUE(requests[0]);
  EXPECT_EQ(wait_any(requests), 0);
  EXPECT_EQ(wait_any(requests), -1) << "none is active";
  requests[1] = countdown(failed);
  expect_error(syncyte::status::io, {"it failed"}, [&] { wait_any(requests); });
  EXPECT_FALSE(requests[1]);
  EXPECT_EQ(slow.freed + quick.freed + failed.freed, 3);
}

TEST(base, pooled_memory_is_recycled) {
  syncyte::trim_pool();
  const auto before = syncyte::pool_statistics();
  {
    const syncyte::pooled<float> values(1 << 20);
  }
  syncyte::pooled<float> again(1 << 20);
  EXPECT_EQ(syncyte::pool_statistics().hits, before.hits + 1);
  again[7] = 3.0F;
  const syncyte::pooled<float> moved = std::move(again);
  EXPECT_EQ(moved[7], 3.0F);
  EXPECT_EQ(again.data(), nullptr);  // NOLINT: a moved-from buffer is empty
  std::vector<float> copied(moved.size());
  syncyte::copy(copied, moved);
  EXPECT_EQ(copied[7], 3.0F);
  std::vector<float> shorter(3);
  expect_error(syncyte::status::shape, {"12"}, [&] { syncyte::copy(shorter, moved); });
  EXPECT_EQ(syncyte::device_count(syncyte::memory_kind::host), 1);
}

}  // namespace
