// SPDX-License-Identifier: BSD-3-Clause
// The parts that need no MPI: checksums, blocks, manifest, escapes, gaps between data.

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "base/blocks.hpp"
#include "base/crc32c.hpp"
#include "base/errors.hpp"
#include "files/file.hpp"
#include "libhdf5/writer.hpp"
#include "metadata/manifest.hpp"

namespace syncyte::hdf5 {
namespace {

TEST(crc32c, has_the_known_values) {
  EXPECT_EQ(crc32c(0, "123456789", 9), 0xE3069283U);
  EXPECT_EQ(crc32c(0, nullptr, 0), 0U);
  const std::vector<unsigned char> zeros(32);
  EXPECT_EQ(crc32c(0, zeros.data(), zeros.size()), 0x8A9136AAU);  // RFC 3720, B.4
}

TEST(crc32c, goes_on_where_it_stopped) { EXPECT_EQ(crc32c(crc32c(0, "1234", 4), "56789", 5), 0xE3069283U); }

// A CRC32C computed in pieces equals that of one pass, wherever the data is divided.
TEST(crc32c, combines_parts) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<unsigned char> data(random() % 5000);
    for (auto& byte : data) byte = static_cast<unsigned char>(random());
    std::uint32_t combined = 0;
    for (std::size_t begin = 0; begin < data.size();) {
      const std::size_t count = std::min<std::size_t>(1 + random() % 1500, data.size() - begin);
      combined ^= crc32c_shift(crc32c(0, data.data() + begin, count), data.size() - begin - count);
      begin += count;
    }
    EXPECT_EQ(combined, crc32c(0, data.data(), data.size()));
  }
}

TEST(crc32c, shifts_by_far_more_than_memory) {
  const std::uint64_t far = (std::uint64_t{1} << 40) + 12345;
  EXPECT_EQ(crc32c_shift(crc32c_shift(0xDEADBEEF, far), 77), crc32c_shift(0xDEADBEEF, far + 77));
  EXPECT_EQ(crc32c_shift(0xDEADBEEF, 0), 0xDEADBEEFU);
}

TEST(blocks, cover_the_run_in_order) {
  std::vector<block_part> parts;
  for_each_block(5000, 13000, 12345 + 1000, 4096, [&](const block_part& part) { parts.push_back(part); });
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].number, 1U);
  EXPECT_EQ(parts[0].begin, 5000U);
  EXPECT_EQ(parts[0].end, 8192U);
  EXPECT_EQ(parts[1].begin, 8192U);
  EXPECT_EQ(parts[2].block_begin, 12288U);
  EXPECT_EQ(parts[2].block_end, 13345U);
  EXPECT_EQ(parts[2].end, 13000U);
  for_each_block(7, 7, 100, 4096, [](const block_part&) { FAIL() << "an empty run has no blocks"; });
}

TEST(blocks, are_counted) {
  EXPECT_EQ(block_count(0, 4096), 0U);
  EXPECT_EQ(block_count(1, 4096), 1U);
  EXPECT_EQ(block_count(4096, 4096), 1U);
  EXPECT_EQ(block_count(4097, 4096), 2U);
  EXPECT_EQ(block_count(~std::uint64_t{0}, 4096), std::uint64_t{1} << 52);
  EXPECT_TRUE(valid_block_bytes(4096));
  EXPECT_TRUE(valid_block_bytes(std::uint64_t{1} << 30));
  EXPECT_FALSE(valid_block_bytes(0) || valid_block_bytes(2048) || valid_block_bytes(4097) ||
               valid_block_bytes(std::uint64_t{1} << 31));
}

TEST(complement, is_what_no_data_covers) {
  const auto gaps = complement({{300, 100}, {100, 50}, {150, 50}, {250, 0}, {400, 100}}, 50, 500);
  ASSERT_EQ(gaps.size(), 2U);
  EXPECT_EQ(gaps[0].offset, 50U);
  EXPECT_EQ(gaps[0].bytes, 50U);
  EXPECT_EQ(gaps[1].offset, 200U);
  EXPECT_EQ(gaps[1].bytes, 100U);
  EXPECT_THROW(complement({{100, 50}, {149, 5}}, 0, 500), error);
  EXPECT_THROW(complement({{100, 50}}, 101, 500), error);
  EXPECT_THROW(complement({{100, 500}}, 0, 500), error);
  EXPECT_THROW(complement({{100, ~std::uint64_t{0}}}, 0, 500), error);
}

manifest example() {
  manifest contents;
  contents.step = -5;
  contents.writer_world = 3;
  contents.block_bytes = 4096;
  contents.datasets.push_back({"a", SYNCYTE_FLOAT32, SYNCYTE_ENTRY_SHARDED, {1000, 3}, 8192, {1, 2, 3}});
  contents.datasets.push_back({"b/c", SYNCYTE_BOOL, SYNCYTE_ENTRY_REPLICATED, {}, 20192, {0xFFFFFFFF}});
  contents.datasets.push_back({"empty", SYNCYTE_INT64, SYNCYTE_ENTRY_SHARDED, {0, 5}, 0, {}});
  return contents;
}

file_header header_of(const manifest& contents) {
  file_header header;
  header.manifest_bytes = contents.encode().size();
  header.userblock_bytes = userblock_bytes_for(header.manifest_bytes);
  header.file_bytes = 30000;
  return header;
}

TEST(manifest, reads_what_it_wrote) {
  const manifest contents = example();
  const auto encoded = contents.encode();
  const manifest read = manifest::decode(encoded.data(), encoded.size(), header_of(contents), "f");
  EXPECT_EQ(read.encode(), encoded);
  EXPECT_EQ(read.step, -5);
  ASSERT_NE(read.find("b/c"), nullptr);
  EXPECT_EQ(read.find("b/c")->offset, 20192U);
  EXPECT_EQ(read.find("b"), nullptr);
  EXPECT_EQ(read.find("zzz"), nullptr);
}

TEST(manifest, keeps_attributes_that_it_does_not_know) {
  manifest contents = example();
  contents.attributes = {{"later", "text"}, {manifest::of_caller, "{}"}};
  contents.datasets[0].attributes = {{"later", ""}, {"cut", std::string("a\0b", 3)}};
  const auto encoded = contents.encode();
  const manifest read = manifest::decode(encoded.data(), encoded.size(), header_of(contents), "f");
  EXPECT_EQ(read.encode(), encoded);
  EXPECT_STREQ(read.attribute(manifest::of_caller), "{}");
  EXPECT_STREQ(read.attribute("absent"), "");
}

TEST(manifest, names_the_features_that_it_does_not_know) {
  manifest contents = example();
  contents.features = {"deltas", "state"};
  const auto encoded = contents.encode();
  try {
    manifest::decode(encoded.data(), encoded.size(), header_of(contents), "the file");
    FAIL() << "a file with unknown features was read";
  } catch (const error& caught) {
    EXPECT_EQ(caught.code(), syncyte::status::version);
    EXPECT_NE(std::string(caught.what()).find("the file: to read it needs deltas, state"), std::string::npos)
        << caught.what();
  }
}

TEST(manifest, refuses_every_truncation) {
  const manifest contents = example();
  const auto encoded = contents.encode();
  for (std::size_t bytes = 0; bytes < encoded.size(); ++bytes)
    EXPECT_THROW(manifest::decode(encoded.data(), bytes, header_of(contents), "f"), error) << bytes;
}

TEST(manifest, refuses_keys_out_of_order_and_data_outside_the_file) {
  manifest contents = example();
  std::swap(contents.datasets[0], contents.datasets[1]);
  auto encoded = contents.encode();
  EXPECT_THROW(manifest::decode(encoded.data(), encoded.size(), header_of(contents), "f"), error);
  contents = example();
  contents.datasets[0].offset = 29000;
  encoded = contents.encode();
  EXPECT_THROW(manifest::decode(encoded.data(), encoded.size(), header_of(contents), "f"), error);
}

TEST(header, tells_damage_from_other_versions) {
  file_header header = header_of(example());
  auto raw = header.encode();
  EXPECT_EQ(file_header::decode(raw, "f").encode(), raw);
  raw[20] ^= std::byte{1};
  EXPECT_THROW(file_header::decode(raw, "f"), error);
  header.format_version = SYNCYTE_CHECKPOINT_FORMAT + 1;
  try {
    file_header::decode(header.encode(), "the file");
    FAIL() << "a newer format was read";
  } catch (const error& caught) {
    EXPECT_EQ(caught.code(), syncyte::status::version);
    EXPECT_NE(std::string(caught.what()).find("the file"), std::string::npos);
  }
}

TEST(header, userblocks_are_powers_of_two) {
  EXPECT_EQ(userblock_bytes_for(0), 4096U);
  EXPECT_EQ(userblock_bytes_for(4096 - 64), 4096U);
  EXPECT_EQ(userblock_bytes_for(4096 - 63), 8192U);
}

TEST(escapes, leave_no_slash) {
  EXPECT_EQ(escaped("a/b%c.d"), "a%2Fb%25c.d");
  EXPECT_EQ(escaped("."), "%2E");
  EXPECT_EQ(escaped(".."), "..");
}

TEST(metadata_image, reads_zeros_where_nothing_was_written) {
  metadata_image image;
  image.write(4090, "0123456789", 10);
  char text[16];
  image.read(4088, text, 14);
  EXPECT_EQ(std::string(text, 14), std::string("\0\0"
                                               "0123456789"
                                               "\0\0",
                                               14));
  EXPECT_EQ(image.size(), 4100U);
  image.read(std::uint64_t{1} << 50, text, 4);
  EXPECT_EQ(std::string(text, 4), std::string(4, '\0'));
}

// This program never starts Syncyte.
TEST(calls, before_init_are_errors) {
  EXPECT_EQ(syncyte_checkpoint_save(nullptr, "f", 0, nullptr, nullptr), SYNCYTE_ERR_NOT_INITIALIZED);
  EXPECT_EQ(syncyte_checkpoint_load(nullptr, "f", 0, nullptr, nullptr), SYNCYTE_ERR_NOT_INITIALIZED);
  syncyte_checkpoint_t file = nullptr;
  EXPECT_EQ(syncyte_checkpoint_open(nullptr, "f", nullptr, &file), SYNCYTE_ERR_NOT_INITIALIZED);
  std::int64_t number = 0;
  EXPECT_EQ(syncyte_checkpoint_count(file, &number, nullptr), SYNCYTE_ERR_NOT_INITIALIZED);
  EXPECT_EQ(syncyte_checkpoint_bytes_read(file, &number), SYNCYTE_ERR_NOT_INITIALIZED);
  EXPECT_EQ(syncyte_checkpoint_close(&file), SYNCYTE_SUCCESS);
}

TEST(file, is_not_written_through_a_link) {
  const std::string target = "not_written_through_a_link", link = target + ".link";
  file(target, file::mode::create);
  std::filesystem::create_symlink(target, link);
  EXPECT_THROW(file(link, file::mode::write), own_error);
  EXPECT_NO_THROW(file(link, file::mode::read));
  for (const auto& name : {link, target}) std::filesystem::remove(name);
}

TEST(names, of_temporary_files_fit_and_stay_in_the_folder) {
  EXPECT_EQ(temporary_name("a b/c.h5", 12, 0xAB), "a b/.c.h5.12-00000000000000ab.tmp");
  EXPECT_EQ(temporary_name("c.h5", 1, 2), ".c.h5.1-0000000000000002.tmp");
  EXPECT_LE(temporary_name(std::string(255, 'n'), 1 << 22, ~std::uint64_t{0}).size(), 255U);
  EXPECT_EQ(directory_of("/c"), "/");
  EXPECT_EQ(directory_of("c"), ".");
  EXPECT_EQ(directory_of("a/b/c"), "a/b");
}

}  // namespace
}  // namespace syncyte::hdf5
