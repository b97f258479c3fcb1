// SPDX-License-Identifier: Apache-2.0
// The YAML that goes to other tools, read back with a YAML parser; the .csv and .py files: tests/apps/cli_test.py.
#include "narrowgauge/power/export.hpp"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <cmath>
#include <set>

namespace narrowgauge::power {
namespace {

namespace fs = std::filesystem;

class Export : public testing::Test {
 protected:
  Export() : folder_(fs::path(testing::TempDir()) / "ng_power_export") { fs::remove_all(folder_); }
  ~Export() override { fs::remove_all(folder_); }

  static double int8_picojoules(const std::string& technology) {
    Question question;
    question.unit.mac = reference_mac();
    question.technology = technology;
    return gauge().energy(question).each * 1e12;
  }

  fs::path folder_;
};

TEST_F(Export, TimeloopEnergyReferenceTable) {
  export_tables(gauge(), "accelergy", "horowitz_45nm", folder_);
  const YAML::Node table = YAML::LoadFile(folder_ / "ERT.yaml")["ERT"];
  EXPECT_EQ(table["version"].as<std::string>(), "0.4");
  std::set<std::string> names;
  for (const YAML::Node& component : table["tables"]) {
    names.insert(component["name"].as<std::string>());
    for (const YAML::Node& action : component["actions"]) {
      EXPECT_TRUE(action["arguments"].IsMap());
      EXPECT_GT(action["energy"].as<double>(), 0);
    }
  }
  EXPECT_TRUE(names.contains("system.mac_int8") && names.contains("system.mac_fp16"));
  EXPECT_NEAR(table["tables"][0]["actions"][0]["energy"].as<double>(), int8_picojoules("horowitz_45nm"), 1e-9);
  const YAML::Node identifier = YAML::LoadFile(folder_ / "narrowgauge.table.yaml");
  EXPECT_EQ(identifier["technology"].as<std::string>(), "horowitz_45nm");
  EXPECT_TRUE(fs::is_directory(folder_ / identifier["path_to_data_dir"].as<std::string>()));
  EXPECT_GE(identifier["accuracy"].as<int>(), 1);
}

TEST_F(Export, EachLibraryItsOwnTables) {
  for (const TechnologyInfo& technology : gauge().technologies()) {
    if (technology.kind != "liberty" || technology.calibration.empty()) continue;
    for (const char* kind : {"accelergy", "zigzag", "hwcomponents"})
      export_tables(gauge(), kind, technology.name, folder_ / technology.name);
    const YAML::Node array = YAML::LoadFile(folder_ / technology.name / "narrowgauge_int8.yaml");
    EXPECT_NEAR(array["operational_array"]["unit_energy"].as<double>(), int8_picojoules(technology.name), 1e-6)
        << technology.name;
    // An area where a record of this library has one, else not a number.
    const double area = array["operational_array"]["unit_area"].as<double>();
    EXPECT_TRUE(area > 0 || (std::isnan(area) && technology.name != "osu018")) << technology.name << area;
    std::set<std::string> names;
    for (const YAML::Node& component : YAML::LoadFile(folder_ / technology.name / "ART.yaml")["ART"]["tables"]) {
      EXPECT_GT(component["area"].as<double>(), 0);
      names.insert(component["name"].as<std::string>());
    }
    EXPECT_EQ(names.contains("system.mac_int8"), !std::isnan(area)) << technology.name;
  }
}

TEST_F(Export, ZigZagHardware) {
  export_tables(gauge(), "zigzag", "tpuv4i_7nm", folder_);
  const YAML::Node whole = YAML::LoadFile(folder_ / "narrowgauge_int8.yaml");
  EXPECT_NEAR(whole["operational_array"]["unit_energy"].as<double>(), int8_picojoules("tpuv4i_7nm"), 1e-9);
  EXPECT_EQ(whole["operational_array"]["input_precision"].as<std::vector<int>>(), (std::vector<int>{8, 8}));
  ASSERT_EQ(whole["memories"].size(), 3U);
  EXPECT_DOUBLE_EQ(whole["memories"]["sram_1MB"]["r_cost"].as<double>(), 14);
  EXPECT_EQ(whole["memories"]["sram_1MB"]["size"].as<long>(), 8 * 1048576);
  EXPECT_TRUE(whole["memories"]["hbm2"]);
  for (const auto& memory : whole["memories"]) {
    for (const YAML::Node& port : memory.second["ports"]) {
      const bool reads = port["type"].as<std::string>() == "read";
      for (const YAML::Node& allocation : port["allocation"]) {
        const std::string direction = allocation.as<std::string>().substr(allocation.as<std::string>().size() - 2);
        EXPECT_EQ(direction[0] == 't', reads) << allocation;
      }
    }
  }
}

TEST_F(Export, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW(export_tables(gauge(), "excel", "", folder_), FieldError);
  EXPECT_THROW(export_tables(gauge(), "zigzag", "tsmc1", folder_), FieldError);
  EXPECT_THROW(export_tables(gauge(), "zigzag", "ice40up", folder_), Error);
  EXPECT_THROW(export_tables(gauge(), "zigzag", "horowitz_45nm", "/proc/no/such"), Error);
}

}  // namespace
}  // namespace narrowgauge::power
