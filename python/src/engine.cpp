// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/engines/engine.hpp"

#include <atomic>
#include <bit>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "bindings.hpp"
#include "narrowgauge/engines/board_engine.hpp"
#include "narrowgauge/engines/mma_engine.hpp"
#include "narrowgauge/engines/tile_engine.hpp"
#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/quant/gemm_format.hpp"

namespace narrowgauge::python {
namespace {

/// An engine, and the lock that a call holds: simulated hardware does one product at a time.
struct NamedEngine {
  std::unique_ptr<Engine> engine;
  std::optional<std::string> tile;
  std::timed_mutex busy;
  std::atomic<std::thread::id> user{};  ///< the thread whose call it is
};

/// The engine's use by one call. Others wait for it, and hear Ctrl-C meanwhile.
class Use {
 public:
  explicit Use(NamedEngine& engine) : engine_(engine) {
    if (engine.user == std::this_thread::get_id()) {
      throw Error(
          "this engine was called from the progress callback of its own product; expected another Engine there, or a "
          "call after the product");
    }
    while (!engine.busy.try_lock_for(std::chrono::milliseconds(20))) detail::hear();
    engine.user = std::this_thread::get_id();
  }
  ~Use() {
    engine_.user = std::thread::id();
    engine_.busy.unlock();
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  NamedEngine& engine_;
};

struct Product {
  py::array_t<float> c;
  EngineResult counts;  ///< its c is empty
};

std::unique_ptr<NamedEngine> make_engine(std::string_view name, const std::optional<std::string>& tile,
                                         const std::optional<std::string>& trace, unsigned threads,
                                         const std::optional<std::string>& port, unsigned baud,
                                         std::string_view accumulate, std::uint32_t deadline) {
  auto made = std::make_unique<NamedEngine>();
  made->tile = tile;
  if (trace && name != "rtl") {
    throw Error("trace '" + *trace + "' asks for waveforms, which the engine '" + std::string(name) +
                "' does not have: take the engine 'rtl', or leave trace out");
  }
  if (port && name != "board") {
    throw Error("port '" + *port + "' names a board, which the engine '" + std::string(name) +
                "' does not have: take the engine 'board', or leave port out");
  }
  const Accumulation mode = find_accumulation(accumulate).mode;
  if (deadline != 0 && (mode != Accumulation::exact || (name != "rtl" && name != "systemc"))) {
    throw Error("deadline " + std::to_string(deadline) + " is one of a simulated tile; expected the engine 'rtl' or " +
                "'systemc' with exact sums, or 0 for none");
  }
  if (mode != Accumulation::exact) {
    if (name != "rtl" || tile || trace) {
      throw Error("accumulate '" + std::string(accumulate) +
                  "' has units of its own in the engine 'rtl', and no tile and no waves; expected that engine without "
                  "tile and trace, or narrowgauge.gemm(..., accumulate=)");
    }
    made->engine = make_mma_engine(mode);
    return made;
  }
  const TileEngineOptions options{.tile = tile.value_or(""), .trace = trace.value_or(""), .deadline = deadline};
  if (name == "model") {
    if (tile) {
      throw Error("tile '" + *tile +
                  "' names simulated hardware, which the engine 'model' does not have: take the engine 'systemc' or "
                  "'rtl', or leave tile out");
    }
    made->engine = make_model_engine(threads);
  } else if (name == "systemc") {
    made->engine = make_systemc_engine(options);
  } else if (name == "rtl") {
    made->engine = make_rtl_engine(options);
  } else if (name == "board") {
    if (!port)
      throw Error("the engine 'board' needs port, the serial device of a board; expected one as '/dev/ttyUSB1'");
    if (tile) {
      throw Error("tile '" + *tile +
                  "' names simulated hardware, and a board says itself what tile it has: leave tile out");
    }
    const Unlocked unlocked;
    made->engine = make_board_engine({.port = *port, .baud = baud});
  } else {
    throw Error("unknown engine '" + std::string(name) + "'; expected one of model, systemc, rtl, board");
  }
  return made;
}

/// C and what it took, of a product that `run` makes under the engine's lock.
template <class Run>
Product product_of(NamedEngine& self, const QuantizedMatrix& a, const QuantizedMatrix& b,
                   const std::optional<py::function>& progress, Run run) {
  EngineResult result;
  {
    PythonProgress told(progress);
    const Unlocked unlocked;
    const Use use(self);
    result = run([&](std::uint64_t done, std::uint64_t total) { told(done, total); });
  }
  return {own(std::exchange(result.c, {}), a.rows, b.rows), std::move(result)};
}

Product engine_gemm(NamedEngine& self, const QuantizedMatrix& a, const QuantizedMatrix& b,
                    const std::optional<py::function>& progress) {
  return product_of(self, a, b, progress, [&](const Progress& told) { return self.engine->gemm(a, b, told); });
}

Product engine_gemm_sparse(NamedEngine& self, const QuantizedMatrix& a, const QuantizedMatrix& b,
                           std::string_view pattern, const std::optional<py::function>& progress) {
  const NmPattern named = NmPattern::of(pattern);
  return product_of(self, a, b, progress,
                    [&](const Progress& told) { return self.engine->gemm_sparse(a, b, named, told); });
}

Product engine_gemm_compressed(NamedEngine& self, const QuantizedMatrix& a, const QuantizedMatrix& b, bool compress_a,
                               bool compress_b, const std::optional<py::function>& progress) {
  return product_of(self, a, b, progress, [&](const Progress& told) {
    return self.engine->gemm_compressed(a, b, {.a = compress_a, .b = compress_b, .c = false}, told);
  });
}

/// The result as vectors, its largest magnitude, and what it took.
py::tuple engine_gemm_requantized(NamedEngine& self, const QuantizedMatrix& a, const QuantizedMatrix& b,
                                  float tensor_scale, std::string_view format, bool relu, bool compress_a,
                                  bool compress_b, bool compress_c, const std::optional<py::function>& progress) {
  RequantizedResult result;
  const RequantizeOptions options{.format = find_result_format(format).format,
                                  .relu = relu,
                                  .compressed = {.a = compress_a, .b = compress_b, .c = compress_c}};
  {
    PythonProgress told(progress);
    const Unlocked unlocked;
    const Use use(self);
    result = self.engine->gemm_requantized(a, b, tensor_scale, options,
                                           [&](std::uint64_t done, std::uint64_t total) { told(done, total); });
  }
  return py::make_tuple(std::move(result.c), std::bit_cast<float>(result.amax),
                        Product{own(std::vector<float>{}, 0, 0), std::move(result.run)});
}

/// The integers, and what they took.
py::tuple engine_gemm_integers(NamedEngine& self, const QuantizedMatrix& a, const QuantizedMatrix& b, float scale,
                               int zero_point, const std::optional<py::function>& progress) {
  IntegerResult result;
  {
    PythonProgress told(progress);
    const Unlocked unlocked;
    const Use use(self);
    result = self.engine->gemm_integers(a, b, {.scale = scale, .zero_point = zero_point},
                                        [&](std::uint64_t done, std::uint64_t total) { told(done, total); });
  }
  return py::make_tuple(own(std::move(result.c), a.rows, b.rows),
                        Product{own(std::vector<float>{}, 0, 0), std::move(result.run)});
}

/// What the loop of a board does, under the engine's lock.
template <class Call>
auto on_loop(NamedEngine& self, Call call) {
  auto* const loop = dynamic_cast<BoardLoop*>(self.engine.get());
  if (!loop) {
    throw Error("the engine '" + std::string(self.engine->name()) +
                "' repeats no product by itself; expected the engine 'board'");
  }
  const Unlocked unlocked;
  const Use use(self);
  return call(*loop);
}

Product engine_hold(NamedEngine& self, const QuantizedMatrix& a, const QuantizedMatrix& b) {
  EngineResult result = on_loop(self, [&](BoardLoop& loop) { return loop.hold(a, b); });
  return {own(std::exchange(result.c, {}), a.rows, b.rows), std::move(result)};
}

py::tuple loop_tuple(const LoopState& state) {
  return py::make_tuple(state.running, state.times, state.cycles, state.hash);
}

std::optional<py::dict> activity(const Product& product) {
  const auto& n = product.counts.activity;
  if (!n) return std::nullopt;
  py::dict counts;
  counts["cycles"] = n->cycles;
  counts["busy"] = n->busy;
  counts["stall_in"] = n->stall_in;
  counts["stall_out"] = n->stall_out;
  counts["products"] = n->products;
  counts["zero_a"] = n->zero_a;
  counts["zero_b"] = n->zero_b;
  counts["flips_a"] = n->flips_a;
  counts["flips_b"] = n->flips_b;
  return counts;
}

std::optional<py::dict> link(const Product& product) {
  const auto& n = product.counts.link;
  if (!n) return std::nullopt;
  py::dict counts;
  counts["seconds"] = n->seconds;
  counts["sent_bytes"] = n->sent_bytes;
  counts["received_bytes"] = n->received_bytes;
  counts["frames"] = n->frames;
  counts["repeated"] = n->repeated;
  counts["damaged"] = n->damaged;
  return counts;
}

std::optional<py::dict> deadline(const Product& product) {
  const auto& n = product.counts.deadline;
  if (!n) return std::nullopt;
  py::dict progress;
  progress["late"] = n->late;
  progress["beats"] = n->beats;
  progress["whole"] = n->whole;
  return progress;
}

py::tuple product_state(const Product& p) {
  const EngineResult& n = p.counts;
  return py::make_tuple(p.c, n.cycles, n.products, n.operand_bytes, n.result_bytes, n.products_possible, n.tile,
                        activity(p), link(p), deadline(p));
}

Product product_from(const py::tuple& state) {
  const auto number = [&](std::size_t i) { return state[i].cast<std::uint64_t>(); };
  EngineResult n{.c = {},
                 .cycles = number(1),
                 .products = number(2),
                 .operand_bytes = number(3),
                 .result_bytes = number(4),
                 .products_possible = number(5),
                 .tile = state[6].cast<std::string>(),
                 .activity = std::nullopt};
  if (!state[7].is_none()) {
    const auto counts = state[7].cast<std::map<std::string, std::uint64_t>>();
    n.activity = {.cycles = counts.at("cycles"),
                  .busy = counts.at("busy"),
                  .stall_in = counts.at("stall_in"),
                  .stall_out = counts.at("stall_out"),
                  .products = counts.at("products"),
                  .zero_a = counts.at("zero_a"),
                  .zero_b = counts.at("zero_b"),
                  .flips_a = counts.at("flips_a"),
                  .flips_b = counts.at("flips_b")};
  }
  if (state.size() > 8 && !state[8].is_none()) {
    const auto counts = state[8].cast<py::dict>();
    const auto count = [&](const char* key) { return counts[key].cast<std::uint64_t>(); };
    n.link = LinkActivity{.seconds = counts["seconds"].cast<double>(),
                          .sent_bytes = count("sent_bytes"),
                          .received_bytes = count("received_bytes"),
                          .frames = count("frames"),
                          .repeated = count("repeated"),
                          .damaged = count("damaged")};
  }
  if (state.size() > 9 && !state[9].is_none()) {
    const auto progress = state[9].cast<py::dict>();
    n.deadline = DeadlineProgress{.late = progress["late"].cast<bool>(),
                                  .beats = progress["beats"].cast<std::uint64_t>(),
                                  .whole = progress["whole"].cast<std::uint64_t>()};
  }
  return {state[0].cast<py::array_t<float>>(), std::move(n)};
}

/// What only engines with a tile know.
template <class Value>
std::optional<Value> if_tile(const Product& product, Value value) {
  return product.counts.tile.empty() ? std::nullopt : std::optional<Value>(std::move(value));
}

/// What only engines with a stream of operands know.
template <class Value>
std::optional<Value> if_sent(const Product& product, Value value) {
  return product.counts.operand_bytes == 0 ? std::nullopt : std::optional<Value>(std::move(value));
}

/// What only engines with a clock know.
template <class Value>
std::optional<Value> if_clocked(const Product& product, Value value) {
  return product.counts.cycles ? std::optional<Value>(std::move(value)) : std::nullopt;
}

/// Names of gemm_formats() that a tile takes.
py::tuple formats_of(const TileConfig& tile) {
  py::list names;
  for (const GemmFormat& f : gemm_formats)
    if (format_set::has(tile.format_set, tile.mx, f)) names.append(f.name);
  return py::tuple(names);
}

}  // namespace

void bind_engine(py::module_& module) {
  py::class_<TileConfig>(module, "Tile", "A simulated accelerator: an array of rows x cols units of `lanes` products.")
      .def_readonly("name", &TileConfig::name)
      .def_readonly("rows", &TileConfig::rows)
      .def_readonly("cols", &TileConfig::cols)
      .def_readonly("lanes", &TileConfig::lanes)
      .def_property_readonly("formats", &formats_of, "The names of gemm_formats() that it multiplies.")
      .def_property_readonly("products_a_cycle", &TileConfig::products_a_cycle)
      .def_readonly("stream_width", &TileConfig::stream_width, "Bits of the operand and of the result stream.")
      .def_readonly("a_depth", &TileConfig::a_depth, "Images of A that a bank of its operand buffer holds.")
      .def_readonly("b_depth", &TileConfig::b_depth, "The same of B.")
      .def_readonly("max_beats", &TileConfig::max_beats, "Longest contraction, in groups of `lanes`.")
      .def_readonly("counters", &TileConfig::counters, "True if it counts its activity.")
      .def_readonly("requantize", &TileConfig::requantize,
                    "True if its results can be the next left operand, in its formats.")
      .def_readonly("sparse", &TileConfig::sparse, "True if its operand A can be 2:4 sparse, or 4:8 by pairs.")
      .def_readonly("codec", &TileConfig::codec, "Its decoders of compressed operands; 0: it takes none.")
      .def_readonly("encoders", &TileConfig::encoders, "Its encoders of compressed results; 0: it has none.")
      .def_readonly("protect", &TileConfig::protect, "True if its banks and queues have parity.")
      .def_readonly("deadline", &TileConfig::deadline, "True if its sums can end at a deadline.")
      .def_readonly("integers", &TileConfig::integers, "True if its results can be INT8.")
      .def_readonly("mx", &TileConfig::mx, "True if its formats are those of MX, whose sums are FP32.")
      .def(py::pickle([](const TileConfig& tile) { return std::string(tile.name); },
                      [](const std::string& name) {
                        for (const TileConfig& tile : tile_configs())
                          if (tile.name == name) return tile;
                        throw Error("tile \"" + name + "\" is unknown; expected a name of tiles()");
                      }))
      .def("__repr__", [](const TileConfig& tile) {
        return "<tile " + std::string(tile.name) + ", " + std::to_string(tile.rows) + " x " +
               std::to_string(tile.cols) + " x " + std::to_string(tile.lanes) + ">";
      });
  module.def(
      "tiles",
      [] {
        py::dict table;
        for (const TileConfig& tile : tile_configs()) table[py::str(tile.name)] = py::cast(tile);
        return table;
      },
      "The tiles that the engines 'systemc' and 'rtl' simulate, by name (rtl/tile/configurations.json).");
  module.def(
      "engines",
      [] {
        py::dict table;
        table["model"] = "the golden model: fast, without a clock";
        table["systemc"] = "cycle model of a tile, driven by the firmware's driver";
        if (have_rtl_engine()) table["rtl"] = "the Verilated tile, driven by the firmware's driver";
        return table;
      },
      "Names of this build's engines, each with what it is. 'rtl' is there if Narrowgauge was built with NG_RTL.");

  py::class_<Product>(module, "EngineResult", "A matrix product and what it took.")
      .def_readonly("c", &Product::c, "float32, M x N: the same bits from every engine.")
      .def_property_readonly(
          "products", [](const Product& p) { return p.counts.products; }, "M N K.")
      .def_property_readonly(
          "cycles", [](const Product& p) { return if_clocked(p, p.counts.cycles); },
          "Clock cycles of the driver's call, loads, commands and results included; None without a clock.")
      .def_property_readonly(
          "operand_bytes", [](const Product& p) { return if_sent(p, p.counts.operand_bytes); },
          "Bytes of operands that the tile was sent, those sent twice twice; None without a tile.")
      .def_property_readonly(
          "result_bytes", [](const Product& p) { return if_sent(p, p.counts.result_bytes); },
          "Bytes of results that the tile sent, with padding; None without a tile.")
      .def_property_readonly(
          "tile", [](const Product& p) { return if_tile(p, p.counts.tile); },
          "Name of the simulated tile or unit, or the array of a board's; None without one.")
      .def_property_readonly(
          "utilization", [](const Product& p) { return if_clocked(p, p.counts.utilization()); },
          "products / (cycles x products that the array can do in a cycle); None without a clock.")
      .def_property_readonly(
          "utilization_computing", [](const Product& p) { return p.counts.utilization_computing(); },
          "The same without the cycles in which the tile had no command or waited for operands; None without "
          "counters.")
      .def_property_readonly("activity", &activity,
                             "The tile's activity counters by name (docs/units/tile.md); None without counters.")
      .def_property_readonly("link", &link,
                             "Of a board: seconds, sent_bytes, received_bytes, frames, repeated, damaged; else None.")
      .def_property_readonly(
          "deadline", &deadline,
          "Of a product that had one: late, whether it came before the product was done; beats, the steps along k that "
          "the tile took; whole, those that the product has. Else None.")
      .def_property_readonly(
          "ended_early", [](const Product& p) { return p.counts.ended_early(); },
          "True if sums ended at a deadline before they were whole: c is not that of other engines then.")
      .def(py::pickle(&product_state, &product_from))
      .def("__repr__", [](const Product& p) {
        return "<EngineResult " + shape_text(p.c) +
               (p.counts.cycles ? ", " + std::to_string(p.counts.cycles) + " cycles of tile " + p.counts.tile : "") +
               ">";
      });

  py::class_<NamedEngine>(module, "Engine", "What narrowgauge.Engine has inside.")
      .def(py::init(&make_engine), py::arg("name") = "model", py::kw_only(), py::arg("tile") = py::none(),
           py::arg("trace") = py::none(), py::arg("threads") = 0, py::arg("port") = py::none(),
           py::arg("baud") = 3'000'000, py::arg("accumulate") = "exact", py::arg("deadline") = 0)
      .def_property_readonly("name", [](const NamedEngine& self) { return self.engine->name(); })
      .def_readonly("tile", &NamedEngine::tile)
      .def("gemm", &engine_gemm, py::arg("a"), py::arg("b"), py::kw_only(), py::arg("progress") = py::none(),
           "C = A x B of M vectors of k and N vectors of k.")
      .def("gemm_sparse", &engine_gemm_sparse, py::arg("a"), py::arg("b"), py::arg("pattern"), py::kw_only(),
           py::arg("progress") = py::none(), "The same of an A that has the pattern.")
      .def("gemm_compressed", &engine_gemm_compressed, py::arg("a"), py::arg("b"), py::kw_only(), py::arg("compress_a"),
           py::arg("compress_b"), py::arg("progress") = py::none(), "The same with operands sent compressed.")
      .def("gemm_integers", &engine_gemm_integers, py::arg("a"), py::arg("b"), py::arg("scale"), py::arg("zero_point"),
           py::kw_only(), py::arg("progress") = py::none())
      .def("gemm_requantized", &engine_gemm_requantized, py::arg("a"), py::arg("b"), py::arg("tensor_scale"),
           py::kw_only(), py::arg("format"), py::arg("relu"), py::arg("compress_a"), py::arg("compress_b"),
           py::arg("compress_c"), py::arg("progress") = py::none(),
           "The same with C as the next left operand: its M vectors of N, their amax, what it took.")
      .def_property_readonly("array",
                             [](const NamedEngine& self) -> std::optional<std::string> {
                               const auto* const loop = dynamic_cast<const BoardLoop*>(self.engine.get());
                               return loop ? std::optional(loop->array()) : std::nullopt;
                             })
      .def("hold", &engine_hold, py::arg("a"), py::arg("b"), "C = A x B on a board where the operands stay.")
      .def(
          "start_loop",
          [](NamedEngine& self, std::uint32_t times) {
            on_loop(self, [&](BoardLoop& loop) { loop.start_loop(times); });
          },
          py::arg("times"), "Repeats the product that is held.")
      .def(
          "loop_state",
          [](NamedEngine& self) {
            return loop_tuple(on_loop(self, [](BoardLoop& loop) { return loop.loop_state(); }));
          },
          "Whether it runs, how often the product was computed, clocks, hash.")
      .def(
          "stop_loop",
          [](NamedEngine& self) { return loop_tuple(on_loop(self, [](BoardLoop& loop) { return loop.stop_loop(); })); },
          "The same when it has ended.");
}

}  // namespace narrowgauge::python
