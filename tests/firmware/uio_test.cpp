// SPDX-License-Identifier: Apache-2.0
// The Linux port on files in place of sysfs and of /dev/uioN, and a socket in place of its interrupts: what is found,
// refused and mapped, where registers lie, and what comes of interrupts.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fake_tile.hpp"
#include "ng_uio_port.h"

namespace narrowgauge {
namespace {

namespace fs = std::filesystem;

/// Folders in place of /sys/class/uio and /dev, with one device that is whole and one that is another's.
class Uio : public testing::Test {
 protected:
  Uio() {
    std::string pattern = (fs::temp_directory_path() / "ng_uio_XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    device(2, "axi-dma");
    device(5, "narrowgauge");
    page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::vector<char> memory(2 * page_);
    std::ofstream(root_ / "dev" / "uio5", std::ios::binary).write(memory.data(), static_cast<long>(memory.size()));
  }
  ~Uio() override {
    ng_uio_close(&uio_);
    fs::remove_all(root_);
  }

  void device(int index, const std::string& name) {
    const fs::path folder = root_ / "sys" / ("uio" + std::to_string(index));
    for (const char* map : {"map0", "map1"}) fs::create_directories(folder / "maps" / map);
    fs::create_directories(root_ / "dev");
    say(folder / "name", name);
    for (const char* map : {"map0", "map1"}) {
      say(folder / "maps" / map / "size", "0x0000000000001000");
      say(folder / "maps" / map / "offset", "0x0");
    }
  }
  static void say(const fs::path& file, const std::string& text) { std::ofstream(file) << text << "\n"; }

  ng_result_t open(int idle_milliseconds = 0, const char* name = "narrowgauge") {
    sysfs_ = (root_ / "sys").string();
    dev_ = (root_ / "dev").string();
    const ng_uio_config_t config{
        .name = name, .sysfs = sysfs_.c_str(), .dev = dev_.c_str(), .idle_milliseconds = idle_milliseconds};
    const ng_result_t result = ng_uio_open(&uio_, &config, error_.data(), error_.size());
    port_ = ng_uio_port(&uio_);
    return result;
  }
  std::string error() const { return error_.data(); }
  /// A word of the device's memory, by the file.
  std::uint32_t& word(int map, std::size_t offset) {
    return *reinterpret_cast<std::uint32_t*>((map == 0 ? uio_.tile : uio_.fifos) + offset);
  }
  std::uint32_t in_file(std::size_t at) const {
    std::ifstream file(root_ / "dev" / "uio5", std::ios::binary);
    file.seekg(static_cast<long>(at));
    std::uint32_t value = 0;
    file.read(reinterpret_cast<char*>(&value), sizeof value);
    return value;
  }
  /// The other end of what the port reads interrupts from and writes masks to.
  int interrupts() {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), 0);
    EXPECT_GE(dup2(ends[0], uio_.fd), 0);
    close(ends[0]);
    return ends[1];
  }

  fs::path root_;
  std::string sysfs_, dev_;
  std::array<char, 400> error_{};
  ng_uio_port_t uio_{.fifo = {},
                     .streams = {},
                     .fd = -1,
                     .idle_milliseconds = 0,
                     .tile = nullptr,
                     .fifos = nullptr,
                     .tile_bytes = 0,
                     .fifo_bytes = 0,
                     .mapped = {},
                     .mapped_bytes = {},
                     .interrupts = 0,
                     .missed = 0,
                     .counted = 0,
                     .broken = false};
  ng_port_t port_{};
  std::size_t page_ = 0;
};

TEST_F(Uio, RegistersLieInTheMapsOfTheDevice) {
  ASSERT_EQ(open(), NG_OK) << error();
  EXPECT_EQ(port_.write32(port_.ctx, 0x44, 0x12345678), NG_OK);
  EXPECT_EQ(in_file(0x44), 0x12345678U);
  word(0, 0x24) = 7;
  std::uint32_t value = 0;
  EXPECT_EQ(port_.read32(port_.ctx, 0x24, &value), NG_OK);
  EXPECT_EQ(value, 7U);
  for (const std::uint32_t address : {0x1000U, 0x42U, 0xFFFFFFFCU}) {
    EXPECT_EQ(port_.read32(port_.ctx, address, &value), NG_ERROR_BUS) << address;
    EXPECT_EQ(port_.write32(port_.ctx, address, 0), NG_ERROR_BUS) << address;
  }
}

TEST_F(Uio, OffsetsWithinAPageCount) {
  say(root_ / "sys/uio5/maps/map1/offset", "0x40");
  say(root_ / "sys/uio5/maps/map1/size", "0x1c");
  ASSERT_EQ(open(), NG_OK) << error();
  word(1, NG_FIFO_TX_SPACE) = 9;
  EXPECT_EQ(in_file(page_ + 0x40 + NG_FIFO_TX_SPACE), 9U);
}

TEST_F(Uio, PacketsAndResultsPassTheFifos) {
  ASSERT_EQ(open(), NG_OK) << error();
  word(1, NG_FIFO_TX_SPACE) = 8;
  const std::array<std::uint8_t, 8> packet{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(port_.stream_send(port_.ctx, packet.data(), packet.size()), NG_OK);
  EXPECT_EQ(word(1, NG_FIFO_TX_DATA), 0x04030201U);
  EXPECT_EQ(word(1, NG_FIFO_TX_LAST), 0x08070605U);
  word(1, NG_FIFO_TX_COUNT) = 1;
  bool done = true;
  EXPECT_EQ(port_.stream_send_done(port_.ctx, &done), NG_OK);
  EXPECT_FALSE(done);
  word(1, NG_FIFO_RX_COUNT) = 2;
  word(1, NG_FIFO_RX_DATA) = 0xAABBCCDD;
  std::array<std::uint8_t, 8> results{};
  std::size_t arrived = 0;
  EXPECT_EQ(port_.stream_receive(port_.ctx, results.data(), results.size(), &arrived), NG_OK);
  EXPECT_EQ(arrived, 8U);
  EXPECT_EQ(results, (std::array<std::uint8_t, 8>{0xDD, 0xCC, 0xBB, 0xAA, 0xDD, 0xCC, 0xBB, 0xAA}));
}

/// Registers that stand still: those of an idle tile, from the functional one.
TEST_F(Uio, TheDriverFindsATileAndSaysWhenNothingMoves) {
  ASSERT_EQ(open(), NG_OK) << error();
  const ng_tile_config_t where{.port = &port_, .base = 0, .timeout_ticks = 20000};
  ng_tile_t tile;
  EXPECT_EQ(ng_tile_init(&tile, &where), NG_ERROR_MAGIC);
  FakeTile registers(middle);
  for (std::uint32_t offset = 0; offset < 0x100; offset += 4)
    if (std::uint32_t value = 0; registers.read32(offset, value)) word(0, offset) = value;
  ASSERT_EQ(ng_tile_init(&tile, &where), NG_OK);
  EXPECT_EQ(tile.rows, 4U);
  EXPECT_EQ(tile.format_set, 3U);
  word(0, NG_TILE_STATUS_OFFSET) = NG_TILE_STATUS_BUSY_MASK;
  EXPECT_EQ(ng_tile_reset(&tile), NG_ERROR_TIMEOUT);
}

TEST_F(Uio, WaitsForInterruptsNoLongerThanItIsTold) {
  ASSERT_EQ(open(20), NG_OK) << error();
  const int kernel = interrupts();
  const std::uint32_t before = port_.ticks(port_.ctx);
  port_.idle(port_.ctx);
  EXPECT_GE(port_.ticks(port_.ctx) - before, 19000U);
  EXPECT_EQ(uio_.interrupts, 0U);
  std::uint32_t unmask = 0;
  ASSERT_EQ(read(kernel, &unmask, sizeof unmask), static_cast<ssize_t>(sizeof unmask));
  EXPECT_EQ(unmask, 1U);
  close(kernel);
}

TEST_F(Uio, CountsInterruptsAndThoseThatNobodyWaitedFor) {
  ASSERT_EQ(open(5000), NG_OK) << error();
  const int kernel = interrupts();
  for (const std::uint32_t count : {1000U, 1001U, 1004U}) {  // the kernel has counted since the device was there
    ASSERT_EQ(write(kernel, &count, sizeof count), static_cast<ssize_t>(sizeof count));
    port_.idle(port_.ctx);
  }
  EXPECT_EQ(uio_.interrupts, 3U);
  EXPECT_EQ(uio_.missed, 2U);
  EXPECT_FALSE(uio_.broken);
  close(kernel);
}

TEST_F(Uio, ADeviceThatGoesAwayIsABusError) {
  ASSERT_EQ(open(5000), NG_OK) << error();
  shutdown(interrupts(), SHUT_RDWR);
  std::signal(SIGPIPE, SIG_IGN);
  port_.idle(port_.ctx);
  EXPECT_TRUE(uio_.broken);
  std::uint32_t value = 0;
  EXPECT_EQ(port_.read32(port_.ctx, 0, &value), NG_ERROR_BUS);
  EXPECT_EQ(port_.stream_send(port_.ctx, &value, sizeof value), NG_ERROR_STREAM);
}

TEST_F(Uio, TakesTheFirstOfSeveral) {
  device(11, "narrowgauge");
  EXPECT_EQ(open(), NG_OK) << error();  // uio11 would not open
}

TEST_F(Uio, SaysWhatIsThereInsteadOfTheDevice) {
  EXPECT_EQ(open(0, "narrow"), NG_ERROR_BUS);
  EXPECT_NE(error().find("has no device \"narrow\" (it has: "), std::string::npos) << error();
  EXPECT_NE(error().find("axi-dma"), std::string::npos) << error();
  EXPECT_NE(error().find("expected one: load the overlay"), std::string::npos) << error();
  fs::remove_all(root_ / "sys");
  EXPECT_EQ(open(), NG_ERROR_BUS);
  EXPECT_NE(error().find("(it has: none)"), std::string::npos) << error();
}

TEST_F(Uio, SaysWhyADeviceIsNotOpened) {
  fs::remove(root_ / "dev" / "uio5");
  EXPECT_EQ(open(), NG_ERROR_BUS);
  EXPECT_NE(error().find("uio5 cannot be opened (No such file or directory)"), std::string::npos) << error();
  EXPECT_EQ(uio_.fd, -1);
}

TEST_F(Uio, RefusesMapsThatAreTooSmallOrMissing) {
  say(root_ / "sys/uio5/maps/map0/size", "0x800");
  EXPECT_EQ(open(), NG_ERROR_BUS);
  EXPECT_NE(error().find("has 2048 bytes from 0 on in map 0; expected 4096 or more"), std::string::npos) << error();
  EXPECT_EQ(uio_.fd, -1);
  say(root_ / "sys/uio5/maps/map0/size", "0x1000");
  say(root_ / "sys/uio5/maps/map1/size", "many");
  EXPECT_EQ(open(), NG_ERROR_BUS);
  EXPECT_NE(error().find("map1/size is no number; expected map 1, the FIFOs' registers"), std::string::npos) << error();
}

TEST(UioArguments, AreChecked) {
  ng_uio_port_t uio;
  std::array<char, 10> error{};
  const ng_uio_config_t unnamed{.name = nullptr, .sysfs = nullptr, .dev = nullptr, .idle_milliseconds = 0};
  const ng_uio_config_t named{.name = "narrowgauge", .sysfs = "/nowhere", .dev = nullptr, .idle_milliseconds = 0};
  EXPECT_EQ(ng_uio_open(nullptr, &named, error.data(), error.size()), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_uio_open(&uio, &unnamed, error.data(), error.size()), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_uio_open(&uio, &named, error.data(), 0), NG_ERROR_ARGUMENT);
  EXPECT_EQ(ng_uio_open(&uio, &named, error.data(), error.size()), NG_ERROR_BUS);
  EXPECT_EQ(std::string(error.data()), "/nowhere ");  // as much as fits
}

}  // namespace
}  // namespace narrowgauge
