// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "../memory/status.hpp"
#include "base/hash.hpp"
#include "cache/model_layout.hpp"
#include "memory/descriptor.hpp"

namespace {

using namespace syncyte;
using cache::model_layout;
using cache::model_tensor;
using test::contains;
using test::outcome;

constexpr std::uint64_t page = 4096, mib = std::uint64_t{1} << 20;

// Places in the file's header, which other versions keep.
constexpr std::size_t version_at = 16, hash_at = 24, tensors_at = 40, header_bytes = 72;

syncyte_buffer_t like(std::vector<std::int64_t> shape, syncyte_dtype_t dtype = SYNCYTE_FLOAT32, void* data = nullptr) {
  static std::byte anywhere{};
  return base::make_buffer(data != nullptr ? data : &anywhere, dtype, shape);
}

void add(model_layout& layout, const std::string& name, const syncyte_buffer_t& buffer, bool has_address = false) {
  layout.add(name, base::buffer(&buffer, "buffer"), has_address);
}

/// A file with this manifest, as large as the layout wants.
memory::descriptor file_of(const std::vector<std::byte>& manifest, std::uint64_t bytes) {
  memory::descriptor file = memory::open_memfd("test");
  EXPECT_EQ(ftruncate(file.number(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(pwrite(file.number(), manifest.data(), std::min<std::size_t>(manifest.size(), bytes), 0),
            static_cast<ssize_t>(std::min<std::size_t>(manifest.size(), bytes)));
  return file;
}

model_layout round_trip(const model_layout& layout) {
  return model_layout::read(file_of(layout.encode(), layout.file_bytes()));
}

model_layout some_layout() {
  model_layout layout;
  add(layout, "weight", like({300, 1000}));
  add(layout, "bias", like({1000}, SYNCYTE_FLOAT16));
  add(layout, "scalar", like({}, SYNCYTE_INT64));
  add(layout, "nothing", like({0, 5}));
  add(layout, "large", like({5, static_cast<std::int64_t>(mib)}, SYNCYTE_FLOAT64));
  add(layout, "last", like({static_cast<std::int64_t>(mib)}, SYNCYTE_BOOL));
  layout.plan();
  return layout;
}

TEST(model_layout, groups_have_8_mib_and_begin_at_pages) {
  model_layout layout;
  for (int number = 0; number < 20; ++number)
    add(layout, "t" + std::to_string(number), like({static_cast<std::int64_t>(3 * mib / 4) + 1}));
  layout.plan();
  EXPECT_EQ(layout.groups(), 7u);
  for (std::uint64_t group = 0; group < layout.groups(); ++group) {
    EXPECT_EQ(layout.group_end(group) % page, 0u);
    if (group + 1 < layout.groups()) {
      EXPECT_GE(layout.group_end(group) - layout.group_begin(group), 8 * mib);
    }
  }
  std::uint64_t end = layout.data_begin();
  for (const model_tensor& each : layout.tensors()) {
    EXPECT_GE(each.offset, end);
    EXPECT_EQ(each.offset % 64, 0u);
    end = each.offset + each.bytes;
    EXPECT_LE(end, layout.group_end(each.group));
  }
}

TEST(model_layout, small_tensors_go_with_the_group_before_them) {
  model_layout layout;
  const auto floats = [](std::uint64_t bytes) { return like({static_cast<std::int64_t>(bytes / 4)}); };
  for (int layer = 0; layer < 3; ++layer) {
    add(layout, "weight" + std::to_string(layer), floats(20 * mib));
    add(layout, "bias" + std::to_string(layer), floats(4096));
  }
  for (int number = 0; number < 100; ++number) add(layout, "small" + std::to_string(number), floats(mib / 4));
  layout.plan();
  for (std::uint64_t layer = 0; layer < 3; ++layer) {
    EXPECT_EQ(layout.tensors()[2 * layer].group, layer);
    EXPECT_EQ(layout.tensors()[2 * layer + 1].group, layer);
  }
  EXPECT_EQ(layout.groups(), 6u) << "25 MiB of small tensors: 1, 9, 9, 6";
}

TEST(model_layout, views_share_a_place_if_their_strides_are_the_same) {
  std::vector<float> values(16);
  const auto view = [&](std::vector<std::int64_t> shape, std::vector<std::int64_t> strides) {
    auto made = like(std::move(shape), SYNCYTE_FLOAT32, values.data());
    std::ranges::copy(strides, made.strides);
    return made;
  };
  model_layout layout;
  add(layout, "every second", view({4}, {8}), true);
  add(layout, "first", view({4}, {4}), true);
  add(layout, "every second again", view({4}, {8}), true);
  add(layout, "rows", view({2, 2}, {32, 8}), true);
  add(layout, "columns", view({2, 2}, {8, 32}), true);
  add(layout, "expanded", view({2, 2}, {0, 4}), true);
  layout.plan();
  std::vector<std::uint64_t> found;
  for (const model_tensor& each : layout.tensors()) found.push_back(each.same_as);
  EXPECT_EQ(found, (std::vector<std::uint64_t>{0, 1, 0, 3, 4, 5}));
}

TEST(model_layout, a_manifest_is_read_as_it_was_written) {
  const model_layout layout = some_layout(), read = round_trip(layout);
  ASSERT_EQ(read.tensors().size(), layout.tensors().size());
  EXPECT_EQ(read.groups(), 2u);
  EXPECT_EQ(read.file_bytes(), layout.file_bytes());
  for (std::size_t number = 0; number < read.tensors().size(); ++number) {
    const model_tensor &mine = layout.tensors()[number], &theirs = read.tensors()[number];
    EXPECT_EQ(theirs.name, mine.name);
    EXPECT_EQ(theirs.dtype, mine.dtype);
    EXPECT_EQ(theirs.ndim, mine.ndim);
    EXPECT_EQ(theirs.shape, mine.shape);
    EXPECT_EQ(theirs.offset, mine.offset);
    EXPECT_EQ(theirs.bytes, mine.bytes);
    EXPECT_EQ(theirs.group, mine.group);
    EXPECT_EQ(read.find(mine.name), number);
  }
  const auto [status, text] = outcome([&] { read.find("Weight"); });
  EXPECT_EQ(status, SYNCYTE_ERR_NOT_FOUND);
  EXPECT_TRUE(contains(text, "\"Weight\"")) << text;
}

TEST(model_layout, strides_without_gaps_are_kept) {
  float data[24];
  const auto strided = [&](std::vector<std::int64_t> shape, std::vector<std::int64_t> strides) {
    syncyte_buffer_t result = like(shape, SYNCYTE_FLOAT32, data);
    std::ranges::copy(strides, result.strides);
    return result;
  };
  model_layout layout;
  add(layout, "transposed", strided({4, 6}, {4, 16}));
  add(layout, "gaps", strided({4, 3}, {24, 8}));
  add(layout, "repeated", strided({4, 3}, {0, 4}));
  add(layout, "backwards", strided({24}, {-4}));
  add(layout, "one", strided({1, 24}, {400, 4}));
  layout.plan();
  const model_layout read = round_trip(layout);
  const auto strides = [&](const char* name) {
    const auto all = read.tensors()[read.find(name)].distances();
    return std::vector<std::int64_t>(all.begin(), all.end());
  };
  EXPECT_EQ(strides("transposed"), (std::vector<std::int64_t>{4, 16}));
  EXPECT_EQ(strides("gaps"), (std::vector<std::int64_t>{12, 4}));
  EXPECT_EQ(strides("repeated"), (std::vector<std::int64_t>{12, 4}));
  EXPECT_EQ(strides("backwards"), (std::vector<std::int64_t>{4}));
  EXPECT_EQ(strides("one")[1], 4);
}

TEST(model_layout, the_same_memory_has_one_place) {
  float data[24];
  model_layout layout;
  add(layout, "a", like({24}, SYNCYTE_FLOAT32, data), true);
  add(layout, "form", like({4, 6}, SYNCYTE_FLOAT32, data), true);
  add(layout, "again", like({24}, SYNCYTE_FLOAT32, data), true);
  add(layout, "type", like({24}, SYNCYTE_INT32, data), true);
  add(layout, "unknown", like({24}, SYNCYTE_FLOAT32, data), false);
  add(layout, "empty", like({0}, SYNCYTE_FLOAT32, data), true);
  add(layout, "empty too", like({0}, SYNCYTE_FLOAT32, data), true);
  layout.plan();
  const model_layout read = round_trip(layout);
  std::vector<std::uint64_t> same;
  for (const model_tensor& each : read.tensors()) same.push_back(each.same_as);
  EXPECT_EQ(same, (std::vector<std::uint64_t>{0, 1, 0, 3, 4, 5, 6}));
  EXPECT_EQ(read.tensors()[2].offset, read.tensors()[0].offset);
}

TEST(model_layout, wrong_names_and_sizes_are_refused) {
  model_layout layout;
  const auto refused = [&](const std::string& name) { return outcome([&] { add(layout, name, like({1})); }).first; };
  EXPECT_EQ(outcome([&] { layout.plan(); }).first, SYNCYTE_ERR_ARGUMENT) << "no tensor";
  EXPECT_EQ(refused(""), SYNCYTE_ERR_ARGUMENT);
  EXPECT_EQ(refused(std::string(1025, 'x')), SYNCYTE_ERR_ARGUMENT);
  EXPECT_EQ(refused(std::string(1024, 'x')), SYNCYTE_SUCCESS);
  EXPECT_EQ(refused("\n\t\"'/..\xff"), SYNCYTE_SUCCESS);
  EXPECT_EQ(refused("\n\t\"'/..\xff"), SYNCYTE_ERR_ARGUMENT) << "twice";
  EXPECT_EQ(outcome([] { cache::check_model_name(""); }).first, SYNCYTE_ERR_ARGUMENT);
  EXPECT_EQ(outcome([] { cache::check_model_name(std::string(256, 'x')); }).first, SYNCYTE_ERR_ARGUMENT);
  EXPECT_EQ(outcome([] { cache::check_model_name(std::string(255, 'x')); }).first, SYNCYTE_SUCCESS);
  for (int number = 0; number < 3; ++number)
    add(layout, "huge" + std::to_string(number), like({std::int64_t{1} << 60}, SYNCYTE_INT8));
  EXPECT_EQ(outcome([&] { layout.plan(); }).first, SYNCYTE_ERR_MEMORY);
}

TEST(model_layout, another_version_and_other_files_are_refused) {
  const model_layout layout = some_layout();
  const auto read = [&](std::vector<std::byte> manifest, std::uint64_t bytes) {
    return outcome([&] { model_layout::read(file_of(manifest, bytes)); }).first;
  };
  auto manifest = layout.encode();
  EXPECT_EQ(read(manifest, layout.file_bytes()), SYNCYTE_SUCCESS);
  EXPECT_EQ(read(manifest, layout.file_bytes() + page), SYNCYTE_ERR_FORMAT);
  EXPECT_EQ(read(manifest, layout.file_bytes() - page), SYNCYTE_ERR_FORMAT);
  for (std::uint64_t bytes = 0; bytes < manifest.size() + page; bytes += 7)
    EXPECT_EQ(read(manifest, bytes), SYNCYTE_ERR_FORMAT) << bytes;
  manifest[version_at] = std::byte{2};
  EXPECT_EQ(read(manifest, layout.file_bytes()), SYNCYTE_ERR_VERSION);
  EXPECT_EQ(outcome([] { model_layout::read(memory::descriptor()); }).first, SYNCYTE_ERR_FORMAT);
  EXPECT_EQ(outcome([] { model_layout::read(memory::descriptor(open("/dev/null", O_RDONLY))); }).first,
            SYNCYTE_ERR_FORMAT);
}

/// Corrects the hash of a manifest that was changed.
void hash_again(std::vector<std::byte>& manifest) {
  std::uint64_t tensors = 0;
  std::memcpy(&tensors, &manifest[tensors_at], sizeof(tensors));
  const std::size_t begin = std::min<std::size_t>(header_bytes + (tensors % manifest.size()) * 8, manifest.size());
  const std::uint64_t hash = XXH3_64bits(manifest.data() + begin, manifest.size() - begin);
  std::memcpy(&manifest[hash_at], &hash, sizeof(hash));
}

// A file is accepted only if every tensor lies in it. AddressSanitizer and UBSan see other defects of the reader.
TEST(model_layout, thousands_of_damaged_manifests) {
  const model_layout layout = some_layout();
  const auto good = layout.encode();
  std::mt19937 random(5);
  const auto any = [&](std::size_t below) { return random() % below; };
  const std::uint64_t extremes[] = {0,
                                    1,
                                    2,
                                    255,
                                    std::uint64_t{1} << 31,
                                    std::uint64_t{1} << 32,
                                    std::uint64_t{1} << 62,
                                    ~std::uint64_t{0},
                                    ~std::uint64_t{0} >> 1};
  int accepted = 0;
  for (int round = 0; round < 9000; ++round) {
    auto manifest = good;
    for (std::size_t changes = 1 + any(3); changes > 0; --changes) {
      if (any(2) == 0) {
        manifest[any(manifest.size())] ^= static_cast<std::byte>(1 << any(8));
      } else {
        const std::size_t at = any(manifest.size() / 8) * 8;
        std::memcpy(&manifest[at], &extremes[any(std::size(extremes))], 8);
      }
    }
    if (any(4) != 0) hash_again(manifest);
    const std::uint64_t bytes = any(10) == 0 ? any(layout.file_bytes()) : layout.file_bytes();
    const memory::descriptor file = file_of(manifest, bytes);
    const auto [status, text] = outcome([&] {
      const model_layout read = model_layout::read(file);
      ++accepted;
      ASSERT_EQ(read.file_bytes(), bytes);
      for (const model_tensor& each : read.tensors()) {
        ASSERT_LE(each.bytes, read.end());
        ASSERT_LE(each.offset, read.end() - each.bytes);
        ASSERT_GE(each.offset, read.data_begin());
        ASSERT_LT(each.group, read.groups());
        ASSERT_LE(each.offset + each.bytes, read.group_end(each.group));
        ASSERT_EQ(each.name.find('\0'), std::string::npos);
        ASSERT_FALSE(each.name.empty());
      }
    });
    if (status != SYNCYTE_SUCCESS) {
      EXPECT_TRUE(status == SYNCYTE_ERR_FORMAT || status == SYNCYTE_ERR_VERSION) << status << ": " << text;
    }
  }
  EXPECT_GT(accepted, 50) << "changes that leave a valid manifest, such as of a name";
  EXPECT_LT(accepted, 3000);
}

}  // namespace
