// SPDX-License-Identifier: Apache-2.0
// The checkers of axi.hpp must be silent on legal cycles and must name the rule that illegal ones break.
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "../axi.hpp"

namespace {

using namespace narrowgauge::axi;

constexpr unsigned late = 4;
using Reports = std::vector<std::string>;
using Edit = std::function<void(LiteSignals&)>;

/// Signals of an idle bus with the edits of one cycle.
LiteSignals cycle(const std::vector<Edit>& edits) {
  LiteSignals s;
  for (const Edit& edit : edits) edit(s);
  return s;
}

// The events of a cycle; a channel's valid with or without ready.
Edit aw(bool ready, std::uint32_t address = 8) {
  return [=](LiteSignals& s) { s.awvalid = true, s.awready = ready, s.awaddr = address; };
}
Edit w(bool ready, std::uint32_t data = 7, std::uint8_t strobes = 0xF) {
  return [=](LiteSignals& s) { s.wvalid = true, s.wready = ready, s.wdata = data, s.wstrb = strobes; };
}
Edit b(bool ready, std::uint8_t resp = okay) {
  return [=](LiteSignals& s) { s.bvalid = true, s.bready = ready, s.bresp = resp; };
}
Edit ar(bool ready, std::uint32_t address = 8) {
  return [=](LiteSignals& s) { s.arvalid = true, s.arready = ready, s.araddr = address; };
}
Edit r(bool ready, std::uint32_t data = 7, std::uint8_t resp = okay) {
  return [=](LiteSignals& s) { s.rvalid = true, s.rready = ready, s.rdata = data, s.rresp = resp; };
}

struct LiteCase {
  std::string name, expected;  // start of the only message; empty: none
  std::vector<std::vector<Edit>> cycles;
  bool finish = true;
};

struct Word {
  bool valid, ready;
  std::uint32_t low, high;
  bool last;
};
struct StreamCase {
  std::string name, expected;
  std::vector<Word> words;
  bool finish = true;
};

int failures = 0, cases = 0;

void judge(const std::string& name, const std::string& expected, const Reports& reports) {
  ++cases;
  const bool good = expected.empty() ? reports.empty() : reports.size() == 1 && reports[0].starts_with(expected);
  if (good) return;
  ++failures;
  std::printf("%s gives %zu messages; expected %s:\n", name.c_str(), reports.size(),
              !expected.empty() ? expected.c_str() : "silence");
  for (const std::string& text : reports) std::printf("    %s\n", text.c_str());
}

/// What is left over at the end is owed, too, and nothing else.
template <class Checker>
void finish(const std::string& name, Checker& checker, const Reports& reports) {
  const std::size_t before = reports.size(), owed = checker.owed();
  checker.finish();
  ++cases;
  if ((owed != 0) == (reports.size() > before)) return;
  ++failures;
  std::printf("%s owes %zu %s; expected %s\n", name.c_str(), owed, checker.what().c_str(),
              owed == 0 ? "what is left over" : "none");
}

}  // namespace

int main() {
  const std::vector<LiteCase> lite{
      {"a write and a read", "", {{aw(true), w(true), ar(true)}, {b(true), r(true)}}},
      {"data before address", "", {{w(true)}, {aw(false)}, {aw(true)}, {b(true)}}},
      {"stalls everywhere",
       "",
       {{aw(false), w(false), ar(false)},
        {aw(true), w(false), ar(false)},
        {w(true), ar(true)},
        {b(false), r(false)},
        {b(false), r(true)},
        {b(true)}}},
      {"next requests wait for the answers",
       "",
       {{aw(true), w(true), ar(true)},
        {aw(false), w(false), ar(false), b(false), r(false)},
        {aw(false), w(false), ar(false), b(true), r(true)},
        {aw(true), w(true), ar(true)},
        {b(true), r(true)}}},
      {"the master takes its time",
       "",
       {{aw(true), w(true)},
        {b(false), aw(false)},
        {b(false), aw(false)},
        {b(false), aw(false)},
        {b(false), aw(false)},
        {b(true), aw(false)},
        {aw(true), w(true)},
        {b(true)}}},
      {"error answers", "", {{aw(true), w(true), ar(true)}, {b(true, slverr), r(true, 0, decerr)}}},
      {"AWVALID falls", "stable: t.AW", {{aw(false)}, {}}},
      {"WVALID falls", "stable: t.W", {{w(false)}, {}}},
      {"BVALID falls", "stable: t.B", {{aw(true), w(true)}, {b(false)}, {}, {b(true)}}},
      {"ARVALID falls", "stable: t.AR", {{ar(false)}, {}}},
      {"RVALID falls", "stable: t.R", {{ar(true)}, {r(false)}, {}, {r(true)}}},
      {"AWADDR changes", "payload: t.AW", {{aw(false)}, {aw(true, 12)}, {w(true)}, {b(true)}}},
      {"WDATA changes", "payload: t.W", {{w(false)}, {w(true, 6), aw(true)}, {b(true)}}},
      {"WSTRB changes", "payload: t.W", {{w(false)}, {w(true, 7, 1), aw(true)}, {b(true)}}},
      {"BRESP changes", "payload: t.B", {{aw(true), w(true)}, {b(false)}, {b(true, slverr)}}},
      {"ARADDR changes", "payload: t.AR", {{ar(false)}, {ar(true, 12)}, {r(true)}}},
      {"RDATA changes", "payload: t.R", {{ar(true)}, {r(false)}, {r(true, 6)}}},
      {"RRESP changes", "payload: t.R", {{ar(true)}, {r(false)}, {r(true, 7, slverr)}}},
      {"response out of nothing", "unasked: t.B", {{b(true)}}},
      {"response without data", "unasked: t.B", {{aw(true)}, {b(true)}}, false},
      {"response without address", "unasked: t.B", {{w(true)}, {b(true)}}, false},
      {"response with the request", "unasked: t.B", {{aw(true), w(true), b(true)}}},
      {"second response", "unasked: t.B", {{aw(true), w(true)}, {b(true)}, {b(true)}}},
      {"data out of nothing", "unasked: t.R", {{r(true)}}},
      {"data with the request", "unasked: t.R", {{ar(true), r(true)}}},
      {"second data", "unasked: t.R", {{ar(true)}, {r(true)}, {r(true)}}},
      {"two addresses of writes", "outstanding: t.AW", {{aw(true)}, {aw(true)}}, false},
      {"two data of writes", "outstanding: t.W", {{w(true)}, {w(true)}}, false},
      {"two reads", "outstanding: t.AR", {{ar(true)}, {ar(true)}}, false},
      {"EXOKAY of a write", "response: t.B", {{aw(true), w(true)}, {b(true, exokay)}}},
      {"EXOKAY of a read", "response: t.R", {{ar(true)}, {r(true, 7, exokay)}}},
      {"address of a write never taken", "late: t.AW", {{aw(false)}, {aw(false)}, {aw(false)}, {aw(false)}}, false},
      {"data of a write never taken", "late: t.W", {{w(false)}, {w(false)}, {w(false)}, {w(false)}}, false},
      {"read never taken", "late: t.AR", {{ar(false)}, {ar(false)}, {ar(false)}, {ar(false)}}, false},
      {"write never answered", "late: t.B", {{aw(true), w(true)}, {}, {}, {}, {}}, false},
      {"read never answered", "late: t.R", {{ar(true)}, {}, {}, {}, {}}, false},
      {"write open at the end", "open: t:", {{aw(true), w(true)}}},
      {"read open at the end", "open: t:", {{ar(true)}}},
      {"address waits at the end", "open: t.AW", {{aw(false)}}},
  };
  for (const LiteCase& c : lite) {
    Reports reports;
    LiteChecker checker("t", [&](const std::string& text) { reports.push_back(text); }, {.late = late});
    for (const auto& edits : c.cycles) checker.sample(cycle(edits));
    if (c.finish) finish(c.name, checker, reports);
    judge(c.name, c.expected, reports);
  }
  for (const auto& [name, edit, expected] :
       {std::tuple{"BVALID in reset", b(true), "reset: t.B"}, std::tuple{"RVALID in reset", r(true), "reset: t.R"},
        std::tuple{"requests in reset", aw(true), ""}}) {
    Reports reports;
    LiteChecker checker("t", [&](const std::string& text) { reports.push_back(text); });
    checker.sample(cycle({aw(true), w(false), ar(true)}));  // what was under way is forgotten
    checker.sample_reset(cycle({edit}));
    checker.finish();
    judge(name, expected, reports);
  }

  const std::vector<StreamCase> stream{
      {"packets with stalls",
       "",
       {{true, false, 1, 2, false}, {true, true, 1, 2, false}, {false, true, 0, 0, false}, {true, true, 3, 4, true}}},
      {"TVALID falls", "stable: t", {{true, false, 1, 2, true}, {false, true, 1, 2, true}}},
      {"low word changes", "payload: t", {{true, false, 1, 2, true}, {true, true, 5, 2, true}}},
      {"high word changes", "payload: t", {{true, false, 1, 2, true}, {true, true, 1, 5, true}}},
      {"TLAST changes", "payload: t", {{true, false, 1, 2, false}, {true, true, 1, 2, true}}},
      {"receiver never ready", "late: t", {4, {true, false, 1, 2, true}}, false},
      {"word waits at the end", "open: t", {{true, false, 1, 2, true}}},
      {"packet open at the end", "open: t", {{true, true, 1, 2, false}}},
  };
  for (const StreamCase& c : stream) {
    Reports reports;
    StreamChecker checker(
        "t", [&](const std::string& text) { reports.push_back(text); }, late);
    for (const Word& word : c.words) {
      const std::uint32_t data[] = {word.low, word.high};
      checker.sample(word.valid, word.ready, data, word.last);
    }
    if (c.finish) finish(c.name, checker, reports);
    judge(c.name, c.expected, reports);
  }
  {
    Reports reports;
    StreamChecker checker("t", [&](const std::string& text) { reports.push_back(text); });
    checker.sample_reset(true);
    checker.finish();
    judge("TVALID in reset", "reset: t", reports);
  }
  std::printf("axi: %d cases, %d wrong\n", cases, failures);
  return failures == 0 && cases > 0 ? 0 : 1;
}
