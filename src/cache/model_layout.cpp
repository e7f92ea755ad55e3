// SPDX-License-Identifier: BSD-3-Clause
#include "cache/model_layout.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <numeric>
#include <tuple>

#include "base/dtype.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/strided_copy.hpp"
#include "memory/mapping.hpp"

namespace syncyte::cache {
namespace {

constexpr std::array<char, 16> magic{"syncyte model\n\0"};
constexpr std::uint64_t layout_version = 1;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 46;  // half of what a process can address
constexpr std::uint64_t alignment = 64;                       // of tensors, as torch's
constexpr std::uint64_t group_bytes = std::uint64_t{8} << 20;
// Small tensors, such as a bias, go with the group before them, up to so many bytes.
constexpr std::uint64_t small_bytes = std::uint64_t{512} << 10, most_small_bytes = std::uint64_t{1} << 20;

/// First bytes of the file. Checksums of the tensors follow, then the ends of the groups, the tensors' records, and
/// their names.
struct header {
  std::array<char, 16> magic;
  std::uint64_t version;
  std::uint64_t hash;  // of the bytes from the groups' ends on to the end of the manifest
  std::uint64_t manifest_bytes;
  std::uint64_t tensors;
  std::uint64_t groups;
  std::uint64_t data_begin;
  std::uint64_t has_checksums;
  std::uint64_t is_on_device;
  memory::device_id device;
};

struct record {
  std::uint64_t offset;
  std::uint64_t group;
  std::uint64_t same_as;
  std::uint64_t name_bytes;  // names are in the order of the tensors
  std::int32_t dtype;
  std::int32_t ndim;
  std::array<std::int64_t, SYNCYTE_MAX_NDIM> shape;
  std::array<std::int64_t, SYNCYTE_MAX_NDIM> strides;
};

constexpr std::uint64_t word = sizeof(std::uint64_t);

std::uint64_t in_pages(std::uint64_t bytes) { return memory::round_up(bytes, memory::small_page_bytes()); }

[[noreturn]] void refuse_file(const std::string& why) {
  base::fail(SYNCYTE_ERR_FORMAT, "the file that was received is not a model: {}", why);
}

void require_format(bool condition, const char* why) {
  if (!condition) refuse_file(why);
}

/// Whether the elements of an array that is not empty have no gaps between them, in the order of their strides.
bool is_dense(const model_tensor& tensor, std::size_t element_bytes) {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // stride, extent
  for (int axis = 0; axis < tensor.ndim; ++axis)
    if (tensor.shape[axis] != 1) axes.emplace_back(tensor.strides[axis], tensor.shape[axis]);
  std::ranges::sort(axes);
  auto next = static_cast<std::int64_t>(element_bytes);
  for (const auto& [stride, extent] : axes) {
    if (stride != next) return false;
    next *= extent;
  }
  return true;
}

/// Strides of a tensor with gaps, or without elements; those of the latter are of no account, and might overflow.
void set_row_major(model_tensor& tensor, std::size_t element_bytes) {
  if (tensor.bytes == 0) {
    std::fill_n(tensor.strides.begin(), tensor.ndim, static_cast<std::int64_t>(element_bytes));
    return;
  }
  const auto strides = base::dense_strides(tensor.extents(), element_bytes);
  std::ranges::copy(strides, tensor.strides.begin());
}

/// Copies bytes out of a manifest, whose size the caller has checked.
class reader {
 public:
  explicit reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  T next() {
    T result;
    std::memcpy(&result, take(sizeof(T)).data(), sizeof(T));
    return result;
  }
  std::string text(std::uint64_t bytes) {
    const auto found = take(bytes);
    return {reinterpret_cast<const char*>(found.data()), found.size()};
  }
  std::size_t left() const { return rest_.size(); }

 private:
  std::span<const std::byte> take(std::uint64_t bytes) {
    require_format(bytes <= rest_.size(), "its manifest is shorter than its parts");
    const auto found = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return found;
  }
  std::span<const std::byte> rest_;
};

template <class T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto* const first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof(T));
}

std::vector<std::byte> read_bytes(const memory::descriptor& file, std::uint64_t bytes, std::uint64_t offset) {
  std::vector<std::byte> result(bytes);
  for (std::uint64_t done = 0; done < bytes;) {
    const ssize_t got = pread(file.number(), result.data() + done, bytes - done, static_cast<off_t>(offset + done));
    require_format(got > 0 || (got < 0 && errno == EINTR), "it is shorter than its manifest");
    if (got > 0) done += static_cast<std::uint64_t>(got);
  }
  return result;
}

header read_header(const memory::descriptor& file, std::uint64_t file_bytes) {
  require_format(file_bytes >= sizeof(header), "it is shorter than a header");
  header found{};
  std::memcpy(&found, read_bytes(file, sizeof(found), 0).data(), sizeof(found));
  require_format(found.magic == magic, "it has another header");
  base::require(found.version == layout_version, SYNCYTE_ERR_VERSION,
                "the model that was received has layout {}; expected {}: use one version of Syncyte in all processes",
                found.version, layout_version);
  require_format(found.tensors >= 1 && found.tensors <= model_layout::most_tensors && found.groups >= 1 &&
                     found.groups <= found.tensors && found.has_checksums <= 1 && found.is_on_device <= 1,
                 "its header has impossible counts");
  require_format(found.manifest_bytes >= sizeof(header) && found.manifest_bytes <= found.data_begin &&
                     found.data_begin <= file_bytes && file_bytes <= most_bytes &&
                     found.data_begin % memory::small_page_bytes() == 0,
                 "its header has impossible sizes");
  return found;
}

}  // namespace

void check_model_name(const std::string& name) {
  base::expect(!name.empty() && name.size() <= model_layout::longest_name, SYNCYTE_ERR_ARGUMENT, "name",
               name.empty() ? "empty" : fmt::format("of {} bytes", name.size()), "1 to {} bytes",
               model_layout::longest_name);
}

void model_layout::add(const std::string& name, const base::buffer& like, bool has_address) {
  const std::uint64_t number = tensors_.size();
  base::expect(!name.empty() && name.size() <= longest_tensor_name, SYNCYTE_ERR_ARGUMENT, "tensor",
               name.empty() ? "empty" : fmt::format("of {} bytes", name.size()), "a name of 1 to {} bytes",
               longest_tensor_name);
  base::expect(number < most_tensors, SYNCYTE_ERR_ARGUMENT, "tensor", fmt::format("number {}", number + 1),
               "at most {} tensors in a model", most_tensors);
  const auto place = std::ranges::lower_bound(by_name_, name, {},
                                              [&](auto each) -> const std::string& { return tensors_[each].name; });
  base::expect(place == by_name_.end() || tensors_[*place].name != name, SYNCYTE_ERR_ARGUMENT, "tensor",
               '"' + name + '"', "a name that no other tensor of the model has");
  by_name_.insert(place, number);

  model_tensor added{
      .name = name, .dtype = like.dtype(), .ndim = like.ndim(), .bytes = like.bytes(), .same_as = number};
  std::ranges::copy(like.shape(), added.shape.begin());
  std::ranges::copy(like.strides(), added.strides.begin());
  if (added.bytes == 0 || !is_dense(added, like.element_bytes())) set_row_major(added, like.element_bytes());
  tensors_.push_back(std::move(added));
  sources_.push_back(
      {has_address && like.bytes() > 0 ? like.data() : nullptr, {like.strides().begin(), like.strides().end()}});
}

void model_layout::plan() {
  base::expect(!tensors_.empty(), SYNCYTE_ERR_ARGUMENT, "publication", "without tensors", "1 or more tensors");
  // The strides of the sources, not those of the file, which has no gaps: x[::2] and x[:4] are two tensors.
  std::map<std::tuple<const void*, syncyte_dtype_t, std::vector<std::int64_t>>, std::uint64_t> places;
  data_begin_ = in_pages(manifest_bytes());
  std::uint64_t end = data_begin_, group_start = data_begin_, full_at = 0;  // full_at: 0 while the group is small
  group_ends_.clear();
  for (std::uint64_t number = 0; number < tensors_.size(); ++number) {
    model_tensor& each = tensors_[number];
    std::vector<std::int64_t> form(each.extents().begin(), each.extents().end());
    const auto& [address, strides] = sources_[number];
    form.insert(form.end(), strides.begin(), strides.end());
    if (address != nullptr)
      each.same_as = places.try_emplace({address, each.dtype, std::move(form)}, number).first->second;
    if (each.same_as < number) {
      each.offset = tensors_[each.same_as].offset;
      each.group = tensors_[each.same_as].group;
      continue;
    }
    if (full_at == 0 && end - group_start >= group_bytes) full_at = end;
    if (full_at != 0 && (each.bytes >= small_bytes || end - full_at >= most_small_bytes)) {
      group_ends_.push_back(end = group_start = in_pages(end));
      full_at = 0;
    }
    each.offset = memory::round_up(end, alignment);
    each.group = group_ends_.size();
    base::require(each.bytes <= most_bytes && each.offset <= most_bytes - each.bytes, SYNCYTE_ERR_MEMORY,
                  "the model has more than {} bytes, which is more than any machine has", most_bytes);
    end = each.offset + each.bytes;
  }
  group_ends_.push_back(in_pages(end));
}

// The number of groups is not known before plan(), which uses this: there are at most as many as tensors.
std::uint64_t model_layout::manifest_bytes() const {
  std::uint64_t bytes = sizeof(header) + tensors_.size() * (2 * word + sizeof(record));
  for (const model_tensor& each : tensors_) bytes += each.name.size();
  return bytes;
}

std::vector<std::byte> model_layout::encode() const {
  std::vector<std::byte> bytes(sizeof(header) + tensors_.size() * word);
  const std::size_t hashed = bytes.size();
  for (const std::uint64_t each : group_ends_) append(bytes, each);
  for (const model_tensor& each : tensors_)
    append(bytes, record{each.offset, each.group, each.same_as, each.name.size(), each.dtype, each.ndim, each.shape,
                         each.strides});
  for (const model_tensor& each : tensors_) {
    const auto text = std::as_bytes(std::span(each.name));
    bytes.insert(bytes.end(), text.begin(), text.end());
  }
  const header first{.magic = magic,
                     .version = layout_version,
                     .hash = XXH3_64bits(bytes.data() + hashed, bytes.size() - hashed),
                     .manifest_bytes = bytes.size(),
                     .tensors = tensors_.size(),
                     .groups = group_ends_.size(),
                     .data_begin = data_begin_,
                     .has_checksums = has_checksums_ ? 1U : 0U,
                     .is_on_device = device_ ? 1U : 0U,
                     .device = device_.value_or(memory::device_id{})};
  std::memcpy(bytes.data(), &first, sizeof(first));
  return bytes;
}

model_layout model_layout::read(const memory::descriptor& file) {
  struct stat found{};
  require_format(fstat(file.number(), &found) == 0 && found.st_size >= 0, "its size is unknown");
  const auto file_bytes = static_cast<std::uint64_t>(found.st_size);
  const header first = read_header(file, file_bytes);
  const std::uint64_t hashed = sizeof(header) + first.tensors * word;
  require_format(first.manifest_bytes > hashed, "its manifest is shorter than its parts");
  const auto manifest = read_bytes(file, first.manifest_bytes - hashed, hashed);
  require_format(XXH3_64bits(manifest.data(), manifest.size()) == first.hash, "its manifest is damaged");

  model_layout result;
  result.data_begin_ = first.data_begin;
  result.has_checksums_ = first.has_checksums != 0;
  if (first.is_on_device != 0) result.device_ = first.device;
  result.decode(manifest, first.tensors, first.groups);
  require_format(result.file_bytes() == file_bytes, "its size differs from the manifest's");
  return result;
}

namespace {

/// A record as a tensor; throws SYNCYTE_ERR_FORMAT if it describes none.
model_tensor checked(const record& found, std::uint64_t number) {
  require_format(base::known::dtype::contains(found.dtype) && found.ndim >= 0 && found.ndim <= SYNCYTE_MAX_NDIM,
                 "a tensor has an unknown type or too many dimensions");
  model_tensor result{.name = {},
                      .dtype = found.dtype,
                      .ndim = found.ndim,
                      .shape = found.shape,
                      .strides = found.strides,
                      .offset = found.offset,
                      .group = found.group,
                      .same_as = found.same_as};
  const std::size_t element_bytes = base::dtype_size(found.dtype);
  try {
    result.bytes =
        static_cast<std::uint64_t>(base::checked_elements(result.extents(), element_bytes, "shape")) * element_bytes;
  } catch (const base::error&) {
    refuse_file("a tensor has impossible extents");
  }
  if (result.bytes == 0)
    set_row_major(result, element_bytes);
  else
    require_format(is_dense(result, element_bytes), "a tensor has gaps between its elements");
  require_format(found.same_as <= number && found.offset % alignment == 0 && found.name_bytes >= 1 &&
                     found.name_bytes <= model_layout::longest_tensor_name,
                 "a tensor has an impossible place or name");
  return result;
}

}  // namespace

void model_layout::decode(std::span<const std::byte> manifest, std::uint64_t tensors, std::uint64_t groups) {
  reader from(manifest);
  require_format(from.left() / word >= groups, "its manifest is shorter than its parts");
  for (std::uint64_t group = 0; group < groups; ++group) {
    const std::uint64_t begin = group == 0 ? data_begin_ : group_ends_.back();
    group_ends_.push_back(from.next<std::uint64_t>());
    require_format(group_ends_.back() >= begin && group_ends_.back() <= most_bytes &&
                       group_ends_.back() % memory::small_page_bytes() == 0,
                   "a group has an impossible end");
  }
  std::vector<std::uint64_t> name_bytes;
  require_format(from.left() / sizeof(record) >= tensors, "its manifest is shorter than its parts");
  for (std::uint64_t number = 0; number < tensors; ++number) {
    const auto found = from.next<record>();
    const model_tensor& added = tensors_.emplace_back(checked(found, number));
    name_bytes.push_back(found.name_bytes);
    require_format(added.group < groups && added.offset >= group_begin(added.group) &&
                       added.bytes <= group_end(added.group) - group_begin(added.group) &&
                       added.offset <= group_end(added.group) - added.bytes,
                   "a tensor is outside its group");
    require_format(added.same_as == number || tensors_[added.same_as].offset == added.offset,
                   "tensors that share memory have different places");
  }
  for (std::uint64_t number = 0; number < tensors; ++number) {
    tensors_[number].name = from.text(name_bytes[number]);
    require_format(tensors_[number].name.find('\0') == std::string::npos, "a tensor's name has a zero byte");
  }
  by_name_.resize(tensors);
  std::iota(by_name_.begin(), by_name_.end(), std::uint64_t{0});
  const auto name_of = [&](std::uint64_t number) -> const std::string& { return tensors_[number].name; };
  std::ranges::sort(by_name_, {}, name_of);
  require_format(std::ranges::adjacent_find(by_name_, {}, name_of) == by_name_.end(), "two tensors have one name");
}

std::uint64_t model_layout::find(const std::string& name) const {
  const auto place = std::ranges::lower_bound(by_name_, name, {},
                                              [&](auto each) -> const std::string& { return tensors_[each].name; });
  base::require(place != by_name_.end() && tensors_[*place].name == name, SYNCYTE_ERR_NOT_FOUND,
                "the model has no tensor \"{}\"", name);
  return *place;
}

std::uint64_t model_layout::checksum_offset(std::uint64_t tensor) { return sizeof(header) + tensor * word; }

std::uint64_t model_layout::read_checksum(const memory::descriptor& file, std::uint64_t tensor) {
  std::uint64_t result = 0;
  std::memcpy(&result, read_bytes(file, word, checksum_offset(tensor)).data(), word);
  return result;
}

}  // namespace syncyte::cache
