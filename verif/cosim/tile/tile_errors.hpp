// SPDX-License-Identifier: Apache-2.0
// Each error of the tile, provoked in its variants and left by a soft reset; and each bit of each field of the commands
// alone.
#pragma once

#include "tile_directed.hpp"
#include "tile_programs.hpp"

namespace narrowgauge::tile_bench {

using regs::TileError;

class Errors {
 public:
  explicit Errors(Harness& tile) : tile_(tile), bench_(tile.bench), random_(tile.random) {}

  static constexpr std::uint64_t variants = 35;

  void provoke(std::uint64_t variant) {
    variant %= variants;
    tile_.describe = "error variant " + std::to_string(variant) + " at cycle " + std::to_string(tile_.now());
    tile_.irq_known = false;
    if (tile_.rng().chance(0.5))
      play(tile_, random_program(tile_, 2));  // behind work; its results come as long as they were finished
    else
      tile_.settle();
    const bool b = variant % 2 != 0;
    const unsigned depth = b ? b_depth : a_depth, words = words_per_image(b);
    Command c = random_.shaped(1, 1, 1);
    const auto bad = [&] {
      tile_.push(c);
      expect_error(TileError::bad_compute);
    };
    const auto on_banks = [&](unsigned a_images, unsigned b_images) {
      fill_both(a_images, b_images);
      tile_.push(c);
    };
    const auto mismatch = [&](unsigned a_images, unsigned b_images) {
      on_banks(a_images, b_images);
      expect_error(TileError::bank_mismatch);
    };
    tile_.await("queues full", [&] {
      const std::uint32_t now = tile_.status();
      return regs::status::load_space.get(now) == queue_depth && regs::status::compute_space.get(now) == queue_depth;
    });
    switch (variant) {
      case 0:
      case 1:
        tile_.push(Load{.b = b, .more = false, .beats = 0});
        return expect_error(TileError::bad_load);
      case 2:
      case 3:
        tile_.push(Load{.b = b, .more = tile_.rng().chance(0.5), .beats = tile_.rng().chance(0.5) ? depth + 1 : 65535});
        return expect_error(TileError::bad_load);
      case 4:
      case 5:  // the second piece is too long
        tile_.push(Load{.b = b, .more = true, .beats = depth - 1});
        tile_.push(Load{.b = b, .more = false, .beats = 2});
        feed_noise((depth - 1) * words, true);
        return expect_error(TileError::bad_load);
      case 6:  // without LUQ in the set that; with all formats in it one of 4 bits against one of 8
        c.a_fmt = legal(luq, luq) ? nvfp4 : luq;
        c.b_fmt = legal(c.a_fmt, c.a_fmt) ? e4m3 : c.a_fmt;
        return bad();
      case 7:  // every pair of formats outside the set, or that do not go together
        for (c.a_fmt = 0; c.a_fmt < 4; ++c.a_fmt) {
          for (c.b_fmt = 0; c.b_fmt < 4; ++c.b_fmt) {
            if (legal(c.a_fmt, c.b_fmt)) continue;
            tile_.push(c);
            tile_.await("error not found", [&] { return regs::status::error.get(tile_.status()) != 0; });
            tile_.soft_reset();
            tile_.irq_known = false;
          }
        }
        c.a_fmt = luq, c.b_fmt = has_luq ? e5m2 : random_.fmt();
        return bad();
      case 8:
      case 9:
      case 10: {  // no panels or beats, beside any bit of another count: the command is bad before it is beyond the
                  // bank
        unsigned& none = variant == 8 ? c.a_panels : variant == 9 ? c.b_panels : c.beats;
        unsigned& other = variant == 8 ? c.b_panels : c.a_panels;
        none = 0;
        for (unsigned bit = 0; bit < 16; ++bit) {
          other = 1U << bit;
          tile_.push(c);
          tile_.await("error not found", [&] { return regs::status::error.get(tile_.status()) != 0; });
          bench_.expect_eq("STATUS.error", regs::status::error.get(tile_.status()),
                           static_cast<std::uint32_t>(TileError::bad_compute), [&] { return tile_.describe; });
          tile_.soft_reset();
          tile_.irq_known = false;
        }
        other = 1;
        return bad();
      }
      case 11:
        c.rows_used = 0;
        return bad();
      case 12:
        c.rows_used = rows + 1;
        return bad();
      case 13:
        c.cols_used = 0;
        return bad();
      case 14:
        c.cols_used = tile_.rng().chance(0.5) ? cols + 1 : 255;
        return bad();
      case 15:  // goes on with a sum that is not open
        c.first = false;
        return bad();
      case 16:
      case 17: {  // several panels at the start of a sum; also as many that their number ends like one
        unsigned& panels = b ? c.b_panels : c.a_panels;
        c.last = false, panels = 2 * depth + 1;
        bad();
        tile_.irq_known = false;
        panels = 2;
        return bad();
      }
      case 18:  // a new sum, and the old one is still open
        c.last = false;
        on_banks(1, 1);
        c.last = true;
        return bad();
      case 19:  // several panels at the end of a sum
        c.last = false;
        on_banks(1, 1);
        c.first = false, c.last = true, c.a_panels = 2;
        return bad();
      case 20:
        for (unsigned i = 0; i < queue_depth + 1; ++i) tile_.push(Load{.b = false, .more = false, .beats = 1});
        return expect_error(TileError::queue_full);
      case 21:  // one waits for its banks, four behind it
        for (unsigned i = 0; i < queue_depth + 2; ++i) tile_.push(c);
        return expect_error(TileError::queue_full);
      case 22:
      case 23: {  // TLAST early
        const unsigned total = 2 * words;
        tile_.push(Load{.b = b, .more = tile_.rng().chance(0.5), .beats = 2});
        feed_noise(random_.upto(total - 1), true);
        feed_noise(total, true);
        return expect_error(TileError::short_stream);
      }
      case 24:
      case 25:  // TLAST missing
        tile_.push(Load{.b = b, .more = tile_.rng().chance(0.5), .beats = 2});
        feed_noise(2 * words, false);
        feed_noise(words, true);
        return expect_error(TileError::long_stream);
      case 26:
      case 27:  // a bank with one image too many, of A or of B
        return b ? mismatch(1, 2) : mismatch(2, 1);
      case 28:  // too few
        c.a_panels = 2;
        return mismatch(1, 1);
      case 29:  // products whose low bits are the count of images
        c.a_panels = 2 * a_depth + 1;
        return mismatch(1, 1);
      case 30:
        c.b_panels = 2 * b_depth + 1;
        return mismatch(1, 1);
      case 31:
        c.beats = 2 * std::max(a_depth, b_depth) + 1;
        return mismatch(1, 1);
      case 32:
        c.a_panels = a_depth + 1;
        return mismatch(1, 1);
      case 33:
        c.b_panels = b_depth + 1;
        return mismatch(1, 1);
      default:  // behind a job that is right: its results come first
        tile_.settle();
        play(tile_, random_program(tile_, 1));
        tile_.settle();
        tile_.push(Load{.b = true, .more = false, .beats = 0});
        return expect_error(TileError::bad_load);
    }
  }

  /// Each bit of each field, alone or with the lowest one, makes a command illegal: a comparison that misses it lets
  /// the command pass, or finds another error.
  void sweep() {
    tile_.settle();
    tile_.soft_reset();
    for (unsigned bit = 0; bit < 16; ++bit) {
      for (const bool b : {false, true}) {
        const unsigned depth = b ? b_depth : a_depth, filled = random_.upto(std::min(depth - 1, 4U));
        if (1U << bit > depth) {
          tile_.push(Load{.b = b, .more = tile_.rng().chance(0.5), .beats = 1U << bit});
          expect_refused(TileError::bad_load, "load of 2^" + std::to_string(bit) + " images");
        }
        // At last as many as 16 bits of their sum do not tell from an empty bank.
        refuse_more(b, filled, bit == 15 ? 65536 - filled : depth - filled + (1U << bit));
      }
      for (const unsigned value : {1U << bit, 1 + (1U << bit)}) {
        if (value > 1) sweep_value(value);
      }
    }
    for (unsigned results = 1; requantizes && results < 16; ++results) {
      if ((results & ~format_set) == 0 && std::has_single_bit(results)) continue;
      Command c = random_.shaped(1, 1, 1);
      c.results = results;
      refuse(c, 1, 1, TileError::bad_compute, "results in formats " + std::to_string(results));
    }
    for (unsigned sum = 1; sum <= std::min(max_beats / 2, 32U); sum *= 2) {
      for (const unsigned beats : {max_beats - sum, max_beats - sum + 1}) {
        if (beats < 65536) refuse_end(sum, beats);
      }
    }
    for (const bool b : {false, true}) {
      refuse_more(b, b ? b_depth : a_depth, 1);
      refuse_beyond(b);
      sweep_images(b);
    }
  }
  void sum_too_long() {
    tile_.describe = "sum of more than MaxBeats";
    tile_.irq_known = false;
    long_sum(tile_, true);
    expect_error(TileError::bad_compute);
  }

  /// Illegal metadata in each group of each row are found, also in the middle of work, and what leaves of the row is
  /// NaN. In a row that is not in use they do not matter.
  void metadata() {
    const auto illegal = [&] {
      unsigned nibble = 0;
      do nibble = static_cast<unsigned>(tile_.rng().bits(4));
      while (is_metadata(nibble));
      return static_cast<std::uint8_t>(nibble);
    };
    for (unsigned row = 0; row < rows; ++row) {
      for (unsigned group = 0; group < 2 * metadata_a_row; ++group) {
        const bool in_use = group % 2 != 0;
        Command c = random_.shaped(1, 1, random_.upto(std::min({a_depth, b_depth, 4U})));
        c.rows_used = in_use ? rows : row;
        if (c.rows_used == 0) continue;
        const unsigned at = row * metadata_a_row + group / 2;
        tile_.describe = "illegal metadata " + std::to_string(at) + (in_use ? "" : " out of use");
        Operands operands(tile_, c, Style::finite);
        operands.a.images[tile_.rng().below(c.beats)].metadata[at] = illegal();
        operands.load(tile_);
        operands.expect(tile_, c);
        tile_.push(c);
        if (in_use) {
          tile_.irq_known = false;
          expect_error(TileError::bad_metadata);
        } else {
          tile_.settle();
          tile_.expect_idle();
        }
      }
    }
  }

  /// Compressed loads that are broken, or that have too few or too many values; in the middle of work or not.
  void codes() {
    for (unsigned variant = 0; variant < 60; ++variant) {
      tile_.describe = "compressed load, variant " + std::to_string(variant);
      tile_.irq_known = true;
      tile_.change_code();
      if (tile_.rng().chance(0.5)) play(tile_, random_program(tile_, 2));
      tile_.await("queues full", [&] { return regs::status::load_space.get(tile_.status()) == queue_depth; });
      tile_.irq_known = false;
      const bool b = tile_.rng().chance(0.5);
      const unsigned images = random_.upto(std::min(b ? b_depth : a_depth, 4U));
      const std::size_t bytes = std::size_t{images} * words_per_image(b) * NG_STREAM_WIDTH / 8;
      // Any packet, or one whose values are a word or more off.
      std::vector<std::uint8_t> packet = random_packet(tile_.rng(), tile_.code(), NG_STREAM_WIDTH / 8);
      if (variant % 3 == 0) {
        std::vector<std::uint8_t> values(bytes + NG_STREAM_WIDTH / 8);
        if (variant % 2 != 0 && bytes > NG_STREAM_WIDTH / 8) values.resize(bytes - NG_STREAM_WIDTH / 8);
        packet = encode_packet(values, encoder_table(tile_.code()), NG_STREAM_WIDTH / 8);
      }
      const DecodedPacket decoded = decode_packet(packet, decoder_table(tile_.code()), NG_STREAM_WIDTH / 8);
      const bool full = decoded.bytes.size() > bytes || (decoded.fault && decoded.bytes.size() == bytes);
      if (!decoded.fault && decoded.bytes.size() == bytes) continue;  // a right one by chance
      tile_.push(Load{.b = b, .more = tile_.rng().chance(0.5), .beats = images, .compressed = true});
      for (Word& word : Harness::words_of_packet(packet)) tile_.feed({std::move(word), false, false});
      tile_.feed_last();
      expect_error(full ? TileError::long_stream : decoded.fault ? TileError::bad_code : TileError::short_stream);
    }
  }

 private:
  /// An error has been provoked: it is found, kept, signalled, and left by a soft reset; then a job runs.
  void expect_error(TileError error) {
    bench_.vector();
    tile_.await("error not found", [&] { return regs::status::error.get(tile_.status()) != 0; });
    const std::uint32_t code = static_cast<std::uint32_t>(error);
    bench_.expect_eq("STATUS.error", regs::status::error.get(tile_.status()), code, [&] { return tile_.describe; });
    // The bus goes on, the first error stays, commands and stream are dropped.
    tile_.write(regs::irq_enable::offset, 2);
    tile_.wait(2);
    bench_.expect(tile_.irq(), [&] { return "no interrupt for an error, " + tile_.describe; });
    bench_.expect_eq("IRQ_PENDING.error", regs::irq_pending::error.get(tile_.read(regs::irq_pending::offset)), 1U,
                     [&] { return tile_.describe; });
    tile_.write(regs::irq_pending::offset, 3);
    tile_.wait(2);
    bench_.expect(!tile_.irq(), [&] { return "the interrupt of an error comes again, " + tile_.describe; });
    for (unsigned i = 0; i < 6; ++i) tile_.push(Load{.b = i % 2 != 0, .more = false, .beats = 0});
    tile_.push(Command{.a_panels = 0});
    const double out = std::exchange(tile_.pace.out, 0);
    for (unsigned i = 0; i < 20; ++i) tile_.feed({Word(stream_words), tile_.rng().chance(0.5), false});
    tile_.await("stream not dropped after an error", [&] { return tile_.words_to_feed() == 0; });
    tile_.pace.out = out;
    tile_.await("busy after an error", [&] { return regs::status::busy.get(tile_.status()) == 0; });
    bench_.expect_eq("STATUS after an error", tile_.status(),
                     regs::status::error.put(code) | regs::status::load_space.put(queue_depth) |
                         regs::status::compute_space.put(queue_depth),
                     [&] { return tile_.describe; });
    // Results that were finished still leave, so `done` may come up; of errors only the first one tells.
    bench_.expect_eq("IRQ_PENDING.error", regs::irq_pending::error.get(tile_.read(regs::irq_pending::offset)), 0U,
                     [&] { return tile_.describe; });
    tile_.expect_register("MAGIC after an error", regs::magic::offset, regs::magic::reset);
    tile_.soft_reset();
    batch(tile_, 1);
  }

  void feed_noise(unsigned words, bool last) {
    for (unsigned i = 0; i < words; ++i) tile_.feed({random_.noise(), last && i + 1 == words, false});
  }
  /// A bank of anything at all, but that metadata are legal.
  void fill(bool b, unsigned images) {
    tile_.push(tile_.loads_of(b, random_.bank(b, random_.fmt(), images, Style::any), 1));
  }
  /// Both, complete: a command that must be refused then starts no beat.
  void fill_both(unsigned a_images, unsigned b_images) {
    fill(false, a_images), fill(true, b_images);
    tile_.await("loading", [&] { return tile_.words_to_feed() == 0; });
    tile_.wait(4);
  }

  /// The command that was just pushed must be refused; then the next one comes to a tile as after reset.
  void expect_refused(TileError error, const std::string& why) {
    tile_.describe = why;
    tile_.irq_known = false;
    bench_.vector();
    tile_.await("error not found", [&] { return regs::status::error.get(tile_.status()) != 0; });
    bench_.expect_eq("STATUS.error", regs::status::error.get(tile_.status()), static_cast<std::uint32_t>(error),
                     [&] { return tile_.describe; });
    tile_.soft_reset();
  }

  void sweep_value(unsigned value) {
    const std::string name = std::to_string(value);
    for (const bool b : {false, true}) {
      Command c = random_.shaped(1, 1, 1);
      (b ? c.b_panels : c.a_panels) = value;
      refuse(c, 1, 1, TileError::bank_mismatch, (b ? "B panels " : "A panels ") + name);
      c.last = false;  // of a sum that goes on
      refuse(c, 1, 1, TileError::bad_compute, (b ? "B panels of a sum " : "A panels of a sum ") + name);
      if (value < 256 && value > (b ? cols : rows)) {
        c = random_.shaped(1, 1, 1);
        (b ? c.cols_used : c.rows_used) = value;
        refuse(c, 1, 1, TileError::bad_compute, (b ? "columns " : "rows ") + name);
      }
    }
    refuse(random_.shaped(1, 1, value), 1, 1, too_long(value), "beats " + name);
    refuse_end(random_.upto(std::min({a_depth, b_depth, max_beats})), value);
  }
  static TileError too_long(unsigned beats) {
    return beats > max_beats ? TileError::bad_compute : TileError::bank_mismatch;
  }
  void refuse(const Command& c, unsigned a_images, unsigned b_images, TileError error, const std::string& why) {
    fill_both(a_images, b_images);
    tile_.push(c);
    expect_refused(error, why);
  }
  /// A sum of so many beats that goes on with a command of more beats than its banks hold, or than MaxBeats allows.
  void refuse_end(unsigned sum, unsigned beats) {
    unsigned images = std::min({sum, a_depth, b_depth});
    while (sum % images != 0) --images;
    fill(false, images), fill(true, images);
    Command c = random_.shaped(1, 1, images);
    c.last = false;
    for (unsigned left = sum; left > 0; left -= images) {
      c.first = left == sum;
      c.release_a = c.release_b = left == images;
      tile_.await("compute queue full", [&] { return regs::status::compute_space.get(tile_.status()) != 0; });
      tile_.push(c);
    }
    c.first = false, c.last = true, c.beats = beats;
    refuse(c, 1, 1, too_long(sum + beats), std::to_string(beats) + " beats after " + std::to_string(sum));
  }
  void refuse_more(bool b, unsigned filled, unsigned more) {
    tile_.push(Load{.b = b, .more = true, .beats = filled});
    feed_noise(filled * words_per_image(b), true);
    tile_.push(Load{.b = b, .more = tile_.rng().chance(0.5), .beats = more});
    expect_refused(TileError::bad_load, "load of " + std::to_string(more) + " images behind " + std::to_string(filled) +
                                            (b ? " of B" : " of A"));
  }

  /// More images than a bank can hold, before any have come.
  void refuse_beyond(bool b) {
    const unsigned depth = b ? b_depth : a_depth;
    for (const unsigned panels :
         {depth + 1, depth + random_.upto(depth - 1), 2 * depth - 1, 2 * depth, 2 * depth + 1}) {
      Command c = random_.shaped(1, 1, 1);
      (b ? c.b_panels : c.a_panels) = panels;
      tile_.push(c);
      expect_refused(TileError::bank_mismatch, std::to_string(panels) + " images of " + (b ? "B" : "A") + " to come");
    }
  }

  /// Numbers of images that a comparison of few bits takes for one another.
  void sweep_images(bool b) {
    const unsigned depth = b ? b_depth : a_depth, other = b ? a_depth : b_depth;
    const auto refuse_images = [&](unsigned panels, unsigned beats, unsigned images) {
      Command c = random_.shaped(1, 1, beats);
      (b ? c.b_panels : c.a_panels) = panels;
      refuse(c, b ? beats : images, b ? images : beats, TileError::bank_mismatch,
             std::to_string(panels) + " panels of " + std::to_string(beats) + " beats and " + std::to_string(images) +
                 (b ? " images of B" : " images of A"));
    };
    refuse_images(2 * depth, 1, depth);  // product beyond the bank, bank full
    // Products beyond the bank whose low bits are the number of images.
    std::vector<std::array<unsigned, 3>> products;
    for (unsigned beats = 1; beats <= std::min({depth, other, max_beats, 16U}); ++beats) {
      for (unsigned panels = 1; panels < 2 * depth; ++panels) {
        const unsigned images = panels * beats % (2 * depth);
        if (panels * beats > 2 * depth && images > 0 && images <= std::min(depth, 16U))
          products.push_back({panels, beats, images});
      }
    }
    for (unsigned i = 0; i < 24 && !products.empty(); ++i) {
      const auto at = products.begin() + tile_.rng().below(static_cast<unsigned>(products.size()));
      refuse_images((*at)[0], (*at)[1], (*at)[2]);
      products.erase(at);
    }
    // Every other number in a small bank.
    const unsigned small = std::min(depth, 4U);
    for (unsigned panels = 1; panels <= small; ++panels) {
      for (unsigned images = 1; images <= small; ++images)
        if (images != panels) refuse_images(panels, 1, images);
    }
  }
  Harness& tile_;
  Bench& bench_;
  Stimulus& random_;
};

}  // namespace narrowgauge::tile_bench
