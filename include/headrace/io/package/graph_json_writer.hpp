// SPDX-License-Identifier: MIT
// Defines headrace::graph_json, the textual form of graphs in packages.
#ifndef HEADRACE_IO_PACKAGE_GRAPH_JSON_WRITER_HPP
#define HEADRACE_IO_PACKAGE_GRAPH_JSON_WRITER_HPP

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <headrace/dialect/builtin.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/file/element_copier.hpp>
#include <headrace/io/file/json_writer.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/op/reflect.hpp>

namespace headrace {

/// Stores for what a graph's text refers to by number: `add_data` returns the number of a constant's
/// elements, `delegate_of` that of the delegate that a call holds.
struct graph_json_stores {
    std::function<std::size_t(std::span<const std::byte> elements)> add_data;
    std::function<std::optional<std::size_t>(const node& call)> delegate_of;
};
namespace detail::graph_json {

// Values are numbered from 0 in each graph, in the order of the nodes that produce them:
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
        } else if constexpr (std::is_same_v<T, custom_member>) {
            std::string text;
            member.type->print(member.at,
                {&text, [](void* to, std::string_view piece) { *static_cast<std::string*>(to) += piece; }});
            append_json(out_, text);
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
        if (!error_) error_ = invalid({message_prefix(n), "cannot be written: ", what});
    }

    const graph_json_stores& stores_;
    const numbers* numbers_ = nullptr;
    std::string out_;
    std::optional<error> error_;
};

}  // namespace detail::graph_json

/// Returns a graph as JSON, nested graphs included. Fails if an op holds something that the text cannot
/// express.
[[nodiscard]] inline result<std::string> graph_json(const graph& g, const graph_json_stores& stores) {
    return detail::graph_json::writer(stores).write(g);
}

}  // namespace headrace

#endif
