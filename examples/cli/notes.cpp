// SPDX-License-Identifier: MIT
#include "notes.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string_view>

#include <headrace/base/printable.hpp>
#include <headrace/base/result.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/pte/file.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/unread.hpp>

#include "messages.hpp"

namespace headrace::cli {

namespace {

// True for dropout of any kind that is in training mode and has an effect.
bool drops(const node& n) {
    const field_info* const train = n.op->find("train");
    const field_info* const share = n.op->find("p");
    if (train == nullptr || share == nullptr || train->kind != field_kind::boolean ||
        share->kind != field_kind::floating)
        return false;
    const auto* arguments = static_cast<const std::byte*>(n.arguments);
    const auto* const flag = arguments + train->offset;
    const bool is_training = train->optional
        ? reinterpret_cast<const std::optional<bool>*>(flag)->value_or(true)
        : *reinterpret_cast<const bool*>(flag);
    return is_training && *reinterpret_cast<const double*>(arguments + share->offset) != 0;
}

}  // namespace

void say_notes(const std::string& model, const graph& g) {
    if (g.output() == nullptr) return;
    const auto* notes = g.output()->find_annotation<reading_notes>();
    if (notes == nullptr) return;
    for (const std::string_view text : notes->texts) say(fmt::format("note: {}: {}", model, text));
}

void warn_of_written_inputs(const std::string& model, const program& p) {
    for (const mutation& m : p.mutations) {
        if (m.kind != mutation::kind_type::user_input) continue;
        const std::string text = fmt::format(
            "{}: the program writes its input {} in place, which the lowered program does not; return the new "
            "value as an output if it is needed",
            model, m.name);
        fmt::print(stderr, "warning: {}\n", printable(text, max_printed_message));
    }
}

void warn_of_training(const graph& g) {
    for_each_graph(g, [](const graph& sub) {
        for (const node& n : sub.nodes()) {
            if (!drops(n)) continue;
            const std::string text = fmt::format(
                "{}it is in training mode, but is executed as in inference, where it does nothing; call eval() "
                "before the export",
                std::string_view(message_prefix(n)));
            fmt::print(stderr, "warning: {}\n", printable(text, max_printed_message));
        }
    });
}

result<void> refuse_lowered(const std::string& path, const program& model) {
    if (!pte_file::is_pte(model.file.bytes())) return {};
    return unsupported({path,
        ": it is lowered already, and its states, other methods and places in memory "
        "would be lost; give the .pt2 file that it was made from"});
}

}  // namespace headrace::cli
