// SPDX-License-Identifier: MIT
// Defines headrace::graph_json and headrace::read_graph_json, the textual form of graphs in packages.
#ifndef HEADRACE_IO_GRAPH_JSON_HPP
#define HEADRACE_IO_GRAPH_JSON_HPP

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
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
#include <headrace/io/json.hpp>
#include <headrace/io/tosa_emitter.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/memory/out_variant.hpp>
#include <headrace/op/reflect.hpp>

namespace headrace {

/// Appends text as JSON has it. Bytes that are no UTF-8 become question marks.
inline void append_json(std::string& out, std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    const bool sound = simdjson::validate_utf8(text.data(), text.size());
    out += '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            (out += '\\') += c;
        } else if (byte < 0x20) {
            ((out += "\\u00") += digits[byte / 16]) += digits[byte % 16];
        } else {
            out += byte >= 0x80 && !sound ? '?' : c;
        }
    }
    out += '"';
}

/// What a graph refers to outside of its own text. Writing: gives the number of a constant's elements, and
/// that of the delegate that a call holds.
struct graph_json_stores {
    std::function<std::size_t(std::span<const std::byte> elements)> add_data;
    std::function<std::optional<std::size_t>(const node& call)> delegate_of;
};
/// Reading: gives the elements of that number, which must outlive the graph, and fills a region with the
/// program of a delegate. Either may throw headrace::failure.
struct graph_json_sources {
    std::function<std::span<const std::byte>(std::uint64_t number)> data;
    std::function<void(std::uint64_t number, graph& region)> delegate;
};

namespace detail::graph_json {

// Values are numbered from 0 in each graph, in the order of the nodes that give them:
//
//     {"nodes": [
//     {"op": "builtin.placeholder", "results": [{"name": "x", "dtype": "float32", "shape": [1, 16]}]},
//     {"op": "builtin.constant", "data": 0, "results": [...]},
//     {"op": "aten.softmax.int", "args": {"self": 0, "dim": -1}, "results": [...]},
//     {"op": "delegate.call_delegate", "args": {"backend": "tosa", "lowered_graph": {"delegate": 0}, ...
//     {"op": "builtin.output", "args": {"values": [1]}, "names": ["y"], "results": []}]}
//
// Arguments that equal the schema's default are left out.

template <class T>
inline constexpr bool is_graph = std::is_same_v<T, graph*>;

class writer {
public:
    explicit writer(const graph_json_stores& stores) : stores_(stores) {}

    result<std::string> write(const graph& g) {
        put(g);
        if (error_) return *error_;
        return std::move(out_);
    }

private:
    using numbers = std::unordered_map<const node*, std::size_t>;

    void put(const graph& g) {
        const numbers* const outer = numbers_;
        numbers own;
        numbers_ = &own;
        std::size_t next = 0;
        bool first = true;
        out_ += "{\"nodes\":[";
        const auto put_one = [&](const node& n) {
            own[&n] = next;
            next += n.result_count;
            out_ += first ? "\n" : ",\n";
            first = false;
            put(n);
        };
        for (const node& n : g.inputs()) put_one(n);
        for (const node& n : g.nodes()) {
            if (!is<builtin::placeholder>(n)) put_one(n);
        }
        out_ += "]}";
        numbers_ = outer;
    }

    void put(const node& n) {
        out_ += "{\"op\":";
        append_json(out_, n.op->name);
        if (is<builtin::constant>(n)) {
            put_data(n);
        } else {
            put_arguments(n);
        }
        if (const auto* exported = n.find_annotation<output_names>()) {
            out_ += ",\"names\":[";
            for (std::size_t i = 0; i != exported->names.size(); ++i) {
                if (i != 0) out_ += ',';
                append_json(out_, exported->names[i]);
            }
            out_ += ']';
        }
        if (const auto* origin = n.find_annotation<provenance>()) {
            out_ += ",\"origin\":[";
            append_json(out_, origin->node_name);
            out_ += ',';
            append_json(out_, origin->op_name);
            out_ += ']';
        }
        out_ += ",\"results\":[";
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            if (i != 0) out_ += ',';
            put(n.results[i]);
        }
        out_ += "]}";
    }
    void put_data(const node& n) {
        const tensor_data& data = args_of<builtin::constant>(n).data;
        const auto& meta = n.results[0].meta;
        if (!meta || traits_of(meta->dtype).bits == 0) return fail(n, "a constant without a type");
        const auto count = static_cast<std::uint64_t>(meta->elements());
        std::vector<std::byte> bytes(storage_bytes(meta->dtype, count));
        if (!bytes.empty()) element_copier(data, *meta, reinterpret_cast<std::uint8_t*>(bytes.data())).copy();
        out_ += ",\"data\":" + std::to_string(stores_.add_data(bytes));
    }
    void put_arguments(const node& n) {
        bool first = true;
        for (const field_info& f : *n.op) {
            if (!holds_tensors(f.kind) && equal_field(f, n.arguments, n.op->default_args)) continue;
            out_ += first ? ",\"args\":{" : ",";
            first = false;
            append_json(out_, f.name);
            out_ += ':';
            if (const auto number = f.kind == field_kind::region ? delegate_of(n) : std::nullopt) {
                out_ += "{\"delegate\":" + std::to_string(*number) + "}";
                continue;
            }
            visit_field(f, n.arguments, [&](const auto& member) { put(n, member); });
        }
        if (!first) out_ += '}';
    }
    std::optional<std::size_t> delegate_of(const node& n) const {
        return stores_.delegate_of ? stores_.delegate_of(n) : std::nullopt;
    }
    void put(const result_slot& r) {
        out_ += "{\"name\":";
        append_json(out_, r.name);
        if (r.meta) {
            out_ += ",\"dtype\":";
            append_json(out_, name_of(r.meta->dtype));
            out_ += ",\"shape\":";
            put_all(r.meta->shape);
            if (!r.meta->dim_order.empty()) {
                out_ += ",\"dim_order\":";
                put_all(r.meta->dim_order);
            }
        }
        out_ += '}';
    }

    template <class Items>
    void put_all(const Items& items) {
        out_ += '[';
        bool first = true;
        for (const std::int64_t i : items) {
            if (!first) out_ += ',';
            first = false;
            out_ += std::to_string(i);
        }
        out_ += ']';
    }
    void put_double(double d) {
        if (std::isfinite(d)) {
            char text[32];
            const auto end = std::to_chars(text, text + sizeof text, d).ptr;
            const std::string_view shortest(text, static_cast<std::size_t>(end - text));
            out_ += shortest;
            if (shortest.find_first_of(".e") == std::string_view::npos) out_ += ".0";
        } else {
            out_ += std::isnan(d) ? "\"nan\"" : d > 0 ? "\"inf\"" : "\"-inf\"";
        }
    }
    template <class T>
    void put(const node& n, const T& member) {
        if constexpr (is_optional<T>) {
            if (!member) {
                out_ += "null";
            } else {
                put(n, *member);
            }
        } else if constexpr (std::is_same_v<T, value>) {
            const auto known = member ? numbers_->find(member.producer) : numbers_->end();
            if (known == numbers_->end()) return fail(n, "an operand that is not computed before it");
            out_ += std::to_string(known->second + member.result);
        } else if constexpr (std::is_same_v<T, bool>) {
            out_ += member ? "true" : "false";
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
            out_ += std::to_string(member);
        } else if constexpr (std::is_same_v<T, double>) {
            put_double(member);
        } else if constexpr (std::is_same_v<T, scalar>) {
            if (member.is_floating()) return put_double(member.to_double());
            if (member.kind() == scalar::kind_type::boolean) return put(n, member.to_int() != 0);
            out_ += std::to_string(member.to_int());
        } else if constexpr (std::is_same_v<T, std::string_view>) {
            append_json(out_, member);
        } else if constexpr (std::is_enum_v<T>) {
            append_json(out_, name_of(member));
        } else if constexpr (is_graph<T>) {
            if (member == nullptr) return fail(n, "an argument that lacks its graph");
            put(*member);
        } else if constexpr (std::is_same_v<T, tensor_data>) {
            fail(n, "elements of a constant that is not builtin.constant");
        } else if constexpr (std::is_same_v<T, int_list>) {
            put_all(member);
        } else {  // lists
            out_ += '[';
            bool first = true;
            for (const auto& item : member) {
                if (!first) out_ += ',';
                first = false;
                put(n, item);
            }
            out_ += ']';
        }
    }
    void fail(const node& n, std::string_view what) {
        out_ += "null";
        if (!error_) error_ = invalid(message_prefix(n) + "cannot be written: " + std::pmr::string(what));
    }

    const graph_json_stores& stores_;
    const numbers* numbers_ = nullptr;
    std::string out_;
    std::optional<error> error_;
};

template <class Enum>
[[nodiscard]] std::optional<Enum> enumerator_of(std::string_view name) {
    constexpr std::size_t most = std::is_same_v<Enum, dtype> ? dtype_count : 8;
    for (std::size_t i = 0; i != most; ++i) {
        if (name_of(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
    }
    return std::nullopt;
}

class reader {
public:
    explicit reader(const graph_json_sources& sources) : sources_(sources) {}

    void read(simdjson::dom::element text, graph& g) {
        // A region takes its memory from the graph around it, half as much again with each level.
        constexpr int deepest = 12;
        if (depth_ == deepest) fail_malformed("graphs are nested too deep");
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
    using element = simdjson::dom::element;

    void read_node(element text, std::string_view name) {
        const op_info* op = find_op<aten::dialect, quantized_decomposed::dialect, dim_order_ops::dialect,
                                    cortex_m::dialect, higher_order::dialect, delegate::dialect,
                                    tosa::dialect, memory::dialect, out::dialect, builtin::dialect>(name);
        if (op == nullptr) fail_malformed("there is no such op");
        if (graph_->output() != nullptr) fail_malformed("it lies behind the output");
        const auto results = json_get<simdjson::dom::array>(text, "results");
        if (op->results != variadic_results && results.size() != static_cast<std::size_t>(op->results))
            fail_malformed("it has " + std::to_string(results.size()) + " results, not " +
                           std::to_string(op->results));
        std::pmr::monotonic_buffer_resource scratch;
        scratch_ = &scratch;
        void* arguments = scratch.allocate(op->args_size + 1, op->args_alignment);
        std::memcpy(arguments, op->default_args, op->args_size);
        if (op == &info_of<builtin::constant>) {
            read_data(text, results, *static_cast<args<builtin::constant>*>(arguments));
        } else {
            read_arguments(text, *op, arguments);
        }
        scratch_ = &scratch;  // a region has had its own meanwhile
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
                        fail_malformed("argument " + in_quotes(f->name) + " is of another kind");
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
            fail_malformed("its elements are not as many bytes as its type and shape say");
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
                fail_malformed("a result's 'dim_order' is no order of its dimensions");
            graph_->set_meta(v, *meta);
        }
        std::string_view name;
        if (text["name"].get(name) == simdjson::SUCCESS) graph_->set_name(v, name);
    }
    static bool is_permutation_of(const std::vector<std::int64_t>& order, std::size_t rank) {
        std::vector<bool> seen(rank);
        for (const std::int64_t d : order) {
            if (d < 0 || static_cast<std::size_t>(d) >= rank || seen[static_cast<std::size_t>(d)])
                return false;
            seen[static_cast<std::size_t>(d)] = true;
        }
        return order.size() == rank;
    }
    static bool read_integers(simdjson::simdjson_result<element> text, std::vector<std::int64_t>& items) {
        simdjson::dom::array array;
        if (text.get(array)) return false;
        for (const element e : array) {
            std::int64_t item = 0;
            if (e.get(item)) return false;
            items.push_back(item);
        }
        return true;
    }
    void read_annotations(element text, node& n) {
        simdjson::dom::array texts;
        std::vector<std::string_view> words;
        if (text["origin"].get(texts) == simdjson::SUCCESS && read_texts(texts, words) && words.size() == 2)
            graph_->annotate(n, provenance{graph_->own(words[0]), graph_->own(words[1])});
        words.clear();
        if (is<builtin::output>(n) && text["names"].get(texts) == simdjson::SUCCESS) {
            if (!read_texts(texts, words) || words.size() != n.operand_count)
                fail_malformed("its names are not as many as its values");
            for (std::string_view& word : words) word = graph_->own(word);
            graph_->annotate(n, output_names{graph_->own(list<std::string_view>(words))});
        }
    }
    static bool read_texts(simdjson::dom::array items, std::vector<std::string_view>& words) {
        for (const element e : items) {
            std::string_view word;
            if (e.get(word)) return false;
            words.push_back(word);
        }
        return true;
    }

    // --- arguments by kind; false if the text is of another -----------------------------

    template <class T>
    bool read(element text, std::optional<T>& member) {
        if (text.is_null()) {
            member.reset();
            return true;
        }
        member.emplace();
        return read(text, *member);
    }
    bool read(element text, value& member) {
        std::uint64_t number = 0;
        if (text.get(number)) return false;
        if (number >= values_.size()) fail_malformed("value " + std::to_string(number) + " is not known yet");
        member = values_[number];
        return true;
    }
    static bool read(element text, bool& member) { return text.get(member) == simdjson::SUCCESS; }
    static bool read(element text, std::int64_t& member) { return text.get(member) == simdjson::SUCCESS; }
    static bool read(element text, double& member) {
        std::string_view word;
        if (text.is_double() || text.is_int64() || text.is_uint64())
            return text.get(member) == simdjson::SUCCESS;
        if (text.get(word)) return false;
        constexpr double infinity = std::numeric_limits<double>::infinity();
        if (word != "nan" && word != "inf" && word != "-inf") return false;
        member = word == "nan"   ? std::numeric_limits<double>::quiet_NaN()
                 : word == "inf" ? infinity
                                 : -infinity;
        return true;
    }
    static bool read(element text, scalar& member) {
        bool truth = false;
        std::int64_t integer = 0;
        double floating = 0;
        if (text.get(truth) == simdjson::SUCCESS) {
            member = scalar(truth);
        } else if (text.is_int64() && text.get(integer) == simdjson::SUCCESS) {
            member = scalar(integer);
        } else if (read(text, floating)) {
            member = scalar(floating);
        } else {
            return false;
        }
        return true;
    }
    static bool read(element text, std::string_view& member) { return text.get(member) == simdjson::SUCCESS; }
    template <class T>
    requires std::is_enum_v<T>
    static bool read(element text, T& member) {
        std::string_view word;
        const auto known = text.get(word) ? std::nullopt : enumerator_of<T>(word);
        if (known) member = *known;
        return known.has_value();
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
    static bool read(element, tensor_data&) { return false; }
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

/// A graph as JSON, nested graphs included. An error if an op holds what the text cannot.
[[nodiscard]] inline result<std::string> graph_json(const graph& g, const graph_json_stores& stores) {
    return detail::graph_json::writer(stores).write(g);
}

/// Reads what graph_json wrote into an empty graph. The text may be hostile: it gives a graph whose values
/// are computed before they are used, or an error. Whether metadata is what ops give, headrace::verify tells.
[[nodiscard]] inline result<void> read_graph_json(std::span<const std::byte> text, graph& g,
                                                  const graph_json_sources& sources) {
    try {
        std::pmr::monotonic_buffer_resource arena;
        json_parser json(&arena);
        const padded_text padded(text, text);
        detail::graph_json::reader(sources).read(json.parse(padded.view()), g);
    } catch (const failure& f) {
        return f.what;
    }
    return boost::outcome_v2::success();
}

}  // namespace headrace

#endif
