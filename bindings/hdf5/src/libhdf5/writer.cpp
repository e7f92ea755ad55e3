// SPDX-License-Identifier: BSD-3-Clause
#include "libhdf5/writer.hpp"

#include <numeric>

#include "libhdf5/attributes.hpp"
#include "libhdf5/types.hpp"

namespace syncyte::hdf5 {
namespace {

constexpr hsize_t aligned_from = 65536;  // smaller data is packed, so that tiny tensors do not take a page each
constexpr hsize_t alignment = 4096;

hdf5_handle properties(hid_t kind) { return {H5Pcreate(kind), H5Pclose, "H5Pcreate"}; }

hdf5_handle access_properties() {
  hdf5_handle access = properties(H5P_FILE_ACCESS);
  hdf5_check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V110), "H5Pset_libver_bounds");
  hdf5_check(H5Pset_alignment(access.get(), aligned_from, alignment), "H5Pset_alignment");
  hdf5_check(H5Pset_meta_block_size(access.get(), aligned_from), "H5Pset_meta_block_size");
  hdf5_check(H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG), "H5Pset_fclose_degree");
  return access;
}

// Properties of a dataset: its space is allocated on creation, and libhdf5 does not write to it.
hdf5_handle dataset_properties() {
  hdf5_handle create = properties(H5P_DATASET_CREATE);
  hdf5_check(H5Pset_layout(create.get(), H5D_CONTIGUOUS), "H5Pset_layout");
  hdf5_check(H5Pset_alloc_time(create.get(), H5D_ALLOC_TIME_EARLY), "H5Pset_alloc_time");
  hdf5_check(H5Pset_fill_time(create.get(), H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
  hdf5_check(H5Pset_obj_track_times(create.get(), false), "H5Pset_obj_track_times");
  return create;
}

hdf5_handle link_properties() {
  hdf5_handle link = properties(H5P_LINK_CREATE);
  hdf5_check(H5Pset_char_encoding(link.get(), H5T_CSET_UTF8), "H5Pset_char_encoding");
  return link;
}

std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> offsets(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), std::int64_t{0});
  return offsets;
}

hdf5_handle open_dataset(hid_t file, const dataset& one) {
  return {H5Dopen2(file, escaped(one.key).c_str(), H5P_DEFAULT), H5Dclose, "H5Dopen2"};
}

void verify_dataset(hid_t root, const dataset& one) {
  const hdf5_handle found = open_dataset(root, one);
  const hdf5_handle space(H5Dget_space(found.get()), H5Sclose, "H5Dget_space");
  std::vector<hsize_t> extents(SYNCYTE_MAX_NDIM);
  extents.resize(
      hdf5_check(H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr), "H5Sget_simple_extent_dims"));
  const bool same_place = one.data_bytes() == 0 || H5Dget_offset(found.get()) == one.offset;
  require(same_place && std::vector<std::int64_t>(extents.begin(), extents.end()) == one.shape &&
              read_text(found.get(), "torch_dtype") == syncyte_dtype_name(one.dtype) &&
              read_numbers(found.get(), "crc32c") == one.crc,
          SYNCYTE_ERR_IO, "read back, the dataset of key '{}' differs from what was written", one.key);
}

std::string creator() {
  return fmt::format("syncyte {}.{}.{}", SYNCYTE_VERSION_MAJOR, SYNCYTE_VERSION_MINOR, SYNCYTE_VERSION_PATCH);
}

}  // namespace

std::string escaped(const std::string& key) {
  if (key == ".") return "%2E";
  std::string name;
  for (const char letter : key) name += letter == '/' ? "%2F" : letter == '%' ? "%25" : std::string(1, letter);
  return name;
}

hdf5_writer::hdf5_writer(std::uint64_t userblock_bytes) {
  const hdf5_lock lock;
  access_ = access_properties();
  link_ = link_properties();
  dataset_ = dataset_properties();
  driver_.emplace();
  driver_->use(access_.get(), image_);
  const hdf5_handle create = properties(H5P_FILE_CREATE);
  hdf5_check(H5Pset_userblock(create.get(), userblock_bytes), "H5Pset_userblock");
  hdf5_check(H5Pset_obj_track_times(create.get(), false), "H5Pset_obj_track_times");
  file_ = {H5Fcreate("checkpoint", H5F_ACC_TRUNC, create.get(), access_.get()), H5Fclose, "H5Fcreate"};
}

hdf5_writer::~hdf5_writer() {
  attempt([&] {
    const hdf5_lock lock;
    for (hdf5_handle* one : {&file_, &access_, &link_, &dataset_}) *one = {};
    driver_.reset();
  });
}

void hdf5_writer::add(dataset& one, std::uint64_t block_bytes, const std::vector<std::int64_t>& lengths) {
  const hdf5_lock lock;
  const hdf5_handle made(
      H5Dcreate2(file_.get(), escaped(one.key).c_str(), file_type(one.dtype).get(),
                 space_of({one.shape.begin(), one.shape.end()}).get(), link_.get(), dataset_.get(), H5P_DEFAULT),
      H5Dclose, "H5Dcreate2");
  const hid_t id = made.get();
  one.offset = 0;
  if (one.data_bytes() > 0) {
    one.offset = H5Dget_offset(id);
    require(one.offset != HADDR_UNDEF, SYNCYTE_ERR_INTERNAL, "checkpoint: no offset for key '{}'", one.key);
  }
  write_attribute(id, "torch_dtype", std::string(syncyte_dtype_name(one.dtype)));
  write_attribute(id, "layout", std::string(one.kind == SYNCYTE_ENTRY_SHARDED ? "sharded" : "replicated"));
  write_attribute(id, "global_shape", one.shape);
  if (one.kind == SYNCYTE_ENTRY_SHARDED) {
    write_attribute(id, "shard_offsets", offsets_of(lengths));
    write_attribute(id, "shard_lengths", lengths);
  }
  for (const auto& [name, text] : one.attributes) write_attribute(id, name.c_str(), text);
  write_attribute(id, "crc32c_block_bytes", static_cast<std::int64_t>(block_bytes));
  create_attribute(id, "crc32c", one.crc.size());
}

void hdf5_writer::finish(const manifest& contents) {
  const hdf5_lock lock;
  for (const dataset& one : contents.datasets)
    rewrite_attribute(open_dataset(file_.get(), one).get(), "crc32c", one.crc);
  const hid_t root = file_.get();
  write_attribute(root, "format_version", std::int64_t{SYNCYTE_CHECKPOINT_FORMAT});
  write_attribute(root, "step", contents.step);
  write_attribute(root, "writer_world", contents.writer_world);
  write_attribute(root, "checksum_algorithm", std::string("crc32c"));
  write_attribute(root, "creator", creator());
  for (const auto& [name, text] : contents.attributes) write_attribute(root, name.c_str(), text);
  write_attribute(root, "complete", std::int64_t{1});
  file_.close("H5Fclose");
}

void hdf5_writer::verify(const manifest& contents) {
  const hdf5_lock lock;
  const hdf5_handle opened(H5Fopen("checkpoint", H5F_ACC_RDONLY, access_.get()), H5Fclose, "H5Fopen");
  H5G_info_t info{};
  hdf5_check(H5Gget_info(opened.get(), &info), "H5Gget_info");
  require(info.nlinks == contents.datasets.size() &&
              read_numbers(opened.get(), "complete") == std::vector<std::uint32_t>{1},
          SYNCYTE_ERR_IO, "read back, the file has {} keys of {}", info.nlinks, contents.datasets.size());
  for (const dataset& one : contents.datasets) verify_dataset(opened.get(), one);
}

}  // namespace syncyte::hdf5
