// SPDX-License-Identifier: MIT
// Defines headrace::detail::graph_text::reader, which makes a graph from its text.
#ifndef HEADRACE_IO_TEXT_READER_HPP
#define HEADRACE_IO_TEXT_READER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/base/text.hpp>
#include <headrace/io/program.hpp>
#include <headrace/io/text/annotations.hpp>
#include <headrace/io/text/arguments.hpp>
#include <headrace/io/text/constants.hpp>
#include <headrace/io/text/opaque_text.hpp>
#include <headrace/io/text/sources.hpp>
#include <headrace/ir/signature.hpp>

namespace headrace::detail::graph_text {

/// Reads a graph and the graphs nested in it. Throws headrace::failure.
class reader {
public:
    /// `find_op` finds the ops that the sources' own finder does not.
    reader(std::string_view text, const graph_text_sources& sources, op_finder find_op)
        : at_(text, sources.name), sources_(sources), find_op_(find_op) {}

    program read() {
        program p;
        p.graph = std::make_unique<graph>();
        read_header(p);
        graph_ = p.graph.get();
        while (!at_.at_end()) read_node();
        finish_graph();
        const std::size_t outputs = graph_->outputs().size();
        if (!user_outputs_) p.user_outputs = outputs;
        if (p.user_outputs > outputs) at_.fail_here("there are fewer outputs than user_outputs says");
        for (const mutation& m : p.mutations) {
            if (m.position >= outputs)
                at_.fail_here("'" + m.name + "' is written from an output that does not exist");
        }
        return p;
    }

private:
    struct result_text {
        std::size_t at = 0;
        std::string key{};
        std::string name{};
        std::optional<tensor_meta> meta{};
        std::vector<std::int64_t> shape{};
        std::vector<std::int64_t> dim_order{};
    };

    // --- the program --------------------------------------------------------------------

    void read_header(program& p) {
        if (!at_.accept_word("headrace"))
            at_.fail_here("expected 'headrace 1' at the beginning of a graph's text");
        const std::size_t version_at = at_.next();
        if (const auto version = at_.literal("the version of the text"); version != "1")
            at_.fail(version_at,
                "the text is of version " + in_quotes(version) + "; this program reads version 1");
        for (;;) {
            const std::size_t at = at_.next();
            if (at_.accept_word("target")) {
                const auto target = parse_target(at_.quoted("a target"));
                if (!target) at_.fail(at, "unknown target; write one such as \"TOSA-1.0+INT+int16\"");
                p.graph->set_target(*target);
            } else if (at_.accept_word("torch")) {
                p.torch_version = at_.quoted("PyTorch's version");
            } else if (at_.accept_word("user_outputs")) {
                p.user_outputs = read_count();
                user_outputs_ = true;
            } else if (at_.accept_word("writes")) {
                read_mutation(p);
            } else {
                return;
            }
        }
    }
    void read_mutation(program& p) {
        using kind = mutation::kind_type;
        mutation m;
        const std::size_t at = at_.next();
        const std::string_view word = at_.word("buffer, parameter or input");
        if (word == "buffer") {
            m.kind = kind::buffer;
        } else if (word == "parameter") {
            m.kind = kind::parameter;
        } else if (word == "input") {
            m.kind = kind::user_input;
        } else {
            at_.fail(at, in_quotes(word) + " cannot be written to; buffer, parameter and input can");
        }
        m.name = at_.quoted("the name of the buffer, parameter or input");
        if (!at_.accept_word("from"))
            at_.fail_here("expected 'from' and the number of an output, counted from 0");
        m.position = read_count();
        if (at_.accept_word("tensor")) m.tensor = at_.quoted("the tensor's name in the graph");
        p.mutations.push_back(std::move(m));
    }
    std::size_t read_count() {
        const std::size_t at = at_.next();
        std::size_t count = 0;
        if (!number_in(at_.literal("a number"), count)) at_.fail(at, "expected a number of 0 or more");
        return count;
    }

    // --- nodes --------------------------------------------------------------------------

    // Reads a graph in braces, an argument of the current node.
    graph* read_region() {
        // A region takes its memory from the enclosing graph, half as much again at each level.
        constexpr int deepest = 12;
        at_.expect('{', "and a graph");
        if (++depth_ == deepest) at_.fail_here("graphs are nested too deeply");
        graph& region = graph_->create_region();
        graph* const outer = std::exchange(graph_, &region);
        auto values = std::exchange(values_, {});
        while (at_.peek() != '}' && !at_.at_end()) read_node();
        finish_graph();
        at_.expect('}', "after a graph's output");
        graph_ = outer;
        values_ = std::move(values);
        --depth_;
        return &region;
    }
    void finish_graph() {
        if (graph_->output() == nullptr) at_.fail_here("expected 'output' at the end of a graph");
    }

    void read_node() {
        if (graph_->output() != nullptr) at_.fail_here("a graph ends with its output; nothing may follow it");
        std::vector<result_text> results;
        if (at_.peek() == '%') {
            do results.push_back(read_result());
            while (at_.accept(','));
            at_.expect('=', "and an op after the results");
        }
        const std::size_t at = at_.next();
        node* made = nullptr;
        if (at_.peek() == '"') {
            made = &read_call(at, at_.quoted("an op"), results);
        } else if (const std::string_view word = at_.word("an op"); word == "input") {
            check_results(at, info_of<builtin::placeholder>, results);
            made = &graph_->create<builtin::placeholder>({});
        } else if (word == "constant") {
            check_results(at, info_of<builtin::constant>, results);
            made = &graph_->create<builtin::constant>({.data = read_data(at, results[0])});
        } else if (word == "output") {
            check_results(at, info_of<builtin::output>, results);
            made = &read_outputs();
        } else if (word == "opaque") {
            made = &read_opaque(results.size());
        } else {
            made = &read_call(at, word, results);
        }
        define(*made, results);
        annotation_reader(at_).read(*made);
    }
    result_text read_result() {
        result_text r;
        r.at = at_.next();
        std::tie(r.key, r.name) = read_value_name();
        at_.expect(':', "and a type after a result");
        if (at_.accept('?')) return r;
        const std::size_t at = at_.next();
        const std::string_view word =
            at_.word("a type such as float32[1, 16], or ? for one that is not known");
        const auto type = enumerator_of<dtype>(word);
        if (!type || *type == dtype::unknown)
            at_.fail(at, "there is no type " + in_quotes(word) + types_there_are());
        r.shape = at_.integers('[', ']');
        // The meta's view of the shape is made later, when the result is at its final address.
        if (!tensor_meta{*type, int_list(r.shape), {}}.checked_elements())
            at_.fail(at, "a size below 0, or more elements than can be counted");
        r.meta = tensor_meta{*type, {}, {}};
        if (at_.peek() != '{') return r;
        r.dim_order = at_.integers('{', '}');
        std::vector<std::int64_t> sorted = r.dim_order;
        std::ranges::sort(sorted);
        for (std::size_t i = 0; i != sorted.size(); ++i) {
            if (sorted[i] != static_cast<std::int64_t>(i) || sorted.size() != r.shape.size())
                at_.fail(at, "the numbers in braces are not a permutation of the dimensions, from 0");
        }
        return r;
    }
    static std::string types_there_are() {
        std::string text = "; there are";
        for (std::size_t i = 1; i != dtype_count; ++i)
            (text += i == 1 ? " " : ", ") += name_of(static_cast<dtype>(i));
        return text;
    }
    // Returns the key by which the value is found, and its name.
    std::pair<std::string, std::string> read_value_name() {
        at_.expect('%', "and the name of a value");
        const std::string name = at_.quote_is_here() ? at_.quoted("a name") : std::string(at_.name_here());
        const bool is_numbered = at_.accept_here('#');
        const std::string_view number = is_numbered ? at_.name_here() : std::string_view();
        if ((name.empty() && !is_numbered) || (is_numbered && number.empty()))
            at_.fail_here("expected a value's name: %x, %\"x y\", %x#1 or %#1");
        return {std::string(number) + '#' + name, name};
    }
    static std::string shown(const std::string& key) {
        const std::size_t end = key.find('#');
        return in_quotes('%' + key.substr(end + 1) + (end == 0 ? "" : '#' + key.substr(0, end)));
    }

    value read_value() {
        const std::size_t at = at_.next();
        const std::string key = read_value_name().first;
        const auto known = values_.find(key);
        if (known == values_.end())
            at_.fail(
                at, shown(key) + " is not defined before it is used; nodes stand in the order of execution");
        return known->second;
    }
    void check_results(std::size_t at, const op_info& op, const std::vector<result_text>& results) {
        if (op.results == variadic_results || results.size() == static_cast<std::size_t>(op.results)) return;
        at_.fail(at,
            join_text(op.name, " gives ", counted_text(static_cast<int>(op.results), "result"), ", not ",
                results.size()));
    }
    tensor_data read_data(std::size_t at, const result_text& r) {
        if (!r.meta || traits_of(r.meta->dtype).bits == 0) at_.fail(r.at, "a constant needs a type");
        return constant_reader(at_, sources_, *graph_).read(at, r.meta->dtype, int_list(r.shape));
    }
    node& read_call(std::size_t at, const std::string_view name, const std::vector<result_text>& results) {
        const op_info* op = sources_.find_own_op != nullptr ? sources_.find_own_op(name) : nullptr;
        if (op == nullptr) op = find_op_(name);
        if (op == nullptr)
            at_.fail(at,
                "there is no op " + in_quotes(name) +
                    " in the dialects of this program; write 'opaque' before an op that no pass "
                    "needs to know");
        check_results(at, *op, results);
        const auto data = [&] {
            if (results.empty()) at_.fail_here("elements take the type of a result, but this op has none");
            return read_data(at, results[0]);
        };
        std::pmr::monotonic_buffer_resource memory;
        argument_reader arguments(
            at_, memory, {[&] { return read_value(); }, [&] { return read_region(); }, data});
        return graph_->create(*op, arguments.read(*op), results.size());
    }
    node& read_opaque(std::size_t results) {
        const std::string target =
            at_.peek() == '"' ? at_.quoted("an op") : std::string(at_.word("an op after 'opaque'"));
        at_.expect('(', "and arguments after an op");
        opaque_writer arguments;
        opaque_reader(at_, arguments, [&] { return read_value(); }).read();
        return graph_->create<builtin::opaque>(arguments.arguments(target), results);
    }
    void define(node& n, const std::vector<result_text>& results) {
        for (std::uint32_t i = 0; i != results.size(); ++i) {
            const result_text& r = results[i];
            const value v = n.result(i);
            if (!values_.emplace(r.key, v).second)
                at_.fail(r.at, shown(r.key) + " is defined twice; call a second value of that name %name#1");
            if (!r.name.empty()) graph_->set_name(v, r.name);
            if (!r.meta) continue;
            graph_->set_meta(v, {r.meta->dtype, int_list(r.shape), list<std::int64_t>(r.dim_order)});
        }
    }
    node& read_outputs() {
        std::vector<value> values;
        std::vector<std::string_view> names;
        const std::size_t at = at_.next();
        if (at_.peek() == '%' || at_.peek() == '"' || at_.at_word()) {
            do {
                if (at_.peek() != '%') {
                    const std::string name = at_.peek() == '"' ? at_.quoted("a name")
                                                               : std::string(at_.word("a value or its name"));
                    at_.expect('=', "and a value after an output's name");
                    names.push_back(graph_->own(name));
                }
                values.push_back(read_value());
            } while (at_.accept(','));
        }
        if (!names.empty() && names.size() != values.size()) at_.fail(at, "name all outputs or none");
        node& made = graph_->create<builtin::output>({.values = values});
        if (!names.empty()) graph_->annotate(made, output_names{graph_->own(list<std::string_view>(names))});
        return made;
    }

    cursor at_;
    const graph_text_sources& sources_;
    op_finder find_op_;
    graph* graph_ = nullptr;
    std::map<std::string, value, std::less<>> values_;
    int depth_ = 0;
    bool user_outputs_ = false;
};

}  // namespace headrace::detail::graph_text

#endif
