// SPDX-License-Identifier: Apache-2.0
#include "verilated_tiles.hpp"

#include "narrowgauge/error.hpp"

#ifdef NG_HAVE_RTL
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#define NG_STRING(x) #x
#define NG_NAME(x) NG_STRING(x)
#endif

namespace narrowgauge {

#ifdef NG_HAVE_RTL

bool have_verilated_tiles() { return true; }

namespace {

/// What the library of this target has under this name. `what`: what it simulates.
void* symbol_of(const std::string& target, const std::string& what, const char* symbol) {
  const char* named = std::getenv("NARROWGAUGE_TILES");
  const std::string folder = named && *named ? named : NG_TILE_FOLDER;
  const std::string path = folder + "/" + target + ".so";
  const std::string build = "build it with: cmake --build <build folder> --target " + target;
  if (access(path.c_str(), R_OK) != 0) {
    throw Error("the Verilated " + what + " is not there (" + path + "): " + build);
  }
  // Never closed: the models it makes live as long as their owners like.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw Error(path + " cannot be loaded (" + dlerror() + "): " + build);
  void* const found = dlsym(library, symbol);
  if (!found) throw Error(path + " is of another build than this program: " + build);
  return found;
}

/// The same of a tile, with waves or without.
void* symbol_of(std::string_view name, bool waves, const char* symbol) {
  const std::string tile(name);
  return symbol_of("ng_tile_" + tile + (waves ? "_waves" : ""), "tile '" + tile + "'" + (waves ? " with waves" : ""),
                   symbol);
}

}  // namespace

std::unique_ptr<TilePinModel> make_verilated_tile(std::string_view name, const std::string& trace) {
  const auto make = reinterpret_cast<MakeTile*>(symbol_of(name, !trace.empty(), NG_NAME(NG_TILE_ENTRY)));
  return std::unique_ptr<TilePinModel>(make(trace.c_str()));
}

std::unique_ptr<MmaUnitModel> make_verilated_mma(std::string_view name) {
  const std::string unit(name);
  const auto make =
      reinterpret_cast<MakeMmaUnit*>(symbol_of("ng_" + unit, "unit '" + unit + "'", NG_NAME(NG_MMA_ENTRY)));
  return std::unique_ptr<MmaUnitModel>(make());
}

unsigned incomplete_files(std::string_view name) {
  return reinterpret_cast<unsigned (*)()>(symbol_of(name, true, "ng_incomplete_files"))();
}

#else

bool have_verilated_tiles() { return false; }

namespace {

[[noreturn]] void no_rtl() {
  throw Error(
      "the rtl engine is not in this build: configure with -DNG_RTL=ON (needs Verilator), or use the engine model or "
      "systemc");
}

}  // namespace

std::unique_ptr<TilePinModel> make_verilated_tile(std::string_view, const std::string&) { no_rtl(); }

std::unique_ptr<MmaUnitModel> make_verilated_mma(std::string_view) { no_rtl(); }

unsigned incomplete_files(std::string_view) { return 0; }

#endif

}  // namespace narrowgauge
