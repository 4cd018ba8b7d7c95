// SPDX-License-Identifier: MIT
#include "graph_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/compare/compare_models.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/io/pt2/writer.hpp>
#include <headrace/io/signature/graph_signature.hpp>
#include <headrace/io/signature/io_description_reader.hpp>
#include <headrace/io/text/dot.hpp>
#include <headrace/io/text/graph_text.hpp>
#include <headrace/io/tosa/emitter.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/passes/quantize/quantization.hpp>

#include "messages.hpp"

namespace headrace::cli {

result<void> write_graph(const std::string& path, const program& p, std::size_t inlined) {
    if (path.ends_with(".hr")) return write_graph_text(path, p, {.inline_elements = inlined});
    if (path.ends_with(".pt2")) return write_pt2(path, p);
    if (path.ends_with(".tosa")) {
        HEADRACE_TRY(emitted, emit_tosa(*p.graph));
        return write_atomically(path, emitted.bytes());
    }
    if (!path.ends_with(".dot")) return write_atomically(path, listing(*p.graph));
    std::ostringstream picture;
    write_dot(picture, *p.graph);
    return write_atomically(path, picture.str());
}

int check_graph_extension(const std::string& path) {
    return check_extension(path, {".hr", ".pt2", ".tosa", ".dot", ".txt"});
}

namespace {

/// Refuses scales and zero points that are invalid for quantization.
result<void> check_quantizations(const std::vector<io_tensor>& tensors) {
    for (const io_tensor& t : tensors) {
        if (!t.quantization) continue;
        const signature_quantization& q = *t.quantization;
        const auto [lowest, highest] = range_of(t.dtype);
        const auto is_held = [&, low = lowest, high = highest](
                                 std::int64_t n) { return low <= n && n <= high; };
        if (!std::isfinite(q.scale) || q.scale <= 0 || q.lowest > q.highest || !is_held(q.lowest) ||
            !is_held(q.highest) || !is_held(q.zero_point))
            return malformed(
                fmt::format("{} has scale {}, zero point {} and quantized values from {} to {}, which is "
                            "not a quantization to {}",
                    printable(t.name), q.scale, q.zero_point, q.lowest, q.highest, tosa_type_name(t.dtype)));
    }
    return {};
}

}  // namespace

result<void> describe_signature(graph& g, const io_description& io) {
    HEADRACE_TRY(check_quantizations(io.inputs));
    HEADRACE_TRY(check_quantizations(io.outputs));
    std::size_t i = 0;
    for (const node& n : g.inputs()) {
        if (i == io.inputs.size()) break;
        const dtype described = io.inputs[i++].dtype;
        const tensor_meta* actual = n.results[0].meta;
        // TOSA's integers are signless: int8 is uint8 if the description says so.
        const bool is_unsigned =
            actual != nullptr && described == dtype::uint8 && actual->dtype == dtype::int8;
        if (actual != nullptr && described != actual->dtype && !is_unsigned)
            return malformed(fmt::format("it gives input {} the type {}, the model has {}",
                printable(n.name()), tosa_type_name(described), tosa_type_name(actual->dtype)));
    }
    HEADRACE_TRY(annotate_signature(g, io));
    if (std::ranges::any_of(io.outputs, &io_tensor::channels_last))
        g.annotate(*g.output(), channels_last_signature{true});
    return {};
}

result<void> describe_signature(graph& g, const std::string& path, const std::string& method) {
    HEADRACE_TRY(file, open_mapped(path));
    const auto io = read_io_description(file.bytes(), method);
    HEADRACE_TRY(file.check());
    if (!io) return io.error().in(path);
    const result<void> done = describe_signature(g, io.value());
    return done ? result<void>() : result<void>(done.error().in(path));
}

}  // namespace headrace::cli
