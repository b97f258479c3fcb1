// SPDX-License-Identifier: Apache-2.0
// The scoreboard fails whenever a result is outstanding: each way to lose one must make the run fail, and a run that
// loses none must pass. The room in a unit fails whenever ready is wrong.
#include <cstdio>
#include <functional>
#include <type_traits>

#include "room.hpp"
#include "scoreboard.hpp"

namespace {

using namespace narrowgauge::bench;

static_assert(!std::is_copy_constructible_v<Scoreboard<int>> && !std::is_move_constructible_v<Scoreboard<int>>);

int run(const std::function<int(Bench&)>& body) {
  char name[] = "scoreboard";
  char* argv[] = {name};
  Bench bench(1, argv, name);
  bench.vector();
  bench.expect(true, [] { return ""; });
  return body(bench);
}

}  // namespace

int main() {
  struct Case {
    const char* name;
    int exit_code;
    std::function<int(Bench&)> body;
  };
  const Case cases[] = {
      {"all came", 0,
       [](Bench& bench) {
         Scoreboard<int> board(bench, "beats");
         board.push_back(1);
         if (board.shown()) board.pop_front();
         board.reset();
         return bench.finish();
       }},
      {"the run ends first", 1,
       [](Bench& bench) {
         Scoreboard<int> board(bench, "beats");
         board.push_back(1);
         return bench.finish();
       }},
      {"the scoreboard ends first", 1,
       [](Bench& bench) {
         Scoreboard<int>(bench, "beats").push_back(1);
         return bench.finish();
       }},
      {"a reset", 1,
       [](Bench& bench) {
         Scoreboard<int> board(bench, "beats");
         board.push_back(1);
         board.reset();
         return bench.finish();
       }},
      {"a reset that cuts short", 0,
       [](Bench& bench) {
         Scoreboard<int> board(bench, "beats");
         board.push_back(1);
         board.abandon();
         board.reset();
         return bench.finish();
       }},
      {"a result too many", 1,
       [](Bench& bench) {
         Scoreboard<int> board(bench, "beats");
         board.shown();
         return bench.finish();
       }},
      {"ready as the room says", 0,
       [](Bench& bench) {
         Room room(bench, "beats", 2, 3);
         room.check(true);
         room.take(2);
         room.check(true);
         room.check(false);
         room.take();
         room.check(false);
         room.give(2);
         room.check(true);
         room.clear();
         room.take(2);
         room.check(false);
         return bench.finish();
       }},
      {"no ready despite room", 1,
       [](Bench& bench) {
         Room room(bench, "beats", 2);
         room.take();
         room.check(false);
         return bench.finish();
       }},
      {"ready without room", 1,
       [](Bench& bench) {
         Room room(bench, "beats", 2);
         room.take(2);
         room.check(true);
         return bench.finish();
       }},
      {"more left than came", 1,
       [](Bench& bench) {
         Room room(bench, "beats", 2, Room::unknown);
         room.take();
         room.give(2);
         return bench.finish();
       }},
  };
  int wrong = 0;
  for (const Case& one : cases) {
    const int code = run(one.body);
    if (code == one.exit_code) continue;
    std::printf("%s: exit code %d; expected %d\n", one.name, code, one.exit_code);
    ++wrong;
  }
  return wrong == 0 ? 0 : 1;
}
