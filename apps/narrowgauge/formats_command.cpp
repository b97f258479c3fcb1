// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <memory>
#include <string>

#include "commands.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/quant/quantize.hpp"
#include "report.hpp"

namespace narrowgauge::cli {
namespace {

struct FormatsArguments {
  std::string name;
  bool json = false;
};

constexpr int listed_bits = 8;  // formats up to this width have their codes listed

std::string fields(const FormatDesc& f) {
  return std::to_string(f.sign) + "/" + std::to_string(f.exp_bits) + "/" + std::to_string(f.man_bits) + " in " +
         std::to_string(f.bits);
}

std::string nan_text(const FormatDesc& f) {
  switch (f.nan) {
    case NanKind::none:
      break;
    case NanKind::fn:
      return "payload all ones";
    case NanKind::ieee:
      return "exponent all ones, m > 0";
    case NanKind::fnuz:
      return "sign bit alone";
  }
  return "none";
}

bool has_subnormals(const FormatDesc& f) { return f.has_zero && f.man_bits > 0; }
bool has_normals(const FormatDesc& f) { return f.exp_bits > 0; }
double smallest_normal(const FormatDesc& f) { return decode(f, f.has_zero ? 1U << f.man_bits : 0); }
std::string normal_text(const FormatDesc& f) { return has_normals(f) ? exact_number(smallest_normal(f)) : "none"; }
std::string subnormal_text(const FormatDesc& f) { return has_subnormals(f) ? exact_number(decode(f, 1)) : "none"; }

Json format_json(const FormatDesc& f) {
  return {{"name", f.name},
          {"bits", f.bits},
          {"sign_bits", f.sign},
          {"exponent_bits", f.exp_bits},
          {"mantissa_bits", f.man_bits},
          {"bias", f.bias},
          {"largest", decode(f, f.max_code())},
          {"smallest_normal", has_normals(f) ? Json(smallest_normal(f)) : Json()},
          {"smallest_subnormal", has_subnormals(f) ? Json(decode(f, 1)) : Json()},
          {"infinity", f.has_inf},
          {"nan", nan_text(f)},
          {"zero", f.has_zero},
          {"use", f.use}};
}

std::string scheme_text(Scheme scheme) {
  if (product_scheme(scheme) == Scheme::luq) return "FP32 scale per matrix, of B a power of two";
  if (!has_block_scales(scheme)) return "FP32 scale per matrix";
  std::string text(desc(scale_format(scheme)).name);
  for (char& letter : text) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  text += " scale per " + std::to_string(block_size(scheme)) + " elements along K";
  return is_mx(scheme) ? text : text + ", FP32 scale per matrix";
}

Json gemm_format_json(const GemmFormat& g) {
  return {{"name", g.name},
          {"a", element_name(g.a_scheme(), g.a)},
          {"b", element_name(g.b_scheme(), g.b)},
          {"block", block_size(g.scheme)},
          {"scales", scheme_text(g.scheme)},
          {"use", g.use}};
}

void print_all(bool json) {
  if (json) {
    Json formats = Json::array();
    Json gemm = Json::array();
    for (const FormatDesc& f : format_table) formats.push_back(format_json(f));
    for (const GemmFormat& g : gemm_formats) gemm.push_back(gemm_format_json(g));
    print_json({{"formats", formats}, {"gemm_formats", gemm}});
    return;
  }
  std::vector<std::vector<std::string>> rows;
  for (const GemmFormat& g : gemm_formats) {
    rows.push_back({std::string(g.name), std::string(element_name(g.a_scheme(), g.a)),
                    std::string(element_name(g.b_scheme(), g.b)), scheme_text(g.scheme), std::string(g.use)});
  }
  std::puts("Formats of matrices (--format):\n");
  print_table({"name", "A", "B", "scales", "use"}, rows);
  rows.clear();
  for (const FormatDesc& f : format_table) {
    rows.push_back({std::string(f.name), fields(f), std::to_string(f.bias), exact_number(decode(f, f.max_code())),
                    normal_text(f), subnormal_text(f), f.has_inf ? "yes" : "none", nan_text(f), std::string(f.use)});
  }
  std::puts("\nFormats of numbers:\n");
  print_table({"name", "S/E/M", "bias", "largest", "smallest normal", "smallest subnormal", "infinity", "NaN", "use"},
              rows);
}

void print_gemm_format(const GemmFormat& g, bool json) {
  if (json) return print_json(gemm_format_json(g));
  print_facts({{"name", std::string(g.name)},
               {"elements of A", std::string(element_name(g.a_scheme(), g.a))},
               {"elements of B", std::string(element_name(g.b_scheme(), g.b))},
               {"scales", scheme_text(g.scheme)},
               {"use", std::string(g.use)}});
}

std::string binary(std::uint32_t code, int bits) {
  std::string text;
  while (bits-- > 0) text += code >> bits & 1 ? '1' : '0';
  return text;
}

void print_format(const FormatDesc& f, bool json) {
  const int used = f.sign + f.payload_bits();
  const std::uint32_t codes = f.bits <= listed_bits ? 1U << used : 0;
  if (json) {
    Json document = format_json(f);
    document["codes"] = codes ? Json::array() : Json();
    for (std::uint32_t code = 0; code < codes; ++code) {
      document["codes"].push_back({{"code", code}, {"value", json_number(decode(f, code))}});
    }
    return print_json(document);
  }
  print_facts({{"name", std::string(f.name)},
               {"sign/exponent/mantissa bits", fields(f)},
               {"bias", std::to_string(f.bias)},
               {"largest", exact_number(decode(f, f.max_code())) + "  (" + hex(f.max_code(), (f.bits + 3) / 4) + ")"},
               {"smallest normal", normal_text(f)},
               {"smallest subnormal", subnormal_text(f)},
               {"infinity", f.has_inf ? "yes" : "none"},
               {"NaN", nan_text(f)},
               {"use", std::string(f.use)},
               {"codes", codes ? counted(codes, "code") + ":" : "not listed beyond 8 bits"}});
  if (codes == 0) return;
  std::puts("");
  std::vector<std::vector<std::string>> rows;
  for (std::uint32_t code = 0; code < codes; ++code) {
    rows.push_back({hex(code, (f.bits + 3) / 4), f.sign ? binary(code >> f.payload_bits(), 1) : "",
                    binary(code >> f.man_bits, f.exp_bits), binary(code, f.man_bits), exact_number(decode(f, code))});
  }
  print_table({"code", "S", "E", "M", "value"}, rows);
}

int run(const FormatsArguments& arguments) {
  if (arguments.name.empty()) {
    print_all(arguments.json);
    return 0;
  }
  for (const GemmFormat& g : gemm_formats) {
    if (g.name == arguments.name) {
      print_gemm_format(g, arguments.json);
      return 0;
    }
  }
  print_format(desc(find_format(arguments.name)), arguments.json);
  return 0;
}

}  // namespace

void add_formats(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<FormatsArguments>();
  CLI::App& command =
      *app.add_subcommand("formats", "The formats of numbers and matrices; with a name, every code and value");
  command.add_option("NAME", arguments->name, "A format; without it, the tables of all")->type_name("");
  command.add_flag("--json", arguments->json, "Print one JSON document and nothing else on stdout");
  command.footer(
      "Examples:\n"
      "  narrowgauge formats          both tables\n"
      "  narrowgauge formats e2m1     the 16 codes of FP4\n"
      "  narrowgauge formats nvfp4    how elements and scales go together\n"
      "  narrowgauge formats e4m3 --json");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace narrowgauge::cli
