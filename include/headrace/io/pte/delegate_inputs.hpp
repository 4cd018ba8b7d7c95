// SPDX-License-Identifier: MIT
// Defines how many arguments of a delegate call in a .pte file are inputs.
#ifndef HEADRACE_IO_PTE_DELEGATE_INPUTS_HPP
#define HEADRACE_IO_PTE_DELEGATE_INPUTS_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/file.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/io/pte/tosa_delegates.hpp>
#include <headrace/io/tosa/reader.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::detail::pte {

/// Counts the inputs of a method's delegates, once for each delegate.
class delegate_inputs {
public:
    delegate_inputs(const pte_file& file, const pte_fb::Method& method)
        : file_(file), method_(method), restored_left_(largest_restored(file.size())) {}

    /// Returns nullopt for a delegate whose inputs only its backend knows.
    result<std::optional<std::size_t>> inputs_of(std::int32_t number) {
        if (const auto known = counts_.find(number); known != counts_.end()) return known->second;
        const auto* const all = method_.delegates();
        if (all == nullptr || number < 0 || static_cast<std::uint32_t>(number) >= all->size())
            return malformed("a call of a delegate that the method does not list");
        const pte_fb::Delegate& d = *all->Get(static_cast<flatbuffers::uoffset_t>(number));
        std::optional<std::size_t> count;
        if (d.id() != nullptr && d.id()->string_view() == tosa_backend_id) {
            HEADRACE_TRY(blob, file_.delegate(d));
            HEADRACE_TRY(constants, file_.named_data(shared_constants_key));
            HEADRACE_TRY(flatbuffer, restore_tosa(blob, constants, restored_left_));
            restored_left_ -= flatbuffer.size();
            graph restored;
            HEADRACE_TRY(read_tosa(flatbuffer, restored));
            count = 0;
            for ([[maybe_unused]] const node& n : restored.inputs()) ++*count;
        }
        counts_.emplace(number, count);
        return count;
    }

private:
    const pte_file& file_;
    const pte_fb::Method& method_;
    std::uint64_t restored_left_;  // bytes that flatbuffers may still claim to have
    std::map<std::int32_t, std::optional<std::size_t>> counts_;
};

}  // namespace headrace::detail::pte

#endif
