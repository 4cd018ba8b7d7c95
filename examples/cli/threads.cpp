// SPDX-License-Identifier: MIT
#include "threads.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

#include "process.hpp"

namespace headrace::cli {

std::size_t count_threads(int jobs) { return jobs != 0 ? static_cast<std::size_t>(jobs) : processor_count(); }

// oneTBB is not used: on its first task it searches for libraries of its own, which takes 0.7 of the 10 ms in
// which a small network is quantized.
parallel_for on_threads(int jobs) {
    const std::size_t threads = count_threads(jobs);
    return [threads](std::size_t count, const std::function<void(std::size_t)>& work) {
        std::atomic<std::size_t> next = 0;
        const auto run = [&] {
            for (std::size_t i = next++; i < count; i = next++) work(i);
        };
        std::vector<std::future<void>> others;
        try {
            for (std::size_t t = 1; t < std::min(threads, count); ++t)
                others.push_back(std::async(std::launch::async, run));
        } catch (const std::system_error&) {
            // The system has no more threads: those that were started do the work.
        }
        run();
        for (std::future<void>& other : others) other.get();  // rethrows exceptions of its work
    };
}

}  // namespace headrace::cli
