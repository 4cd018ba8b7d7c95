// SPDX-License-Identifier: MIT
// Declares the interface of every fuzzing target: the functions that a driver calls, and those with which a
// target reports findings.
//
// A target is linked with libFuzzer, which tracks the executed code, or with fast_driver.cpp, which has no
// instrumentation and runs many more inputs. Both keep an input that reaches something new, as also reported
// through saw().
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
std::size_t LLVMFuzzerCustomMutator(
    std::uint8_t* data, std::size_t size, std::size_t capacity, unsigned seed);
std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t capacity);
}

namespace headrace::fuzz {

using bytes = std::vector<std::uint8_t>;

/// Runs an input; each target defines it.
void run(std::span<const std::uint8_t> input);
/// Returns a changed input of at most `capacity` bytes.
[[nodiscard]] bytes mutated(const bytes& input, std::size_t capacity, unsigned seed);
/// Returns smaller inputs that may show the same fault, the most promising first.
[[nodiscard]] std::vector<bytes> simpler(const bytes& input);

/// Ends the process: the input violates an invariant.
[[noreturn]] void found(std::string_view fault);
/// Reports an internal error as a finding; any other error is recorded as an event.
void check(const error& e);
/// Records an event of a run, such as an error or the op after another: an input is kept if an event is new.
void saw(std::string_view what);
void saw(std::string_view first, std::string_view second, std::string_view third = {});
/// Names the current step, for the report of a crash or a hang.
void step(std::string_view name);

/// A file in memory, for functions that read paths.
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

/// Returns the bytes after changes that ignore the format.
[[nodiscard]] bytes mutated_bytes(const bytes& input, std::size_t capacity);
/// Returns variants of the input without some of its parts, large parts first.
[[nodiscard]] std::vector<bytes> without_parts(const bytes& input);

}  // namespace headrace::fuzz

#endif
