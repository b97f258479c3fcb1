// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/io/output.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <random>
#include <utility>

#include "narrowgauge/io/error.hpp"
#include "narrowgauge/io/text.hpp"

namespace narrowgauge::io {
namespace {

namespace fs = std::filesystem;

// ---- what a signal removes: only what a signal handler may look at

struct Slot {
  enum State : int { empty, filling, full };
  std::atomic<int> state;
  std::array<char, PATH_MAX> path;
};
std::array<Slot, 64> slots;

std::size_t remember(const std::string& path) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    int empty = Slot::empty;
    if (path.size() >= PATH_MAX || !slots[i].state.compare_exchange_strong(empty, Slot::filling)) continue;
    std::copy_n(path.c_str(), path.size() + 1, slots[i].path.begin());
    slots[i].state = Slot::full;
    return i;
  }
  throw Error("More than " + std::to_string(slots.size()) + " files are being written, or the name " + shown(path) +
              " is too long; write fewer at once, under shorter names");
}

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};

extern "C" void end_by_signal(int signal) {
  for (const Slot& slot : slots)
    if (slot.state == Slot::full) unlink(slot.path.data());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// ---- what a SIGBUS becomes

thread_local unsigned mapped_writes = 0;             // scopes of this thread
thread_local volatile unsigned mapped_failures = 0;  // pages that it got instead of a file's
struct {
  std::mutex mutex;
  unsigned scopes = 0;  // of all threads
  std::size_t page = 0;
  struct sigaction before {};
} bus_errors;

extern "C" void page_instead(int signal, siginfo_t* info, void*) {
  const int fault = errno;
  if (mapped_writes != 0 && info->si_code == BUS_ADRERR) {
    const auto beyond = reinterpret_cast<std::uintptr_t>(info->si_addr) % bus_errors.page;
    void* const page = mmap(static_cast<char*>(info->si_addr) - beyond, bus_errors.page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) {
      mapped_failures = mapped_failures + 1;
      errno = fault;
      return;
    }
  }
  sigaction(signal, &bus_errors.before, nullptr);  // comes again, to whom it belongs
  if (info->si_code <= 0) std::raise(signal);
  errno = fault;
}

// ---- targets

/// Where the file that `path` names is or will be, without links.
fs::path resolved(const std::string& path) {
  fs::path at = path;
  std::error_code fault;
  for (int links = 0; links < 40 && fs::is_symlink(fs::symlink_status(at, fault)); ++links) {
    const fs::path to = fs::read_symlink(at, fault);
    if (fault) break;
    at = to.is_absolute() ? to : at.parent_path() / to;
  }
  const fs::path folder = fs::canonical(at.has_parent_path() ? at.parent_path() : fs::path("."), fault);
  return fault ? at : folder / at.filename();
}

bool same_file(const std::string& x, const std::string& y) {
  struct stat of_x {
  }, of_y{};
  if (stat(x.c_str(), &of_x) == 0 && stat(y.c_str(), &of_y) == 0)
    return of_x.st_dev == of_y.st_dev && of_x.st_ino == of_y.st_ino;
  return resolved(x) == resolved(y);
}

Error not_writable(const std::string& path, const std::string& why) {
  return Error(shown(path) + " cannot be written: " + why + "; name a file in an existing, writable folder");
}

Error not_complete(const std::string& path, const std::string& why) {
  return Error(shown(path) + " could not be written completely, or would not be: " + why +
               "; free space, or name another folder");
}

/// Permissions of the file that is there, if one is. Throws Error if there can be none.
std::optional<unsigned> check_target(const std::string& path) {
  if (path.empty()) throw Error("An empty name is no file to write to; name one, or leave its option out");
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) throw not_writable(path, std::strerror(errno));
    if (path.back() == '/') throw not_writable(path, "it names a directory");
    return {};
  }
  if (S_ISDIR(status.st_mode)) throw not_writable(path, "it is a directory");
  if (!S_ISREG(status.st_mode)) throw not_writable(path, "it is no regular file");
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    struct stat open {};
    if (fstat(standard, &open) == 0 && open.st_dev == status.st_dev && open.st_ino == status.st_ino)
      throw not_writable(path, standard == STDIN_FILENO ? "the program reads from it" : "the report goes there");
  }
  if (access(path.c_str(), W_OK) != 0) {
    if (errno == ENOENT) return {};  // another run put it aside since
    throw not_writable(path, std::strerror(errno));
  }
  return status.st_mode & 0777;
}

/// A name beside the target, with its extension.
std::string name_beside(const fs::path& target) {
  static constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::string extension = target.extension().string();
  if (extension.size() > 40) extension.clear();
  std::string name(".");
  name.append(target.stem().string().substr(0, 200)).append(".");
  for (int i = 0; i < 12; ++i) name += letters[random() % letters.size()];
  return (target.parent_path() / (name + extension)).string();
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path), mode_(check_target(path)) {
  const fs::path target = resolved(path);
  target_ = target.string();
  temporary_ = name_beside(target);
  slots_.push_back(remember(temporary_));  // before there is anything to remove
  file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file_ >= 0 && (!mode_ || fchmod(file_, *mode_) == 0)) return;
  const std::string why = std::strerror(errno);
  discard();
  throw not_writable(path_, why);
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  if (!temporary_.empty()) unlink(temporary_.c_str());
  for (const std::string& name : besides_) unlink(name.c_str());
  for (const std::size_t slot : slots_) slots[slot].state = Slot::empty;
  slots_.clear();
  besides_.clear();
  temporary_.clear();
}

void OutputFile::write(std::string_view bytes) {
  constexpr std::size_t most = std::size_t{1} << 30;  // of one call
  while (!bytes.empty()) {
    const ssize_t done = ::write(file_, bytes.data(), std::min(bytes.size(), most));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      throw Error(shown(path_) + " could not be written completely: " + std::strerror(errno) +
                  "; check free space and permissions");
    }
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

void OutputFile::close() {
  if (file_ >= 0 && ::close(std::exchange(file_, -1)) != 0) {
    throw Error(shown(path_) + " could not be written completely: " + std::strerror(errno) + "; check free space");
  }
}

const std::string& OutputFile::hand_over() {
  close();
  return temporary_;
}

void OutputFile::probe(std::size_t bytes) const {
  const int file = open(temporary_.c_str(), O_WRONLY | O_CLOEXEC);
  const off_t end = file < 0 ? -1 : lseek(file, 0, SEEK_END);
  int fault = end < 0 ? errno : posix_fallocate(file, end, static_cast<off_t>(bytes));
  if (end >= 0 && ftruncate(file, end) != 0 && fault == 0) fault = errno;
  if (file >= 0) ::close(file);
  if (fault != 0) throw not_complete(path_, std::strerror(fault));
}

void OutputFile::incomplete() const {
  throw Error(shown(path_) + " could not be written completely: " + std::strerror(ENOSPC) +
              "; free space in its folder and in " P_tmpdir ", or name another folder");
}

void OutputFile::remove_besides(const std::string& suffix) {
  besides_.push_back(temporary_ + suffix);
  slots_.push_back(remember(besides_.back()));
}

void OutputFile::commit() {
  close();
  const bool allowed = !mode_ || chmod(temporary_.c_str(), *mode_) == 0;  // again: a writer may have made it anew
  if (!allowed || std::rename(temporary_.c_str(), target_.c_str()) != 0)
    throw not_writable(path_, std::strerror(errno));
  temporary_.clear();
  discard();
}

void check_output(const std::string& path) { const OutputFile file(path); }

void probe_temporary(std::size_t bytes) {
  std::FILE* const file = std::tmpfile();
  const int fault = file ? posix_fallocate(fileno(file), 0, static_cast<off_t>(bytes)) : errno;
  if (file) std::fclose(file);
  if (fault != 0) {
    throw Error("Temporary files in " P_tmpdir " cannot have " + std::to_string(bytes) +
                " bytes: " + std::strerror(fault) + "; free space there");
  }
}

void Outputs::input(const std::string& path) { taken_.push_back({"", path}); }

void Outputs::take(const std::string& option, const std::string& path) {
  if (path.empty()) throw Error(option + " has an empty name; name a file, or leave " + option + " out");
  for (const Taken& other : taken_) {
    if (!same_file(other.path, path)) continue;
    throw Error(option + " " + shown(path) + " is the same file as " +
                (other.option.empty() ? "the input " : other.option + " ") + shown(other.path) + "; name another one");
  }
  taken_.push_back({option, path});
}

OutputFile& Outputs::add(const std::string& option, const std::string& path) {
  take(option, path);
  return files_.emplace_back(path);
}

void Outputs::reserve(const std::string& option, const std::string& path) {
  take(option, path);
  check_output(path);
}

void Outputs::unit(const std::string& option, const std::string& prefix, const std::vector<std::string>& suffixes) {
  const std::string name = fs::path(prefix).filename().string();
  if (name.empty() || name == "." || name == "..") {
    throw Error(option + " " + shown(prefix) +
                " names a folder; expected a folder and the beginning of a name, such as " +
                shown((fs::path(prefix) / "result").string()));
  }
  for (const std::string& suffix : suffixes) {
    const std::string path = prefix + suffix;
    for (const Taken& other : taken_) {
      if (!other.option.empty() || !same_file(other.path, path)) continue;
      throw Error(option + " " + shown(path) + " is the same file as the input " + shown(other.path) +
                  "; name another one");
    }
    check_target(path);
    members_.push_back(path);
  }
}

namespace {

/// A lock of a folder, which other runs that commit there wait for; and no signal ends the process meanwhile.
class CommitLock {
 public:
  explicit CommitLock(const fs::path& folder) : folder_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int signal : ending_signals) sigaddset(&ending, signal);
    while (folder_ >= 0 && flock(folder_, LOCK_EX) != 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_BLOCK, &ending, &before_);
  }
  ~CommitLock() {
    if (folder_ >= 0) ::close(folder_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  CommitLock(const CommitLock&) = delete;
  CommitLock& operator=(const CommitLock&) = delete;

 private:
  int folder_;
  sigset_t before_{};
};

/// What stood in the places of a unit, put aside: back again unless release() was called.
class Aside {
 public:
  ~Aside() {
    for (const auto& [from, to] : moved_) static_cast<void>(std::rename(to.c_str(), from.c_str()));
  }
  void take(const std::string& path) {
    std::string to = name_beside(path);
    if (std::rename(path.c_str(), to.c_str()) == 0) {
      moved_.emplace_back(path, std::move(to));
    } else if (errno != ENOENT) {
      throw not_writable(path, std::strerror(errno));
    }
  }
  void release() {
    for (const auto& [from, to] : moved_) unlink(to.c_str());
    moved_.clear();
  }

 private:
  std::vector<std::pair<std::string, std::string>> moved_;
};

}  // namespace

void Outputs::commit() {
  for (OutputFile& file : files_) file.close();
  if (members_.empty()) {
    for (OutputFile& file : files_) file.commit();
    files_.clear();
    return;
  }
  const fs::path folder = fs::path(members_.front()).parent_path();
  const CommitLock lock(folder.empty() ? fs::path(".") : folder);
  Aside aside;
  for (const std::string& member : members_) {
    const std::string target = resolved(member).string();
    const bool written =
        std::any_of(files_.begin(), files_.end(), [&](const OutputFile& file) { return file.target() == target; });
    aside.take(written ? target : member);
  }
  std::vector<std::string> placed;
  try {
    for (OutputFile& file : files_) {
      file.commit();
      placed.push_back(file.target());
    }
  } catch (...) {
    for (const std::string& target : placed) unlink(target.c_str());
    throw;  // and what was there comes back
  }
  aside.release();
  files_.clear();
}

MappedWrites::MappedWrites() : failures_before_(mapped_failures) {
  const std::lock_guard lock(bus_errors.mutex);
  ++mapped_writes;
  if (bus_errors.scopes++ != 0) return;
  bus_errors.page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = page_instead;
  sigaction(SIGBUS, &action, &bus_errors.before);
}

MappedWrites::~MappedWrites() {
  const std::lock_guard lock(bus_errors.mutex);
  --mapped_writes;
  if (--bus_errors.scopes == 0) sigaction(SIGBUS, &bus_errors.before, nullptr);
}

bool MappedWrites::failed() const { return mapped_failures != failures_before_; }

void MappedWrites::check(const OutputFile& file) const {
  if (failed()) file.incomplete();
}

void remove_outputs_on_signals() {
  struct sigaction action {};
  sigemptyset(&action.sa_mask);
  action.sa_handler = end_by_signal;
  for (const int signal : ending_signals) sigaddset(&action.sa_mask, signal);
  for (const int signal : ending_signals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // nohup's stays
  }
}

}  // namespace narrowgauge::io
