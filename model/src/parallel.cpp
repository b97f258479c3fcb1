// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace narrowgauge {
namespace {

thread_local const std::function<void()>* hears = nullptr;

}  // namespace

Hearing::Hearing(std::function<void()> hear) : hear_(std::move(hear)), outer_(std::exchange(hears, &hear_)) {}

Hearing::~Hearing() { hears = outer_; }

namespace detail {

void hear() {
  if (hears) (*hears)();
}

unsigned thread_count(unsigned threads) {
  return threads ? threads : std::max(1U, std::thread::hardware_concurrency());
}

namespace {

struct Loop {
  std::size_t jobs;
  const Progress& progress;
  std::atomic<std::size_t> next{0}, done{0};
  std::atomic<bool> stop{false};
};

struct Stopped {};  // not a failure of its own

thread_local Loop* loop_of_job = nullptr;
thread_local bool job_reports = false;

}  // namespace

void breathe() {
  if (loop_of_job && loop_of_job->stop) throw Stopped{};
  hear();
  if (!loop_of_job) return;
  if (job_reports && loop_of_job->progress) loop_of_job->progress(loop_of_job->done, loop_of_job->jobs);
}

void parallel_for(std::size_t jobs, unsigned threads, const std::function<void(std::size_t)>& job,
                  const Progress& progress) {
  Loop loop{jobs, progress};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto fail = [&] {
    loop.stop = true;
    const std::lock_guard lock(failure_mutex);
    if (!failure) failure = std::current_exception();
  };
  const auto tell = [&] {
    try {
      hear();
      if (progress) progress(loop.done, jobs);
    } catch (...) {
      fail();
    }
  };
  const auto work = [&](bool reports) {
    Loop* const outer = std::exchange(loop_of_job, &loop);
    const bool outer_reports = std::exchange(job_reports, reports);
    try {
      for (std::size_t i; !loop.stop && (i = loop.next++) < jobs;) {
        job(i);
        const std::size_t now = ++loop.done;
        if (!reports || now == jobs) continue;
        hear();
        if (progress) progress(now, jobs);
      }
    } catch (const Stopped&) {
    } catch (...) {
      fail();
    }
    loop_of_job = outer;
    job_reports = outer_reports;
  };
  {
    std::mutex mutex;
    std::condition_variable ended;
    const std::size_t others = std::min<std::size_t>(thread_count(threads), std::max<std::size_t>(jobs, 1)) - 1;
    std::size_t working = others;
    std::vector<std::jthread> helpers;
    for (std::size_t i = 0; i < others; ++i) {
      helpers.emplace_back([&] {
        work(false);
        const std::lock_guard lock(mutex);
        --working;
        ended.notify_one();
      });
    }
    work(true);
    // Others may still be at long jobs: the caller goes on being told.
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, std::chrono::milliseconds(50), [&] { return working == 0; })) {
      lock.unlock();
      if (!loop.stop) tell();
      lock.lock();
    }
  }
  if (failure) std::rethrow_exception(failure);
  if (progress) progress(jobs, jobs);
}

}  // namespace detail
}  // namespace narrowgauge
