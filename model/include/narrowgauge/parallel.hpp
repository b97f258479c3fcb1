// SPDX-License-Identifier: Apache-2.0
// A loop over independent jobs on several threads.
#pragma once

#include <cstddef>
#include <functional>

#include "narrowgauge/progress.hpp"

namespace narrowgauge::detail {

/// Number of threads that `threads` asks for: itself, or one per core for 0.
unsigned thread_count(unsigned threads);

/// Calls job(0) ... job(jobs - 1), each once, in any order, on at most `threads` threads. The calling thread works too,
/// and is the only one that calls `progress`. The first exception of a job or of `progress` stops the rest and is
/// rethrown.
void parallel_for(std::size_t jobs, unsigned threads, const std::function<void(std::size_t)>& job,
                  const Progress& progress = {});

/// For jobs that take long, between their parts: calls `progress` of the loop that the job belongs to if this is the
/// calling thread, and leaves the job if the loop is to stop. Does nothing elsewhere.
void breathe();

}  // namespace narrowgauge::detail
