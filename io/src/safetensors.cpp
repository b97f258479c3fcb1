// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/io/safetensors.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "file.hpp"
#include "narrowgauge/io/error.hpp"
#include "narrowgauge/io/text.hpp"

namespace narrowgauge::io {
namespace {

using nlohmann::json;

constexpr std::string_view kind = "a .safetensors file";
constexpr std::size_t length_bytes = 8;
constexpr std::size_t header_levels = 4;
constexpr std::size_t most_extents = 64;

constexpr std::array<std::pair<std::string_view, std::size_t>, 22> types{
    {{"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
     {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
     {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
     {"F64", 64},    {"I64", 64},    {"U64", 64},    {"C64", 64}}};

[[noreturn]] void malformed(const std::string& path, const std::string& what) {
  throw Error(shown(path) + " is no whole .safetensors file: " + what + "; copy it again, or write it anew");
}

/// Refuses objects that name something twice, where the second value would be taken in silence, and what is too deep.
/// The callback of the library's own parser looks through the whole header at the end of each object.
class UniqueNames : public nlohmann::json_sax<json> {
 public:
  explicit UniqueNames(const std::string& path) : path_(path) {}
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_object() override { return shut(); }
  bool end_array() override { return shut(); }
  bool key(string_t& name) override {
    if (!names_.back().insert(name).second)
      malformed(path_, "its header names \"" + shown(name.substr(0, 200)) + "\" twice");
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  bool open() {
    if (names_.size() >= header_levels) malformed(path_, "its header has lists or objects too deep in each other");
    names_.emplace_back();
    return true;
  }
  bool shut() {
    names_.pop_back();
    return true;
  }

  const std::string& path_;
  std::vector<std::unordered_set<std::string>> names_;
};

json unique_json(std::string_view text, const std::string& path) {
  UniqueNames unique(path);
  if (!json::sax_parse(text, &unique)) malformed(path, "its header is not JSON");
  return json::parse(text);
}

/// Whole numbers of a list; false for anything else.
bool read_numbers(const json& list, std::vector<std::size_t>& numbers) {
  if (!list.is_array()) return false;
  for (const json& number : list) {
    if (!number.is_number_unsigned()) return false;
    numbers.push_back(number.get<std::size_t>());
  }
  return true;
}

/// Bytes of so many elements; false where they are no whole bytes, or more than memory can address.
bool bytes_of(const TensorEntry& tensor, std::size_t& bytes) {
  std::size_t bits = safetensors_bits(tensor.dtype);
  for (const std::size_t extent : tensor.shape) {
    if (extent == 0) {
      bytes = 0;
      return true;
    }
  }
  for (const std::size_t extent : tensor.shape)
    if (__builtin_mul_overflow(bits, extent, &bits)) return false;
  bytes = bits / 8;
  return bits % 8 == 0;
}

}  // namespace

std::size_t safetensors_bits(std::string_view dtype) {
  const auto* const found = std::find_if(types.begin(), types.end(), [&](const auto& t) { return t.first == dtype; });
  return found == types.end() ? 0 : found->second;
}

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path) {
  const InputFile file(path, kind);
  const auto size = file.size();
  if (!size)
    throw Error(shown(path) + " is no regular file, and cannot be mapped to memory; name " + std::string(kind));
  if (*size < length_bytes) malformed(path, "it has " + std::to_string(*size) + " bytes, and its header is longer");
  void* const map = mmap(nullptr, *size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (map == MAP_FAILED) throw Error(shown(path) + " cannot be mapped to memory: " + std::strerror(errno));
  map_ = static_cast<const std::uint8_t*>(map);
  size_ = *size;
  try {
    read_header();
  } catch (...) {
    munmap(map, size_);
    throw;
  }
}

SafetensorsFile::~SafetensorsFile() { munmap(const_cast<std::uint8_t*>(map_), size_); }

void SafetensorsFile::read_header() {
  std::uint64_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | map_[i];
  if (length > longest_safetensors_header || length > size_ - length_bytes) {
    malformed(path_, "its first 8 bytes say that the header has " + std::to_string(length) +
                         " bytes, and the file has " + std::to_string(size_));
  }
  data_ = length_bytes + length;
  const std::string_view text(reinterpret_cast<const char*>(map_) + length_bytes, length);
  const json header = unique_json(text, path_);
  if (!header.is_object()) malformed(path_, "its header is no object of JSON");
  for (const auto& [name, value] : header.items()) {
    const std::string named = "tensor \"" + shown(name.substr(0, 200)) + "\"";
    if (name == "__metadata__") {
      if (!value.is_object()) malformed(path_, "its __metadata__ is no object of JSON");
      for (const auto& [key, entry] : value.items()) {
        if (!entry.is_string()) malformed(path_, "its __metadata__ has something else than texts");
        metadata_.emplace(key, entry.get<std::string>());
      }
      continue;
    }
    TensorEntry tensor{.name = name, .dtype = {}, .shape = {}};
    std::vector<std::size_t> offsets;
    if (!value.is_object() || !value.contains("dtype") || !value["dtype"].is_string() || !value.contains("shape") ||
        !read_numbers(value["shape"], tensor.shape) || tensor.shape.size() > most_extents ||
        !value.contains("data_offsets") || !read_numbers(value["data_offsets"], offsets) || offsets.size() != 2) {
      malformed(path_, named + " has no dtype, shape and data_offsets of the format");
    }
    tensor.dtype = value["dtype"].get<std::string>();
    if (safetensors_bits(tensor.dtype) == 0)
      malformed(path_, named + " is of type \"" + shown(tensor.dtype.substr(0, 40)) + "\", which is not known");
    tensor.begin = offsets[0];
    tensor.end = offsets[1];
    std::size_t bytes = 0;
    if (tensor.end < tensor.begin || tensor.end > size_ - data_ || !bytes_of(tensor, bytes) || bytes != tensor.bytes())
      malformed(path_, named + " has offsets that are not those of its type and shape, or lie beyond the file's end");
    tensors_.push_back(std::move(tensor));
  }
  std::sort(tensors_.begin(), tensors_.end(), [](const TensorEntry& x, const TensorEntry& y) {
    return std::tie(x.begin, x.end, x.name) < std::tie(y.begin, y.end, y.name);
  });
  std::size_t next = 0;
  for (const TensorEntry& tensor : tensors_) {
    if (tensor.begin != next)
      malformed(path_,
                "tensor \"" + shown(tensor.name.substr(0, 200)) + "\" leaves a gap before it, or overlaps another");
    next = tensor.end;
  }
  if (next != size_ - data_) {
    malformed(path_, "its tensors have " + std::to_string(next) + " bytes, and behind the header there are " +
                         std::to_string(size_ - data_));
  }
}

std::span<const std::uint8_t> SafetensorsFile::bytes(const TensorEntry& tensor) const {
  return {map_ + data_ + tensor.begin, tensor.bytes()};
}

SafetensorsWriter::SafetensorsWriter(const std::string& path, std::vector<TensorEntry> tensors,
                                     const std::map<std::string, std::string>& metadata)
    : file_(path) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorEntry& x, const TensorEntry& y) {
    const std::size_t wide = safetensors_bits(x.dtype), narrow = safetensors_bits(y.dtype);
    return wide != narrow ? wide > narrow : x.name < y.name;
  });
  // As text: an object that keeps its order looks through all names for each.
  const auto dumped = [](const json& part) { return part.dump(-1, ' ', false, json::error_handler_t::replace); };
  std::string text = metadata.empty() ? "{" : "{\"__metadata__\":" + dumped(metadata);
  std::size_t next = 0;
  for (TensorEntry& tensor : tensors) {
    const std::string named = "tensor \"" + shown(tensor.name.substr(0, 200)) + "\"";
    std::size_t bytes = 0;
    if (safetensors_bits(tensor.dtype) == 0)
      throw Error(named + " has type \"" + shown(tensor.dtype.substr(0, 40)) +
                  "\"; expected one of the format, as F32");
    if (!bytes_of(tensor, bytes)) throw Error(named + " has a size that is no whole bytes; expected another shape");
    tensor.begin = std::exchange(next, next + bytes);
    tensor.end = next;
    text += (text.size() > 1 ? "," : "") + dumped(utf8(tensor.name)) + ":" +
            dumped({{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {tensor.begin, tensor.end}}});
    if (tensor.name == "__metadata__" || !waiting_.emplace(tensor.name, tensor).second)
      throw Error(named + " is there twice, or has the name of the metadata; name it differently");
  }
  text += "}";
  text.resize((text.size() + length_bytes - 1) / length_bytes * length_bytes, ' ');
  if (text.size() > longest_safetensors_header)
    throw Error(shown(path) + " would have a header of " + std::to_string(text.size()) + " bytes; use several files");
  open_ = open(file_.hand_over().c_str(), O_WRONLY | O_CLOEXEC);
  if (open_ < 0) throw Error(shown(path) + " cannot be written: " + std::strerror(errno));
  std::array<std::uint8_t, length_bytes> length{};
  for (std::size_t i = 0; i < length_bytes; ++i) length.at(i) = static_cast<std::uint8_t>(text.size() >> (8 * i));
  put(length, 0);
  put({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, length_bytes);
  data_ = length_bytes + text.size();
}

SafetensorsWriter::~SafetensorsWriter() {
  if (open_ >= 0) close(open_);
}

void SafetensorsWriter::put(std::span<const std::uint8_t> bytes, std::size_t at) {
  constexpr std::size_t most = std::size_t{1} << 30;  // of one call
  while (!bytes.empty()) {
    const ssize_t done = pwrite(open_, bytes.data(), std::min(bytes.size(), most), static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      throw Error(shown(file_.path()) + " could not be written completely: " + std::strerror(errno) +
                  "; check free space and permissions");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    at += static_cast<std::size_t>(done);
  }
}

void SafetensorsWriter::write(const std::string& name, std::span<const std::uint8_t> bytes) {
  const auto found = waiting_.find(name);
  if (found == waiting_.end())
    throw Error("tensor \"" + shown(name.substr(0, 200)) + "\" is not waited for; expected each tensor once");
  if (bytes.size() != found->second.bytes()) {
    throw Error("tensor \"" + shown(name.substr(0, 200)) + "\" has " + std::to_string(bytes.size()) +
                " bytes; expected " + std::to_string(found->second.bytes()));
  }
  put(bytes, data_ + found->second.begin);
  waiting_.erase(found);
}

void SafetensorsWriter::commit() {
  for (const auto& [name, tensor] : waiting_) {
    if (tensor.bytes() != 0)
      throw Error("tensor \"" + shown(name.substr(0, 200)) + "\" was not written; expected all of them");
  }
  if (close(std::exchange(open_, -1)) != 0)
    throw Error(shown(file_.path()) + " could not be written completely: " + std::strerror(errno) +
                "; check free space");
  file_.commit();
}

}  // namespace narrowgauge::io
