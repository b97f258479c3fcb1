// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>

#include "narrowgauge/codec/baselines.hpp"
#include "narrowgauge/codec/feature_map.hpp"
#include "narrowgauge/codec/report.hpp"
#include "narrowgauge/codec/tile_encode.hpp"
#include "narrowgauge/codec/tile_packet.hpp"
#include "narrowgauge/codec/tile_stream.hpp"
#include "narrowgauge/error.hpp"

namespace narrowgauge {
namespace {

/// 32 bits at a time.
struct Stream {
  explicit Stream(unsigned seed) : generator(seed) {}
  std::uint32_t draw() { return static_cast<std::uint32_t>(generator()); }
  std::mt19937 generator;
};

using Bytes = std::vector<std::uint8_t>;
using Counts = std::array<std::uint64_t, huffman_symbols>;

/// NG_CODEC_VALUES and NG_CODEC_STREAMS make the runs below as long as one likes.
std::size_t depth(const char* variable, std::size_t everyday) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : everyday;
}

Counts counts_of(std::span<const std::uint8_t> values) {
  Counts counts{};
  for (const std::uint8_t value : values) ++counts[value];
  return counts;
}

/// Kinds of bytes: all alike, even, few, a geometric law of any steepness, zeros in runs, a ramp, sums of steps, two
/// values in turn.
Bytes bytes_of_kind(Stream& stream, std::size_t count) {
  const unsigned kind = stream.draw() % 8, steep = 1 + stream.draw() % 9, level = stream.draw() % 256;
  Bytes bytes(count);
  unsigned state = level;
  bool zero = false;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t word = stream.draw();
    switch (kind) {
      case 0:
        state = level;
        break;
      case 1:
        state = word;
        break;
      case 2:
        state = level + word % steep;
        break;
      case 3:
        for (state = 0; state < 255 && (word >> state % 24 & 0xFF) > 28 * steep; ++state) {
        }
        break;
      case 4:
        if (word % (1U << steep) == 0) zero = !zero;
        state = zero ? 0 : word >> 16;
        break;
      case 5:
        state = static_cast<unsigned>(i) * steep;
        break;
      case 6:
        state += word % (2 * steep) - steep;
        break;
      default:
        state = i % 2 ? level : steep;
    }
    bytes[i] = static_cast<std::uint8_t>(state);
  }
  return bytes;
}

TEST(Codec, CodesAreOptimalBesideEveryCodeOfSmallAlphabets) {
  // All multisets of lengths that Kraft allows, the longest length for the rarest symbol.
  Stream stream(1);
  for (int trial = 0; trial < 300; ++trial) {
    const unsigned symbols = 1 + stream.draw() % 7, longest = 3 + stream.draw() % 4;
    Counts counts{};
    std::vector<std::uint64_t> sorted;
    for (unsigned s = 0; s < symbols; ++s) {
      counts[37 * s % 256] = 1 + (stream.draw() % 3 ? stream.draw() % 10 : stream.draw() % 1000);
      sorted.push_back(counts[37 * s % 256]);
    }
    std::sort(sorted.rbegin(), sorted.rend());
    std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
    const std::function<void(std::size_t, unsigned, unsigned, std::uint64_t)> search =
        [&](std::size_t at, unsigned shortest, unsigned kraft, std::uint64_t cost) {
          if (at == sorted.size()) {
            best = std::min(best, cost);
            return;
          }
          for (unsigned l = shortest; l <= longest; ++l)
            if (const unsigned sum = kraft + (1U << (longest - l)); sum <= 1U << longest)
              search(at + 1, l, sum, cost + l * sorted[at]);
        };
    search(0, 1, 0, 0);
    const CodeLengths lengths = make_code(counts, longest);
    check_code(lengths);
    EXPECT_LE(*std::max_element(lengths.begin(), lengths.end()), longest);
    ASSERT_EQ(coded_bits(counts, lengths), best) << trial;
  }
}

TEST(Codec, CodesThatDoNotExistAreRefused) {
  Counts counts{};
  EXPECT_EQ(make_code(counts), CodeLengths{});
  std::fill_n(counts.begin(), 9, 1);
  EXPECT_THROW(make_code(counts, 3), Error);
  EXPECT_THROW(make_code(counts, 0), Error);
  EXPECT_THROW(make_code(counts, 13), Error);
  CodeLengths lengths{};
  lengths[3] = 13;
  EXPECT_THROW(check_code(lengths), Error);
  lengths[3] = lengths[4] = lengths[5] = 1;
  EXPECT_THROW(check_code(lengths), Error);
  EXPECT_THROW(unpack_code(pack_code(lengths)), Error);
}

TEST(Codec, CanonicalCodesAreDecodedByBothTables) {
  Stream stream(2);
  for (int trial = 0; trial < 200; ++trial) {
    CodeLengths lengths = make_code(counts_of(bytes_of_kind(stream, 1 + stream.draw() % 3000)));
    if (trial % 3 == 0) {  // an incomplete code
      const auto longest = std::max_element(lengths.begin(), lengths.end());
      *longest = 0;
    }
    EXPECT_EQ(unpack_code(pack_code(lengths)), lengths);
    const auto encoder = encoder_table(lengths);
    const DecoderTable decoder = decoder_table(lengths);
    for (unsigned window = 0; window < 1U << huffman_bits; ++window) {
      Decoded expected;
      for (unsigned s = 0; s < huffman_symbols; ++s) {
        const unsigned length = encoder[s].length, code = encoder[s].code;
        if (length != 0 && window >> (huffman_bits - length) == code >> (huffman_bits - length))
          expected = {length, static_cast<std::uint8_t>(s)};
      }
      const Decoded got = decode_window(decoder, window);
      ASSERT_EQ(got.length, expected.length) << window;
      ASSERT_EQ(got.length != 0 ? got.symbol : 0, expected.symbol) << window;
    }
  }
}

TEST(Codec, TilesComeBackAndAreBounded) {
  Stream stream(3);
  for (std::size_t left = depth("NG_CODEC_VALUES", 2000000); left > 0;) {
    const std::size_t count = std::min<std::size_t>(left, 1 + stream.draw() % (stream.draw() % 2 ? 200 : 20000));
    left -= count;
    const Bytes values = bytes_of_kind(stream, count);
    const CodeLengths lengths = make_code(counts_of(stream.draw() % 4 ? values : bytes_of_kind(stream, 5000)));
    const unsigned word = 16U << stream.draw() % 3;
    const Bytes bytes = encode_tile(values, encoder_table(lengths), word);
    ASSERT_LE(bytes.size() * 8, 8 * count + 2 * ((count + 63) / 64) + 6 + word - 1);
    const DecodedTile tile = decode_tile(bytes, decoder_table(lengths), word);
    ASSERT_EQ(tile.fault, TileFault::none);
    ASSERT_EQ(tile.values, values);
  }
  EXPECT_THROW(encode_tile({}, encoder_table({})), Error);
}

TEST(Codec, FaultsOfTiles) {
  Counts counts{};
  counts[7] = 3;
  counts[9] = counts[200] = 1;
  CodeLengths lengths = make_code(counts);
  lengths[200] = 0;
  const auto table = encoder_table(lengths);
  const DecoderTable decoder = decoder_table(lengths);
  const Bytes values(100, 7);
  const Bytes bytes = encode_tile(values, table, 32);
  EXPECT_EQ(decode_tile(bytes, decoder).fault, TileFault::none);
  Bytes longer = bytes;
  longer.resize(bytes.size() + 4);
  EXPECT_EQ(decode_tile(longer, decoder).fault, TileFault::too_long);
  EXPECT_EQ(decode_tile(longer, decoder).values, values);
  EXPECT_EQ(decode_tile(std::span(bytes).first(bytes.size() - 4), decoder).fault, TileFault::broken);
  EXPECT_EQ(decode_tile({}, decoder).fault, TileFault::broken);
  EXPECT_EQ(decode_tile(bytes, decoder, 32, 99).fault, TileFault::broken);
  EXPECT_EQ(decode_tile(bytes, decoder, 32, 99).values.size(), 99U);
  const Bytes no_code{0x3F, 0xFF, 0xFF, 0xFF};
  EXPECT_EQ(decode_tile(no_code, decoder).fault, TileFault::broken);
}

TEST(Codec, PacketsComeBack) {
  Stream stream(5);
  for (const std::size_t stream_bytes : {4U, 8U, 12U, 16U}) {
    for (const std::size_t words : {1U, 7U, 16U, 100U, 1000U}) {
      Bytes bytes(words * stream_bytes);
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(stream.draw() & stream.draw());
      const CodeLengths lengths = make_code(counts_of(bytes));
      const Bytes packet = encode_packet(bytes, encoder_table(lengths), stream_bytes);
      EXPECT_EQ(packet.size() % stream_bytes, 0U);
      EXPECT_LE(packet.size(),
                (bytes.size() + packet_chunk / 2 - 1) / (packet_chunk / 2) * 12 + bytes.size() + stream_bytes);
      // Packets behind each other are one packet.
      Bytes twice = packet;
      twice.insert(twice.end(), packet.begin(), packet.end());
      const DecodedPacket one = decode_packet(packet, decoder_table(lengths), stream_bytes),
                          two = decode_packet(twice, decoder_table(lengths), stream_bytes);
      EXPECT_FALSE(one.fault || two.fault);
      EXPECT_EQ(one.bytes, bytes);
      EXPECT_EQ(two.bytes.size(), 2 * bytes.size());
    }
  }
  EXPECT_THROW(encode_packet(Bytes(6), encoder_table(CodeLengths{}), 4), Error);
  EXPECT_THROW(encode_packet(Bytes{}, encoder_table(CodeLengths{}), 4), Error);
  EXPECT_THROW(encode_packet(Bytes(6), encoder_table(CodeLengths{}), 6), Error);
  EXPECT_THROW(decode_packet(Bytes(6), DecoderTable{}, 4), Error);
}

TEST(Codec, StreamedPacketsComeBack) {
  Stream stream(7);
  for (const std::size_t stream_bytes : {4U, 8U, 12U, 64U, 252U}) {
    const std::size_t chunk = stream_bytes == 12 || stream_bytes == 252 ? 252 : 256;  // the docs' rule, by hand
    EXPECT_EQ(streamed_chunk(stream_bytes), chunk);
    for (const std::size_t words : {1U, 4U, 21U, 64U, 300U}) {
      Bytes bytes(words * stream_bytes);
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(stream.draw() & stream.draw());
      CodeLengths lengths = make_code(counts_of(bytes));
      if (words == 4) lengths = {};  // all raw
      const Bytes packet = encode_streamed_packet(bytes, encoder_table(lengths), stream_bytes);
      EXPECT_EQ(packet.size() % stream_bytes, 0U);
      const DecodedPacket decoded = decode_packet(packet, decoder_table(lengths), stream_bytes);
      EXPECT_FALSE(decoded.fault);
      EXPECT_EQ(decoded.bytes, bytes);
      // Its chunks are where their heads say, and end where the values do.
      std::size_t at = 0, chunks = 0;
      for (; chunks * chunk < bytes.size(); ++chunks) {
        ASSERT_LT(at + 4, packet.size());
        const std::size_t size = packet[at] * std::size_t{4};
        EXPECT_EQ(packet[at + 1] | packet[at + 2] | packet[at + 3], 0);
        ASSERT_LE(at + 4 + size, packet.size());
        const DecodedTile tile = decode_tile(std::span(packet).subspan(at + 4, size), decoder_table(lengths));
        EXPECT_EQ(tile.fault, TileFault::none);
        EXPECT_EQ(tile.values.size(), std::min(chunk, bytes.size() - chunks * chunk));
        at += 4 + size;
      }
      EXPECT_LT(packet.size() - at, stream_bytes);
      EXPECT_TRUE(std::all_of(packet.begin() + static_cast<std::ptrdiff_t>(at), packet.end(),
                              [](std::uint8_t byte) { return byte == 0; }));
    }
  }
  EXPECT_THROW(encode_streamed_packet(Bytes(6), encoder_table(CodeLengths{}), 4), Error);
  EXPECT_THROW(encode_streamed_packet(Bytes{}, encoder_table(CodeLengths{}), 4), Error);
  EXPECT_THROW(encode_streamed_packet(Bytes(6), encoder_table(CodeLengths{}), 6), Error);
  EXPECT_THROW(encode_streamed_packet(Bytes(260), encoder_table(CodeLengths{}), 260), Error);
}

TEST(Codec, CorruptPacketsAreFaultsOrWords) {
  Stream stream(6);
  Bytes bytes(512);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(stream.draw() & stream.draw());
  const CodeLengths lengths = make_code(counts_of(bytes));
  const Bytes packet = encode_packet(bytes, encoder_table(lengths), 8);
  std::size_t faults = 0;
  for (std::size_t i = depth("NG_CODEC_STREAMS", 2000); i > 0; --i) {
    Bytes broken = packet;
    for (std::uint32_t bits = 1 + stream.draw() % 4; bits > 0; --bits)
      broken[stream.draw() % broken.size()] ^= static_cast<std::uint8_t>(1U << stream.draw() % 8);
    if (stream.draw() % 4 == 0) broken.resize(8 * (1 + stream.draw() % (broken.size() / 8)));
    const DecodedPacket decoded = decode_packet(broken, decoder_table(lengths), 8);
    EXPECT_EQ(decoded.bytes.size() % 8, 0U);
    EXPECT_TRUE(decoded.fault || !decoded.bytes.empty());
    faults += decoded.fault;
  }
  EXPECT_GT(faults, 0U);
}

TEST(Codec, MapsComeBackWholeAndByTiles) {
  Stream stream(4);
  for (std::size_t left = depth("NG_CODEC_VALUES", 1000000); left > 0;) {
    const std::size_t count = std::min<std::size_t>(left, 1 + stream.draw() % 30000);
    left -= count;
    const FeatureMap map{{1, count}, bytes_of_kind(stream, count), stream.draw() % 2 != 0, 0.5F};
    const CompressOptions options{64 + stream.draw() % 5000, stream.draw() % 4 != 0};
    const Bytes file = compress(map, options);
    ASSERT_EQ(decompress(file), map);
    const CompressedHead head = read_head(file);
    const std::size_t t = stream.draw() % head.tiles.size();
    const Bytes tile = decompress_tile(file, head, t);
    const std::size_t begin = t * options.tile;
    ASSERT_TRUE(std::equal(tile.begin(), tile.end(), map.values.begin() + static_cast<std::ptrdiff_t>(begin)));
    ASSERT_EQ(tile.size(), std::min(options.tile, count - begin));
    EXPECT_THROW(decompress_tile(file, head, head.tiles.size()), Error);
  }
}

TEST(Codec, IncompressibleMapsGrowByLessThanTwoPercent) {
  Stream stream(5);
  Bytes values(1 << 16);
  for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(stream.draw());
  const Bytes file = compress({{values.size()}, values, false, 0});
  EXPECT_LE(static_cast<double>(file.size()), 1.02 * static_cast<double>(values.size()));
}

TEST(Codec, ZeroRunsGoBelowOneBit) {
  Stream stream(6);
  Bytes values(100000);
  for (std::uint8_t& value : values) value = stream.draw() % 40 ? 0 : static_cast<std::uint8_t>(1 + stream.draw() % 3);
  const FeatureMap map{{values.size()}, values, false, 0};
  const Bytes with = compress(map), without = compress(map, {4096, false});
  EXPECT_GT(without.size() * 8, values.size());
  EXPECT_LT(with.size() * 8 * 2, values.size());
  EXPECT_EQ(decompress(with), map);
}

TEST(Codec, SlotsOfZeroRuns) {
  Counts counts{};
  counts.fill(1);
  EXPECT_TRUE(free_slots(counts).empty());
  counts[4] = counts[9] = 0;
  const ZeroRunSlots slots = free_slots(counts);
  EXPECT_EQ(slots, (ZeroRunSlots{4, 9}));
  const Bytes values{0, 0, 0, 0, 0, 0, 0, 1, 0};
  EXPECT_EQ(shorten_runs(values, slots), (Bytes{9, 4, 0, 1, 0}));
  EXPECT_EQ(expand_runs(shorten_runs(values, slots), slots, 9), values);
  EXPECT_FALSE(expand_runs(shorten_runs(values, slots), slots, 8));
}

TEST(Codec, CorruptFilesAreErrorsOrMaps) {
  // Bits, bytes and lengths of files at random, which the checksums find; and tiles of any bits, which no checksum
  // guards. Run it under sanitizers for what reads out of range.
  Stream stream(7);
  std::size_t errors = 0, maps = 0;
  for (std::size_t i = depth("NG_CODEC_STREAMS", 3000); i > 0; --i) {
    const std::size_t count = 1 + stream.draw() % 700;
    Bytes file = compress({{count}, bytes_of_kind(stream, count), false, 0}, {64 + stream.draw() % 200, true});
    for (unsigned n = 1 + stream.draw() % 3; n > 0; --n) {
      const std::size_t at = stream.draw() % (stream.draw() % 2 ? std::min<std::size_t>(file.size(), 40) : file.size());
      switch (stream.draw() % 4) {
        case 0:
          file[at] ^= static_cast<std::uint8_t>(1U << stream.draw() % 8);
          break;
        case 1:
          file[at] = static_cast<std::uint8_t>(stream.draw());
          break;
        case 2:
          file.resize(1 + at);
          break;
        default:
          file.insert(file.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::uint8_t>(stream.draw()));
      }
    }
    try {
      static_cast<void>(decompress(file));
      ++maps;
    } catch (const Error&) {
      ++errors;
    }
    // The tile itself, which no checksum guards in hardware.
    Bytes noise(4 * (1 + stream.draw() % 30));
    for (std::uint8_t& byte : noise) byte = static_cast<std::uint8_t>(stream.draw());
    const CodeLengths lengths = make_code(counts_of(bytes_of_kind(stream, 300)));
    const DecodedTile tile = decode_tile(noise, decoder_table(lengths));
    ASSERT_LE(tile.values.size(), noise.size() * 8);
  }
  EXPECT_GT(errors, maps);
}

TEST(Codec, FaultsOfFilesAreNamed) {
  const FeatureMap map{{2, 50}, Bytes(100, 3), false, 0};
  const Bytes file = compress(map);
  const auto message = [](const Bytes& bytes) -> std::string {
    try {
      static_cast<void>(decompress(bytes));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(file), "");
  for (std::size_t n = 0; n < file.size(); ++n)
    EXPECT_NE(message(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n))), "");
  for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
    Bytes wrong = file;
    wrong[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
    EXPECT_NE(message(wrong), "") << bit;
  }
  Bytes version = file;
  version[4] = 2;
  EXPECT_NE(message(version).find("version 2"), std::string::npos);
  EXPECT_NE(message({1, 2, 3}).find("NGFM"), std::string::npos);
  EXPECT_THROW(compress({{2, 49}, Bytes(100, 3), false, 0}), Error);
  EXPECT_THROW(compress({{}, {}, false, 0}), Error);
  EXPECT_THROW(compress(map, {63, true}), Error);
  EXPECT_THROW(compress(map, {largest_tile + 1, true}), Error);
}

TEST(Codec, ChecksumIsThatOfZlib) {
  const std::string text = "123456789";
  EXPECT_EQ(crc32({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}), 0xCBF43926U);
}

TEST(Codec, Quantizer) {
  const std::vector<float> positive{0, 1, 2.5F, 255}, both{-254, 127, 1, 3};
  const FeatureMap natural = quantize_map(positive, {4});
  EXPECT_FALSE(natural.is_signed);
  EXPECT_EQ(natural.step, 1);
  EXPECT_EQ(natural.values, (Bytes{0, 1, 2, 255}));
  const FeatureMap integer = quantize_map(both, {4});
  EXPECT_EQ(integer.step, 2);
  EXPECT_EQ(integer.values, (Bytes{0x81, 64, 0, 2}));  // ties to even
  EXPECT_EQ(dequantize_map(integer), (std::vector<float>{-254, 128, 0, 4}));
  EXPECT_EQ(quantize_map(std::vector<float>(3), {3}).step, 1);
  EXPECT_EQ(quantize_map(both, {4}, 2).values, (Bytes{0xFF, 0, 0, 0}));
  try {
    static_cast<void>(quantize_map(std::vector<float>{1e-38F, 0}, {2}));
    ADD_FAILURE() << "a step below the normal numbers was taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("map is 1e-38,"), std::string::npos) << error.what();
  }
  EXPECT_THROW(quantize_map(std::vector<float>{std::numeric_limits<float>::infinity()}, {1}), Error);
  EXPECT_THROW(quantize_map(both, {4}, 9), Error);
}

TEST(Codec, BaselinesComeBack) {
  Stream stream(8);
  for (std::size_t left = depth("NG_CODEC_VALUES", 500000); left > 0;) {
    const std::size_t count = std::min<std::size_t>(left, 1 + stream.draw() % 500);
    left -= count;
    const Bytes values = bytes_of_kind(stream, count);
    ASSERT_EQ(zvc_decode(zvc_encode(values), count), values);
    ASSERT_EQ(zero_rle_decode(zero_rle_encode(values), count), values);
    for (const bool is_signed : {false, true}) {
      const Ebpc streams = ebpc_encode(values, is_signed);
      ASSERT_EQ(ebpc_decode(streams, count, is_signed), values);
      Ebpc wrong = streams;
      auto& part = stream.draw() % 2 && !wrong.planes.empty() ? wrong.planes : wrong.zeros;
      part[stream.draw() % part.size()] ^= static_cast<std::uint8_t>(1U << stream.draw() % 8);
      try {
        EXPECT_NE(ebpc_decode(wrong, count, is_signed), values);
      } catch (const Error&) {
      }
    }
  }
}

TEST(Codec, BaselinesByHand) {
  EXPECT_EQ(zvc_encode(Bytes{5, 0, 0, 7}), (Bytes{0b1001, 5, 7}));
  // 1 00000101, 0 0001, 1 00000111, padding.
  EXPECT_EQ(zero_rle_encode(Bytes{5, 0, 0, 7}), (Bytes{0x82, 0x86, 0x0E}));
  // Nine zeros and a 3: run of 9 (0 1000), 1. The block 3 0 0 0 0 0 0 0: base 3, differences -3 0 0 0 0 0 0:
  // planes of -3 = 1 1111 1101 from bit 0: 1, 0, 1, 1, ...: changes: one at 0 (00011 000), DBP = 0 (00001),
  // one at 0 (00011 000), then six planes alike (001 100).
  Bytes values(9, 0);
  values.push_back(3);
  const Ebpc streams = ebpc_encode(values, true);
  EXPECT_EQ(streams.zeros, (Bytes{0b01000100}));
  EXPECT_EQ(streams.planes, (Bytes{0x03, 0b00011000, 0b00001000, 0b11000001, 0b10000000}));
}

TEST(Codec, ReportCountsWhatTheEncodersMake) {
  Stream stream(11);
  const auto compressed = [](const FeatureMap& map, bool zero_runs) {
    return compress(map, {.tile = 256, .zero_runs = zero_runs}).size();
  };
  for (int trial = 0; trial < 50; ++trial) {
    const std::size_t count = 1 + stream.draw() % 3000;
    const FeatureMap map{{count}, bytes_of_kind(stream, count), trial % 2 == 0, 0};
    const auto report = codec_report(map, 256);
    const std::array<std::size_t, 5> bytes{zvc_encode(map.values).size(), zero_rle_encode(map.values).size(),
                                           ebpc_encode(map.values, map.is_signed).bytes(), compressed(map, false),
                                           compressed(map, true)};
    for (std::size_t i = 0; i < bytes.size(); ++i)
      EXPECT_EQ(report[i + 2].bits, 8 * static_cast<double>(bytes[i]) / static_cast<double>(count))
          << report[i + 2].name;
    // No code of single values is shorter than the entropy, and the best is less than a bit above it.
    const double best = static_cast<double>(coded_bits(counts_of(map.values), make_code(counts_of(map.values))));
    EXPECT_LE(report[1].bits, best / static_cast<double>(count) * (1 + 1e-12));
    EXPECT_GT(report[1].bits + 1.01, best / static_cast<double>(count));
  }
  Bytes all(256);
  std::iota(all.begin(), all.end(), std::uint8_t{0});
  const auto even = codec_report({{4, 64}, all, false, 0});
  EXPECT_EQ(even[0].bits, 8);
  EXPECT_EQ(even[1].bits, 8);
  EXPECT_EQ(codec_report({{9}, Bytes(9, 7), false, 0})[1].bits, 0);
  EXPECT_EQ(codec_report({{8}, Bytes{1, 1, 2, 2, 1, 1, 2, 2}, false, 0})[1].bits, 1);
  EXPECT_THROW(codec_report({{}, {}, false, 0}), Error);
  EXPECT_THROW(codec_report({{1}, {1}, false, 0}, 63), Error);
}

}  // namespace
}  // namespace narrowgauge
