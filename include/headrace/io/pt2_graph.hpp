// SPDX-License-Identifier: MIT
// Defines headrace::pt2::graph_builder, which makes the nodes of an exported graph.
#ifndef HEADRACE_IO_PT2_GRAPH_HPP
#define HEADRACE_IO_PT2_GRAPH_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/io/json.hpp>
#include <headrace/io/pt2_arguments.hpp>
#include <headrace/io/pt2_node_text.hpp>
#include <headrace/io/pt2_opaque.hpp>
#include <headrace/io/pt2_scope.hpp>
#include <headrace/io/pt2_target.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/source_location.hpp>

namespace headrace::pt2 {

class graph_builder {
public:
    /// `json` parses nodes; the scopes have `values_json` for what nodes refer to.
    graph_builder(const symbol_table& symbols, json_parser& json, json_parser& values_json,
                  std::pmr::memory_resource* arena)
        : symbols_(symbols), json_(json), values_json_(values_json), arena_(arena) {}

    /// Adds the nodes of a graph whose inputs `names` has.
    void read_nodes(scope& names, std::string_view nodes) {
        json_cursor at(nodes);
        at.elements([&] {
            const node_text text = read_node_text(at);
            const std::string target = target_of(text.target);
            const std::string name = plain(text.name);
            try {
                read_node(names, text, target, name);
            } catch (failure& f) {
                f.what = f.what.in(line_of(text) + "node " +
                                   std::string(printable(name) + " (" + printable(target) + ")"));
                throw;
            }
        });
    }

private:
    // A string without its quotes, for messages and names; empty for null.
    [[nodiscard]] std::string plain(std::string_view raw) {
        std::string_view text;
        if (raw.empty() || json_.parse(raw).get(text)) return {};
        return std::string(text);
    }
    // "net.py:42: " of a node whose trace tells it.
    [[nodiscard]] std::string line_of(const node_text& text) {
        const std::pmr::string line = line_of_frame(model_frame(plain(text.trace)));
        return line.empty() ? std::string() : std::string(line) + ": ";
    }
    [[nodiscard]] std::string target_of(std::string_view raw) {
        constexpr std::string_view prefix = "torch.ops.";
        std::string target = plain(raw);
        if (target.empty()) fail_malformed("a node has no 'target'");
        if (target.starts_with(prefix)) target.erase(0, prefix.size());
        return target;
    }

    void read_node(scope& names, const node_text& text, const std::string& target, const std::string& name) {
        std::array<std::byte, 2048> first;
        std::pmr::monotonic_buffer_resource scratch(first.data(), first.size());
        graph& g = names.owner();
        pmr_vector<std::string_view> results(&scratch);
        if (!read_results(names, text.outputs, results, scratch)) return;
        argument_reader reader(names, json_, &scratch,
                               [&](std::string_view region) { return read_region(g, region); });
        const auto [op, in_place] = find_target(target);
        node* made = nullptr;
        if (op == nullptr) {
            opaque_arguments given(names, json_, &scratch);
            made = &g.create<builtin::opaque>(given.read(target, text.inputs), results.size());
        } else {
            const void* arguments = reader.read(*op, text.inputs);
            made = &g.create(*op, arguments, results_of(*op, results.size()));
            check_regions(*made);
        }
        const auto annotate_as = [&](node& n) {
            annotate(n, text, target, name.empty() && !results.empty() ? results[0] : std::string_view(name));
        };
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

    // What is written has the type and shape of the tensor itself; only predicates are booleans before that.
    static void set_pure_meta(graph& g, scope& names, node& pure, node& written,
                              std::span<const std::string_view> results) {
        if (results.empty() || results[0].empty()) fail_malformed("it has no result");
        names.define(written.result(), results[0]);
        const tensor_meta* meta = meta_of(written.result());
        if (meta == nullptr) return;
        tensor_meta of_pure = *meta;
        if (is_predicate(*pure.op)) of_pure.dtype = dtype::boolean;
        g.set_meta(pure.result(), of_pure);
    }
    [[nodiscard]] static bool is_predicate(const op_info& op) {
        constexpr std::array names{"eq", "ne", "lt", "le", "gt", "ge"};
        std::string_view name = op.name.substr(op.name.find('.') + 1);
        name = name.substr(0, name.find('.'));
        return name.starts_with("logical_") || std::find(names.begin(), names.end(), name) != names.end();
    }

    // False for a node that computes a number from sizes, which is known: it is not needed. A result without
    // a name is one that is None.
    bool read_results(scope& names, std::string_view outputs, pmr_vector<std::string_view>& results,
                      std::pmr::memory_resource& scratch) {
        const auto add = [&](simdjson::dom::element tensor) {
            const auto name = json_get<std::string_view>(tensor, "name");
            if (name.empty()) fail_malformed("a result has an empty name");
            char* copy = static_cast<char*>(scratch.allocate(name.size(), 1));
            std::memcpy(copy, name.data(), name.size());
            results.emplace_back(copy, name.size());
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
                static_cast<void>(names.number(json_get<std::string_view>(a.content, "as_name")));
                return false;
            } else {
                fail_unsupported("its result " + in_quotes(a.tag) +
                                 " is not a tensor, but known only when the program runs");
            }
        }
        return true;
    }

    static std::size_t results_of(const op_info& op, std::size_t named) {
        if (op.results == variadic_results) return named;
        const auto expected = static_cast<std::size_t>(op.results);
        if (named > expected) {
            fail_malformed("it has " + std::to_string(named) + " results, the op " +
                           std::to_string(expected));
        }
        return expected;
    }

    graph* read_region(graph& parent, std::string_view text) {
        // A region takes its memory from the graph around it, half as much again with each level.
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

    void fill_region(graph& region, const graph_text& text) {
        scope names(region, text, symbols_, values_json_, arena_);
        for_each_tensor(text.inputs, [&](std::string_view name) {
            names.define(region.create<builtin::placeholder>({}).result(), name);
        });
        read_nodes(names, text.nodes);
        pmr_vector<value> results(arena_);
        for_each_tensor(text.outputs, [&](std::string_view name) { results.push_back(names.find(name)); });
        region.create<builtin::output>({.values = results});
    }

    template <class F>
    void for_each_tensor(std::string_view arguments, F&& f) {
        json_cursor at(arguments);
        at.elements([&] {
            const argument a(json_.parse(at.skip()));
            if (!a.is("as_tensor"))
                fail_unsupported("a nested graph has the input or output " + in_quotes(a.tag));
            f(json_get<std::string_view>(a.content, "name"));
        });
    }

    // Passes inline regions by position: the counts must fit.
    static void check_regions(const node& n) {
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

    // A node that means another op than it names, or makes two nodes, keeps the name that the program has.
    void annotate(node& n, const node_text& text, std::string_view target, std::string_view name) {
        graph& g = *n.owner;
        const std::string_view op = n.op->name == target ? n.op->name : g.own(target);
        g.annotate(n, provenance{g.own(name), op});
        if (!text.modules.empty()) g.annotate(n, module_stack{modules_.own(g, json_, text.modules)});
        if (!text.custom.empty()) g.annotate(n, custom_metadata{custom_.own(g, json_, text.custom)});
        annotate_source(n, text);
    }
    void annotate_source(node& n, const node_text& text) {
        graph& g = *n.owner;
        const traced_call call{traces_.own_if_text(g, json_, text.trace),
                               functions_.own_if_text(g, json_, text.source_functions),
                               torch_functions_.own_if_text(g, json_, text.torch_function),
                               from_nodes_.own_if_text(g, json_, text.from_node)};
        if (!call.stack_trace.empty() || !call.source_fn_stack.empty() || !call.torch_fn.empty() ||
            !call.from_node.empty())
            g.annotate(n, call);
        const std::string_view frame = model_frame(call.stack_trace);
        if (!frame.empty()) g.annotate(n, source_location{frame});
    }

    const symbol_table& symbols_;
    json_parser& json_;
    json_parser& values_json_;
    std::pmr::memory_resource* arena_;
    text_cache modules_;
    text_cache custom_;
    text_cache traces_;
    text_cache functions_;
    text_cache torch_functions_;
    text_cache from_nodes_;
    int depth_ = 0;
};

}  // namespace headrace::pt2

#endif
