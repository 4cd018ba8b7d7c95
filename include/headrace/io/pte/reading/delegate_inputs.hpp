// SPDX-License-Identifier: MIT
// Defines how many arguments of a delegate call in a .pte file are inputs.
#ifndef HEADRACE_IO_PTE_READING_DELEGATE_INPUTS_HPP
#define HEADRACE_IO_PTE_READING_DELEGATE_INPUTS_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/file.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/io/pte/tosa_delegates.hpp>

namespace headrace::pte {

/// Counts the inputs of a method's delegates, once for each delegate.
class delegate_inputs {
public:
    delegate_inputs(const pte_file& file, const pte_fb::Method& method)
        : file_(file), method_(method), restored_left_(largest_restored(file.size())) {}

    /// Returns nullopt for a delegate whose inputs only its backend knows.
    result<std::optional<std::size_t>> inputs_of(std::int32_t number);

private:
    const pte_file& file_;
    const pte_fb::Method& method_;
    std::uint64_t restored_left_;  // bytes that flatbuffers may still claim to have
    std::map<std::int32_t, std::optional<std::size_t>> counts_;
};

}  // namespace headrace::pte

#endif
