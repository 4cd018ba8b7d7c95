// SPDX-License-Identifier: MIT
// Defines headrace::pt2::opaque_arguments, which keeps the arguments of an unknown op.
#ifndef HEADRACE_IO_PT2_OPAQUE_HPP
#define HEADRACE_IO_PT2_OPAQUE_HPP

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>

#include <headrace/io/pt2/arguments.hpp>
#include <headrace/io/pt2/convert.hpp>
#include <headrace/io/text/opaque_text.hpp>

namespace headrace::pt2 {

/// Reads the arguments of one node, whatever they are. Nested graphs are not kept: the word `graph` replaces
/// each.
class opaque_arguments : private argument_converter {
public:
    opaque_arguments(scope& names, json_parser& json, std::pmr::memory_resource* scratch)
        : argument_converter(names, scratch), json_(json) {}

    /// The result views this object.
    [[nodiscard]] args<builtin::opaque> read(std::string_view target, std::string_view inputs) {
        for_each_input(inputs, [&](std::string_view name, std::string_view text) {
            out_.begin(headrace::detail::graph_text::is_word(name) ? name : std::string_view());
            if (is_graph(text)) return out_.put_raw("graph");
            put(argument(json_.parse(text)));
        });
        return out_.arguments(target);
    }

private:
    void put(const argument& a) {
        scalar number;
        value tensor;
        dtype type{};
        memory_format format{};
        std::string_view text;
        if (is_none(a)) {
            out_.put_raw("none");
        } else if (is_symbolic(a) && a.content["as_name"].get(text) == simdjson::SUCCESS &&
            names_.is_run_time_number(text)) {
            out_.put(names_.find(text));
        } else if (convert(a, tensor)) {
            out_.put(tensor);
        } else if (convert(a, number)) {
            put(number);
        } else if (a.is("as_string") && a.content.get(text) == simdjson::SUCCESS) {
            out_.put_quoted(text);
        } else if (convert(a, type)) {
            out_.put_raw(name_of(type));
        } else if (convert(a, format)) {
            out_.put_raw(name_of(format));
        } else if (a.is("as_device")) {
            out_.put_quoted(json_get<std::string_view>(a.content, "type"));
        } else if (!put_list(a)) {
            out_.put_quoted(simdjson::minify(a.content));
        }
    }
    static bool is_none(const argument& a) {
        return a.is("as_none") || (a.is("as_optional_tensor") && argument(a.content).is("as_none"));
    }
    void put(const scalar& number) {
        if (number.is_floating()) return out_.put(number.to_double());
        if (number.kind() == scalar::kind_type::boolean)
            return out_.put_raw(number.to_int() != 0 ? "true" : "false");
        out_.put_raw(std::to_string(number.to_int()));
    }

    // The items of a list have one type, which the tag tells, unless they are arguments themselves.
    bool put_list(const argument& a) {
        simdjson::dom::array items;
        if (a.content.get(items)) return false;
        out_.put_raw("[");
        for (const simdjson::dom::element e : items) {
            out_.begin({});
            put_item(a, e);
        }
        out_.put_raw("]");
        return true;
    }
    void put_item(const argument& list, simdjson::dom::element e) {
        std::int64_t whole = 0;
        bool truth = false;
        std::string_view text;
        if (list.is("as_tensors")) {
            out_.put(names_.find(json_get<std::string_view>(e, "name")));
        } else if (list.is("as_optional_tensors") || list.is("as_sym_ints") || list.is("as_sym_floats") ||
            list.is("as_sym_bools")) {
            put(argument(e));
        } else if (list.is("as_floats")) {
            out_.put(read_float(e));
        } else if (e.get(whole) == simdjson::SUCCESS) {
            out_.put_raw(std::to_string(whole));
        } else if (e.get(truth) == simdjson::SUCCESS) {
            out_.put_raw(truth ? "true" : "false");
        } else if (e.get(text) == simdjson::SUCCESS) {
            out_.put_quoted(text);
        } else {
            out_.put_quoted(simdjson::minify(e));
        }
    }

    json_parser& json_;
    headrace::detail::graph_text::opaque_writer out_;
};

}  // namespace headrace::pt2

#endif
