// SPDX-License-Identifier: MIT
// A backend for an imaginary unit that adds and multiplies whole tensors.
#ifndef HEADRACE_EXAMPLES_VECTOR_UNIT_HPP
#define HEADRACE_EXAMPLES_VECTOR_UNIT_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/partition/to_backend.hpp>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace my {

using namespace headrace;

// The unit's program is a text. Each line but the first and the last fills the next register; the first
// registers are the inputs.
struct vector_unit {
    static constexpr std::string_view name() { return "vector_unit"; }

    // No broadcasting, and no factor for the second operand.
    static bool supports(const node& n) {
        if (is<aten::add_tensor>(n)) {
            if (args_of<aten::add_tensor>(n).alpha != scalar(1)) return false;
        } else if (!is<aten::mul_tensor>(n)) {
            return false;
        }
        const tensor_meta& type = *meta_of(n.operand(0));
        return type.dtype == dtype::float32 && type == *meta_of(n.operand(1));
    }

    // Constants are named data, by their content: the delegates of all methods share them.
    result<preprocess_result> preprocess(const graph& program, std::span<const compile_spec> specs) const {
        for (const compile_spec& s : specs) {
            if (s != compile_spec{"precision", "float32"})
                return unsupported({"vector_unit: ", s.key, " ", s.value});
        }
        preprocess_result made;
        named_data_store store;
        std::map<const node*, std::size_t> registers;
        for (const node& n : program.inputs()) registers.emplace(&n, registers.size());
        std::string text = "inputs " + std::to_string(registers.size()) + "\n";
        const auto operands = [&](const node& n) {
            for (const edge& e : n.operand_edges()) text += " " + std::to_string(registers.at(e.source));
        };
        for (const node& n : program.nodes()) {
            if (is<builtin::placeholder>(n)) continue;
            if (is<builtin::constant>(n)) {
                const tensor_data& elements = args_of<builtin::constant>(n).data;
                if (!elements.strides.empty()) return unsupported("vector_unit: a transposed constant");
                const std::span data(elements.bytes, bytes_in_memory(*n.results[0].meta));
                made.data_keys.push_back("vector_unit." + std::to_string(hash_of_bytes(data)));
                HEADRACE_TRY(store.add_named_data(made.data_keys.back(), data, 16));
                text += "constant " + made.data_keys.back();
            } else {
                text += is<builtin::output>(n) ? "output" : is<aten::add_tensor>(n) ? "add" : "multiply";
                operands(n);
            }
            text += "\n";
            registers.emplace(&n, registers.size());
        }
        const auto bytes = std::as_bytes(std::span(text));
        made.processed_bytes.assign(bytes.begin(), bytes.end());
        made.data = store.output();
        return made;
    }
};

}  // namespace my

#endif
