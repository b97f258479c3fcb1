// SPDX-License-Identifier: Apache-2.0
// Our units as graphs of words: the lines of the RTL. Private to ng_power.
#pragma once

#include <cmath>

#include "features_graph.hpp"
#include "features_operands.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/mac/dot_nvfp4.hpp"

namespace narrowgauge::power::words {

/// Numbers that ng_fp_mac takes, one pair a cycle.
inline bool is_float(MacFormat format) { return is_wide_float(format); }

/// Sums in FP32, rounded in every cycle.
inline bool is_rounded(MacFormat format) { return is_float(format) || format == MacFormat::mxfp4; }

// ---- shapes

/// Levels of a balanced tree of n leaves.
inline int tree_levels(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1))); }
inline int fp8_lane_width(MacFormat format) { return format == MacFormat::fp8_e4m3 ? 37 : 65; }
/// Bits of a leaf of the adder tree: a product, or a block of NVFP4 with its scales.
inline int leaf_width(const MacSpec& mac) {
  if (is_repeated(mac)) return mac.a_width;
  if (is_split(mac)) return mac.a_width + mac.b_width;
  if (mac.is(MacFormat::integer)) return mac.a_width + mac.b_width + (!mac.a_signed && !mac.b_signed);
  return mac.is(MacFormat::nvfp4) ? 48 : mac.luq() ? 11 : fp8_lane_width(mac.format());
}
inline int leaves(const MacSpec& mac) {
  return mac.is(MacFormat::nvfp4) || mac.is(MacFormat::mxfp4) ? mac.lanes / 16 : mac.lanes;
}
inline int term_width(const MacSpec& mac) { return leaf_width(mac) + tree_levels(leaves(mac)); }
/// 65536 terms fit the tile's accumulators.
inline int accumulator_width(const MacSpec& mac) {
  return mac.is(MacFormat::integer) ? mac.acc_width : term_width(mac) + 16;
}

/// A small IEEE format by its bits.
struct FloatShape {
  int exp_bits, man_bits;
  int bits() const { return 1 + exp_bits + man_bits; }
  int bias() const { return (1 << (exp_bits - 1)) - 1; }
  int product_width() const { return 2 * man_bits + 2; }
  /// Leading zeros of a product (ng_fma_fp32).
  int unnormal() const { return exp_bits < 8 ? product_width() - 1 : man_bits + 1; }
};
inline FloatShape float_shape(MacFormat format) {
  return format == MacFormat::bf16   ? FloatShape{8, 7}
         : format == MacFormat::fp16 ? FloatShape{5, 10}
         : format == MacFormat::tf32 ? FloatShape{8, 10}
                                     : FloatShape{8, 23};
}
inline float float_value(MacFormat format, std::uint32_t code) {
  return format == MacFormat::fp16 ? static_cast<float>(decode(desc(Format::fp16), code))
                                   : std::bit_cast<float>(code << (23 - float_shape(format).man_bits));
}

// ---- adders

template <class W>
W majority(W x, W y, W z) {
  return (x & y) | (z & (x | y));
}

template <class W>
struct Addends {
  W x, y, carry;
};

/// The carries of a ripple adder: bit i is the carry into bit i, bit `width` the carry out. x makes the Addends of
/// three nodes' values: the rest of the row above, and what is added to it.
template <class W, class X>
int ripple_carries(Graph<W>& g, Kind kind, int width, int above, int above_carries, int partial, X x, W carry_in) {
  const W mask = ones<W>(width + 1);
  return g.node(
      kind, width + 1, {above, above_carries, partial, Graph<W>::self},
      [=](std::size_t n, W* out, const W* const* in) {
        for (std::size_t t = 0; t < n; ++t) {
          const auto [p, q, c] = x(in[0][t], in[1][t], in[2][t]);
          out[t] = (majority<W>(p, q, in[3][t]) << 1 | c | carry_in) & mask;
        }
      },
      [=](std::size_t n, W* out, const W* const* in) {
        for (std::size_t t = 0; t < n; ++t) {
          const auto [p, q, c] = x(in[0][t], in[1][t], in[2][t]);
          out[t] = (p ^ q ^ (p + q + (c | carry_in))) & mask;
        }
      });
}

/// x + y + carry modulo 2^width by Brent and Kung's prefix tree, as synthesis makes of a `+`. x and y are sign-extended
/// from their own widths; carry: a node of one bit, or -1.
template <class W>
int prefix_add(Graph<W>& g, Kind kind, int width, int x, int x_width, int y, int y_width, int carry = -1) {
  const W mask = ones<W>(width);
  const auto wide = [=](W v, int from) { return from >= width ? v & mask : extend(v, from, width); };
  const int propagate = g.slow(g.map(kind, width, x, y, [=](W p, W q) { return wide(p, x_width) ^ wide(q, y_width); }));
  int generate = carry < 0 ? g.map(kind, width, x, y, [=](W p, W q) { return wide(p, x_width) & wide(q, y_width); })
                           : g.map(kind, width, x, y, carry,
                                   [=](W p, W q, W c) { return majority<W>(wide(p, x_width), wide(q, y_width), c); });
  int all = propagate;
  const auto combine = [&](int distance, W at) {
    const int next =
        g.map(kind, width, generate, all, [=](W gen, W prop) { return gen | (at & prop & gen << distance); });
    g.count_only(next, at);
    const int next_all = g.map(kind, width, all, [=](W prop) { return prop & (~at | prop << distance); });
    g.count_only(next_all, at);
    generate = next;
    all = next_all;
  };
  const int levels = tree_levels(width);
  const auto positions = [&](int first, int period) {
    W at = 0;
    for (int j = first; j < width; j += period) at |= W{1} << j;
    return at;
  };
  for (int l = 1; l <= levels; ++l)
    if (const W at = positions((1 << l) - 1, 1 << l)) combine(1 << (l - 1), at);
  for (int l = levels; l >= 2; --l)
    if (const W at = positions((1 << (l - 1)) + (1 << (l - 2)) - 1, 1 << (l - 1))) combine(1 << (l - 2), at);
  if (carry < 0)
    return g.slow(g.map(kind, width, propagate, generate, [=](W prop, W gen) { return (prop ^ gen << 1) & mask; }));
  return g.slow(g.map(kind, width, propagate, generate, carry,
                      [=](W prop, W gen, W c) { return (prop ^ (gen << 1 | c)) & mask; }));
}

// ---- integer multipliers (ng_int_mult): nodes of a and b to one of a_width + b_width bits

/// Joins the rows' results, `bits` low bits of each but the last, to the product.
template <class W, class Row>
int join_rows(Graph<W>& g, const std::vector<int>& rows, int nodes_a_row, int bits, int width, Row row) {
  const std::size_t count = rows.size() / static_cast<std::size_t>(nodes_a_row);
  return g.node(wire, width, rows, [=](std::size_t n, W* out, const W* const* in) {
    std::fill_n(out, n, W{0});
    for (std::size_t j = 0; j < count; ++j)
      for (std::size_t t = 0; t < n; ++t) {
        const W value = row(in + j * static_cast<std::size_t>(nodes_a_row), t, j + 1 == count);
        out[t] |= (j + 1 == count ? value : value & ones<W>(bits)) << (static_cast<int>(j) * bits) & ones<W>(width);
      }
  });
}

template <class W>
int multiply_array(Graph<W>& g, const MacSpec& mac, int a, int b) {
  const int wa = mac.a_width, wb = mac.b_width;
  g.drives(a, wb);
  g.drives(b, wa);
  const W mask = ones<W>(wa), top = mac.a_signed ? W{1} << (wa - 1) : W{0};
  std::vector<int> rows;  // sum, carries, sum, carries ...
  for (int j = 0; j < wb; ++j) {
    const bool last_signed = mac.b_signed && j == wb - 1;
    const W invert = (last_signed ? mask : W{0}) ^ top;
    const int partial = g.map(array_kind, wa, a, b, [=](W x, W y) { return (x & (W{0} - (y >> j & 1))) ^ invert; });
    const auto addends = [=](W above, W above_carries, W p) {
      return Addends<W>{j == 0 ? top : above >> 1 | (above_carries >> wa & 1) << (wa - 1), p, W{0}};
    };
    const int above = j == 0 ? partial : rows[rows.size() - 2], above_carries = j == 0 ? partial : rows.back();
    const int carries = ripple_carries(g, array_kind, wa, above, above_carries, partial, addends, W{last_signed});
    const int half = g.slow(g.map(array_kind, wa, above, above_carries, partial, [=](W v, W c, W p) {
      [[maybe_unused]] const auto [x, y, in] = addends(v, c, p);
      return x ^ y;
    }));
    const int sum = g.slow(g.map(array_kind, wa, half, carries, [=](W h, W c) { return (h ^ c) & mask; }));
    rows.push_back(sum);
    rows.push_back(carries);
  }
  const W invert = mac.a_signed || mac.b_signed ? W{1} << wa : W{0};
  return join_rows(g, rows, 2, 1, wa + wb, [=](const W* const* in, std::size_t t, bool last) {
    return last ? (in[0][t] | (in[1][t] >> wa & 1) << wa) ^ invert : in[0][t];
  });
}

template <class W>
int multiply_booth(Graph<W>& g, const MacSpec& mac, int a, int b) {
  const int wa = mac.a_width, wb = mac.b_width;
  const bool a_signed = mac.a_signed, b_signed = mac.b_signed;
  const int w = wa + 1 - a_signed, digits = (wb + 2 - b_signed) / 2, width = w + 2;
  const W mask = ones<W>(width);
  g.drives(a, 2 * digits);
  g.drives(b, 3 * wa / 2);
  std::vector<int> sums;
  for (int j = 0; j < digits; ++j) {
    const int digit = g.map(booth_kind, 3, b, [=](W v) {  // one, two, negative
      const W y = (b_signed ? extend(v, wb, 60) : v) << 1 >> (2 * j);
      const W one = (y ^ y >> 1) & 1;
      return one | (~one & (y >> 1 ^ y >> 2) & 1) << 1 | (y >> 2 & 1) << 2;
    });
    const int multiple = g.map(booth_kind, width, a, digit, [=](W v, W d) {
      const W x = a_signed ? extend(v, wa, width) : v;
      return ((d & 1 ? x : W{0}) | (d & 2 ? x << 1 & mask : W{0})) ^ (d & 4 ? mask : W{0});
    });
    const auto addends = [=](W above, W d, W m) {
      return Addends<W>{j == 0 ? W{0} : extend(above >> 2, width - 2, width), m, d >> 2 & 1};
    };
    const int above = j == 0 ? multiple : sums.back();
    const int carries = ripple_carries(g, booth_kind, width, above, digit, multiple, addends, W{0});
    g.count_only(carries, mask & ~W{1});
    const int half = g.slow(g.map(booth_kind, width, above, digit, multiple, [=](W v, W d, W m) {
      [[maybe_unused]] const auto [x, y, in] = addends(v, d, m);
      return x ^ y;
    }));
    sums.push_back(g.slow(g.map(booth_kind, width, half, carries, [=](W h, W c) { return (h ^ c) & mask; })));
  }
  return join_rows(g, sums, 1, 2, wa + wb, [](const W* const* in, std::size_t t, bool) { return in[0][t]; });
}

template <class W>
int multiply_wallace(Graph<W>& g, const MacSpec& mac, int a, int b) {
  const int wa = mac.a_width, wb = mac.b_width, width = wa + wb;
  g.drives(a, wb);
  g.drives(b, wa);
  const W mask = ones<W>(width), low = ones<W>(wa);
  const W fix = (mac.a_signed || mac.b_signed ? W{1} << (width - 1) : W{0}) + (mac.a_signed ? W{1} << (wa - 1) : W{0}) +
                (mac.b_signed ? W{1} << (wb - 1) : W{0});
  const auto first_row = [&](int k) { return k < wa ? 0 : k - wa + 1; };
  const auto height = [&](int k) { return std::min(k, wb - 1) - first_row(k) + 1; };
  int count = 2;
  for (int k = 0; k < width; ++k) count = std::max(count, height(k) + static_cast<int>(fix >> k & 1));
  std::vector<int> rows;
  for (int s = 0; s < count; ++s) {
    W invert = 0;
    for (int k = 0; k < width; ++k) {
      const int j = s + first_row(k), i = k - j;
      if (s < height(k))
        invert |= W{(mac.a_signed && i == wa - 1) != (mac.b_signed && j == wb - 1)} << k;
      else if (s == height(k))
        invert |= (fix >> k & 1) << k;
    }
    // Columns below wa: row s of the array, from column s on; columns above: bit wa - 1 - s of a times the rest of b.
    rows.push_back(g.map(wallace_kind, width, a, b, [=](W x, W y) {
      const W right = s < wb ? (x & (W{0} - (y >> s & 1))) << s & low : W{0};
      const W left = s < wa ? (y & (W{0} - (x >> (wa - 1 - s) & 1))) << (wa - 1 - s) & ~low : W{0};
      return (right | left) ^ invert;
    }));
  }
  while (rows.size() > 2) {
    std::vector<int> next;
    for (std::size_t i = 0; i + 3 <= rows.size(); i += 3) {
      const int half = g.slow(g.map(wallace_kind, width, rows[i], rows[i + 1], [](W x, W y) { return x ^ y; }));
      next.push_back(g.slow(g.map(wallace_kind, width, half, rows[i + 2], [](W h, W z) { return h ^ z; })));
      next.push_back(g.map(wallace_kind, width, rows[i], rows[i + 1], rows[i + 2],
                           [=](W x, W y, W z) { return majority<W>(x, y, z) << 1 & mask; }));
    }
    for (std::size_t i = rows.size() / 3 * 3; i < rows.size(); ++i) next.push_back(rows[i]);
    rows = next;
  }
  return prefix_add(g, adder_kind, width, rows[0], width, rows[1], width);
}

/// ng_int_mult_serial behind the registers of what it is offered; offer: bit 1, the pair is taken. Returns the product,
/// there in the cycle in which the next pair is taken.
template <class W>
int multiply_serial(Graph<W>& g, const MacSpec& mac, int a, int b, int offer) {
  const int wa = mac.a_width, wb = mac.b_width, width = wa + wb, sum_width = wa + 1;
  const W mask = ones<W>(sum_width);
  const bool a_signed = mac.a_signed, b_signed = mac.b_signed;
  const auto wide = [=](W v) { return a_signed ? extend(v, wa, sum_width) : v; };
  const auto above = [=](W sum) { return wide(sum >> wb); };
  const auto term = [=](W x, W sum, W last) {
    return ((sum & 1 ? wide(x) : W{0}) ^ (b_signed && (last & sum & 1) ? mask : W{0})) & mask;
  };
  const auto carry_in = [=](W sum, W last) { return W{b_signed && (last & sum & 1) != 0}; };
  const int held =
      g.reg(serial_registers, wa, {a, offer}, [value = W{0}](std::size_t n, W* out, const W* const* in) mutable {
        for (std::size_t t = 0; t < n; ++t) {
          out[t] = value;
          if (in[1][t] & 2) value = in[0][t];
        }
      });
  // Steps to go.
  const int count = g.reg(serial_registers, static_cast<int>(std::bit_width(static_cast<unsigned>(wb - 1))), {offer},
                          [=, value = W{0}](std::size_t n, W* out, const W* const* in) mutable {
                            for (std::size_t t = 0; t < n; ++t) {
                              out[t] = value;
                              value = in[0][t] & 2 ? static_cast<W>(wb - 1) : value - (value != 0);
                            }
                          });
  const int last = g.map(serial_kind, 1, count, [](W c) { return W{c <= 1}; });
  const int sum = g.reg(serial_registers, width, {a, b, offer, held, last},
                        [=, value = W{0}](std::size_t n, W* out, const W* const* in) mutable {
                          for (std::size_t t = 0; t < n; ++t) {
                            out[t] = value;
                            if (in[2][t] & 2)
                              value = ((in[1][t] & 1 ? wide(in[0][t]) : W{0}) << (wb - 1)) | in[1][t] >> 1;
                            else if (!(in[4][t]))
                              value = ((above(value) + term(in[3][t], value, W{0})) & mask) << (wb - 1) |
                                      (value >> 1 & ones<W>(wb - 1));
                          }
                        });
  const int terms = g.map(serial_kind, sum_width, held, sum, last, term);
  const auto addends = [=](W v, W l, W p) { return Addends<W>{above(v), p, carry_in(v, l)}; };
  const int carries = ripple_carries(g, serial_kind, sum_width, sum, last, terms, addends, W{0});
  const int half = g.slow(g.map(serial_kind, sum_width, sum, terms, [=](W v, W p) { return above(v) ^ p; }));
  const int next = g.slow(g.map(serial_kind, sum_width, half, carries, [=](W h, W c) { return (h ^ c) & mask; }));
  const int product =
      g.map(wire, width, next, sum, [=](W s, W v) { return s << (wb - 1) | (v >> 1 & ones<W>(wb - 1)); });
  const int loaded = g.map(serial_kind, sum_width, a, b, [=](W x, W y) { return y & 1 ? wide(x) : W{0}; });
  const int all = g.map(wire, width, loaded, b, [=](W s, W y) { return s << (wb - 1) | y >> 1; });
  const auto choose = [](W old, W offered, W o) { return o & 2 ? offered : old; };
  g.map(serial_kind, width, product, all, offer, choose);
  g.map(serial_kind, wa, held, a, offer, choose);
  return product;
}

template <class W>
int multiply(Graph<W>& g, const MacSpec& mac, int a, int b) {
  if (mac.structure == Structure::array) return multiply_array(g, mac, a, b);
  return mac.structure == Structure::booth ? multiply_booth(g, mac, a, b) : multiply_wallace(g, mac, a, b);
}

// ---- E2M1 (ng_dot_e2m1)

/// A node of its tree: stands for -sum if its sign is set; -1: it has none.
struct SignedNode {
  int sum, negative;
};

/// The products of 16 lanes; lane i in bits 4i to 4i + 3. `first`: lane 0 is made two's complement, the others leave
/// their sign pending.
template <class W>
void multiply_e2m1(Graph<W>& g, int a, int b, bool first, std::vector<SignedNode>& out) {
  constexpr auto unit = static_cast<W>(0x1111'1111'1111'1111);
  const auto mux = [](W select, W one, W zero) { return (select & one) | (~select & zero); };
  const int m = g.map(product_kind, 64, a, [](W x) {  // |a|
    const W a2 = x >> 2 & unit, a1 = x >> 1 & unit, a0 = x & unit;
    return (a2 & a1) << 3 | (a2 & ~(a1 & ~a0)) << 2 | ((a1 & ~a2) | (a0 & a2 & ~a1)) << 1 | (a0 & ~a2);
  });
  const int u = g.map(product_kind, 64, a, b, m, [=](W x, W y, W mag) {  // b0 ? 3|a| : 2|a|, low four bits
    const W a2 = x >> 2 & unit, a1 = x >> 1 & unit, a0 = x & unit, b0 = y & unit;
    const W m2 = mag >> 2 & unit, m1 = mag >> 1 & unit, m0 = mag & unit;
    return (mux(b0, mux(a2, ~a0, a1 & a0), m2) & unit) << 3 | (m1 ^ (b0 & (m2 ^ (m1 & m0)))) << 2 |
           (mux(b0, (a0 & ~a1) | (a1 & ~a0 & ~a2), m0) & unit) << 1 | (b0 & m0);
  });
  const int u_high = g.map(product_kind, 64, a, b, [=](W x, W y) {
    const W a2 = x >> 2 & unit, a1 = x >> 1 & unit, a0 = x & unit, b0 = y & unit;
    return (b0 & a2 & a1 & a0) << 1 | (a2 & (a1 ^ (b0 & a0)));
  });
  const auto mux4 = [=](W b2, W b1, W d3, W d2, W d1, W d0) {
    return mux(b2, mux(b1, d3, d2), mux(b1, d1, d0)) & unit;
  };
  const int high = g.map(product_kind, 64, u, u_high, b, [=](W ul, W uh, W y) {
    const W u5 = uh >> 1 & unit, u4 = uh & unit, u3 = ul >> 3 & unit, u2 = ul >> 2 & unit;
    const W b2 = y >> 2 & unit, b1 = y >> 1 & unit;
    return mux4(b2, b1, u5, 0, 0, 0) << 3 | (b2 & mux(b1, u4, u5)) << 2 | mux4(b2, b1, u3, u4, u5, 0) << 1 |
           mux4(b2, b1, u2, u3, u4, 0);
  });
  const int low = g.map(product_kind, 64, u, m, b, [=](W ul, W mag, W y) {
    const W u3 = ul >> 3 & unit, u2 = ul >> 2 & unit, u1 = ul >> 1 & unit, u0 = ul & unit, b0 = y & unit;
    const W b2 = y >> 2 & unit, b1 = y >> 1 & unit;
    return mux4(b2, b1, u1, u2, u3, b0 & mag >> 3 & unit) << 3 | mux4(b2, b1, u0, u1, u2, b0 & mag >> 2 & unit) << 2 |
           mux4(b2, b1, 0, u0, u1, b0 & mag >> 1 & unit) << 1 | mux4(b2, b1, 0, 0, u0, b0 & mag & unit);
  });
  for (int i = 0; i < 16; ++i) {
    const int sign = g.map(wire, 1, a, b, [=](W x, W y) { return (x ^ y) >> (4 * i + 3) & 1; });
    const int magnitude =
        g.map(wire, 9, high, low, [=](W h, W l) { return (h >> (4 * i) & 15) << 4 | (l >> (4 * i) & 15); });
    if (i > 0 || !first) {
      out.push_back({magnitude, sign});
      continue;
    }
    const int inverted = g.map(adder_kind, 9, magnitude, sign, [](W v, W s) { return (v ^ (W{0} - s)) & ones<W>(9); });
    out.push_back({prefix_add(g, adder_kind, 9, inverted, 9, sign, 9), -1});
  }
}

/// The dot product of words of 16 lanes: 13 bits, one more for each doubling.
template <class W>
int dot_e2m1(Graph<W>& g, const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<SignedNode> node;
  for (std::size_t i = 0; i < a.size(); ++i) multiply_e2m1(g, a[i], b[i], i == 0, node);
  for (int width = 9; node.size() > 1; ++width) {
    std::vector<SignedNode> next;
    for (std::size_t i = 0; i + 1 < node.size(); i += 2) {
      const auto& [left, pending] = node[i];
      const int differ = pending < 0
                             ? node[i + 1].negative
                             : g.map(adder_kind, 1, pending, node[i + 1].negative, [](W x, W y) { return x ^ y; });
      const int right = g.map(adder_kind, width, node[i + 1].sum, differ,
                              [=](W v, W d) { return (v ^ (W{0} - d)) & ones<W>(width); });
      next.push_back({prefix_add(g, adder_kind, width + 1, left, width, right, width, differ), pending});
    }
    node = next;
  }
  return node[0].sum;
}

/// Both block scales of NVFP4 (ng_scale_nvfp4): 13-bit dot to 48-bit term.
template <class W>
int scale_nvfp4(Graph<W>& g, int dot, int a_scale, int b_scale) {
  const auto normal = [](W c) { return (c & 7) | W{(c & 0x78) != 0} << 3; };
  const auto exponent = [](W c) { return std::max<W>(c >> 3 & 15, 1); };
  const MacSpec four{.a_width = 4, .b_width = 4, .a_signed = false, .b_signed = false};
  const int significand = multiply_wallace(g, four, g.map(wire, 4, a_scale, normal), g.map(wire, 4, b_scale, normal));
  const int shift =
      prefix_add(g, product_kind, 5, g.map(wire, 4, a_scale, exponent), 5, g.map(wire, 4, b_scale, exponent), 5);
  std::array<int, 2> product{};
  for (int half = 0; half < 2; ++half) {
    int partial = -1, out = -1;
    for (int i = 0; i < 4; ++i) {
      const int bit = 4 * half + i;
      const auto chosen = [=](W v, W s) { return s >> bit & 1 ? v : W{0}; };
      if (i == 0) {
        partial = g.map(adder_kind, 14, dot, significand, [=](W d, W s) { return chosen(extend(d, 13, 14), s); });
      } else {
        const int before = g.map(wire, 14, partial, [](W p) { return extend(static_cast<W>(p >> 1), 13, 14); });
        const int sum = prefix_add(g, adder_kind, 14, before, 14, dot, 13);
        partial = g.map(adder_kind, 14, before, sum, significand, [=](W p, W v, W s) { return s >> bit & 1 ? v : p; });
      }
      const auto part = [=](W p) { return i < 3 ? (p & 1) << i : p << 3; };
      out = i == 0 ? g.map(wire, 17, partial, part)
                   : g.map(wire, 17, out, partial, [=](W o, W p) { return o | part(p); });
    }
    product[static_cast<std::size_t>(half)] = out;
  }
  const int high = g.map(wire, 20, product[1], [](W v) { return v << 4 & ones<W>(20); });
  const int whole = prefix_add(g, adder_kind, 20, product[0], 17, high, 20);
  int shifted = g.map(wire, 50, whole, [](W v) { return extend(v, 20, 50); });
  for (int k = 0; k < 5; ++k)
    shifted =
        g.map(shift_kind, 50, shifted, shift, [=](W v, W s) { return s >> k & 1 ? v << (1 << k) & ones<W>(50) : v; });
  return g.map(wire, 48, shifted, [](W v) { return v >> 2; });
}

// ---- FP8 (ng_fp8_lane)

/// A lane's product; a negative one at one's complement owes 1, unless it is exact (owed -1).
struct LaneProduct {
  int term, owed;
};

template <class W>
LaneProduct multiply_fp8(Graph<W>& g, MacFormat format, bool exact, int a, int b) {
  const bool e4m3 = format == MacFormat::fp8_e4m3;
  const int man = e4m3 ? 3 : 2, width = fp8_lane_width(format), drop = e4m3 ? 2 : 4;
  const W man_mask = ones<W>(man), exp_mask = ones<W>(7 - man);
  const auto significand = [=](W code) {
    return ((code & man_mask) | W{(code >> man & exp_mask) != 0} << man) << (3 - man);
  };
  const int a_sig = g.map(product_kind, 4, a, significand), b_sig = g.map(product_kind, 4, b, significand);
  const int parts = g.map(product_kind, 16, a_sig, b_sig, [](W x, W y) {
    return (x & 3) * (y & 3) | (x & 3) * (y >> 2) << 4 | (x >> 2) * (y & 3) << 8 | (x >> 2) * (y >> 2) << 12;
  });
  const int lh = g.map(wire, 4, parts, [](W p) { return p >> 4 & 15; }),
            hl = g.map(wire, 4, parts, [](W p) { return p >> 8 & 15; });
  const int middle = prefix_add(g, product_kind, 5, lh, 5, hl, 5);
  const int outer = g.map(wire, 6, parts, [](W p) { return (p >> 12) << 2 | (p >> 2 & 3); });
  const int upper = prefix_add(g, product_kind, 6, outer, 6, middle, 6);
  const int product = g.map(wire, 8, upper, parts, [](W u, W p) { return u << 2 | (p & 3); });
  const auto exponent = [=](W code) { return std::max<W>(code >> man & exp_mask, 1); };
  const int s = prefix_add(g, product_kind, 6, g.map(wire, 5, a, exponent), 6, g.map(wire, 5, b, exponent), 6);
  const int sign = g.map(product_kind, 1, a, b, [](W x, W y) { return (x ^ y) >> 7 & 1; });
  const int number =
      exact ? prefix_add(g, adder_kind, 9,
                         g.map(adder_kind, 9, product, sign, [](W p, W n) { return (p ^ (W{0} - n)) & ones<W>(9); }), 9,
                         sign, 9)
            : product;
  const auto mask = ones<W>(width + drop);
  // With `exact` the number is signed; else its sign inverts it on the way, and what comes in from below with it.
  const int v1 = g.map(shift_kind, 10, number, s,
                       [=](W p, W by) { return ((exact ? extend(p, 9, 10) : p) << (by & 1)) & ones<W>(10); });
  const int v3 = g.map(shift_kind, 13, v1, s, sign, [=](W p, W by, W n) {
    return ((exact ? extend(p, 10, 13) : p) << (by & 2) ^ (exact ? W{0} : W{0} - n)) & ones<W>(13);
  });
  const int v = g.map(shift_kind, 17, v3, s, sign, [=](W p, W by, W n) {
    const W fill = by & 4 && !exact && n ? W{15} : W{0};
    return (extend(p, 13, 17) << (by & 4) | fill) & ones<W>(17);
  });
  const int term = g.map(shift_kind, width, v, s, sign, [=](W p, W by, W n) {
    const int high = static_cast<int>(by & ~W{7});
    const W fill = !exact && n ? ones<W>(high) : W{0};
    return ((extend(p, 17, width + drop) << high | fill) & mask) >> drop;
  });
  return {term, exact ? -1 : sign};
}

// ---- LUQ (ng_dot_luq, ng_mul_luq)

/// INT4 in a shifted by the exponent field of FP4 [1,3,0] in b, and down by one: 11 bits. The exact one is negated in
/// full before.
template <class W>
LaneProduct multiply_luq(Graph<W>& g, bool exact, int a, int b) {
  const int width = 11, bits = exact ? 5 : 4;
  const int sign = g.map(wire, 1, b, [](W y) { return y >> 3; });
  const int number = exact ? prefix_add(g, adder_kind, 5,
                                        g.map(adder_kind, 5, a, sign,
                                              [](W x, W n) { return (extend(x, 4, 5) ^ (W{0} - n)) & ones<W>(5); }),
                                        5, sign, 5)
                           : g.map(product_kind, 4, a, b, [](W x, W y) { return y & 7 ? x : W{0}; });
  const int v1 = g.map(shift_kind, bits + 1, number, b,
                       [=](W p, W y) { return (extend(p, bits, bits + 1) << (y & 1)) & ones<W>(bits + 1); });
  const int v3 = g.map(shift_kind, bits + 3, v1, b,
                       [=](W p, W y) { return (extend(p, bits + 1, bits + 3) << (y & 2)) & ones<W>(bits + 3); });
  const int term = g.map(shift_kind, width, v3, b, [=](W p, W y) {
    const W shifted = ((extend(p, bits + 3, width + 1) << (y & 4)) >> 1) & ones<W>(width);
    if (exact) return y & 7 ? shifted : W{0};
    return shifted ^ (y >> 3 ? ones<W>(width) : W{0});
  });
  return {term, exact ? -1 : sign};
}

/// What its lanes owe, in the order in which ng_sum_tree takes it: an adder of two subtrees that of the right one's
/// first lane. The lanes are a power of two.
inline std::vector<int> owed_by_subtrees(const std::vector<int>& owed) {
  std::vector<int> order{owed[0]};
  for (std::size_t step = 1; step < owed.size(); step *= 2)
    for (std::size_t lane = step; lane < owed.size(); lane += 2 * step) order.push_back(owed[lane]);
  return order;
}

// ---- trees and accumulators

/// ng_sum_tree: its adders take the carries (owed by leaf 1, 2, ...; empty: none) in the order in which they come.
template <class W>
int sum_tree(Graph<W>& g, int width, std::vector<int> leaf, const std::vector<int>& owed) {
  std::size_t carry = 1;
  for (std::size_t count = leaf.size(); count > 1; count = (count + 1) / 2, ++width) {
    for (std::size_t i = 0; 2 * i + 1 < count; ++i)
      leaf[i] = prefix_add(g, adder_kind, width + 1, leaf[2 * i], width, leaf[2 * i + 1], width,
                           owed.empty() ? -1 : owed[carry++]);
    if (count % 2 != 0)
      leaf[count / 2] = g.map(wire, width + 1, leaf[count - 1], [=](W v) { return extend(v, width, width + 1); });
  }
  return leaf[0];
}

/// The sum of some leaves, and the node that says whether it still owes a carry: of its first leaf; -1: none.
struct Partial {
  int sum = -1, owed = -1;
};

/// sum_tree of so many leaves that are alike, two simulated ones: the first, which owes nothing, and one for all
/// others. By doubling: operands of a level's adders are alike, and so one adder stands for all, with an operand and
/// another like it (Graph::shuffled). Besides: the first adder of each level, which leads to the sum, and what is left
/// over at the end where the leaves are no power of two. A right operand's carry goes into its own adder.
template <class W>
int sum_tree_alike(Graph<W>& g, int width, int first, Partial other, std::size_t count) {
  unsigned seed = 0;
  const auto another = [&](const Partial& p) {
    ++seed;
    return Partial{g.shuffled(p.sum, seed), p.owed < 0 ? -1 : g.shuffled(p.owed, seed)};
  };
  const auto add = [&](const Partial& left, const Partial& right, std::size_t alike) {
    g.alike(alike);
    return Partial{prefix_add(g, adder_kind, width + 1, left.sum, width, right.sum, width, right.owed), left.owed};
  };
  Partial begin{first, -1}, middle = other, end;  // end: of fewer leaves than the others, if there is one
  for (; count > 1; count = (count + 1) / 2, ++width) {
    const bool rest = end.sum >= 0;
    const Partial last = rest ? end : another(middle);
    Partial next_end;
    if (count % 2 != 0) {
      g.alike(1);
      next_end = {g.map(wire, width + 1, last.sum, [=](W v) { return extend(v, width, width + 1); }), last.owed};
    } else if (rest && count > 2) {
      next_end = add(another(middle), end, 1);
    }
    const std::size_t like = count / 2 - 1 - (count % 2 == 0 && rest && count > 2);
    const Partial next_begin = add(begin, count == 2 ? last : another(middle), 1);
    if (like > 0) middle = add(middle, another(middle), like);
    begin = next_begin;
    end = next_end;
  }
  g.alike(1);
  return begin.sum;
}

/// ng_exact_acc. first: a node, 1 where a sum starts.
template <class W>
int accumulate(Graph<W>& g, int term, int term_bits, int width, int first) {
  const int before = g.sequence(g.reg(
      accumulator_register, width, {term, first}, [=, sum = W{0}](std::size_t n, W* out, const W* const* in) mutable {
        for (std::size_t t = 0; t < n; ++t) {
          out[t] = sum;
          sum = ((in[1][t] ? W{0} : sum) + extend(in[0][t], term_bits, width)) & ones<W>(width);
        }
      }));
  const int gated = g.map(accumulator_kind, width, before, first, [](W v, W f) { return f ? W{0} : v; });
  return prefix_add(g, accumulator_kind, width, gated, width, term, term_bits);
}

/// ng_unsigned_mac behind its multiplier; its result, seen once in a sum, is left out. Returns the registers: the sum
/// and whether it is inverted (sorted), or the positive and the negative sum.
template <class W>
std::array<int, 2> accumulate_split(Graph<W>& g, Schedule schedule, int product, int width, int negative, int first) {
  const W mask = ones<W>(width);
  // A register of one bit, 0 at first: next(its value, x, y).
  const auto flag = [&](int x, int y, auto next) {
    return g.reg(registers, 1, {x, y}, [=, value = W{0}](std::size_t n, W* out, const W* const* in) mutable {
      for (std::size_t t = 0; t < n; ++t) {
        out[t] = value;
        value = next(value, in[0][t], in[1][t]);
      }
    });
  };
  const auto unless = [](W v, W restart) { return restart ? W{0} : v; };
  if (schedule == Schedule::sorted) {
    const int minus = flag(negative, first, [](W m, W n, W f) { return n | (m & ~f & 1); });
    const int change =
        g.map(accumulator_kind, 1, negative, first, minus, [](W n, W f, W m) { return n & (f | ~m) & 1; });
    const int sum = g.reg(accumulator_register, width, {product, first, change},
                          [=, value = W{0}](std::size_t n, W* out, const W* const* in) mutable {
                            for (std::size_t t = 0; t < n; ++t) {
                              out[t] = value;
                              value = ((unless(value, in[1][t]) ^ (W{0} - in[2][t])) + in[0][t]) & mask;
                            }
                          });
    const int gated = g.map(accumulator_kind, width, sum, first, unless);
    const int inverted =
        g.map(accumulator_kind, width, gated, change, [=](W v, W c) { return (v ^ (W{0} - c)) & mask; });
    prefix_add(g, accumulator_kind, width, inverted, width, product, width);
    return {sum, minus};
  }
  const bool dual = schedule == Schedule::dual;
  std::array<int, 2> mine{}, started{}, restart{}, sum{};
  for (const std::size_t s : {0, 1}) {
    mine[s] = g.map(wire, 1, negative, [=](W n) { return W{n == s}; });
    started[s] = flag(mine[s], first, [](W begun, W m, W f) { return m | (begun & ~f & 1); });
    restart[s] = g.map(accumulator_kind, 1, first, started[s], [](W f, W begun) { return (f | ~begun) & 1; });
    sum[s] = g.reg(accumulator_register, width, {product, mine[s], restart[s]},
                   [=, value = W{0}](std::size_t n, W* out, const W* const* in) mutable {
                     for (std::size_t t = 0; t < n; ++t) {
                       out[t] = value;
                       if (in[1][t]) value = (unless(value, in[2][t]) + in[0][t]) & mask;
                     }
                   });
    if (!dual) continue;
    const int term = g.map(accumulator_kind, g.width(product), product, mine[s], [](W p, W m) { return m ? p : W{0}; });
    const int gated = g.map(accumulator_kind, width, sum[s], restart[s], unless);
    prefix_add(g, accumulator_kind, width, gated, width, term, width);
  }
  if (!dual) {
    const auto choose = [](W n, W positive, W other) { return n ? other : positive; };
    const int chosen = g.map(accumulator_kind, width, negative, sum[0], sum[1], choose);
    const int again = g.map(accumulator_kind, 1, negative, restart[0], restart[1], choose);
    const int gated = g.map(accumulator_kind, width, chosen, again, unless);
    prefix_add(g, accumulator_kind, width, gated, width, product, width);
  }
  return sum;
}

/// ng_pann_mac behind the registers of what it is offered; its result, seen once in a sum, is left out. offer: bit 0,
/// the element is the first of a sum; bit 1, it is taken. Returns the registers: the sum, whether it is inverted, and
/// the additions to go.
template <class W>
std::array<int, 3> add_repeatedly(Graph<W>& g, int width, int x, int magnitude, int negative, int offer) {
  const W mask = ones<W>(width);
  // A register that takes an element's part, and goes on from there by itself.
  const auto element = [&](int from, auto next) {
    return g.reg(registers, g.width(from), {from, offer},
                 [=, value = W{0}](std::size_t n, W* out, const W* const* in) mutable {
                   for (std::size_t t = 0; t < n; ++t) {
                     out[t] = value;
                     value = in[1][t] & 2 ? in[0][t] : next(value);
                   }
                 });
  };
  const auto stay = [](W v) { return v; };
  const auto choose = [](W old, W offered, W o) { return o & 2 ? offered : old; };
  const int x_held = element(x, stay), minus_one = element(negative, stay);
  const int first = element(g.map(wire, 1, offer, [](W o) { return o & 1; }), [](W) { return W{0}; });
  const auto down = [](W v) { return v - (v != 0); };
  const int count = element(magnitude, down);
  g.map(control_kind, g.width(x), x_held, x, offer, choose);
  g.map(control_kind, g.width(count), g.map(control_kind, g.width(count), count, down), magnitude, offer, choose);
  const int minus =
      g.reg(registers, 1, {minus_one, first}, [value = W{0}](std::size_t n, W* out, const W* const* in) mutable {
        for (std::size_t t = 0; t < n; ++t) {
          out[t] = value;
          value = in[0][t] | (value & ~in[1][t] & 1);
        }
      });
  const int change = g.map(control_kind, 1, minus_one, first, minus, [](W n, W f, W m) { return n & (f | ~m) & 1; });
  const int sum = g.reg(accumulator_register, width, {x_held, first, change, count},
                        [=, value = W{0}](std::size_t n, W* out, const W* const* in) mutable {
                          for (std::size_t t = 0; t < n; ++t) {
                            out[t] = value;
                            if (in[3][t]) value = (((in[1][t] ? W{0} : value) ^ (W{0} - in[2][t])) + in[0][t]) & mask;
                          }
                        });
  const int gated = g.map(accumulator_kind, width, sum, first, [](W v, W f) { return f ? W{0} : v; });
  const int inverted = g.map(accumulator_kind, width, gated, change, [=](W v, W c) { return (v ^ (W{0} - c)) & mask; });
  prefix_add(g, accumulator_kind, width, inverted, width, x_held, width);
  return {sum, minus, count};
}

// ---- floating-point accumulators (ng_fma_fp32, ng_add_fp32)

/// An addend: (-1)^sign sig 2^(exp - (sig_width - 1)), exp in 10 bits of two's complement.
struct Addend {
  int sign, exp, sig;
};

/// ng_add_fp32: c is an FP32 code; returns the rounded significand.
template <class W>
int add_fp32(Graph<W>& g, int sig_width, int unnormal, const Addend& x, int c) {
  const int frame = std::max(sig_width + 1, unnormal + 26), width = frame + 2;
  const W mask = ones<W>(width);
  const int minus_c = g.map(wire, 10, c, [](W code) { return (127 - std::max<W>(code >> 23 & 255, 1)) & ones<W>(10); });
  const int difference = prefix_add(g, product_kind, 10, x.exp, 10, minus_c, 10);
  const int distance = g.map(product_kind, 10, difference, [](W d) { return (d >> 9 ? W{0} - d : d) & ones<W>(10); });
  const auto from_c = [=](W code) { return (W{(code >> 23 & 255) != 0} << 23 | (code & 0x7FFFFF)) << (frame - 24); };
  const auto from_x = [=](W sig) { return sig << (frame - sig_width); };
  const auto leads = [](W d, W sig) { return !(d >> 9) && sig != 0; };
  const int lead = g.map(shift_kind, frame, difference, x.sig, c,
                         [=](W d, W sig, W code) { return leads(d, sig) ? from_x(sig) : from_c(code); });
  // The sticky bit is the lowest.
  int other = g.map(shift_kind, frame + 1, difference, x.sig, c,
                    [=](W d, W sig, W code) { return (leads(d, sig) ? from_c(code) : from_x(sig)) << 1; });
  const int count_width = static_cast<int>(std::bit_width(static_cast<unsigned>(frame)));
  for (int k = 0; k < count_width; ++k)
    other = g.map(shift_kind, frame + 1, other, distance, [=](W v, W by) {
      const W count = by >> count_width ? ones<W>(count_width) : by;
      if (!(count >> k & 1)) return v;
      const int places = 1 << k;
      return (v >> places & ~W{1}) | W{(v & ones<W>(places + 1)) != 0};
    });
  const int subtract = g.map(accumulator_kind, 1, x.sign, c, [](W s, W code) { return s ^ code >> 31; });
  const int ahead = g.map(accumulator_kind, 1, lead, other, [](W l, W o) { return W{l << 1 >= o}; });
  const int right = g.map(accumulator_kind, width, other, subtract, [=](W o, W s) { return (o ^ (W{0} - s)) & mask; });
  const int left = g.map(wire, width, lead, [](W l) { return l << 1; });
  const int carry = g.map(accumulator_kind, 1, subtract, ahead, [](W s, W a) { return s & a; });
  const int sum = prefix_add(g, accumulator_kind, width, left, width, right, width, carry);
  int magnitude =
      g.map(normalize_kind, width, sum, subtract, ahead, [=](W v, W s, W a) { return s && !a ? v ^ mask : v; });
  for (int k = tree_levels(width) - 1; k >= 0; --k) {
    const W keep = ~ones<W>(std::max(width - 25 - (1 << k) + 1, 0));
    magnitude = g.map(normalize_kind, width, magnitude,
                      [=](W v) { return (v >> (width - (1 << k)) == 0 ? v << (1 << k) & mask : v) & keep; });
  }
  return g.map(normalize_kind, 25, magnitude, [=](W v) { return (v >> (width - 24)) + (v >> (width - 25) & 1); });
}

/// ng_fp_mac. a, b, first: registers.
template <class W>
void fp_mac(Graph<W>& g, MacFormat format, int a, int b, int first) {
  const FloatShape shape = float_shape(format);
  const int man = shape.man_bits, top = shape.bits() - 1;
  const W exp_mask = ones<W>(shape.exp_bits);
  const int c = g.reg(registers, 32, {a, b, first}, [=, sum = 0.0F](std::size_t n, W* out, const W* const* in) mutable {
    for (std::size_t t = 0; t < n; ++t) {
      out[t] = std::bit_cast<std::uint32_t>(sum);
      sum = std::fma(float_value(format, static_cast<std::uint32_t>(in[0][t])),
                     float_value(format, static_cast<std::uint32_t>(in[1][t])), in[2][t] ? 0.0F : sum);
      if (std::isnan(sum)) sum = std::bit_cast<float>(0x7FC00000U);
    }
  });
  const int gated = g.map(accumulator_kind, 32, c, first, [](W v, W f) { return f ? W{0} : v; });
  const auto significand = [=](W code) { return (code & ones<W>(man)) | W{(code >> man & exp_mask) != 0} << man; };
  const MacSpec multiplier{.a_width = man + 1, .b_width = man + 1, .a_signed = false, .b_signed = false};
  const int x = g.map(product_kind, man + 1, a, significand), y = g.map(product_kind, man + 1, b, significand);
  const int product = multiply_wallace(g, multiplier, x, y);
  const auto minus_bias = [=](W p) {
    return (std::max<W>(p >> man & exp_mask, 1) - static_cast<W>(2 * shape.bias() - 1)) & ones<W>(10);
  };
  const auto exponent_of = [=](W q) { return std::max<W>(q >> man & exp_mask, 1); };
  const int exponent =
      prefix_add(g, product_kind, 10, g.map(wire, 10, a, minus_bias), 10, g.map(wire, 10, b, exponent_of), 10);
  const int sign = g.map(product_kind, 1, a, b, [=](W p, W q) { return (p ^ q) >> top & 1; });
  add_fp32(g, shape.product_width(), shape.unnormal(), {sign, exponent, product}, gated);
}

// ---- MXFP4 (ng_dot_mxfp4, ng_mxfp4_mac)

/// A block of 32 products with its E8M0 scales as an FP32 code.
template <class W>
int dot_mxfp4(Graph<W>& g, const std::vector<int>& a, const std::vector<int>& b, int a_scale, int b_scale) {
  const int dot = dot_e2m1(g, a, b);
  const int sign = g.map(adder_kind, 1, dot, [](W v) { return v >> 13 & 1; });
  const int inverted = g.map(adder_kind, 14, dot, sign, [](W v, W s) { return (v ^ (W{0} - s)) & ones<W>(14); });
  int magnitude = prefix_add(g, adder_kind, 14, inverted, 14, sign, 14);
  for (int k = 3; k >= 0; --k)
    magnitude = g.map(normalize_kind, 13, magnitude,
                      [=](W v) { return v >> (13 - (1 << k)) == 0 ? v << (1 << k) & ones<W>(13) : v; });
  prefix_add(g, product_kind, 9, a_scale, 9, b_scale, 9);
  return g.node(normalize_kind, 32, {magnitude, dot, a_scale, b_scale}, [](std::size_t n, W* out, const W* const* in) {
    for (std::size_t t = 0; t < n; ++t) {
      const auto value = static_cast<std::int64_t>(extend(static_cast<U64>(in[1][t]), 14, 64));
      const int exponent = static_cast<int>(in[2][t]) + static_cast<int>(in[3][t]) - 254 + e2m1_dot_lsb_exp;
      const bool nan = in[2][t] == 255 || in[3][t] == 255;
      out[t] = nan ? 0x7FC00000U
                   : std::bit_cast<std::uint32_t>(static_cast<float>(std::ldexp(static_cast<double>(value), exponent)));
    }
  });
}

template <class W>
void mxfp4_mac(Graph<W>& g, int term, int first) {
  const int sum = g.reg(registers, 32, {term, first}, [last = 0.0F](std::size_t n, W* out, const W* const* in) mutable {
    for (std::size_t t = 0; t < n; ++t) {
      out[t] = std::bit_cast<std::uint32_t>(last);
      last = (in[1][t] ? 0.0F : last) + std::bit_cast<float>(static_cast<std::uint32_t>(in[0][t]));
      if (std::isnan(last)) last = std::bit_cast<float>(0x7FC00000U);
    }
  });
  const int gated = g.map(accumulator_kind, 32, sum, first, [](W v, W f) { return f ? W{0} : v; });
  const int sign = g.map(wire, 1, term, [](W v) { return v >> 31; });
  const int exponent = g.map(wire, 10, term, [](W v) { return (std::max<W>(v >> 23 & 255, 1) - 127) & ones<W>(10); });
  const int significand = g.map(wire, 24, term, [](W v) { return (v & 0x7FFFFF) | W{(v >> 23 & 255) != 0} << 23; });
  add_fp32(g, 24, 0, {sign, exponent, significand}, gated);
}

// ---- units

/// A whole unit with its operand registers.
template <class W>
struct UnitGraph {
  Graph<W> graph;
  std::vector<int> a, b;  ///< a lane each; nvfp4 and mxfp4: 16 lanes each
  std::vector<int> a_scale, b_scale;
  int first = -1;  ///< bit 0: a sum starts, with an accumulator; bit 1: taken, where the unit does not always
  int term = -1;   ///< sum of the lanes' products, where it is a word

  /// `alike`: with one leaf in place of many (sum_tree_alike), for cycles that are independent; nvfp4, fp8,
  /// LUQ and integers.
  explicit UnitGraph(const MacSpec& mac, bool alike = false) {
    Graph<W>& g = graph;
    if (is_serial(mac)) {
      a.push_back(g.input(serial_registers, mac.a_width));
      b.push_back(g.input(serial_registers, mac.b_width));
      first = g.input(wire, 2);
      multiply_serial(g, mac, a[0], b[0], first);
      return;
    }
    if (has_magnitudes(mac)) {
      a.push_back(g.input(registers, mac.a_width));
      b.push_back(g.input(wire, mac.b_width + 1));
      first = g.input(wire, 1 + is_repeated(mac));
      const auto settled = [&](int width, auto f) {
        return g.reg(registers, width, {b[0]},
                     [f](std::size_t n, W* out, const W* const* in) { std::transform(in[0], in[0] + n, out, f); });
      };
      const int bits = mac.b_width;
      const int magnitude = settled(bits, [=](W v) { return (v >> bits ? W{0} - v : v) & ones<W>(bits); });
      const int negative = settled(1, [=](W v) { return v >> bits; });
      if (is_repeated(mac)) {
        add_repeatedly(g, mac.acc_width, a[0], magnitude, negative, first);
        return;
      }
      MacSpec magnitudes = mac;
      magnitudes.b_signed = false;
      term = multiply(g, magnitudes, a[0], magnitude);
      accumulate_split(g, mac.schedule, term, mac.acc_width, negative, first);
      return;
    }
    const bool nvfp4 = mac.is(MacFormat::nvfp4), fp4 = nvfp4 || mac.is(MacFormat::mxfp4);
    const int width_a = fp4 ? 64 : code_bits(mac, false), width_b = fp4 ? 64 : code_bits(mac, true);
    const int simulated = alike ? 2 : leaves(mac);  // the first, and one for the others
    const auto stands_for = [&](std::size_t i) {
      g.alike(alike && i == 1 ? static_cast<std::size_t>(leaves(mac)) - 1 : 1);
    };
    for (int i = 0; i < simulated; ++i) {
      stands_for(static_cast<std::size_t>(i));
      a.push_back(g.input(registers, width_a));
      b.push_back(g.input(registers, width_b));
      if (!fp4 || i * 16 % static_cast<int>(block_lanes(mac)) != 0) continue;
      a_scale.push_back(g.input(registers, 8));
      b_scale.push_back(g.input(registers, 8));
    }
    g.alike(1);
    if (mac.accumulator) first = g.sequence(g.input(wire, 1));
    const auto copy = [](std::size_t n, W* out, const W* const* in) { std::copy_n(in[0], n, out); };
    if (is_float(mac.format())) {
      fp_mac(g, mac.format(), a[0], b[0], first);
      return;
    }
    if (mac.is(MacFormat::mxfp4)) {
      int code = dot_mxfp4(g, a, b, a_scale[0], b_scale[0]);
      if (!mac.accumulator || mac.pipelined) code = g.reg(registers, 32, {code}, copy);
      if (mac.accumulator) mxfp4_mac(g, code, first);
      return;
    }
    std::vector<int> leaf, owed;
    for (std::size_t i = 0; i < a.size(); ++i) {
      stands_for(i);
      if (mac.is(MacFormat::integer)) {
        const int product = multiply(g, mac, a[i], b[i]);
        leaf.push_back(product);
      } else if (nvfp4) {
        int dot = dot_e2m1<W>(g, {a[i]}, {b[i]});
        if (mac.accumulator) dot = g.reg(registers, 13, {dot}, copy);
        leaf.push_back(scale_nvfp4(g, dot, a_scale[i], b_scale[i]));
      } else {
        const LaneProduct product =
            mac.luq() ? multiply_luq(g, i == 0, a[i], b[i]) : multiply_fp8(g, mac.format(), i == 0, a[i], b[i]);
        leaf.push_back(product.term);
        owed.push_back(product.owed);
      }
    }
    g.alike(1);
    if (mac.luq() && !alike) owed = owed_by_subtrees(owed);
    term = alike ? sum_tree_alike(g, leaf_width(mac), leaf[0], {leaf[1], owed.empty() ? -1 : owed[1]},
                                  static_cast<std::size_t>(leaves(mac)))
                 : sum_tree(g, leaf_width(mac), leaf, owed);
    const int width = term_width(mac);
    // A register where the flow, ng_mac_pe or ng_int_mac has one.
    if (!mac.accumulator || !mac.is(MacFormat::integer) || mac.pipelined) term = g.reg(registers, width, {term}, copy);
    if (mac.accumulator) accumulate(g, term, width, accumulator_width(mac), first);
  }
};

}  // namespace narrowgauge::power::words
