// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/graph.hpp.

#include <headrace/io/pt2/graph.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/pt2/arguments.hpp>
#include <headrace/io/pt2/constant_truth.hpp>
#include <headrace/io/pt2/convert.hpp>
#include <headrace/io/pt2/node_text.hpp>
#include <headrace/io/pt2/reading/fake_quantize.hpp>
#include <headrace/io/pt2/run_time.hpp>
#include <headrace/io/pt2/scope.hpp>
#include <headrace/io/pt2/target.hpp>
#include <headrace/io/pt2/unread.hpp>
#include <headrace/io/text/opaque_text.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/source_location.hpp>
#include <headrace/ir/unread.hpp>

namespace headrace::pt2 {

namespace {

// Passes inline regions by position: the counts must agree.
void check_regions(const node& n) {
    const auto check = [](const graph* region, std::size_t inputs, std::size_t outputs) {
        std::size_t count = 0;
        for ([[maybe_unused]] const node& input : region->inputs()) ++count;
        if (count != inputs || region->outputs().size() != outputs) {
            fail_malformed("a nested graph does not have as many inputs or outputs as it is called with");
        }
    };
    if (is<higher_order::cond>(n)) {
        const auto& a = args_of<higher_order::cond>(n);
        check(a.true_graph, a.operands.size(), n.result_count);
        check(a.false_graph, a.operands.size(), n.result_count);
    } else if (is<higher_order::while_loop>(n)) {
        const auto& a = args_of<higher_order::while_loop>(n);
        const std::size_t inputs = a.carried_inputs.size() + a.additional_inputs.size();
        check(a.cond_graph, inputs, 1);
        check(a.body_graph, inputs, a.carried_inputs.size());
        if (n.result_count != a.carried_inputs.size())
            fail_malformed("it does not have as many results as it carries");
    } else if (is<higher_order::wrap_with_set_grad_enabled>(n)) {
        const auto& a = args_of<higher_order::wrap_with_set_grad_enabled>(n);
        check(a.wrapped_graph, a.operands.size(), n.result_count);
    } else if (is<higher_order::wrap_with_autocast>(n)) {
        const auto& a = args_of<higher_order::wrap_with_autocast>(n);
        check(a.wrapped_body, a.operands.size(), n.result_count);
    }
}

/// Reads the arguments of one node, whatever they are. Nested graphs are not kept: the word `graph` replaces
/// each.
class unknown_op_arguments : private argument_converter {
public:
    unknown_op_arguments(scope& names, json_parser& json, std::pmr::memory_resource* scratch)
        : argument_converter(names, scratch), json_(json) {}

    /// The result views this object.
    [[nodiscard]] args<builtin::opaque> read(std::string_view target, std::string_view inputs) {
        for_each_input(inputs, [&](std::string_view name, std::string_view text) {
            out_.begin(headrace::text::is_word(name) ? name : std::string_view());
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
    headrace::text::opaque_writer out_;
};

}  // namespace

graph_builder::graph_builder(symbol_table& symbols, json_parser& json, json_parser& values_json,
    constant_truth truth, std::pmr::memory_resource* arena)
    : symbols_(symbols),
      json_(json),
      values_json_(values_json),
      truth_(truth),
      arena_(arena),
      origins_(json) {}

void graph_builder::read_nodes(scope& names, std::span<const node_text> nodes) {
    for (const node_text& text : nodes) {
        if (text.inputs.empty() || text.outputs.empty())
            fail_malformed("a node has no 'inputs' or no 'outputs'");
        const std::string target = target_of(text.target);
        const std::string name = plain(text.name);
        try {
            read_node(names, text, target, name);
        } catch (failure& f) {
            f.what = f.what.in(
                line_of(text) + "node " + std::string(printable(name) + " (" + printable(target) + ")"));
            throw;
        }
    }
    refuse_written_selections(names.owner());
    erase_unused_numbers(names.owner());
}

std::string graph_builder::plain(std::string_view raw) {
    std::string_view text;
    if (raw.empty() || json_.parse(raw).get(text)) return {};
    return std::string(text);
}

std::string graph_builder::line_of(const node_text& text) {
    const std::pmr::string line = line_of_frame(model_frame(plain(text.trace)));
    return line.empty() ? std::string() : std::string(line) + ": ";
}

std::string graph_builder::target_of(std::string_view raw) {
    constexpr std::string_view prefix = "torch.ops.";
    std::string target = plain(raw);
    if (target.empty()) fail_malformed("a node has no 'target'");
    if (target.starts_with(prefix)) target.erase(0, prefix.size());
    return target;
}

void graph_builder::read_node(
    scope& names, const node_text& text, const std::string& target, const std::string& name) {
    std::array<std::byte, 2048> first;
    std::pmr::monotonic_buffer_resource scratch(first.data(), first.size());
    graph& g = names.owner();
    pmr_vector<std::string_view> results(&scratch);
    const result_kind kind = read_results(names, text.outputs, results, scratch);
    if (kind == result_kind::known_number) return;
    const auto annotate_as = [&](node& n) {
        const bool by_result = name.empty() && !results.empty();
        origins_.annotate(n, text, target, by_result ? results[0] : std::string_view(name));
    };
    const auto read_as_unknown = [&](std::string_view reason, bool follows) {
        unknown_op_arguments given(names, json_, &scratch);
        node& made = g.create<builtin::opaque>(given.read(target, text.inputs), results.size());
        annotate_as(made);
        if (!reason.empty()) g.annotate(made, unread_reason{g.own(reason), follows || takes_unread(made)});
        for (std::uint32_t i = 0; i != results.size(); ++i) {
            if (!results[i].empty()) names.define_unread(made.result(i), results[i]);
        }
    };
    run_time_reader run_time(names, json_, symbols_, truth_, &scratch);
    if (kind == result_kind::run_time_number) {
        read_number(names, run_time, text, target, results[0], read_as_unknown);
        return;
    }
    const auto [op, in_place] = find_target(target);
    const node* const last = g.last();
    const int depth = depth_;
    static_cast<void>(names.take_unread());
    try {
        node* const made = run_time.read(target, text.inputs, results.empty() ? "" : results[0]);
        if (made != nullptr) {
            annotate_as(*made);
            names.define(made->result(), results[0]);
            return;
        }
        if (op != nullptr) return read_known(names, text, *op, in_place, results, scratch, annotate_as);
        check_results(names, results);
    } catch (failure& f) {
        if (f.what.kind != error_kind::unsupported) throw;
        depth_ = depth;
        erase_after(g, last, op);
        if (op != nullptr && op->has(trait::no_results)) return;  // an assertion about such a number
        const bool follows = !names.take_unread().empty();
        read_as_unknown(f.what.message, follows);
        return;
    }
    read_as_unknown(observing_reason(target), false);
    node& unknown = *g.last();
    if (!is_fake_quantization(target) || unknown.find_annotation<unread_reason>() != nullptr ||
        results.empty() || results[0].empty())
        return;
    if (const value read = read_fake_quantization(g, unknown, truth_)) names.define_unread(read, results[0]);
}

void graph_builder::set_pure_meta(
    graph& g, scope& names, node& pure, node& written, std::span<const std::string_view> results) {
    if (results.empty() || results[0].empty()) fail_malformed("it has no result");
    names.define(written.result(), results[0]);
    const tensor_meta* meta = meta_of(written.result());
    if (meta == nullptr) return;
    tensor_meta of_pure = *meta;
    if (is_predicate(*pure.op)) of_pure.dtype = dtype::boolean;
    g.set_meta(pure.result(), of_pure);
}

bool graph_builder::is_predicate(const op_info& op) {
    constexpr std::array names{"eq", "ne", "lt", "le", "gt", "ge"};
    std::string_view name = op.name.substr(op.name.find('.') + 1);
    name = name.substr(0, name.find('.'));
    return name.starts_with("logical_") || std::find(names.begin(), names.end(), name) != names.end();
}

void graph_builder::erase_after(graph& g, const node* last, const op_info* op) {
    const auto is_made = [&](const node& n) { return n.op == op || is<aten::copy_inplace>(n); };
    while (op != nullptr && g.last() != last && is_made(*g.last()) && g.last()->first_use == nullptr)
        g.erase(*g.last());
}

graph_builder::result_kind graph_builder::read_results(scope& names, std::string_view outputs,
    pmr_vector<std::string_view>& results, std::pmr::memory_resource& scratch) {
    const auto add_name = [&](std::string_view name) {
        if (name.empty()) fail_malformed("a result has an empty name");
        char* copy = static_cast<char*>(scratch.allocate(name.size(), 1));
        std::memcpy(copy, name.data(), name.size());
        results.emplace_back(copy, name.size());
    };
    const auto add = [&](simdjson::dom::element tensor) {
        add_name(json_get<std::string_view>(tensor, "name"));
    };
    simdjson::dom::array array;
    if (json_.parse(outputs).get(array)) fail_malformed("'outputs' is not a list");
    for (const simdjson::dom::element e : array) {
        const argument a(e);
        simdjson::dom::array several;
        if (a.is("as_tensor")) {
            add(a.content);
        } else if (a.is("as_none")) {
            results.emplace_back();
        } else if (a.is("as_tensors") && a.content.get(several) == simdjson::SUCCESS) {
            for (const simdjson::dom::element t : several) add(t);
        } else if (is_symbolic(a) && array.size() == 1) {
            const auto name = json_get<std::string_view>(a.content, "as_name");
            if (names.is_known_number(name)) return result_kind::known_number;
            add_name(name);
            return result_kind::run_time_number;
        } else {
            fail_unsupported(
                "its result " + in_quotes(a.tag) + " is not a tensor, but known only when the program runs");
        }
    }
    return result_kind::tensors;
}

std::size_t graph_builder::results_of(const op_info& op, std::size_t named) {
    if (op.results == variadic_results) return named;
    const auto expected = static_cast<std::size_t>(op.results);
    if (named > expected) {
        fail_malformed("it has " + std::to_string(named) + " results, the op " + std::to_string(expected));
    }
    return expected;
}

graph* graph_builder::read_region(graph& parent, std::string_view text) {
    // A region takes its memory from the enclosing graph, half as much again at each level.
    constexpr int deepest = 16;
    if (depth_ == deepest) fail_malformed("graphs are nested too deeply");
    ++depth_;
    graph& region = parent.create_region();
    json_cursor at(text);
    at.members([&](std::string_view key) {
        if (key != "as_graph") fail_malformed("a graph is expected, not " + in_quotes(key));
        at.members([&](std::string_view part) {
            if (part != "graph") return static_cast<void>(at.skip());
            if (region.output() != nullptr) fail_malformed("a graph is given twice");
            fill_region(region, read_graph_text(at));
        });
    });
    if (region.output() == nullptr) fail_malformed("'graph' is missing");
    --depth_;
    return &region;
}

void graph_builder::fill_region(graph& region, const graph_text& text) {
    scope names(region, text, symbols_, values_json_, arena_);
    for_each_tensor(text.inputs,
        [&](std::string_view name) { names.define(region.create<builtin::placeholder>({}).result(), name); });
    read_nodes(names, *text.nodes);
    pmr_vector<value> results(arena_);
    for_each_tensor(text.outputs, [&](std::string_view name) { results.push_back(names.find(name)); });
    region.create<builtin::output>({.values = results});
}

template <class F>
void graph_builder::read_number(scope& names, run_time_reader& run_time, const node_text& text,
    std::string_view target, std::string_view result, const F& read_as_unknown) {
    value tensor;
    if (target == "aten.item.default" || target == "aten._local_scalar_dense.default") {
        for_each_input(text.inputs, [&](std::string_view, std::string_view input) {
            argument_converter convert(names, arena_);
            if (convert.convert(argument(json_.parse(input)), tensor) && meta_of(tensor) != nullptr)
                tensor = run_time.element_of(tensor);
        });
    }
    read_as_unknown(number_reason, false);
    names.define_number(names.find(result), result, tensor && meta_of(tensor) ? tensor : value());
}

template <class F>
void graph_builder::read_known(scope& names, const node_text& text, const op_info& op, bool in_place,
    const pmr_vector<std::string_view>& results, std::pmr::memory_resource& scratch, const F& annotate_as) {
    graph& g = names.owner();
    argument_reader reader(
        names, json_, &scratch, [&](std::string_view region) { return read_region(g, region); });
    const void* arguments = reader.read(op, text.inputs);
    if (const std::string_view unread = names.take_unread(); !unread.empty()) {
        static_cast<void>(names.find(unread));  // looks it up again: it is the reason
        fail_unsupported("it takes " + in_quotes(unread) + ", which cannot be computed");
    }
    node* made = &g.create(op, arguments, results_of(op, results.size()));
    check_regions(*made);
    annotate_as(*made);
    if (in_place) {
        if (made->operand_count == 0) fail_malformed("it writes in place, but not to a tensor");
        node& pure = *made;
        made = &g.create<aten::copy_inplace>({.self = pure.operand(0), .src = pure.result()});
        annotate_as(*made);
        set_pure_meta(g, names, pure, *made, results);
        return;
    }
    for (std::uint32_t i = 0; i != results.size(); ++i) {
        if (!results[i].empty()) names.define(made->result(i), results[i]);
    }
}

template <class F>
void graph_builder::for_each_tensor(std::string_view arguments, F&& f) {
    json_cursor at(arguments);
    at.elements([&] {
        const argument a(json_.parse(at.skip()));
        if (!a.is("as_tensor"))
            fail_unsupported("a nested graph has the input or output " + in_quotes(a.tag));
        f(json_get<std::string_view>(a.content, "name"));
    });
}

}  // namespace headrace::pt2
