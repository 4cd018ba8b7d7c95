// SPDX-License-Identifier: MIT
// Defines headrace::detail::graph_text::annotation_reader, which reads a node's annotations from a graph's
// text.
#ifndef HEADRACE_IO_TEXT_ANNOTATIONS_HPP
#define HEADRACE_IO_TEXT_ANNOTATIONS_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/io/text/cursor.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/opaque_text.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/ir/source_location.hpp>

namespace headrace::detail::graph_text {

class annotation_reader {
public:
    explicit annotation_reader(cursor& at) : at_(at) {}

    /// Reads `{origin, …}` after a node, if present.
    void read(node& n) {
        if (!at_.accept('{')) return;
        do {
            const std::size_t at = at_.next();
            const std::string_view key = at_.word("an annotation");
            if (key == "origin") {
                read_origin(n);
                continue;
            }
            at_.expect('=', "and a value after an annotation");
            if (key == "modules") {
                n.owner->annotate(n, module_stack{n.owner->own(at_.quoted("modules"))});
            } else if (key == "source") {
                n.owner->annotate(n, source_location{n.owner->own(at_.quoted("a line of source"))});
            } else if (key == "custom") {
                n.owner->annotate(n, custom_metadata{n.owner->own(at_.quoted("JSON"))});
            } else if (key == "quantization" && is<builtin::placeholder>(n)) {
                n.owner->annotate(n, read_quantization());
            } else if (key == "quantization" && is<builtin::output>(n)) {
                read_output_quantizations(n);
            } else if (key == "channels_last" && (is<builtin::placeholder>(n) || is<builtin::output>(n))) {
                const bool applied = at_.accept_word("applied");
                if (!applied && !at_.accept_word("asked")) at_.fail_here("expected 'asked' or 'applied'");
                n.owner->annotate(n, channels_last_signature{applied});
            } else if (key == "unsigned" && is<builtin::placeholder>(n)) {
                if (!at_.accept_word("true")) at_.fail_here("expected 'true'");
                n.owner->annotate(n, unsigned_input{});
            } else if (key == "unsigned" && is<builtin::output>(n)) {
                read_unsigned_outputs(n);
            } else {
                at_.fail(at,
                    "there is no annotation " + in_quotes(key) +
                        " for such a node; there are origin, modules, source and custom, and for inputs "
                        "and outputs quantization, channels_last and unsigned");
            }
        } while (at_.accept(','));
        at_.expect('}', "or ',' after an annotation");
    }

private:
    void read_origin(node& n) {
        if (!at_.accept('=')) return n.owner->annotate(n, provenance{n.name(), op_name(n)});
        at_.expect('[', "and two names");
        const std::string node_name = at_.quoted("the exported node's name");
        at_.expect(',', "and the exported op");
        const std::string op_name = at_.quoted("the exported op");
        at_.expect(']', "after the exported op");
        n.owner->annotate(n, provenance{n.owner->own(node_name), n.owner->own(op_name)});
    }
    signature_quantization read_quantization() {
        signature_quantization q;
        at_.expect('[', "and scale, zero point, lowest and highest");
        const std::size_t at = at_.next();
        if (!number_in(at_.literal("a scale"), q.scale) || !std::isfinite(q.scale) || q.scale <= 0)
            at_.fail(at, "a scale is a number above 0");
        for (std::int64_t* number : {&q.zero_point, &q.lowest, &q.highest}) {
            at_.expect(',', "and scale, zero point, lowest and highest");
            const std::size_t here = at_.next();
            if (!number_in(at_.literal("an integer"), *number)) at_.fail(here, "expected an integer");
        }
        at_.expect(']', "after the highest integer");
        return q;
    }
    void read_output_quantizations(node& n) {
        std::vector<signature_quantization> all;
        const std::size_t at = at_.next();
        at_.expect('[', "and a quantization for each output, or none");
        do all.push_back(at_.accept_word("none") ? signature_quantization{} : read_quantization());
        while (at_.accept(','));
        at_.expect(']', "or ',' after an output's quantization");
        if (all.size() != n.operand_count) at_.fail(at, "there is not one quantization for each output");
        n.owner->annotate(n, output_quantizations{n.owner->own(list<signature_quantization>(all))});
    }

    void read_unsigned_outputs(node& n) {
        std::vector<std::int64_t> positions;
        at_.expect('[', "and positions of outputs");
        do {
            const std::size_t at = at_.next();
            std::int64_t& position = positions.emplace_back();
            const bool is_position = number_in(at_.literal("a position"), position) && position >= 0 &&
                static_cast<std::uint64_t>(position) < n.operand_count;
            if (!is_position) at_.fail(at, "expected the position of an output, counted from 0");
        } while (at_.accept(','));
        at_.expect(']', "or ',' after a position");
        n.owner->annotate(n, unsigned_outputs{n.owner->own(list<std::int64_t>(positions))});
    }

    cursor& at_;
};

}  // namespace headrace::detail::graph_text

#endif
