// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace narrowgauge::detail {

unsigned thread_count(unsigned threads) {
  return threads ? threads : std::max(1U, std::thread::hardware_concurrency());
}

void parallel_for(std::size_t jobs, unsigned threads, const std::function<void(std::size_t)>& job,
                  const Progress& progress) {
  std::atomic<std::size_t> next{0}, done{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&](bool reports) {
    try {
      for (std::size_t i; (i = next++) < jobs;) {
        job(i);
        const std::size_t now = ++done;
        if (reports && progress && now < jobs) progress(now, jobs);
      }
    } catch (...) {
      next = jobs;
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min<std::size_t>(thread_count(threads), jobs); ++i)
      helpers.emplace_back(work, false);
    work(true);
  }
  if (failure) std::rethrow_exception(failure);
  if (progress) progress(jobs, jobs);
}

}  // namespace narrowgauge::detail
