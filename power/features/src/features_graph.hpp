// SPDX-License-Identifier: Apache-2.0
// A unit as a graph of words, simulated for a block of cycles at once: settled values, and the transients on the way to
// them if every node takes one unit of time, an exclusive or two. Private to ng_power.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "narrowgauge/power/features.hpp"

namespace narrowgauge::power::words {

inline constexpr std::size_t block = 128;
using U64 = std::uint64_t;
__extension__ using U128 = unsigned __int128;

template <class W>
constexpr W ones(int n) {
  return n >= static_cast<int>(8 * sizeof(W)) ? ~W{0} : static_cast<W>((W{1} << n) - 1);
}

/// `from` bits of x, sign-extended to `to` bits.
template <class W>
constexpr W extend(W x, int from, int to) {
  const W sign = W{1} << (from - 1);
  return (((x & ones<W>(from)) ^ sign) - sign) & ones<W>(to);
}

/// What a node's flips are counted as: `settled` once, and what it flips beyond that as `glitches`.
struct Kind {
  Feature settled, glitches;
  bool counted = true;
  bool accumulator = false;  ///< of the adder and register whose width is the accumulator's
};
inline constexpr Kind wire{Feature::flip_flops, Feature::flip_flops, false};
inline constexpr Kind registers{Feature::register_flips, Feature::register_flips};
inline constexpr Kind accumulator_register{Feature::register_flips, Feature::register_flips, true, true};
inline constexpr Kind array_kind{Feature::array_nets, Feature::array_glitches};
inline constexpr Kind booth_kind{Feature::booth_nets, Feature::booth_glitches};
inline constexpr Kind wallace_kind{Feature::wallace_nets, Feature::wallace_glitches};
inline constexpr Kind serial_kind{Feature::serial_nets, Feature::serial_glitches};
inline constexpr Kind serial_registers{Feature::serial_nets, Feature::serial_nets};
inline constexpr Kind product_kind{Feature::product_nets, Feature::product_glitches};
inline constexpr Kind shift_kind{Feature::shift_nets, Feature::shift_glitches};
inline constexpr Kind adder_kind{Feature::adder_nets, Feature::adder_glitches};
inline constexpr Kind accumulator_kind{Feature::accumulator_nets, Feature::accumulator_glitches, true, true};
inline constexpr Kind control_kind{Feature::accumulator_nets, Feature::accumulator_glitches};  ///< beside it
inline constexpr Kind normalize_kind{Feature::normalize_nets, Feature::normalize_glitches};

/// Nodes in topological order; a node may also read itself (the carries of a ripple adder are one word).
template <class W>
class Graph {
 public:
  using Block = std::array<W, block>;
  /// out[t] from the words in[0][t], in[1][t], ... of the same cycle, for t < n.
  using Function = std::function<void(std::size_t n, W* out, const W* const* in)>;
  static constexpr int self = -1;

  struct Node {
    Kind kind;
    int width;
    W counted;  ///< bits that are nets of their own
    std::vector<int> from;
    Function step, settle;  ///< a register has no step
    U64 loads = 0;          ///< gates of a multiplier that each of its bits drives
    U64 weight = 1;         ///< so many like it are in the unit
    bool slow = false;      ///< takes two units of time
    bool sequence = false;  ///< in independent cycles: follows what it was in the cycle before all the same
    bool shuffle = false;   ///< of the node before it
    std::vector<int> shuffles = {};
    W last = 0;
    Block settled{}, now{}, coming{};  ///< coming: what a slow node will be
  };

  /// A register whose values are set before each block.
  int input(Kind kind, int width) { return reg(kind, width, {}, {}); }
  /// A register whose values follow from the settled ones of nodes before it.
  int reg(Kind kind, int width, std::vector<int> from, Function settle) {
    Node& n = nodes_.emplace_back();
    n.kind = kind;
    n.width = width;
    n.counted = ones<W>(width);
    n.weight = weight_;
    n.from = std::move(from);
    n.settle = std::move(settle);
    return static_cast<int>(nodes_.size()) - 1;
  }
  /// `step`: from the inputs' values a unit of time ago; `settle`: from their final ones, if that is another function.
  int node(Kind kind, int width, std::vector<int> from, Function step, Function settle = {}) {
    const int id = reg(kind, width, std::move(from), settle ? std::move(settle) : step);
    Node& n = nodes_.back();
    for (int& f : n.from)
      if (f == self) f = id;
    n.step = std::move(step);
    return id;
  }
  /// Counts only these bits of a node.
  void count_only(int id, W bits) { nodes_[static_cast<std::size_t>(id)].counted = bits; }
  /// Each bit of a node drives so many gates of a multiplier more.
  void drives(int id, int gates) { nodes_[static_cast<std::size_t>(id)].loads += static_cast<U64>(gates); }
  /// Nodes made from now on stand for so many.
  void alike(std::size_t count) { weight_ = static_cast<U64>(count); }
  /// Marks a node as a sequence, and gives it back.
  int sequence(int id) {
    nodes_[static_cast<std::size_t>(id)].sequence = true;
    return id;
  }
  /// Another node like this one, of whole blocks of independent cycles: the same values at the same times, but of the
  /// cycles in another order, one for each seed.
  int shuffled(int id, unsigned seed) {
    std::array<std::uint8_t, block> order;
    std::iota(order.begin(), order.end(), std::uint8_t{0});
    std::mt19937_64 engine(seed);
    for (std::size_t i = block - 1; i > 0; --i) std::swap(order[i], order[engine() % (i + 1)]);
    const int copy = reg(Kind{Feature::flip_flops, Feature::flip_flops, false}, width(id), {id},
                         [order](std::size_t n, W* out, const W* const* in) {
                           for (std::size_t t = 0; t < n; ++t) out[t] = in[0][order[t]];
                         });
    nodes_[static_cast<std::size_t>(copy)].shuffle = true;
    nodes_[static_cast<std::size_t>(id)].shuffles.push_back(copy);
    return copy;
  }
  /// An exclusive or: takes two units of time. The same node.
  int slow(int id) {
    nodes_[static_cast<std::size_t>(id)].slow = true;
    return id;
  }
  /// A node that is a function of the values of others: f(x, y, ...) -> W.
  template <class F>
  int map(Kind kind, int width, int a, F f) {
    return node(kind, width, {a}, [f](std::size_t n, W* out, const W* const* in) {
      for (std::size_t t = 0; t < n; ++t) out[t] = f(in[0][t]);
    });
  }
  template <class F>
  int map(Kind kind, int width, int a, int b, F f) {
    return node(kind, width, {a, b}, [f](std::size_t n, W* out, const W* const* in) {
      for (std::size_t t = 0; t < n; ++t) out[t] = f(in[0][t], in[1][t]);
    });
  }
  template <class F>
  int map(Kind kind, int width, int a, int b, int c, F f) {
    return node(kind, width, {a, b, c}, [f](std::size_t n, W* out, const W* const* in) {
      for (std::size_t t = 0; t < n; ++t) out[t] = f(in[0][t], in[1][t], in[2][t]);
    });
  }

  std::size_t size() const { return nodes_.size(); }
  const Node& operator[](int id) const { return nodes_[static_cast<std::size_t>(id)]; }
  W* values(int id) { return nodes_[static_cast<std::size_t>(id)].settled.data(); }
  int width(int id) const { return (*this)[id].width; }

  /// Settled values of n cycles, from the registers' in values().
  void settle(std::size_t n) {
    for (Node& node : nodes_)
      if (node.settle) call(node, node.settle, n, node.settled.data(), true);
  }

  /// After settle(), instead of simulate(): the block is only what comes before.
  void skip(std::size_t n) {
    for (Node& node : nodes_) node.last = node.settled[n - 1];
  }

  /// After settle(): every change of every word as change(node, old, new, settled), arrays of n; `settled`: the change
  /// that zero delay would have, the others are what happens. The first cycle follows the last of the block before, or,
  /// in the first block, itself. `independent`: each input follows any of its values, here the one before in a ring,
  /// and every word what it is of those; but for nodes that are a sequence.
  template <class Change>
  void simulate(std::size_t n, bool first_block, const Change& change, bool independent = false) {
    changed_.assign(nodes_.size(), false);
    for (Node& node : nodes_) {
      if (independent && !node.sequence && node.settle) {
        call(node, node.settle, n, node.now.data(), false);
      } else {
        const bool ring = independent && !node.sequence;
        node.now[0] = ring ? node.settled[n - 1] : first_block ? node.settled[0] : node.last;
        std::copy_n(node.settled.begin(), n - 1, node.now.begin() + 1);
      }
      node.last = node.settled[n - 1];
      if (node.slow) node.coming = node.now;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Node& node = nodes_[i];
      change(node, node.now.data(), node.settled.data(), true);
      if (!node.step && !node.shuffle) {
        change(node, node.now.data(), node.settled.data(), false);
        changed_[i] = !same(node.now, node.settled, n);
        node.now = node.settled;
      }
    }
    // From the outputs to the inputs: a node sees what its inputs were a unit of time ago. A slow one has yet to show
    // what it saw then.
    for (bool any = true; any;) {
      any = false;
      changing_.assign(nodes_.size(), false);
      for (std::size_t i = nodes_.size(); i-- > 0;) {
        Node& node = nodes_[i];
        const bool late = node.slow && !same(node.coming, node.now, n);
        if (!node.step || (!late && std::none_of(node.from.begin(), node.from.end(),
                                                 [&](int f) { return changed_[static_cast<std::size_t>(f)] != 0; })))
          continue;
        call(node, node.step, n, next_.data(), false);
        if (node.slow) {
          next_.swap(node.coming);
          any |= !same(next_, node.coming, n);
        }
        if (same(next_, node.now, n)) continue;
        change(node, node.now.data(), next_.data(), false);
        std::copy_n(next_.begin(), n, node.now.begin());
        changing_[i] = any = true;
        for (const int copy : node.shuffles) {
          Node& shuffle = nodes_[static_cast<std::size_t>(copy)];
          call(shuffle, shuffle.settle, n, shuffle.now.data(), false);
          changing_[static_cast<std::size_t>(copy)] = true;
        }
      }
      changed_.swap(changing_);
    }
  }

 private:
  static bool same(const Block& x, const Block& y, std::size_t n) { return std::equal(&x[0], &x[0] + n, &y[0]); }

  void call(Node& node, const Function& f, std::size_t n, W* out, bool settled) {
    in_.resize(std::max(in_.size(), node.from.size()));
    for (std::size_t k = 0; k < node.from.size(); ++k) {
      const Node& from = nodes_[static_cast<std::size_t>(node.from[k])];
      in_[k] = settled ? from.settled.data() : from.now.data();
    }
    f(n, out, in_.data());
  }

  std::vector<Node> nodes_;
  U64 weight_ = 1;
  std::vector<char> changed_, changing_;
  std::vector<const W*> in_;
  Block next_{};
};

}  // namespace narrowgauge::power::words
