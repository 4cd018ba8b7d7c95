// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/reader.hpp.

#include <headrace/io/pte/reader.hpp>

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/io/pte/reading/jump_reader.hpp>
#include <headrace/io/pte/reading/outline.hpp>

namespace headrace {

namespace pte {

namespace {

/// Reads the instructions one by one.
result<void> read_straight(graph_reader& into) {
    for (const pte_fb::Chain* const chain : *into.method().method().chains()) {
        std::uint32_t number = 0;
        for (const pte_fb::Instruction* const i : *chain->instructions()) {
            HEADRACE_TRY(into.add_instruction(number++, *i));
        }
    }
    return {};
}
/// Reads the instructions as branches and loops.
result<void> read_with_jumps(graph_reader& into) {
    outliner lines(into.method());
    outline all;
    for (const pte_fb::Chain* const chain : *into.method().method().chains()) {
        HEADRACE_TRY(items, lines.read(*chain));
        all.insert(all.end(), std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
    }
    accesses outputs;
    for (const std::int32_t index : *into.method().method().outputs()) {
        HEADRACE_TRY(into.method().add_read(index, outputs));
    }
    HEADRACE_TRY(lines.set_live(all, outputs.reads));
    return read_items(into, all);
}

result<void> read_method(const pte_file& file, const pte_fb::Method& method, graph& g) {
    if (method.values() == nullptr || method.inputs() == nullptr || method.outputs() == nullptr ||
        method.chains() == nullptr)
        return malformed("a method lacks its values, inputs, outputs or chains");
    method_source source(file, method);
    HEADRACE_TRY(source.prepare());
    graph_reader reader(source, g);
    for (const std::int32_t index : *method.inputs()) {
        HEADRACE_TRY(reader.add_input(index));
    }
    HEADRACE_TRY(source.has_jumps() ? read_with_jumps(reader) : read_straight(reader));
    std::vector<value> outputs;
    for (const std::int32_t index : *method.outputs()) {
        HEADRACE_TRY(reader.add_output(index, outputs));
    }
    g.create<builtin::output>({.values = list<value>(outputs)});
    return {};
}

}  // namespace

}  // namespace pte

result<std::unique_ptr<graph>> read_pte(const pte_file& file, std::string_view method) {
    HEADRACE_TRY(found, file.method(method));
    auto made = std::make_unique<graph>();
    HEADRACE_TRY(pte::read_method(file, *found, *made));
    return made;
}

}  // namespace headrace
