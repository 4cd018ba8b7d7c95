// SPDX-License-Identifier: MIT
// Declares headrace::pte::plan_bank_places: the places of a method's tensors in the banks of a board.
#ifndef HEADRACE_IO_PTE_WRITING_BANK_PLACES_HPP
#define HEADRACE_IO_PTE_WRITING_BANK_PLACES_HPP

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <headrace/banks/memory_map.hpp>
#include <headrace/base/result.hpp>
#include <headrace/io/pte/writing/values.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pte {

/// Places in planned memory. Each bank that may hold an arena is a memory of the method: the first has the
/// number 1, in the map's order, whether it holds a tensor or not.
struct bank_places {
    std::map<std::pair<const node*, std::uint32_t>, tensor_place> tensors{};
    std::vector<std::uint64_t> bytes{};         ///< by memory
    std::vector<std::uint64_t> lower_bounds{};  ///< by memory

    [[nodiscard]] const tensor_place* find(value v) const {
        const auto found = tensors.find({v.producer, v.result});
        return found == tensors.end() ? nullptr : &found->second;
    }
};

/// Plans the tensors of a graph; constants stay in the file, states are planned like other inputs, and the
/// map's stack is left free.
[[nodiscard]] result<bank_places> plan_bank_places(const graph& g, const memory_map& map);

}  // namespace headrace::pte

#endif
