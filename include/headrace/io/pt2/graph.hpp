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
#include <headrace/io/file/json.hpp>
#include <headrace/io/pt2/arguments.hpp>
#include <headrace/io/pt2/constant_truth.hpp>
#include <headrace/io/pt2/node_text.hpp>
#include <headrace/io/pt2/opaque.hpp>
#include <headrace/io/pt2/provenance.hpp>
#include <headrace/io/pt2/regions.hpp>
#include <headrace/io/pt2/run_time.hpp>
#include <headrace/io/pt2/scope.hpp>
#include <headrace/io/pt2/target.hpp>
#include <headrace/io/pt2/unread.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/source_location.hpp>

namespace headrace::pt2 {

class graph_builder {
public:
    /// `json` parses nodes; scopes use `values_json` for what nodes refer to. `truth` computes masks; it may
    /// be null, but then nodes that select by a mask cannot be read.
    graph_builder(symbol_table& symbols, json_parser& json, json_parser& values_json, constant_truth truth,
        std::pmr::memory_resource* arena)
        : symbols_(symbols),
          json_(json),
          values_json_(values_json),
          truth_(truth),
          arena_(arena),
          origins_(json) {}

    /// Adds the nodes of a graph whose inputs are in `names`.
    void read_nodes(scope& names, std::string_view nodes) {
        json_cursor at(nodes);
        at.elements([&] {
            const node_text text = read_node_text(at);
            const std::string target = target_of(text.target);
            const std::string name = plain(text.name);
            try {
                read_node(names, text, target, name);
            } catch (failure& f) {
                f.what = f.what.in(
                    line_of(text) + "node " + std::string(printable(name) + " (" + printable(target) + ")"));
                throw;
            }
        });
        detail::refuse_written_selections(names.owner());
        detail::erase_unused_numbers(names.owner());
    }

private:
    // Returns a string without its quotes, for messages and names; empty for null.
    [[nodiscard]] std::string plain(std::string_view raw) {
        std::string_view text;
        if (raw.empty() || json_.parse(raw).get(text)) return {};
        return std::string(text);
    }
    // Returns "net.py:42: " if the node's trace has a line.
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
        const result_kind kind = read_results(names, text.outputs, results, scratch);
        if (kind == result_kind::known_number) return;
        const auto annotate_as = [&](node& n) {
            const bool by_result = name.empty() && !results.empty();
            origins_.annotate(n, text, target, by_result ? results[0] : std::string_view(name));
        };
        const auto read_as_unknown = [&](std::string_view reason, bool follows) {
            opaque_arguments given(names, json_, &scratch);
            node& made = g.create<builtin::opaque>(given.read(target, text.inputs), results.size());
            annotate_as(made);
            if (!reason.empty())
                g.annotate(made, unread_reason{g.own(reason), follows || detail::takes_unread(made)});
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
        read_as_unknown({}, false);
    }

    // Adds a number that the program computes at run time. If a tensor holds the number, it can be used as a
    // tensor.
    template <class F>
    void read_number(scope& names, run_time_reader& run_time, const node_text& text, std::string_view target,
        std::string_view result, const F& read_as_unknown) {
        value tensor;
        if (target == "aten.item.default" || target == "aten._local_scalar_dense.default") {
            for_each_input(text.inputs, [&](std::string_view, std::string_view input) {
                argument_converter convert(names, arena_);
                if (convert.convert(argument(json_.parse(input)), tensor) && meta_of(tensor) != nullptr)
                    tensor = run_time.element_of(tensor);
            });
        }
        read_as_unknown(detail::number_reason, false);
        names.define_number(names.find(result), result, tensor && meta_of(tensor) ? tensor : value());
    }

    template <class F>
    void read_known(scope& names, const node_text& text, const op_info& op, bool in_place,
        const pmr_vector<std::string_view>& results, std::pmr::memory_resource& scratch,
        const F& annotate_as) {
        graph& g = names.owner();
        argument_reader reader(
            names, json_, &scratch, [&](std::string_view region) { return read_region(g, region); });
        const void* arguments = reader.read(op, text.inputs);
        if (const std::string_view unread = names.take_unread(); !unread.empty()) {
            static_cast<void>(names.find(unread));  // looks it up again: it is the reason
            fail_unsupported("it takes " + in_quotes(unread) + ", which cannot be computed");
        }
        node* made = &g.create(op, arguments, results_of(op, results.size()));
        detail::check_regions(*made);
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

    // The value that is written has the type and shape of the tensor itself; only predicates are booleans
    // before that.
    static void set_pure_meta(
        graph& g, scope& names, node& pure, node& written, std::span<const std::string_view> results) {
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

    // Fails if the type or shape of a result is not known; for known ops define() does so.
    static void check_results(scope& names, std::span<const std::string_view> results) {
        for (const std::string_view r : results) names.check(r);
    }

    // Erases the nodes that were made for a node that cannot be read after all. Constants that became its
    // operands have names and stay, since other nodes may use them.
    static void erase_after(graph& g, const node* last, const op_info* op) {
        const auto is_made = [&](const node& n) { return n.op == op || is<aten::copy_inplace>(n); };
        while (op != nullptr && g.last() != last && is_made(*g.last()) && g.last()->first_use == nullptr)
            g.erase(*g.last());
    }

    enum class result_kind : std::uint8_t {
        tensors,
        known_number,    ///< computed from known sizes: the node is not needed
        run_time_number  ///< computed when the program runs
    };
    // A result without a name is None.
    result_kind read_results(scope& names, std::string_view outputs, pmr_vector<std::string_view>& results,
        std::pmr::memory_resource& scratch) {
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
                fail_unsupported("its result " + in_quotes(a.tag) +
                    " is not a tensor, but known only when the program runs");
            }
        }
        return result_kind::tensors;
    }

    static std::size_t results_of(const op_info& op, std::size_t named) {
        if (op.results == variadic_results) return named;
        const auto expected = static_cast<std::size_t>(op.results);
        if (named > expected) {
            fail_malformed(
                "it has " + std::to_string(named) + " results, the op " + std::to_string(expected));
        }
        return expected;
    }

    graph* read_region(graph& parent, std::string_view text) {
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

    symbol_table& symbols_;
    json_parser& json_;
    json_parser& values_json_;
    constant_truth truth_;
    std::pmr::memory_resource* arena_;
    provenance_reader origins_;
    int depth_ = 0;
};

}  // namespace headrace::pt2

#endif
