// SPDX-License-Identifier: Apache-2.0
// What the program's outside tests (cli_test.py) cannot reach in io.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <list>
#include <nlohmann/json.hpp>
#include <thread>

#include "narrowgauge/io/error.hpp"
#include "narrowgauge/io/json.hpp"
#include "narrowgauge/io/memory.hpp"
#include "narrowgauge/io/npy.hpp"
#include "narrowgauge/io/output.hpp"
#include "narrowgauge/io/text.hpp"

namespace narrowgauge::io {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ng_io_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(at(name)) << text;
    return at(name);
  }

  fs::path folder_;
};

template <class F>
std::string fault(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no Error";
}

TEST(Text, NamesAreShownOnOneLine) {
  EXPECT_EQ(shown("a b/\u00e9.npy"), "a b/\u00e9.npy");
  EXPECT_EQ(shown("a\nb\x7f"), "a\\x0ab\\x7f");
  EXPECT_EQ(shown("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(shown("\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80"), "\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(shown("\u202e"), "\\xe2\\x80\\xae");
  EXPECT_EQ(utf8("a\n\xff\u202e"), "a\n\\xff\u202e");
}

TEST_F(Files, OfTextHaveALimit) {
  EXPECT_EQ(read_text(file("x", std::string(200000, 'x'))), std::string(200000, 'x'));
  EXPECT_NE(fault([&] { read_text(at("x"), 100); }).find("200 kB"), std::string::npos);
  EXPECT_NE(fault([&] { read_text("/dev/zero", 100); }).find("at most 100 bytes"), std::string::npos);
  EXPECT_NE(fault([&] { read_bytes(at("x"), "a short file", 100); }).find("expected is a short file of at most"),
            std::string::npos);
  EXPECT_NE(fault([&] { read_text(""); }).find("empty name"), std::string::npos);
  EXPECT_NE(fault([&] { read_text(folder_.string()); }).find("directory"), std::string::npos);
}

TEST_F(Files, OfJsonSayWhereTheyAreWrong) {
  EXPECT_EQ(read_json(file("x", "{\"a\": [1, 2]}"))["a"][1], 2);
  EXPECT_NE(fault([&] { read_json(file("x", "{\n  \"a\": ]\n}")); }).find("is not JSON (line 2, byte 8)"),
            std::string::npos);
  EXPECT_NE(fault([&] { parse_json("", "This"); }).find("This is empty"), std::string::npos);
  EXPECT_NE(fault([&] { parse_json("1e999", "This"); }).find("beyond double"), std::string::npos);
  EXPECT_EQ(parse_json("[[1]]", "This", 2)[0][0], 1);
  EXPECT_NE(fault([&] { parse_json("[[[1]]]", "This", 2); }).find("more than 2"), std::string::npos);
  EXPECT_NE(fault([&] { parse_json(std::string(1000000, '['), "This"); }).find("more than 64"), std::string::npos);
}

/// What a .npy file begins with, 128 bytes.
std::string npy_head(const std::string& type, const std::string& shape, const std::string& fortran = "False") {
  std::string head = "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
  head.append(117 - head.size(), ' ').append("\n");
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(head.size()) + '\0' + head;
}

/// A .npy file of all numbers of 16 bits.
std::string every_code(const std::string& type) {
  std::string text = npy_head(type, "(256, 256)");
  for (unsigned code = 0; code < 65536; ++code) {
    std::string bytes{static_cast<char>(code & 255), static_cast<char>(code >> 8)};
    if (type[0] == '>') std::reverse(bytes.begin(), bytes.end());
    text += bytes;
  }
  return text;
}

TEST_F(Files, EveryBfloat16Number) {
  for (const std::string type : {"<V2", "|V2", ">V2"}) {
    const Matrix m = read_matrix(file("x.npy", every_code(type)));
    EXPECT_EQ(m.dtype, "bfloat16");
    for (unsigned code = 0; code < 65536; ++code) {
      const unsigned exponent = code >> 7 & 255, mantissa = code & 127;
      const double value = m.values[code];
      if (exponent == 255) {
        ASSERT_TRUE(mantissa ? std::isnan(value) : std::isinf(value)) << code;
        if (mantissa) continue;
      } else {
        const double expected =
            exponent ? std::ldexp(1 + mantissa / 128.0, static_cast<int>(exponent) - 127) : mantissa * 0x1p-133;
        ASSERT_EQ(std::abs(value), expected) << code;
      }
      ASSERT_EQ(std::signbit(value), code >> 15 != 0) << code;
    }
  }
}

TEST_F(Files, EveryHalfPrecisionNumber) {
  const Matrix m = read_matrix(file("x.npy", every_code("<f2")));
  for (unsigned code = 0; code < 65536; ++code) {
    const unsigned exponent = code >> 10 & 31, mantissa = code & 1023;
    const double value = m.values[code];
    ASSERT_EQ(std::signbit(value), code >> 15 != 0) << code;
    if (exponent == 31) {
      ASSERT_TRUE(mantissa ? std::isnan(value) : std::isinf(value)) << code;
    } else {
      const double expected =
          exponent ? std::ldexp(1 + mantissa / 1024.0, static_cast<int>(exponent) - 15) : mantissa * 0x1p-24;
      ASSERT_EQ(std::abs(value), expected) << code;
    }
  }
}

template <class T>
std::vector<double> come_back(const std::string& path, const std::vector<std::size_t>& shape,
                              const std::string& dtype) {
  std::size_t elements = 1;
  for (const std::size_t extent : shape) elements *= extent;
  std::vector<T> values(elements);
  for (std::size_t i = 0; i < elements; ++i) values[i] = static_cast<T>(7 * static_cast<int>(i) - 3);
  {
    OutputFile out(path);
    write_npy(out, values, shape);
    out.commit();
  }
  const Array array = read_array(path);
  EXPECT_EQ(array.dtype, dtype);
  EXPECT_EQ(array.shape, shape);
  EXPECT_EQ(array.values, std::vector<double>(values.begin(), values.end()));
  return array.values;
}

TEST_F(Files, OfArraysComeBackInAnyNumberOfDimensions) {
  std::vector<std::size_t> shape;
  for (std::size_t d = 0; d < most_dimensions; ++d) {
    shape.push_back(1 + d * 5 % 4);
    come_back<float>(at("x.npy"), shape, "float32");
    come_back<std::uint8_t>(at("x.npy"), shape, "uint8");
    EXPECT_LT(come_back<std::int8_t>(at("x.npy"), shape, "int8")[0], 0);
  }
  EXPECT_NE(read_text(at("x.npy")).find("'|i1', 'fortran_order': False, 'shape': (1, 2, 3, 4, 1, 2, 3, 4), }"),
            std::string::npos);
  come_back<float>(at("x.npy"), {5}, "float32");
  EXPECT_NE(read_text(at("x.npy")).find("'shape': (5,), }"), std::string::npos);
}

TEST_F(Files, OfArraysInFortranOrder) {
  // The first index runs fastest: element (i, j, k) is 100 i + 10 j + k.
  std::string data;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) data += static_cast<char>(100 * i + 10 * j + k);
  const Array array = read_array(file("x.npy", npy_head("|u1", "(2, 3, 4)", "True") + data));
  std::vector<double> expected;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) expected.push_back(100 * i + 10 * j + k);
  EXPECT_EQ(array.values, expected);
}

TEST_F(Files, OfArraysThatAreRefusedSayWhy) {
  const auto said = [&](const std::string& shape, std::size_t bytes = 8) {
    return fault([&] { read_array(file("x.npy", npy_head("|i1", shape) + std::string(bytes, '\1'))); });
  };
  EXPECT_EQ(said("(2, 2, 2)"), "no Error");
  EXPECT_NE(said("()").find("0 dimensions; expected is 1 to 8"), std::string::npos);
  EXPECT_NE(said("(1, 1, 1, 1, 1, 1, 1, 1, 8)").find("9 dimensions (1 x 1 x 1 x 1 x 1 x 1 x 1 x 1 x 8)"),
            std::string::npos);
  EXPECT_NE(said("(2, 0, 3)").find("empty array (2 x 0 x 3)"), std::string::npos);
  EXPECT_NE(said("(4294967296, 4294967296, 2)").find("more than can be addressed"), std::string::npos);
  EXPECT_NE(said("(2, 2, 2)", 7).find("truncated"), std::string::npos);
  EXPECT_NE(said("(2, 2, 2)", 9).find("goes on after its 2 x 2 x 2 int8 array"), std::string::npos);
  EXPECT_NE(fault([&] {
              read_matrix(file("x.npy", npy_head("|i1", "(2, 2, 2)") + std::string(8, '\1')));
            }).find("expected is a matrix of 2"),
            std::string::npos);
}

TEST(Float32, OfAnArrayNamesThePlaceOfWhatItRefuses) {
  Array array{"x.npy", "float64", {2, 3, 4}, std::vector<double>(24, 1)};
  EXPECT_EQ(to_float32(array), std::vector<float>(24, 1));
  array.values[12 + 4 + 3] = -HUGE_VAL;
  EXPECT_NE(fault([&] { to_float32(array); }).find("-inf at [1, 1, 3] (counted from 0) of x.npy"), std::string::npos);
}

TEST(Float32, RoundsToNearestEvenUpToItsLargest) {
  const auto rounded = [](double x) { return to_float32(Matrix{"x", "float64", 1, 1, {x}})[0]; };
  EXPECT_EQ(rounded(0x1.000001p0), 1.0F);  // a tie, to even
  EXPECT_EQ(rounded(0x1.000003p0), 0x1.000004p0F);
  EXPECT_EQ(rounded(0x1.fffffefffffffp127), 0x1.fffffep127F);
  EXPECT_EQ(rounded(-0x1.fffffeffffffep127), -0x1.fffffep127F);
  EXPECT_EQ(rounded(0x1p-150), 0.0F);
  EXPECT_EQ(rounded(0x1.8p-149), 0x1p-148F);
  for (const double x : {0x1.ffffffp127, -0x1.ffffffp127, 1e39, -HUGE_VAL, std::nan("")})
    EXPECT_THROW(rounded(x), Error) << x;
}

TEST(Memory, IsThatOfAMachine) {
  EXPECT_GT(memory_bytes(), 1e8);
  EXPECT_NO_THROW(check_memory(1e6, "This"));
  EXPECT_NE(fault([] { check_memory(1e21, "This"); }).find("This takes 1e+03 EB"), std::string::npos);
}

TEST_F(Files, AppearWhole) {
  {
    OutputFile out(at("x.npy"));
    out.write("new");
    EXPECT_FALSE(fs::exists(at("x.npy")));
    EXPECT_EQ(fs::path(out.hand_over()).extension(), ".npy");
    out.commit();
    EXPECT_EQ(read_text(at("x.npy")), "new");
  }
  {
    OutputFile out(at("x.npy"));
    out.write("newer");
  }
  EXPECT_EQ(read_text(at("x.npy")), "new");
  EXPECT_EQ(count(), 1U);
}

TEST_F(Files, ThatAnotherRunPutsAsideAreNoError) {
  const std::string path = at("c.npy"), aside = at("aside");
  std::ofstream(path) << "precious";
  std::atomic<bool> enough = false;
  std::jthread other([&] {
    while (!enough) {
      std::rename(path.c_str(), aside.c_str());
      std::rename(aside.c_str(), path.c_str());
    }
  });
  std::string why;
  for (int i = 0; i < 20000 && why.empty(); ++i) {
    try {
      const OutputFile file(path);
    } catch (const Error& error) {
      why = error.what();
    }
  }
  enough = true;
  EXPECT_EQ(why, "");
}

TEST_F(Files, OfOtherWritersToo) {
  {
    OutputFile out(at("w.fst"));
    out.remove_besides(".hier");
    const std::string name = out.hand_over();
    std::ofstream(name) << "wave";
    std::ofstream(name + ".hier") << "names";
    out.probe(1000);
    EXPECT_EQ(fs::file_size(name), 4U);
    out.commit();
  }
  EXPECT_EQ(read_text(at("w.fst")), "wave");
  EXPECT_EQ(count(), 1U);
}

TEST_F(Files, ManyAtOnceAreRefusedNotForgotten) {
  std::list<OutputFile> many;
  const std::string said = fault([&] {
    for (int i = 0; i < 1000; ++i) many.emplace_back(at(std::to_string(i)));
  });
  EXPECT_NE(said.find("fewer at once"), std::string::npos) << said;
  many.clear();
  EXPECT_EQ(count(), 0U);
  for (int i = 0; i < 1000; ++i) OutputFile(at("x")).commit();
}

using SignalsDeathTest = Files;

TEST_F(SignalsDeathTest, RemoveWhatIsNotCommitted) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EXIT(
        {
          remove_outputs_on_signals();
          OutputFile out(at("x"));
          out.write("part");
          std::raise(signal);
        },
        testing::KilledBySignal(signal), "");
    EXPECT_EQ(count(), 0U);
  }
}

/// A page of a mapped file that has no bytes: what a full disk makes of a writer that maps its file.
void touch_beyond(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR);
  auto* const page = static_cast<volatile char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  page[100] = 1;
  EXPECT_EQ(page[100], 1);
  EXPECT_EQ(page[101], 0);
  munmap(const_cast<char*>(page), 4096);
  close(file);
}

TEST_F(Files, AFullDiskUnderAMappedFileIsAnError) {
  {
    OutputFile out(at("x"));
    const std::string name = out.hand_over();
    const MappedWrites outer;
    {
      const MappedWrites inner;
      EXPECT_NO_THROW(inner.check(out));
      touch_beyond(name);
      touch_beyond(name);
      EXPECT_TRUE(inner.failed());
    }
    EXPECT_TRUE(outer.failed());
    EXPECT_FALSE(MappedWrites().failed());
    const std::string said = fault([&] { outer.check(out); });
    EXPECT_NE(said.find("x could not be written completely"), std::string::npos) << said;
    EXPECT_NE(said.find("No space left"), std::string::npos) << said;
  }
  EXPECT_EQ(count(), 0U);
}

TEST_F(Files, TemporaryOnesHaveRoomOrNot) {
  EXPECT_NO_THROW(probe_temporary(1000));
  const std::string said = fault([] { probe_temporary(std::size_t{1} << 60); });
  EXPECT_NE(said.find("1152921504606846976 bytes"), std::string::npos) << said;
}

TEST_F(Files, MappedByAnotherThreadAreItsOwn) {
  OutputFile out(at("x"));
  const std::string name = out.hand_over();
  const MappedWrites here;
  std::thread([&] {
    const MappedWrites there;
    touch_beyond(name);
    EXPECT_TRUE(there.failed());
  }).join();
  EXPECT_FALSE(here.failed());
}

TEST_F(SignalsDeathTest, AnotherBusErrorStaysOne) {
  EXPECT_EXIT(touch_beyond(file("y", "")), testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT({ const MappedWrites before; } touch_beyond(file("y", "")), testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT(
      {
        const MappedWrites here;
        std::raise(SIGBUS);
      },
      testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT(
      {
        const MappedWrites here;
        std::thread([&] { touch_beyond(file("y", "")); }).join();
      },
      testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace narrowgauge::io
