// SPDX-License-Identifier: MIT
// Declares what every fuzzing target has: the functions that a driver calls, and how a target tells what it
// found.
//
// A target is linked with libFuzzer, which watches which code runs, or with fast_driver.cpp, which has no
// instrumentation and runs many more inputs. Both keep an input that reaches something new, and both look at
// what saw() is told for that.
#ifndef HEADRACE_TESTS_FUZZ_TARGET_HPP
#define HEADRACE_TESTS_FUZZ_TARGET_HPP

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/error.hpp>

extern "C" {
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t capacity,
                                    unsigned seed);
std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t capacity);
}

namespace headrace::fuzz {

using bytes = std::vector<std::uint8_t>;

/// What a target has that is its own.
void run(std::span<const std::uint8_t> input);
/// A changed input of at most `capacity` bytes.
[[nodiscard]] bytes mutated(const bytes& input, std::size_t capacity, unsigned seed);
/// Smaller inputs that may show the same fault, the most promising first.
[[nodiscard]] std::vector<bytes> simpler(const bytes& input);

/// Ends the process: the input breaks what must hold for every input.
[[noreturn]] void found(std::string_view fault);
/// An error that is our fault, not the input's, is a finding; any other is something that was seen.
void check(const error& e);
/// Notes what a run reached, such as an error or the op after another: an input is kept if that is new.
void saw(std::string_view what);
void saw(std::string_view first, std::string_view second, std::string_view third = {});
/// What happens now, for the report of a crash or of a hang.
void step(std::string_view name);

/// A file in memory, for what reads paths.
class memory_file {
public:
    explicit memory_file(std::span<const std::uint8_t> content);
    memory_file(const memory_file&) = delete;
    memory_file& operator=(const memory_file&) = delete;
    ~memory_file();
    [[nodiscard]] std::string path() const;

private:
    int descriptor_;
};

/// Changes of bytes that know nothing of a format.
[[nodiscard]] bytes mutated_bytes(const bytes& input, std::size_t capacity);
/// The input without some of its parts, large ones first.
[[nodiscard]] std::vector<bytes> without_parts(const bytes& input);

}  // namespace headrace::fuzz

#endif
