// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/reading/delegate_inputs.hpp.

#include <headrace/io/pte/reading/delegate_inputs.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/io/pte/tosa_delegates.hpp>
#include <headrace/io/tosa/reader.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pte {

result<std::optional<std::size_t>> delegate_inputs::inputs_of(std::int32_t number) {
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

}  // namespace headrace::pte
