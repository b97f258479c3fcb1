// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/io/safetensors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "narrowgauge/io/error.hpp"

namespace narrowgauge::io {
namespace {

namespace fs = std::filesystem;

class Safetensors : public testing::Test {
 protected:
  Safetensors() { fs::create_directories(folder_); }
  ~Safetensors() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// A file of this header, as it is, and so many bytes behind it.
  std::string made(const std::string& header, std::size_t bytes, std::uint64_t length) const {
    std::ofstream file(path("made"), std::ios::binary);
    for (int i = 0; i < 8; ++i) file.put(static_cast<char>(length >> (8 * i)));
    file << header << std::string(bytes, 'x');
    return path("made");
  }
  std::string made(const std::string& header, std::size_t bytes) const { return made(header, bytes, header.size()); }

  static std::string refusal(const std::string& path) {
    try {
      const SafetensorsFile file(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "taken";
  }

 private:
  fs::path folder_ = fs::temp_directory_path() / ("ng_safetensors." + std::to_string(getpid()));
};

TEST_F(Safetensors, ComeBackInAlignedOrder) {
  const std::vector<std::uint8_t> one{1, 2, 3}, four{4, 5, 6, 7};
  {
    SafetensorsWriter writer(path("a"),
                             {{.name = "b", .dtype = "U8", .shape = {3}},
                              {.name = "a", .dtype = "F32", .shape = {}},
                              {.name = "none", .dtype = "F64", .shape = {0, 3}}},
                             {{"who", "me"}});
    writer.write("b", one);
    EXPECT_THROW(writer.write("b", one), Error);
    EXPECT_THROW(writer.write("a", one), Error);
    EXPECT_THROW(writer.commit(), Error);
    writer.write("a", four);
    writer.commit();
  }
  const SafetensorsFile file(path("a"));
  EXPECT_EQ(file.metadata().at("who"), "me");
  ASSERT_EQ(file.tensors().size(), 3U);
  EXPECT_EQ(file.tensors()[0].name, "none");
  EXPECT_EQ(file.tensors()[1].name, "a");
  EXPECT_TRUE(std::ranges::equal(file.bytes(file.tensors()[1]), four));
  EXPECT_TRUE(std::ranges::equal(file.bytes(file.tensors()[2]), one));
}

TEST_F(Safetensors, ThatAreNotWrittenWholeLeaveNothing) {
  {
    SafetensorsWriter writer(path("gone"), {{.name = "a", .dtype = "U8", .shape = {3}}}, {});
    EXPECT_THROW(writer.commit(), Error);
  }
  EXPECT_FALSE(fs::exists(path("gone")));
  EXPECT_THROW(SafetensorsWriter(path("a"), {{.name = "a", .dtype = "U9", .shape = {3}}}, {}), Error);
  EXPECT_THROW(SafetensorsWriter(path("a"), {{.name = "a", .dtype = "F4", .shape = {3}}}, {}), Error);
  EXPECT_THROW(SafetensorsWriter(path("a"), {{.name = "a", .dtype = "U8", .shape = {std::size_t{1} << 62, 8}}}, {}),
               Error);
  EXPECT_THROW(
      SafetensorsWriter(path("a"),
                        {{.name = "a", .dtype = "U8", .shape = {1}}, {.name = "a", .dtype = "U8", .shape = {1}}}, {}),
      Error);
  EXPECT_TRUE(fs::is_empty(fs::path(path("a")).parent_path()));
}

TEST_F(Safetensors, ThatAreMalformedAreRefused) {
  const std::string a = R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  EXPECT_EQ(refusal(made("{" + a + "}", 2)), "taken");
  EXPECT_EQ(refusal(made("{}", 0)), "taken");
  EXPECT_EQ(refusal(made("{" + a + "}    ", 2)), "taken");
  const struct {
    std::string header;
    std::size_t bytes;
    std::string sentence;
  } cases[] = {
      {"{" + a + "}", 1, "lie beyond the file's end"},
      {"{" + a + "}", 3, "its tensors have 2 bytes, and behind the header there are 3"},
      {"{" + a + "," + a + "}", 2, "names \"a\" twice"},
      {R"({"a":{"dtype":"U8","dtype":"I8","shape":[2],"data_offsets":[0,2]}})", 2, "names \"dtype\" twice"},
      {"{" + a + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[3,5]}})", 5, "leaves a gap"},
      {"{" + a + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", 3, "overlaps another"},
      {R"({"a":{"dtype":"U9","shape":[2],"data_offsets":[0,2]}})", 2, "type \"U9\", which is not known"},
      {R"({"a":{"dtype":"U8","shape":[-2],"data_offsets":[0,2]}})", 2, "has no dtype, shape and data_offsets"},
      {R"({"a":{"dtype":"U8","shape":[2.0],"data_offsets":[0,2]}})", 2, "has no dtype, shape and data_offsets"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[2,0]}})", 2, "offsets that are not those"},
      {R"({"a":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}})", 1, "offsets that are not those"},
      {R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0, "offsets that are not those"},
      {R"({"a":{"dtype":"U8","shape":[[[[2]]]],"data_offsets":[0,2]}})", 2, "too deep"},
      {R"({"__metadata__":{"a":1}})", 0, "something else than texts"},
      {R"({"__metadata__":[]})", 0, "no object of JSON"},
      {"[]", 0, "no object of JSON"},
      {"{", 0, "not JSON"},
      {"", 0, "not JSON"},
      {"{\"\xff\":1}", 0, "not JSON"},
  };
  for (const auto& one : cases) {
    const std::string said = refusal(made(one.header, one.bytes));
    EXPECT_NE(said.find(one.sentence), std::string::npos) << one.header << ": " << said;
  }
  EXPECT_NE(refusal(made("{}", 0, 3)).find("say that the header has 3 bytes"), std::string::npos);
  EXPECT_NE(refusal(made("{}", 0, ~std::uint64_t{0})).find("say that the header has"), std::string::npos);
  EXPECT_NE(refusal("/dev/zero").find("no regular file"), std::string::npos);
  std::ofstream(path("short")) << "1234567";
  EXPECT_NE(refusal(path("short")).find("it has 7 bytes"), std::string::npos);
  std::ofstream(path("empty")).flush();
  EXPECT_NE(refusal(path("empty")).find("it has 0 bytes"), std::string::npos);
}

}  // namespace
}  // namespace narrowgauge::io
