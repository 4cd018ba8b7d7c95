// SPDX-License-Identifier: MIT
// Defines headrace::pt2::signature_reader, which turns an exported program's signature into inputs and
// outputs.
#ifndef HEADRACE_IO_PT2_SIGNATURE_HPP
#define HEADRACE_IO_PT2_SIGNATURE_HPP

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/io/file/json.hpp>
#include <headrace/io/program.hpp>
#include <headrace/io/pt2/convert.hpp>
#include <headrace/io/pt2/scope.hpp>
#include <headrace/io/pt2/symbols.hpp>
#include <headrace/io/pt2/weights.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

/// Tells `symbols` which sizes of the graph's inputs the export leaves open.
void find_dynamic_axes(const scope& names, std::string_view graph_inputs, symbol_table& symbols,
    json_parser& json, json_parser& values_json);

class signature_reader {
public:
    /// `names` must not share its parser with `json`.
    signature_reader(scope& names, weight_store& weights, json_parser& json)
        : names_(names), weights_(weights), json_(json) {}

    /// Makes the placeholders and names the weights, in the order of the graph's own inputs.
    void read_inputs(std::string_view specs, std::string_view graph_inputs);

    /// Makes the output node.
    void read_outputs(std::string_view specs, program& out);

private:
    struct result_name {
        value known;
        std::string name;
    };

    template <class F>
    void for_each(std::string_view items, F&& f);

    static argument argument_in(const argument& spec);

    // Returns the name of the input if it is a tensor. Python constants are in the arguments that use them.
    std::string read_input(const argument& spec);
    std::string read_user_input(const argument& a);
    std::string read_weight(const argument& spec, std::string_view key);

    void read_output(const argument& spec);
    // Python's numbers and strings are the same at each call, or follow from the sizes of the inputs.
    static bool is_number(const argument& a) {
        return is_symbolic(a) || a.is("as_int") || a.is("as_float") || a.is("as_bool") || a.is("as_string");
    }
    static std::string number_text(const argument& a);
    // User outputs hold an Argument, the others a tensor's name.
    static argument argument_in_output(const argument& spec);
    void add_mutation(const argument& spec);

    // Returns the name of a weight in the state, or the input's own name.
    [[nodiscard]] std::string_view known_as(std::string_view name) const;

    scope& names_;
    weight_store& weights_;
    json_parser& json_;
    std::size_t position_ = 0;  // among the user's outputs
    std::vector<std::string> notes_;
    std::vector<result_name> users_;
    std::vector<result_name> written_;
    std::vector<mutation> mutations_;
    std::map<std::string, std::string, std::less<>> tensors_;  // names of weights in the graph
};

}  // namespace headrace::pt2

#endif
