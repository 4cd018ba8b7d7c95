// SPDX-License-Identifier: MIT
// Defines how branches and loops of a method in a .pte file become nodes that hold graphs.
#ifndef HEADRACE_IO_PTE_READING_JUMP_READER_HPP
#define HEADRACE_IO_PTE_READING_JUMP_READER_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/reading/graph_reader.hpp>
#include <headrace/io/pte/reading/outline.hpp>

namespace headrace::pte {

result<void> read_items(graph_reader& into, const outline& items);

/// Reads a branch or a loop. Nested graphs see nothing of the graphs around them: the values that they read
/// are their inputs, and the values that are read after them are their outputs, each for one slot in memory
/// or one number.
class jump_reader {
public:
    jump_reader(graph_reader& outer, const outline_item& item)
        : outer_(outer), jumps_(*item.jumps), number_(item.number) {}

    result<void> read();

private:
    // A value that the nested graphs may read, and its slot.
    struct taken {
        slot at{};
        value from{};
        value inputs[2]{};  // in both graphs
    };

    graph_reader& outer_;
    const outline_jumps& jumps_;
    std::uint32_t number_;
    std::vector<taken> taken_;
    std::set<slot> seen_;  // the slots of these

    // Returns the condition of a jump in a graph: one boolean.
    result<value> condition_in(graph_reader& reader) const;
    result<void> take(const std::map<slot, std::int64_t>& places);
    static value add_input(graph_reader& reader, const slot& at, const tensor_meta& meta);
    void add_inputs(graph_reader& first, graph_reader& second);
    // Removes inputs that neither graph uses.
    static void erase_inputs(const taken& t) {
        for (const value input : t.inputs) input.producer->owner->erase(*input.producer);
    }
    static void add_output(graph_reader& reader, const std::vector<value>& values) {
        reader.target().create<builtin::output>({.values = list<value>(values)});
    }
    /// Returns `v` in the shape of `other`; nullopt if its type or number of elements differs.
    static std::optional<value> like(graph_reader& reader, value v, value other);
    // Makes the slots hold the node's results; the contents of other slots that it may have written are
    // unknown.
    void hold_results(node& n, const std::vector<slot>& places, const std::vector<value>& metas);

    result<void> read_branch();

    // --- loops -------------------------------------------------------------------------

    result<void> read_loop();
    // The values that the loop may write come first: they are carried.
    result<void> take_loop();
    /// Fills tensors with zeros that slices are written into: nothing has written them as a whole before.
    result<void> make_slices_of_nothing();
    // Fails if values that the test writes are read, other than its condition: its graph has no other result.
    result<void> refuse_writing_tests() const;

    result<void> finish_loop(graph_reader& test, graph_reader& body, value tested, value goes_on);
    /// A value first written in the loop and read after it is carried, too, starting at zero.
    result<void> add_first_written(graph_reader& test, graph_reader& body, std::vector<taken>& added);
};

result<void> read_items(graph_reader& into, const outline& items);

}  // namespace headrace::pte

#endif
