// SPDX-License-Identifier: BSD-3-Clause
// Damaged, truncated and foreign files: an error that names the file, never a crash, a hang or wrong data.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <random>

#include "checkpoint_fixture.hpp"

namespace syncyte::test {
namespace {

using bytes = std::vector<unsigned char>;

bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Writes in place, because file systems flush a file that is truncated to zero and rewritten.
void write_file(const std::string& path, const bytes& contents) {
  ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(contents.size())), 0);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.write(reinterpret_cast<const char*>(contents.data()), static_cast<std::streamsize>(contents.size()));
}

// CRC32C, computed one bit at a time.
std::uint32_t crc32c(const unsigned char* data, std::size_t count) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (std::size_t i = 0; i < count; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) ? 0x82F63B78U : 0U);
  }
  return ~crc;
}

void put(bytes& file, std::size_t at, std::uint32_t value) { std::memcpy(file.data() + at, &value, sizeof value); }

std::uint64_t get(const bytes& file, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

// Corrects the checksums of header and manifest, as a forger would.
void sign(bytes& file) {
  const auto userblock = std::clamp<std::uint64_t>(get(file, 16), 64, file.size());
  put(file, 40, crc32c(file.data() + 64, userblock - 64));
  put(file, 60, crc32c(file.data(), 60));
}

constexpr std::int64_t field_rows = 50, field_columns = 30, ghosts = 2;

// Two fields of a bundle with ghosts around them.
class ghosted_fields {
 public:
  explicit ghosted_fields(syncyte_comm_t comm) {
    const std::int64_t cells[] = {field_rows, field_columns}, shape[] = {field_rows + 2 * ghosts, field_columns};
    const std::int32_t size = 1, axis = 0;
    syncyte_layout_options_t options = SYNCYTE_LAYOUT_OPTIONS_INIT;
    options.ghosts_low[0] = options.ghosts_high[0] = ghosts;
    EXPECT_OK(syncyte_layout_create_mesh(comm, 2, cells, 1, &size, 0, nullptr, 1, &axis, &options, &cut_));
    EXPECT_OK(syncyte_bundle_create(comm, &bundle_));
    for (std::size_t i = 0; i < values_.size(); ++i) {
      syncyte_buffer_t array{};
      values_[i].resize(static_cast<std::size_t>(shape[0] * shape[1]));
      std::iota(values_[i].begin(), values_[i].end(), 1.0);
      EXPECT_OK(syncyte_buffer_init(values_[i].data(), SYNCYTE_FLOAT64, 2, shape, &array));
      EXPECT_OK(syncyte_bundle_add(bundle_, i == 0 ? "first field" : "second field", cut_, SYNCYTE_FLOAT64, 1, &array));
    }
  }
  ghosted_fields(const ghosted_fields&) = delete;
  ghosted_fields& operator=(const ghosted_fields&) = delete;
  ~ghosted_fields() {
    syncyte_bundle_destroy(&bundle_);
    syncyte_layout_destroy(&cut_);
  }

  syncyte_bundle_t get() const { return bundle_; }
  void clear() {
    for (auto& each : values_) std::fill(each.begin(), each.end(), 0.0);
  }
  // Whether the cells have their first values, and the ghosts none.
  bool are_loaded() const {
    constexpr std::int64_t first = ghosts * field_columns, end = first + field_rows * field_columns;
    for (const auto& each : values_)
      for (std::int64_t i = 0; i < std::ssize(each); ++i)
        if (each[static_cast<std::size_t>(i)] != (i < first || i >= end ? 0.0 : static_cast<double>(i + 1)))
          return false;
    return true;
  }

 private:
  syncyte_layout_t cut_ = nullptr;
  syncyte_bundle_t bundle_ = nullptr;
  std::array<std::vector<double>, 2> values_;
};

class damage : public hdf5_checkpoint {
 protected:
  void SetUp() override {
    hdf5_checkpoint::SetUp();
    original_.emplace_back("layer/weight", SYNCYTE_FLOAT32, std::vector<std::int64_t>{60, 50}, SYNCYTE_ENTRY_SHARDED);
    original_.emplace_back("bias", SYNCYTE_BFLOAT16, std::vector<std::int64_t>{50});
    original_.emplace_back("mask", SYNCYTE_BOOL, std::vector<std::int64_t>{9, 7});
    original_.emplace_back("spectrum", SYNCYTE_COMPLEX128, std::vector<std::int64_t>{80, 6});
    original_.emplace_back("step", SYNCYTE_INT64, std::vector<std::int64_t>{});
    for (tensor& one : original_) one.fill();
    auto options = blocks_of(4096, 3);
    options.attributes = R"({"time": 0.5, "grid": [50, 30]})";
    const auto entries = entries_of(original_);
    ASSERT_OK(syncyte_checkpoint_save_bundle(world(), path_.c_str(), fields_.get(), std::ssize(entries), entries.data(),
                                             &options));
    whole_ = read_file(path_);
    ASSERT_GT(whole_.size(), 48000U);
  }

  // Opens and loads everything; data that is loaded without an error must equal the saved data.
  syncyte_status_t read_all() {
    std::vector<tensor> loaded = original_;
    const auto entries = entries_of(loaded);
    fields_.clear();
    syncyte_checkpoint_t file = nullptr;
    syncyte_status_t status = syncyte_checkpoint_load_bundle(world(), path_.c_str(), fields_.get(), std::ssize(entries),
                                                             entries.data(), nullptr);
    if (status != SYNCYTE_SUCCESS) return status;
    for (const tensor& one : loaded) EXPECT_TRUE(one.filled());
    EXPECT_TRUE(fields_.are_loaded());
    const char* attributes = nullptr;
    EXPECT_OK(syncyte_checkpoint_open(world(), path_.c_str(), nullptr, &file));
    EXPECT_OK(syncyte_checkpoint_attributes(file, &attributes));
    EXPECT_LT(std::strlen(attributes), whole_.size());
    EXPECT_OK(syncyte_checkpoint_close(&file));
    return status;
  }

  // Changes one byte at this place; the load must fail.
  void expect_seen(std::size_t at, unsigned char flip) {
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    const auto change = [&](unsigned char value) {
      file.seekp(static_cast<std::streamoff>(at));
      file.put(static_cast<char>(value));
      file.flush();
    };
    change(whole_[at] ^ flip);
    const syncyte_status_t status = read_all();
    EXPECT_TRUE(status == SYNCYTE_ERR_CHECKSUM || status == SYNCYTE_ERR_FORMAT)
        << "byte " << at << ": " << syncyte_status_name(status);
    EXPECT_NE(std::string(syncyte_last_error()).find(path_), std::string::npos) << syncyte_last_error();
    change(whole_[at]);
  }

  std::vector<tensor> original_;
  ghosted_fields fields_{world()};
  bytes whole_;
};

TEST_F(damage, every_flipped_byte_is_seen) {
  std::mt19937 random(20261121);
  std::vector<std::size_t> places(whole_.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::shuffle(places.begin() + 512, places.end(), random);  // the header and the manifest's begin, then anything
  places.resize(6000);
  for (const std::size_t at : places) {
    expect_seen(at, static_cast<unsigned char>(1U << (random() % 8)));
    if (HasFailure()) return;
  }
  EXPECT_OK(read_all());
}

TEST_F(damage, longer_damage_is_seen) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    bytes damaged = whole_;
    const std::size_t at = random() % (damaged.size() - 600);
    const std::size_t count = 1 + random() % 600;
    if (round % 2 == 0)
      for (std::size_t i = 0; i < count; ++i) damaged[at + i] = static_cast<unsigned char>(random());
    else
      std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(at), count, std::uint8_t{0xFF});
    if (damaged == whole_) continue;
    write_file(path_, damaged);
    EXPECT_NE(read_all(), SYNCYTE_SUCCESS) << count << " bytes at " << at;
  }
}

TEST_F(damage, of_data_names_key_and_block) {
  // The second block of the largest key, found by its contents.
  const auto& weight = original_[0].bytes;
  const auto found = std::search(whole_.begin(), whole_.end(), weight.begin() + 4096, weight.begin() + 4196);
  ASSERT_NE(found, whole_.end());
  bytes damaged = whole_;
  damaged[static_cast<std::size_t>(found - whole_.begin()) + 50] ^= 16;
  write_file(path_, damaged);
  syncyte_checkpoint_t file = nullptr;
  ASSERT_OK(syncyte_checkpoint_open(world(), path_.c_str(), nullptr, &file));
  tensor good("layer/weight", SYNCYTE_FLOAT32, {20, 50});  // the first 4000 bytes
  auto buffer = good.buffer();
  EXPECT_OK(syncyte_checkpoint_read(file, "layer/weight", 0, &buffer));
  EXPECT_TRUE(good.filled());
  EXPECT_FAILS(syncyte_checkpoint_read(file, "layer/weight", 20, &buffer), SYNCYTE_ERR_CHECKSUM, "layer/weight");
  EXPECT_NE(std::string(syncyte_last_error()).find("block 1"), std::string::npos) << syncyte_last_error();
  EXPECT_OK(syncyte_checkpoint_close(&file));
}

TEST_F(damage, truncated_files_are_not_ours) {
  for (std::size_t size = whole_.size() - 1; size > 0; size -= size > 200 ? 61 : 1) {
    ASSERT_EQ(truncate(path_.c_str(), static_cast<off_t>(size)), 0);
    EXPECT_FAILS(read_all(), SYNCYTE_ERR_FORMAT, path_);
  }
  ASSERT_EQ(truncate(path_.c_str(), 0), 0);
  EXPECT_FAILS(read_all(), SYNCYTE_ERR_FORMAT, path_);
  bytes longer = whole_;
  longer.push_back(0);
  write_file(path_, longer);
  EXPECT_FAILS(read_all(), SYNCYTE_ERR_FORMAT, "too long");
}

TEST_F(damage, a_file_that_shrinks_while_open_is_truncated) {
  syncyte_checkpoint_t file = nullptr;
  ASSERT_OK(syncyte_checkpoint_open(world(), path_.c_str(), nullptr, &file));
  ASSERT_EQ(truncate(path_.c_str(), 100), 0);
  auto buffer = original_[1].buffer();
  EXPECT_FAILS(syncyte_checkpoint_read(file, "bias", 0, &buffer), SYNCYTE_ERR_FORMAT, "truncated");
  EXPECT_OK(syncyte_checkpoint_close(&file));
}

TEST_F(damage, foreign_files_are_not_ours) {
  bytes foreign(whole_.begin() + static_cast<std::ptrdiff_t>(get(whole_, 16)), whole_.end());  // HDF5 without our block
  write_file(path_, foreign);
  EXPECT_FAILS(read_all(), SYNCYTE_ERR_FORMAT, "not a Syncyte checkpoint");
  write_file(path_, bytes(100000, 'x'));
  EXPECT_FAILS(read_all(), SYNCYTE_ERR_FORMAT, "not a Syncyte checkpoint");
}

TEST_F(damage, newer_formats_are_told_from_damage) {
  bytes newer = whole_;
  put(newer, 8, SYNCYTE_CHECKPOINT_FORMAT + 1);
  sign(newer);
  write_file(path_, newer);
  EXPECT_FAILS(read_all(), SYNCYTE_ERR_VERSION, "newer Syncyte");
  put(newer, 8, 0);
  sign(newer);
  write_file(path_, newer);
  EXPECT_FAILS(read_all(), SYNCYTE_ERR_FORMAT, path_);
}

// Changes to header and manifest, whose checksums are then corrected: bytes, digits, and whole pieces of the text.
class forger {
 public:
  explicit forger(const bytes& whole) : whole_(whole), end_(64 + get(whole, 24)) {}

  bytes next() {
    bytes result = whole_;
    for (int changes = 1 + static_cast<int>(random_() % 2); changes > 0; --changes) change(result);
    sign(result);
    return result;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }

  void change(bytes& file) {
    const std::size_t at = 8 + below(end_ - 8), from = 64 + below(end_ - 64), to = 64 + below(end_ - 64);
    const std::size_t count = std::min(1 + below(8), file.size() - at);
    const std::size_t moved = std::min({1 + below(40), end_ - from, end_ - to});
    switch (below(6)) {
      case 0:
        for (std::size_t i = 0; i < count; ++i) file[at + i] = static_cast<unsigned char>(random_());
        return;
      case 1:
        std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(at), count, below(2) == 0 ? 0xFF : 0);
        return;
      case 2:  // a digit: an extent, an offset, a checksum
        for (std::size_t i = from; i < end_; ++i)
          if (file[i] >= '0' && file[i] <= '9') {
            file[i] = static_cast<unsigned char>('0' + below(10));
            return;
          }
        return;
      case 3:  // a piece of the text at another place
        std::memmove(file.data() + to, file.data() + from, moved);
        return;
      case 4:  // read as another format
        put(file, 8, 1 + static_cast<std::uint32_t>(below(2)));
        return;
      default:
        file[at] ^= static_cast<unsigned char>(1U << below(8));
    }
  }

  const bytes& whole_;
  std::size_t end_;
  std::mt19937 random_{99};
};

int mutations() {
  const char* const chosen = std::getenv("SYNCYTE_TEST_MUTATIONS");
  return chosen == nullptr ? 3000 : std::atoi(chosen);
}

// A forged file must not cause a crash, a hang or unbounded memory, and what is loaded is what was saved. Most are
// refused; in the others an attribute has changed, or nothing that matters.
TEST_F(damage, forged_files_do_no_harm) {
  forger forger(whole_);
  int refused = 0;
  for (int round = 0; round < mutations(); ++round) {
    write_file(path_, forger.next());
    refused += read_all() == SYNCYTE_SUCCESS ? 0 : 1;
    if (HasFailure()) {
      FAIL() << "in round " << round;
    }
  }
  EXPECT_GT(refused, mutations() / 2);
}

// The tensors of a file, all of them replicated; none if it is refused.
std::optional<std::vector<tensor>> contents_of(syncyte_comm_t comm, const std::string& path) {
  syncyte_checkpoint_t file = nullptr;
  if (syncyte_checkpoint_open(comm, path.c_str(), nullptr, &file) != SYNCYTE_SUCCESS) return std::nullopt;
  std::vector<tensor> result;
  std::int64_t count = 0, step = 0;
  syncyte_status_t status = syncyte_checkpoint_count(file, &count, &step);
  for (std::int64_t number = 0; status == SYNCYTE_SUCCESS && number < count; ++number) {
    const char* key = nullptr;
    syncyte_buffer_t global = SYNCYTE_BUFFER_INIT;
    syncyte_entry_kind_t kind = SYNCYTE_ENTRY_REPLICATED;
    status = syncyte_checkpoint_key(file, number, &key);
    if (status == SYNCYTE_SUCCESS) status = syncyte_checkpoint_describe(file, key, &global, &kind);
    if (status == SYNCYTE_SUCCESS)
      result.emplace_back(key, global.dtype, std::vector<std::int64_t>(global.shape, global.shape + global.ndim));
  }
  EXPECT_OK(syncyte_checkpoint_close(&file));
  if (status == SYNCYTE_SUCCESS) status = load(comm, path, result);
  if (status != SYNCYTE_SUCCESS) return std::nullopt;
  return result;
}

TEST_F(damage, forged_files_of_format_1_do_no_harm) {
  ASSERT_EQ(std::system(("gzip -dc '" SYNCYTE_TEST_FORMAT_1 "' > '" + path_ + "'").c_str()), 0);
  const bytes old = read_file(path_);
  const auto expected = contents_of(world(), path_);
  ASSERT_TRUE(expected) << syncyte_last_error();
  forger forger(old);
  int refused = 0;
  for (int round = 0; round < mutations(); ++round) {
    write_file(path_, forger.next());
    const auto found = contents_of(world(), path_);
    refused += !found;
    // A key with another name, or fewer of them, is what the forged file says; the bytes of a known one are the same.
    for (std::size_t i = 0; found && i < found->size(); ++i)
      for (const tensor& each : *expected) {
        const tensor& other = (*found)[i];
        if (each.key == other.key && each.shape == other.shape && each.dtype == other.dtype) {
          ASSERT_EQ(each.bytes, other.bytes) << each.key << " in round " << round;
        }
      }
  }
  EXPECT_GT(refused, mutations() / 2);
}

}  // namespace
}  // namespace syncyte::test
