// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <span>
#include <vector>

#include <headrace/base/type_name.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/memory/memory_plan.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/target/node_facts.hpp>
#include <headrace/version.hpp>

#include "contract.hpp"
#include "interface.hpp"
#include "targets.hpp"

namespace headrace::cli {

namespace {

// How C++ spells the tag of an op, at the op's position in its dialect, and what defines it.
struct dialect_spelling {
    const dialect_info* dialect;
    std::vector<std::string_view> types;
    std::string_view header;
};

template <class... Ops>
std::vector<std::string_view> type_names(ops<Ops...>) {
    return {detail::qualified_type_name<Ops>()...};
}
template <class Dialect>
dialect_spelling spelling_of(std::string_view header) {
    return {&info_of_dialect<Dialect>, type_names(typename Dialect::all_ops{}), header};
}

const dialect_spelling* find_spelling(const dialect_info& dialect) {
    static const std::array spellings{
        spelling_of<aten::dialect>("headrace/dialect/aten.hpp"),
        spelling_of<cortex_m::dialect>("headrace/dialect/cortex_m.hpp"),
        spelling_of<dim_order_ops::dialect>("headrace/dialect/dim_order_ops.hpp"),
        spelling_of<higher_order::dialect>("headrace/dialect/higher_order.hpp"),
        spelling_of<quantized_decomposed::dialect>("headrace/dialect/quantized_decomposed.hpp"),
        spelling_of<tosa::dialect>("headrace/dialect/tosa.hpp")};
    const auto found = std::ranges::find(spellings, &dialect, &dialect_spelling::dialect);
    return found == spellings.end() ? nullptr : &*found;
}

// Names come from files: only characters that mean themselves stay as they are.
std::string literal(std::string_view text) {
    std::string all = "\"";
    for (const char c : text) {
        const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '?';
        all += plain ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    }
    return all += '"';
}

std::string comment(std::string_view text) {
    std::string all(text);
    std::ranges::replace_if(
        all, [](char c) { return c < ' ' || c > '~' || c == '\\' || c == '?'; }, '_');
    return all;
}

std::string number(std::int64_t n) { return n == INT64_MIN ? "INT64_MIN" : fmt::format("{}", n); }

std::string list_text(sizes items) {
    std::string all = "{";
    for (const std::int64_t item : items) {
        if (all.size() != 1) all += ", ";
        all += number(item);
    }
    return all += '}';
}

std::string type_text(dtype type) {
    return fmt::format("headrace::dtype::{}", type == dtype::boolean ? "boolean" : name_of(type));
}

std::string op_text(const op_info& op) {
    const dialect_spelling* spelling = find_spelling(*op.dialect);
    return spelling == nullptr ? fmt::format("headrace::foreign_op<{}>", literal(op.name))
                               : std::string(spelling->types[op.index]);
}

// Items, separated by commas, on lines of up to so many columns.
template <class Items>
std::string wrapped(const Items& items, std::string_view indent) {
    constexpr std::size_t width = 110;
    std::string all;
    std::string line(indent);
    std::size_t left = std::size(items);
    for (const std::string& item : items) {
        const std::string piece = item + (--left == 0 ? "" : ",");
        if (line.size() > indent.size() && line.size() + 1 + piece.size() > width) {
            all += line + '\n';
            line = indent;
        }
        line += (line.size() == indent.size() ? "" : " ") + piece;
    }
    return all + line;
}

std::string ops_alias(std::string_view name, const std::set<std::string>& types) {
    if (types.empty()) return fmt::format("    using {} = headrace::ops<>;\n", name);
    return fmt::format("    using {} = headrace::ops<\n{}>;\n", name, wrapped(types, "        "));
}

std::string array_text(std::string_view type, std::string_view name, const std::vector<std::string>& rows) {
    std::string all = fmt::format("    static constexpr std::array<{}, {}> {}", type, rows.size(), name);
    if (rows.empty()) return all + "{};\n";
    all += "{{\n";
    for (const std::string& row : rows) all += fmt::format("        {},\n", row);
    return all + "    }};\n";
}

/// The part of a contract that is about TOSA.
class lowered_part {
public:
    explicit lowered_part(graph& g) {
        detail::for_each_graph(g, [&](graph& sub) {
            for (const node& n : sub.nodes()) add(n);
        });
    }

    [[nodiscard]] std::string text() const {
        return ops_alias("lowered_ops", ops_) +
               "\n    // The operators, and the tensors that they refer to.\n" +
               array_text("headrace::tensor_meta", "tensors", tensors_.rows) +
               array_text("headrace::op_attributes", "attributes", attributes_.rows) + uses_text() +
               array_text("headrace::contract_node", "nodes", nodes_);
    }
    [[nodiscard]] std::uint64_t constant_bytes() const { return constant_bytes_; }

private:
    // Rows without doubles, and where each is.
    struct table {
        std::vector<std::string> rows;
        std::map<std::string, std::size_t> positions;

        std::size_t add(const std::string& row) {
            const auto [at, is_new] = positions.emplace(row, rows.size());
            if (is_new) rows.push_back(row);
            return at->second;
        }
    };

    void add(const node& n) {
        if (is<builtin::constant>(n) || is<tosa::const_>(n)) {
            const tensor_meta& meta = *n.results[0].meta;
            constant_bytes_ += storage_bytes(meta.dtype, static_cast<std::uint64_t>(meta.elements()));
        }
        if (n.op->dialect != &info_of_dialect<tosa::dialect>) return;
        if (is<tosa::const_>(n) || is<tosa::const_shape>(n)) return;
        ops_.insert(op_text(*n.op));
        const op_facts f = facts_of(n);
        const std::size_t first = uses_.size();
        for (std::size_t i = 0; i != f.operand_count + f.result_count; ++i) {
            const tensor_meta& meta = *f.tensors[i];
            const std::size_t at =
                tensors_.add(fmt::format("{{{}, {}}}", type_text(meta.dtype), list_text(meta.shape)));
            uses_.push_back(fmt::format("{}", at));
        }
        std::string row = fmt::format("{{&headrace::info_of<{}>, {}, {}, {}, {}, {:#x}, {}", op_text(*n.op),
                                      literal(origin_name(n)), first, f.operand_count, f.result_count,
                                      f.constants, attributes_.add(attributes_text(f.attributes)));
        if (f.list_length != 0) row += fmt::format(", {}", f.list_length);
        nodes_.push_back(row + "}");
    }

    static std::string attributes_text(const op_attributes& a) {
        std::vector<std::string> parts;
        const auto add = [&](std::string_view name, const std::string& text) {
            parts.push_back(fmt::format(".{} = {}", name, text));
        };
        if (!a.kernel.empty()) add("kernel", list_text(a.kernel));
        if (!a.stride.empty()) add("stride", list_text(a.stride));
        if (!a.pad.empty()) add("pad", list_text(a.pad));
        if (!a.dilation.empty()) add("dilation", list_text(a.dilation));
        if (!a.scale.empty()) add("scale", list_text(a.scale));
        if (!a.offset.empty()) add("offset", list_text(a.offset));
        if (a.axis != 0) add("axis", number(a.axis));
        if (a.declared != dtype::unknown) add("declared", type_text(a.declared));
        if (a.mode != resize_mode::unknown)
            add("mode", fmt::format("headrace::resize_mode::{}", name_of(a.mode)));
        if (a.round) add("round", "true");
        if (a.weight_sum != 0) add("weight_sum", number(a.weight_sum));
        if (!a.bias_fits) add("bias_fits", "false");
        if (!a.only_rescaled) add("only_rescaled", "false");
        if (a.from_convolution) add("from_convolution", "true");
        return fmt::format("{{{}}}", fmt::join(parts, ", "));
    }

    [[nodiscard]] std::string uses_text() const {
        const std::string head =
            fmt::format("    static constexpr std::array<std::uint32_t, {}> uses{{", uses_.size());
        return uses_.empty() ? head + "};\n" : head + "\n" + wrapped(uses_, "        ") + "};\n";
    }

    std::set<std::string> ops_;
    table tensors_;
    table attributes_;
    std::vector<std::string> uses_;
    std::vector<std::string> nodes_;
    std::uint64_t constant_bytes_ = 0;
};

/// The rows of inputs or outputs.
class interface_rows {
public:
    explicit interface_rows(std::string_view which) : which_(which) {}

    result<void> add(const interface_tensor& t) {
        std::string row =
            fmt::format("{{{}, {}, {}", literal(t.name), type_text(t.meta.dtype), shape_text(t.meta));
        if (t.quantization != nullptr) {
            const interface_quantization& q = *t.quantization;
            if (!std::isfinite(q.scale))
                return unsupported(fmt::format("{}: its scale is {}, not a number", t.name, q.scale));
            row += fmt::format(", {}, {}, {}, {}", q.scale, number(q.zero_point), number(q.lowest),
                               number(q.highest));
        }
        rows_.push_back(row + "}");
        return boost::outcome_v2::success();
    }
    [[nodiscard]] std::string text() const {
        return shapes_ + array_text("headrace::contract_tensor", which_, rows_);
    }

private:
    // A list of more than int_list holds is a view, of an array that must be there.
    std::string shape_text(const tensor_meta& meta) {
        if (!meta.shape.is_view()) return list_text(meta.shape);
        const std::string name = fmt::format("shape_of_{}_{}", which_, rows_.size());
        shapes_ += fmt::format("    static constexpr std::array<std::int64_t, {}> {}{};\n", meta.shape.size(),
                               name, list_text(meta.shape));
        return fmt::format("headrace::int_list(headrace::sizes({}))", name);
    }

    std::string_view which_;
    std::string shapes_;
    std::vector<std::string> rows_;
};

result<std::string> interface_text(const graph& g, std::size_t user_outputs) {
    interface_rows inputs("inputs");
    interface_rows outputs("outputs");
    for (const interface_tensor& t : interface_inputs(g)) {
        BOOST_OUTCOME_TRY(inputs.add(t));
    }
    const std::vector<interface_tensor> given = interface_outputs(g);
    for (const interface_tensor& t : std::span(given).first(std::min(user_outputs, given.size()))) {
        BOOST_OUTCOME_TRY(outputs.add(t));
    }
    return inputs.text() + outputs.text();
}

std::string number_member(std::string_view name, std::uint64_t number) {
    return fmt::format("    static constexpr std::uint64_t {} = {};\n", name, number);
}

result<std::string> lowered_text(const contract_source& source) {
    const lowered_part part(source.model);
    BOOST_OUTCOME_TRY(plan, make_memory_plan(source.model, {}));
    return "\n    // Lowered to TOSA; bytes of activations at the fullest moment, of constants, of the "
           "flatbuffer.\n" +
           fmt::format("    static constexpr auto target = *headrace::parse_target({});\n",
                       literal(target_text(source.model.target()))) +
           number_member("peak_memory", plan.memories[0].bytes) +
           number_member("constant_bytes", part.constant_bytes()) +
           number_member("flatbuffer_bytes", source.flatbuffer_bytes) + part.text();
}

// Words that are no identifiers, macros of compilers in their default mode, and the library's namespace.
constexpr std::string_view taken[] = {
    "alignas",       "alignof",      "and",       "and_eq",       "asm",       "auto",
    "bitand",        "bitor",        "bool",      "break",        "case",      "catch",
    "char",          "char16_t",     "char32_t",  "char8_t",      "class",     "co_await",
    "co_return",     "co_yield",     "compl",     "concept",      "const",     "const_cast",
    "consteval",     "constexpr",    "constinit", "continue",     "decltype",  "default",
    "delete",        "do",           "double",    "dynamic_cast", "else",      "enum",
    "explicit",      "export",       "extern",    "false",        "float",     "for",
    "friend",        "goto",         "headrace",  "if",           "inline",    "int",
    "linux",         "long",         "main",      "mutable",      "namespace", "new",
    "noexcept",      "not",          "not_eq",    "nullptr",      "operator",  "or",
    "or_eq",         "private",      "protected", "public",       "register",  "reinterpret_cast",
    "requires",      "return",       "short",     "signed",       "sizeof",    "static",
    "static_assert", "static_cast",  "std",       "struct",       "switch",    "template",
    "this",          "thread_local", "throw",     "true",         "try",       "typedef",
    "typeid",        "typename",     "union",     "unix",         "unsigned",  "using",
    "virtual",       "void",         "volatile",  "wchar_t",      "while",     "xor",
    "xor_eq"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

exported_ops exported_ops_of(graph& g) {
    exported_ops found;
    detail::for_each_graph(g, [&](graph& sub) {
        for (const node& n : sub.nodes()) {
            if (const auto* a = args_if<builtin::opaque>(n))
                found.types.insert(fmt::format("headrace::foreign_op<{}>", literal(a->target)));
            if (n.op->dialect == &info_of_dialect<builtin::dialect>) continue;
            found.types.insert(op_text(*n.op));
            if (const dialect_spelling* spelling = find_spelling(*n.op->dialect))
                found.headers.insert(std::string(spelling->header));
        }
    });
    return found;
}

result<std::string> contract_text(const contract_source& source) {
    std::set<std::string> headers = source.exported.headers;
    headers.insert("headrace/contract/contract.hpp");
    if (source.lowered) headers.insert("headrace/dialect/tosa.hpp");
    std::string text =
        fmt::format("// Generated by headrace {} contract from {}: do not edit.\n", version,
                    comment(source.file_name)) +
        fmt::format("#ifndef HEADRACE_CONTRACT_{0}\n#define HEADRACE_CONTRACT_{0}\n\n", source.name) +
        "#include <array>\n#include <cstdint>\n\n#if __has_include(<headrace/contract/contract.hpp>)\n";
    for (const std::string& header : headers) text += fmt::format("#include <{}>\n", header);
    text += fmt::format("#else\n#include <headrace.hpp>\n#endif\n\nstruct {} {{\n", source.name);
    text += ops_alias("exported_ops", source.exported.types) + '\n';
    BOOST_OUTCOME_TRY(border, interface_text(source.model, source.user_outputs));
    text += border;
    if (source.lowered) {
        BOOST_OUTCOME_TRY(lowered, lowered_text(source));
        text += lowered;
    }
    return text + "};\n\n#endif\n";
}

bool is_identifier(std::string_view name) {
    if (name.empty() || !is_letter(name.front()) || name.find("__") != std::string_view::npos) return false;
    const bool spelled =
        std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
    return spelled && std::ranges::find(taken, name) == std::end(taken);
}

std::string contract_name(const std::string& model) {
    std::error_code failure;
    const std::filesystem::path path = std::filesystem::absolute(model, failure);
    std::string given = path.stem().string();
    if (given == "model" && path.has_parent_path()) given = path.parent_path().filename().string();
    std::string name;
    for (const char c : given) {
        const bool kept = is_letter(c) || is_digit(c);
        if (kept) name += c;
        if (!kept && !name.empty() && name.back() != '_') name += '_';
    }
    if (name.empty() || is_digit(name.front())) name = "model_" + name;
    while (name.back() == '_') name.pop_back();
    return is_identifier(name) ? name : name + "_model";
}

}  // namespace headrace::cli
