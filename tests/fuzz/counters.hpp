// SPDX-License-Identifier: MIT
// Declares the data that a target passes to its driver.
#ifndef HEADRACE_TESTS_FUZZ_COUNTERS_HPP
#define HEADRACE_TESTS_FUZZ_COUNTERS_HPP

#include <cstddef>
#include <cstdint>

namespace headrace::fuzz {

inline constexpr std::size_t counter_count = 1 << 16;
inline constexpr std::size_t step_capacity = 128;
inline constexpr std::size_t fault_capacity = 4096;

extern std::uint8_t counters[counter_count];  ///< 1 at the hash of each event that was seen
extern char last_step[step_capacity];
extern char last_fault[fault_capacity];  ///< of a finding; empty after a crash

}  // namespace headrace::fuzz

#endif
