// SPDX-License-Identifier: MIT
// Defines headrace::contract_text and headrace::contract_name.
#ifndef HEADRACE_CONTRACT_CONTRACT_TEXT_DEFINITION_HPP
#define HEADRACE_CONTRACT_CONTRACT_TEXT_DEFINITION_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <headrace/base/compiled.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/base/target_text.hpp>
#include <headrace/contract/lowered_part.hpp>
#include <headrace/contract/member_text.hpp>
#include <headrace/contract/op_spelling.hpp>
#include <headrace/contract/tool_versions.hpp>
#include <headrace/io/file/c_text.hpp>
#include <headrace/io/signature/graph_signature.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/memory/memory_plan.hpp>
#include <headrace/version.hpp>

namespace headrace {

namespace detail {

/// The rows of inputs or outputs.
class signature_rows {
public:
    explicit signature_rows(std::string_view which) : which_(which) {}

    result<void> add(const signature_tensor& t) {
        std::string row = join_text(
            '{', c_string_literal(t.name), ", ", format_dtype(t.dtype()), ", ", shape_text(t.meta));
        if (t.quantization != nullptr) {
            const signature_quantization& q = *t.quantization;
            if (!std::isfinite(q.scale))
                return unsupported(join_text(t.name, ": its scale is ",
                    std::isnan(q.scale) ? "nan"
                        : q.scale > 0   ? "inf"
                                        : "-inf",
                    ", not a number"));
            row += join_text(", ", shortest_text(q.scale), ", ", format_integer(q.zero_point), ", ",
                format_integer(q.lowest), ", ", format_integer(q.highest));
        }
        rows_.push_back(row + "}");
        return {};
    }
    [[nodiscard]] std::string text() const {
        return shapes_ + format_array("headrace::contract_tensor", which_, rows_);
    }

private:
    // A list longer than int_list holds is a view of an array, which must be there.
    std::string shape_text(const tensor_meta& meta) {
        if (!meta.shape.is_view()) return format_list(meta.shape);
        const std::string name = join_text("shape_of_", which_, '_', rows_.size());
        shapes_ += join_text("    static constexpr std::array<std::int64_t, ", meta.shape.size(), "> ", name,
            format_list(meta.shape), ";\n");
        return join_text("headrace::int_list(headrace::sizes(", name, "))");
    }

    std::string_view which_;
    std::string shapes_;
    std::vector<std::string> rows_;
};

[[nodiscard]] inline result<std::string> format_signature(const graph& g, std::size_t user_outputs) {
    signature_rows inputs("inputs");
    signature_rows outputs("outputs");
    for (const signature_tensor& t : signature_inputs(g)) {
        HEADRACE_TRY(inputs.add(t));
    }
    const std::vector<signature_tensor> given = signature_outputs(g);
    for (const signature_tensor& t : std::span(given).first(std::min(user_outputs, given.size()))) {
        HEADRACE_TRY(outputs.add(t));
    }
    return inputs.text() + outputs.text();
}

[[nodiscard]] inline result<std::string> lowered_text(const contract_source& source) {
    const lowered_part part(source.model);
    HEADRACE_TRY(plan, make_memory_plan(source.model, {}));
    return join_text(
        "\n    // Lowered to TOSA, and executed operator by operator: bytes of activations at their peak, of "
        "constants, of\n    // the flatbuffer. Vela and ExecuTorch plan memory of their own.\n"
        "    static constexpr auto target = *headrace::parse_target(",
        c_string_literal(target_text(source.model.target())), ");\n",
        number_member("peak_memory", plan.memories[0].bytes),
        number_member("constant_bytes", part.constant_bytes()),
        number_member("flatbuffer_bytes", source.flatbuffer_bytes), part.text());
}

[[nodiscard]] inline std::string format_needs(const target_spec& target) {
    const auto range = [](std::string_view name, const version_range& r) {
        return join_text("        static constexpr headrace::version_range ", name, "{{", r.oldest.major,
            ", ", r.oldest.minor, "}, {", r.newest.major, ", ", r.newest.minor, "}};\n");
    };
    const bool has_floats = target.has(target_feature::profile_fp);
    return join_text("\n    // Versions that were tested with files that this version of Headrace writes.\n",
        "    struct needs {\n        static constexpr headrace::tool_version tosa{1, 0};\n",
        range("executorch", tested_executorch), has_floats ? std::string() : range("vela", tested_vela),
        range("tosa_tools", tested_tosa_tools), "    };\n");
}

// Members of members are indented once more.
[[nodiscard]] inline std::string format_core(const core_figures& f) {
    std::string text = join_text("\n    // The C++ type that `headrace lower -o NAME.hpp --core ",
        c_comment(f.core), "` writes; bytes.\n",
        f.stack_bytes
            ? "    // Code and stack were measured: other compilers and options give others.\n"
            : "    // Code and stack depend on the compiler: tests/on_device/run.py measures them.\n",
        "    struct on_device {\n        static constexpr std::string_view core = ", c_string_literal(f.core),
        ";\n");
    const auto add = [&](std::string_view name, std::optional<std::uint64_t> number) {
        if (number) text += "    " + number_member(name, *number);
    };
    add("arena_bytes", f.arena_bytes);
    add("arena_lower_bound", f.arena_lower_bound);
    add("state_bytes", f.state_bytes);
    add("constant_bytes", f.constant_bytes);
    add("code_bytes", f.code_bytes);
    add("stack_bytes", f.stack_bytes);
    add("instructions", f.instructions);
    return text + "    };\n";
}

[[nodiscard]] inline std::string format_certificate(const certificate_figures& f) {
    const auto flag = [](std::string_view name, bool value) {
        return join_text("        static constexpr bool ", name, " = ", value ? "true" : "false", ";\n");
    };
    return join_text(
        "\n    // Whether `headrace prove` proves that no integer overflows, and the bits of the largest",
        " sum.\n    struct certificate {\n", flag("no_overflow", f.no_overflow),
        flag("needs_valid_indices", f.needs_valid_indices), "    ",
        number_member("accumulator_bits", f.accumulator_bits), "    ",
        number_member("accumulator_capacity", f.accumulator_capacity), "    };\n");
}

}  // namespace detail

HEADRACE_INLINE exported_ops exported_ops_of(graph& g) {
    exported_ops found;
    for_each_graph(g, [&](graph& sub) {
        for (const node& n : sub.nodes()) {
            if (const auto* a = args_if<builtin::opaque>(n))
                found.types.insert(detail::format_foreign_op(a->target));
            if (is_of_dialect<builtin::dialect>(n)) continue;
            found.types.insert(detail::format_op(*n.op));
            if (const detail::dialect_spelling* spelling = detail::find_spelling(*n.op->dialect))
                found.headers.insert(std::string(spelling->header));
        }
    });
    return found;
}

HEADRACE_INLINE result<std::string> contract_text(const contract_source& source) {
    std::set<std::string> headers = source.exported.headers;
    headers.insert("headrace/contract/contract.hpp");
    if (source.lowered) headers.insert("headrace/dialect/tosa.hpp");
    std::string text = join_text("// Generated by headrace ", version, " contract from ",
        c_comment(source.file_name), ": do not edit.\n#ifndef HEADRACE_CONTRACT_", source.name,
        "\n#define HEADRACE_CONTRACT_", source.name, "\n\n#include <array>\n#include <cstdint>\n",
        source.on_device != nullptr ? "#include <string_view>\n" : "",
        "\n#if __has_include(<headrace/contract/contract.hpp>)\n");
    for (const std::string& header : headers) text += join_text("#include <", header, ">\n");
    text += join_text("#else\n#include <headrace.hpp>\n#endif\n\nstruct ", source.name, " {\n",
        detail::ops_alias("exported_ops", source.exported.types), '\n');
    HEADRACE_TRY(border, detail::format_signature(source.model, source.user_outputs));
    text += border;
    if (source.lowered) {
        HEADRACE_TRY(lowered, detail::lowered_text(source));
        text += lowered + detail::format_needs(source.model.target());
    }
    if (source.certificate != nullptr) text += detail::format_certificate(*source.certificate);
    if (source.on_device != nullptr) text += detail::format_core(*source.on_device);
    return text + "};\n\n#endif\n";
}

HEADRACE_INLINE std::string contract_name(const std::string& model) {
    std::error_code failure;
    const std::filesystem::path path = std::filesystem::absolute(model, failure);
    std::string given = path.stem().string();
    if (given == "model" && path.has_parent_path()) given = path.parent_path().filename().string();
    std::string name;
    for (const char c : given) {
        const bool kept = is_c_letter(c) || is_c_digit(c);
        if (kept) name += c;
        if (!kept && !name.empty() && name.back() != '_') name += '_';
    }
    if (name.empty() || is_c_digit(name.front())) name = "model_" + name;
    while (name.back() == '_') name.pop_back();
    return is_c_identifier(name) ? name : name + "_model";
}

}  // namespace headrace

#endif
