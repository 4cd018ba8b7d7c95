// SPDX-License-Identifier: MIT
// Defines headrace::read_graph_json, which reads the text of headrace::graph_json.
#ifndef HEADRACE_IO_PACKAGE_GRAPH_JSON_READER_HPP
#define HEADRACE_IO_PACKAGE_GRAPH_JSON_READER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/text/json_values.hpp>
#include <headrace/io/text/sources.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/memory/out_variant.hpp>
#include <headrace/op/reflect.hpp>

namespace headrace {

/// Sources of what a text refers to by number: `data` returns the elements of a constant, which must outlive
/// the graph, and `delegate` fills a region with the program of a delegate. Either may throw
/// headrace::failure.
struct graph_json_sources {
    std::function<std::span<const std::byte>(std::uint64_t number)> data;
    std::function<void(std::uint64_t number, graph& region)> delegate;
    op_finder find_own_op = nullptr;  ///< finds ops of dialects that are not Headrace's; asked first
};

namespace detail::graph_json {

/// Reads a graph and the graphs nested in it.
class reader : plain_reader {
public:
    explicit reader(const graph_json_sources& sources) : sources_(sources) {}

    void read(simdjson::dom::element text, graph& g) {
        // A region takes its memory from the enclosing graph, half as much again at each level.
        constexpr int deepest = 12;
        if (depth_ == deepest) fail_malformed("graphs are nested too deeply");
        ++depth_;
        std::vector<value> outer = std::exchange(values_, {});
        graph* const outer_graph = std::exchange(graph_, &g);
        for (const simdjson::dom::element n : json_get<simdjson::dom::array>(text, "nodes")) {
            const auto name = json_get<std::string_view>(n, "op");
            try {
                read_node(n, name);
            } catch (failure& f) {
                if (depth_ == 1) f.what = f.what.in("node " + in_quotes(name));
                throw;
            }
        }
        if (g.output() == nullptr) fail_malformed("a graph has no output node");
        graph_ = outer_graph;
        values_ = std::move(outer);
        --depth_;
    }

private:
    using plain_reader::read;

    void read_node(element text, std::string_view name) {
        const op_info* op = sources_.find_own_op != nullptr ? sources_.find_own_op(name) : nullptr;
        if (op == nullptr)
            op = find_op<aten::dialect, quantized_decomposed::dialect, dim_order_ops::dialect,
                cortex_m::dialect, higher_order::dialect, delegate::dialect, tosa::dialect, memory::dialect,
                out::dialect, builtin::dialect>(name);
        if (op == nullptr) fail_malformed("there is no such op");
        if (graph_->output() != nullptr) fail_malformed("it comes after the output");
        const auto results = json_get<simdjson::dom::array>(text, "results");
        if (op->results != variadic_results && results.size() != static_cast<std::size_t>(op->results))
            fail_malformed(
                "it has " + std::to_string(results.size()) + " results, not " + std::to_string(op->results));
        std::pmr::monotonic_buffer_resource scratch;
        scratch_ = &scratch;
        void* arguments = scratch.allocate(op->args_size + 1, op->args_alignment);
        std::memcpy(arguments, op->default_args, op->args_size);
        if (op == &info_of<builtin::constant>) {
            read_data(text, results, *static_cast<args<builtin::constant>*>(arguments));
        } else {
            read_arguments(text, *op, arguments);
        }
        scratch_ = &scratch;  // reading a region has replaced it
        graph& g = *graph_;
        node& n = g.create(*op, arguments, results.size());
        std::uint32_t i = 0;
        for (const element r : results) {
            read_result(r, n.result(i));
            values_.push_back(n.result(i++));
        }
        read_annotations(text, n);
    }

    void read_arguments(element text, const op_info& op, void* arguments) {
        std::vector<const field_info*> given;
        simdjson::dom::object members;
        if (text["args"].get(members) == simdjson::SUCCESS) {
            for (const auto [key, content] : members) {
                const field_info* f = op.find(key);
                if (f == nullptr) fail_malformed("the op has no argument " + in_quotes(key));
                if (std::find(given.begin(), given.end(), f) != given.end())
                    fail_malformed("argument " + in_quotes(key) + " is given twice");
                given.push_back(f);
                visit_field(*f, arguments, [&]<class T>(const T& member) {
                    if (!read(content, const_cast<T&>(member)))
                        fail_malformed("argument " + in_quotes(f->name) + " is of the wrong kind");
                });
            }
        }
        for (const field_info& f : op) {
            const bool needed = (holds_tensors(f.kind) || f.kind == field_kind::region) && !f.optional;
            if (needed && std::find(given.begin(), given.end(), &f) == given.end())
                fail_malformed("argument " + in_quotes(f.name) + " is missing");
        }
    }
    void read_data(element text, simdjson::dom::array results, args<builtin::constant>& arguments) {
        const auto bytes = sources_.data(json_get<std::uint64_t>(text, "data"));
        std::vector<std::int64_t> shape;
        const auto meta = read_meta(results.at(0).value(), shape);
        if (!meta) fail_malformed("a constant without a type");
        const auto count = static_cast<std::uint64_t>(meta->elements());
        if (count > bytes.size() * 2 || storage_bytes(meta->dtype, count) != bytes.size() ||
            traits_of(meta->dtype).bits == 0)
            fail_malformed("its elements do not have the number of bytes that its type and shape require");
        arguments.data.bytes = bytes.data();
    }

    std::optional<tensor_meta> read_meta(element text, std::vector<std::int64_t>& shape) {
        std::string_view type;
        if (text["dtype"].get(type)) return std::nullopt;
        const auto known = enumerator_of<dtype>(type);
        if (!known || *known == dtype::unknown) fail_malformed("there is no dtype " + in_quotes(type));
        if (!read_integers(text["shape"], shape)) fail_malformed("a result has no shape");
        const tensor_meta meta{*known, int_list(shape), {}};
        if (!meta.checked_elements()) fail_malformed("a result has an impossible shape");
        return meta;
    }
    void read_result(element text, value v) {
        std::vector<std::int64_t> shape;
        std::vector<std::int64_t> order;
        if (auto meta = read_meta(text, shape)) {
            if (read_integers(text["dim_order"], order)) meta->dim_order = list<std::int64_t>(order);
            if (!order.empty() && !is_permutation_of(order, shape.size()))
                fail_malformed("a result's 'dim_order' is not a permutation of its dimensions");
            graph_->set_meta(v, *meta);
        }
        std::string_view name;
        if (text["name"].get(name) == simdjson::SUCCESS) graph_->set_name(v, name);
    }
    void read_annotations(element text, node& n) {
        simdjson::dom::array strings;
        std::vector<std::string_view> words;
        if (text["origin"].get(strings) == simdjson::SUCCESS && read_strings(strings, words) &&
            words.size() == 2)
            graph_->annotate(n, provenance{graph_->own(words[0]), graph_->own(words[1])});
        words.clear();
        if (is<builtin::output>(n) && text["names"].get(strings) == simdjson::SUCCESS) {
            if (!read_strings(strings, words) || words.size() != n.operand_count)
                fail_malformed("it does not have one name for each value");
            for (std::string_view& word : words) word = graph_->own(word);
            graph_->annotate(n, output_names{graph_->own(list<std::string_view>(words))});
        }
    }
    // --- arguments by kind; false if the text is of another kind -------------------------

    template <class T>
    bool read(element text, std::optional<T>& member) {
        if (text.is_null()) {
            member.reset();
            return true;
        }
        member.emplace();
        return read(text, *member);
    }
    bool read(element text, custom_member& member) {
        std::string_view word;
        return text.get(word) == simdjson::SUCCESS && member.type->parse(word, member.at);
    }
    bool read(element text, value& member) {
        std::uint64_t number = 0;
        if (text.get(number)) return false;
        if (number >= values_.size()) fail_malformed("value " + std::to_string(number) + " is not known yet");
        member = values_[number];
        return true;
    }
    bool read(element text, graph*& member) {
        graph& region = graph_->create_region();
        std::uint64_t number = 0;
        if (text["delegate"].get(number) == simdjson::SUCCESS) {
            sources_.delegate(number, region);
        } else {
            read_nested(text, region);
        }
        member = &region;
        return true;
    }
    void read_nested(element text, graph& region) {
        std::pmr::memory_resource* const outer = scratch_;
        read(text, region);
        scratch_ = outer;
    }
    bool read(element text, int_list& member) {
        std::vector<std::int64_t> items;
        if (!read_integers(std::move(text), items)) return false;
        const list<std::int64_t> kept = keep(items);
        member = int_list(std::span(kept.data(), kept.size()));
        return true;
    }
    template <class T>
    bool read(element text, list<T>& member) {
        simdjson::dom::array array;
        if (text.get(array)) return false;
        std::vector<T> items;
        for (const element e : array) {
            T item{};
            if (!read(e, item)) return false;
            items.push_back(item);
        }
        member = keep(items);
        return true;
    }
    template <class T>
    list<T> keep(const std::vector<T>& items) {
        if (items.empty()) return {};
        T* copy = static_cast<T*>(scratch_->allocate(items.size() * sizeof(T), alignof(T)));
        std::uninitialized_copy(items.begin(), items.end(), copy);
        return {copy, items.size()};
    }

    const graph_json_sources& sources_;
    std::pmr::memory_resource* scratch_ = nullptr;
    graph* graph_ = nullptr;
    std::vector<value> values_;
    int depth_ = 0;
};

}  // namespace detail::graph_json

/// Reads what graph_json wrote into an empty graph. The text may be untrusted: the result is a graph whose
/// values are computed before they are used, or an error. headrace::verify tells whether the metadata agrees
/// with the ops.
[[nodiscard]] inline result<void> read_graph_json(
    std::span<const std::byte> text, graph& g, const graph_json_sources& sources) {
    try {
        std::pmr::monotonic_buffer_resource arena;
        json_parser json(&arena);
        const padded_text padded(text, text);
        detail::graph_json::reader(sources).read(json.parse(padded.view()), g);
    } catch (const failure& f) {
        return f.what;
    }
    return {};
}

}  // namespace headrace

#endif
