// SPDX-License-Identifier: MIT
// Defines headrace::listing, a graph as text that people read, and headrace::printed_names.
#ifndef HEADRACE_IR_LISTING_HPP
#define HEADRACE_IR_LISTING_HPP

#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/signature.hpp>

namespace headrace {

/// A name for each value of a graph and its regions, no two alike. Values keep the names that they have;
/// where two share one, or a value has none, a name made of the op and a number serves.
class printed_names {
public:
    explicit printed_names(const graph& g) {
        claim_own(g);
        fill_missing(g);
    }
    [[nodiscard]] const std::string& operator[](value v) const {
        static const std::string none = "null";
        const names_of_graph* names = v ? find(v.producer->owner) : nullptr;
        if (names == nullptr || v.producer->id >= names->names.size()) return none;
        const auto& results = names->names[v.producer->id];
        return v.result < results.size() ? results[v.result] : none;
    }

private:
    struct names_of_graph {
        const graph* owner;
        std::vector<std::vector<std::string>> names;  // of each result, by the node's id
    };

    [[nodiscard]] const names_of_graph* find(const graph* g) const {
        for (const names_of_graph& names : graphs_) {
            if (names.owner == g) return &names;
        }
        return nullptr;
    }
    // In the order in which they were made; a graph lists the last one first.
    [[nodiscard]] static std::vector<const graph*> regions_of(const graph& g) {
        std::vector<const graph*> regions;
        for (const graph& region : g.regions()) regions.insert(regions.begin(), &region);
        return regions;
    }
    void claim_own(const graph& g) {
        graphs_.push_back({&g, std::vector<std::vector<std::string>>(g.id_bound())});
        auto& names = graphs_.back().names;
        for (const node& n : g.nodes()) {
            names[n.id].resize(n.result_count);
            for (std::uint32_t i = 0; i != n.result_count; ++i) {
                const std::string_view own = n.results[i].name;
                if (!own.empty() && taken_.emplace(own).second) names[n.id][i] = own;
            }
        }
        for (const graph* region : regions_of(g)) claim_own(*region);
    }
    void fill_missing(const graph& g) {
        for (names_of_graph& names : graphs_) {
            if (names.owner != &g) continue;
            for (const node& n : g.nodes()) {
                for (std::uint32_t i = 0; i != n.result_count; ++i) {
                    std::string& name = names.names[n.id][i];
                    const std::string_view own = n.results[i].name;
                    if (name.empty()) name = unused(own.empty() ? base_of(*n.op) : own);
                }
            }
        }
        for (const graph* region : regions_of(g)) fill_missing(*region);
    }
    // "aten.conv2d.default" gives "conv2d".
    static std::string base_of(const op_info& op) {
        std::string_view text = op.name.substr(op.name.find('.') + 1);
        std::string base(text.substr(0, text.find('.')));
        for (char& c : base) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        return base;
    }
    std::string unused(std::string_view base) {
        std::string name(base);
        for (int i = 1; !taken_.insert(name).second; ++i) name = std::string(base) + "_" + std::to_string(i);
        return name;
    }

    std::vector<names_of_graph> graphs_;
    std::unordered_set<std::string> taken_;
};

namespace detail {

// A floating-point number always shows that it is one.
[[nodiscard]] inline std::string number_text(double number) {
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
    std::string text(buffer, end);
    if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
    return text;
}

// Text in quotes, on one line whatever it holds.
[[nodiscard]] inline std::string quoted(std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            (out += '\\') += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            ((out += "\\x") += digits[byte / 16]) += digits[byte % 16];
        } else {
            out += c;
        }
    }
    return out += '"';
}

template <class T, std::size_t N>
[[nodiscard]] std::string enumerator_text(T member, const char* const (&names)[N]) {
    const auto index = static_cast<std::size_t>(member);
    return index < N ? names[index] : "?";
}

// Prints arguments; `names` says what values are called.
class argument_printer {
public:
    explicit argument_printer(const printed_names& names) : names_(&names) {}

    [[nodiscard]] std::string text(value v) const { return "%" + (*names_)[v]; }
    [[nodiscard]] static std::string text(std::int64_t number) { return std::to_string(number); }
    [[nodiscard]] static std::string text(double number) { return number_text(number); }
    [[nodiscard]] static std::string text(bool b) { return b ? "true" : "false"; }
    [[nodiscard]] static std::string text(scalar s) {
        if (s.kind() == scalar::kind_type::boolean) return text(s.to_int() != 0);
        return s.is_floating() ? number_text(s.to_double()) : std::to_string(s.to_int());
    }
    [[nodiscard]] static std::string text(std::string_view s) { return quoted(s); }
    [[nodiscard]] static std::string text(headrace::dtype t) { return std::string(name_of(t)); }
    [[nodiscard]] static std::string text(memory_format f) {
        return enumerator_text(f, {"unknown", "contiguous", "channels_last", "channels_last_3d", "preserve"});
    }
    [[nodiscard]] static std::string text(resize_mode m) {
        return enumerator_text(m, {"unknown", "nearest", "bilinear"});
    }
    [[nodiscard]] static std::string text(nan_mode m) {
        return enumerator_text(m, {"unknown", "propagate", "ignore"});
    }
    [[nodiscard]] static std::string text(rounding_mode m) {
        return enumerator_text(m, {"unknown", "single_round", "inexact_round", "double_round"});
    }
    // Where a region stands among those of its graph: "#0" was made first.
    [[nodiscard]] static std::string text(const graph* region) {
        if (region == nullptr || region->parent() == nullptr) return "none";
        std::size_t number = 0;
        bool passed = false;
        for (const graph& other : region->parent()->regions()) {
            number += passed;
            passed |= &other == region;
        }
        return "#" + std::to_string(number);
    }
    [[nodiscard]] static std::string text(const tensor_data& data) {
        return data.strides.empty() ? "row-major" : "strides " + sequence(data.strides);
    }
    [[nodiscard]] static std::string text(const int_list& items) { return sequence(items); }
    template <class T>
    [[nodiscard]] std::string text(const std::optional<T>& item) const {
        return item ? text(*item) : "none";
    }
    template <class T>
    [[nodiscard]] std::string text(const list<T>& items) const {
        std::string out = "[";
        for (const T& item : items) (out += out.size() == 1 ? "" : ", ") += text(item);
        return out += ']';
    }

    /// "%x, %w, stride=[2, 2]": what equals the schema's default is left out, and tensors need no name as
    /// long as none before them was left out.
    [[nodiscard]] std::string arguments(const node& n) const {
        std::string out;
        bool positional = true;
        for (const field_info& f : *n.op) {
            const auto* at = static_cast<const std::byte*>(n.arguments) + f.offset;
            const auto* fallback = static_cast<const std::byte*>(n.op->default_args) + f.offset;
            const std::string shown = field(f, at, fallback);
            positional = positional && !shown.empty() && is_tensors(f.kind);
            if (shown.empty()) continue;
            if (!out.empty()) out += ", ";
            if (!positional) (out += f.name) += '=';
            out += shown;
        }
        return out;
    }

private:
    static bool is_tensors(field_kind kind) {
        return kind == field_kind::tensor || kind == field_kind::tensors ||
               kind == field_kind::optional_tensors;
    }
    static std::string sequence(const int_list& items) {
        std::string out = "[";
        for (const std::int64_t item : items) (out += out.size() == 1 ? "" : ", ") += std::to_string(item);
        return out += ']';
    }
    template <class T>
    std::string compared(const std::byte* at, const std::byte* fallback) const {
        const T& item = *reinterpret_cast<const T*>(at);
        return item == *reinterpret_cast<const T*>(fallback) ? std::string() : text(item);
    }
    // The text of a member, or nothing if it has its default.
    template <class T>
    std::string member(const field_info& f, const std::byte* at, const std::byte* fallback) const {
        return f.optional ? compared<std::optional<T>>(at, fallback) : compared<T>(at, fallback);
    }
    std::string field(const field_info& f, const std::byte* at, const std::byte* fallback) const {
        switch (f.kind) {
            case field_kind::tensor: return member<value>(f, at, fallback);
            case field_kind::tensors: return text(*reinterpret_cast<const list<value>*>(at));
            case field_kind::optional_tensors:
                return text(*reinterpret_cast<const list<std::optional<value>>*>(at));
            case field_kind::integer: return member<std::int64_t>(f, at, fallback);
            case field_kind::integers: return member<int_list>(f, at, fallback);
            case field_kind::floating: return member<double>(f, at, fallback);
            case field_kind::floatings: return member<list<double>>(f, at, fallback);
            case field_kind::boolean: return member<bool>(f, at, fallback);
            case field_kind::number: return member<scalar>(f, at, fallback);
            case field_kind::text: return member<std::string_view>(f, at, fallback);
            case field_kind::element_type: return member<headrace::dtype>(f, at, fallback);
            case field_kind::format: return member<memory_format>(f, at, fallback);
            case field_kind::resize: return member<resize_mode>(f, at, fallback);
            case field_kind::nan: return member<nan_mode>(f, at, fallback);
            case field_kind::rounding: return member<rounding_mode>(f, at, fallback);
            case field_kind::region: return member<graph*>(f, at, fallback);
            case field_kind::data: return member<tensor_data>(f, at, fallback);
        }
        return {};
    }

    const printed_names* names_;
};

[[nodiscard]] inline std::string node_line(const node& n, const printed_names& names) {
    const argument_printer printer(names);
    std::string out;
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        const value v{const_cast<node*>(&n), i};
        (((out += i == 0 ? "" : ", ") += printer.text(v)) += ": ") += meta_text(meta_of(v));
    }
    if (n.result_count != 0) out += " = ";
    if (is<builtin::placeholder>(n)) return out += "input";
    if (is<builtin::constant>(n)) {
        const int_list& strides = args_of<builtin::constant>(n).data.strides;
        return out += strides.empty() ? "constant" : "constant, strides " + argument_printer::text(strides);
    }
    if (is<builtin::output>(n)) {
        const auto* exported = n.find_annotation<output_names>();
        out += "output";
        std::size_t i = 0;
        for (const value v : args_of<builtin::output>(n).values) {
            out += i == 0 ? " " : ", ";
            const bool named = exported != nullptr && i < exported->names.size();
            if (named && exported->names[i] != names[v]) (out += exported->names[i]) += '=';
            out += printer.text(v);
            ++i;
        }
        return out;
    }
    ((out += n.op->name) += '(') += printer.arguments(n);
    return out += ')';
}

inline void list_graph(const graph& g, const printed_names& names, const std::string& indent,
                       std::string& out) {
    for (const node& n : g.nodes()) {
        ((out += indent) += node_line(n, names)) += '\n';
        for_each_region(n, [&](const field_info&, const graph* region) {
            if (region == nullptr || region->parent() != &g) return;
            (((out += indent) += "    ") += argument_printer::text(region)) += ":\n";
            list_graph(*region, names, indent + "        ", out);
        });
    }
}

}  // namespace detail

/// One line for each node, in execution order:
///
///     %x: float32[1, 16, 8, 8] = input
///     %w: float32[4, 16, 3, 3] = constant
///     %y: float32[1, 4, 3, 3] = aten.conv2d.default(%x, %w, stride=[2, 2])
///     output %y
///
/// Arguments that equal the op's defaults are left out; a region follows the node that holds it.
[[nodiscard]] inline std::string listing(const graph& g) {
    const printed_names names(g);
    std::string out;
    detail::list_graph(g, names, "", out);
    return out;
}

}  // namespace headrace

#endif
