// SPDX-License-Identifier: Apache-2.0
// A loop over independent jobs on several threads, and the breath that long work takes.
#pragma once

#include <cstddef>
#include <functional>

#include "narrowgauge/progress.hpp"

namespace narrowgauge::detail {

/// Number of threads that `threads` asks for: itself, or one per core for 0.
unsigned thread_count(unsigned threads);

/// Calls job(0) ... job(jobs - 1), each once, in any order, on at most `threads` threads. The calling thread works too,
/// and is the only one that calls `progress` and its Hearing. The first exception of a job, of `progress` or of the
/// Hearing stops the rest and is rethrown.
void parallel_for(std::size_t jobs, unsigned threads, const std::function<void(std::size_t)>& job,
                  const Progress& progress = {});

/// Calls the Hearing of this thread, if it has one.
void hear();

/// Long work calls it between its parts. It calls the Hearing of this thread. In a job of a loop it leaves the job if
/// the loop is to stop, and calls the loop's `progress` if this is the calling thread.
void breathe();

/// Breathes once in so many units of work, for loops whose parts are short.
class Pace {
 public:
  void operator()(std::size_t units = 1) {
    done_ += units;
    if (done_ < breath) return;
    done_ = 0;
    breathe();
  }

 private:
  static constexpr std::size_t breath = std::size_t{1} << 14;
  std::size_t done_ = 0;
};

}  // namespace narrowgauge::detail
