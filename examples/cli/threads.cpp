// SPDX-License-Identifier: MIT
#include "threads.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <future>
#include <thread>
#include <vector>

namespace headrace::cli {

// Not oneTBB: it looks for its own libraries when it gets its first work, as long as it takes to calibrate a
// small network.
parallel_for on_threads(int jobs) {
    const std::size_t threads =
        jobs != 0 ? static_cast<std::size_t>(jobs) : std::thread::hardware_concurrency();
    return [threads](std::size_t count, const std::function<void(std::size_t)>& work) {
        std::atomic<std::size_t> next = 0;
        const auto run = [&] {
            for (std::size_t i = next++; i < count; i = next++) work(i);
        };
        std::vector<std::future<void>> others;
        for (std::size_t t = 1; t < std::min(threads, count); ++t)
            others.push_back(std::async(std::launch::async, run));
        run();
        for (std::future<void>& other : others) other.get();  // throws what its work did
    };
}

}  // namespace headrace::cli
