// SPDX-License-Identifier: MIT
// Defines the functions of headrace/run/models.hpp.

#include <headrace/run/models.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <memory_resource>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/eval/iterate.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/io/file/npy.hpp>
#include <headrace/io/package/package.hpp>
#include <headrace/io/pt2/pt2.hpp>
#include <headrace/io/pt2/unread.hpp>
#include <headrace/io/pte/reader.hpp>
#include <headrace/io/signature/graph_signature.hpp>
#include <headrace/io/text/graph_text.hpp>
#include <headrace/io/tosa/reader.hpp>
#include <headrace/io/unread_nodes.hpp>
#include <headrace/ir/dead_code.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/rewrite/emit.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/signature_tensors.hpp>

namespace headrace {

namespace {

bool is_tosa(std::span<const std::byte> bytes) {
    return bytes.size() >= 8 && std::memcmp(bytes.data() + 4, "TOSA", 4) == 0;
}

// Infers metadata that a file leaves out; metadata in the file must agree with inference.
result<void> check_metadata(graph& g, const std::string& path) {
    result<void> sound = complete_metadata(g);
    if (sound) sound = verify_metadata(g);
    return sound ? result<void>() : result<void>(malformed(sound.error().in(path).message));
}

// Returns a value computed from constants alone; nothing for others, and for values written in place.
std::optional<tensor> constant_value(value v, int depth = 0) {
    constexpr int max_depth = 64;
    constexpr std::int64_t max_elements = std::int64_t{1} << 24;
    const node& n = *v.producer;
    const tensor_meta* meta = meta_of(v);
    if (meta == nullptr || meta->elements() > max_elements || depth == max_depth || pt2::is_written(n))
        return std::nullopt;
    if (const auto* a = args_if<builtin::constant>(n)) return tensor_of_constant(a->data, *meta);
    const bool changes_view = n.op->has(trait::in_place) && n.op->functional().has(trait::aliasing);
    if (!is_pure(n) && !changes_view) return std::nullopt;
    // Kernels trust metadata, which has not been checked yet.
    std::pmr::monotonic_buffer_resource arena;
    inference inferred(&arena);
    if (!infer_node(n, inferred) || inferred.results().size() != n.result_count) return std::nullopt;
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        if (!n.results[i].meta || !(inferred.results()[i] == *n.results[i].meta)) return std::nullopt;
    }
    std::vector<tensor> operands;
    for (const edge& e : n.operand_edges()) {
        auto operand = constant_value(*e.slot, depth + 1);
        if (!operand) return std::nullopt;
        operands.push_back(*std::move(operand));
    }
    auto results = evaluate_node(n, operands);
    if (!results || results.value().size() <= v.result || !results.value()[v.result].has_meta(*meta))
        return std::nullopt;
    return std::move(results.value()[v.result]);
}
std::optional<std::vector<bool>> truth_of_constant(value v) {
    const auto found = constant_value(v);
    if (!found) return std::nullopt;
    std::vector<bool> truths;
    for (std::int64_t i = 0; i != found->size(); ++i) truths.push_back(found->real(i) != 0);
    return truths;
}

tensor random_tensor(const tensor_meta& meta, std::mt19937& engine) {
    std::vector<double> numbers(static_cast<std::size_t>(meta.elements()));
    std::normal_distribution<double> normal;
    for (double& x : numbers) {
        // Indices and flags must be valid for any tensor: 0 and 1 are.
        x = is_floating(meta.dtype) ? normal(engine) : static_cast<double>(engine() % 2);
    }
    return tensor::of(meta.dtype, {meta.shape.begin(), meta.shape.end()}, numbers);
}

// Returns "scale 0.05, zero point -3".
std::string format_quantization(double scale, std::int64_t zero_point) {
    std::array<char, 40> digits{};
    std::snprintf(digits.data(), digits.size(), "%.6g", scale);
    return join_text("scale ", digits.data(), ", zero point ", zero_point);
}

// Returns the annotation with the quantization of an input's integers, or null.
const signature_quantization* quantization_at(const node& placeholder) {
    return detail::if_quantized(placeholder.find_annotation<signature_quantization>());
}

// Describes the tensor that an input takes, for an error message.
std::string format_wanted_tensor(const node& placeholder) {
    const dtype wanted = placeholder.results[0].meta->dtype;
    std::string text = join_text("; input ", printable(placeholder.name()), " takes ", name_of(wanted));
    if (is_floating(wanted)) {
        for (const edge& e : placeholder.uses()) {
            if (const auto* q = args_if<quantized_decomposed::quantize_per_tensor>(*e.target))
                return text +
                    join_text(" numbers, which the model quantizes itself (",
                        format_quantization(q->scale, q->zero_point), ")");
        }
        return text + " numbers";
    }
    if (const auto* q = quantization_at(placeholder))
        return text +
            join_text(" quantized values (", format_quantization(q->scale, q->zero_point), "), or floats");
    return text;
}

error wrong_type(const std::string& file, dtype given, const node& placeholder) {
    std::string text =
        join_text(file, ": holds ", name_of(given), " numbers", format_wanted_tensor(placeholder));
    const bool has_wanted_scale =
        is_floating(placeholder.results[0].meta->dtype) || quantization_at(placeholder) != nullptr;
    if (!has_wanted_scale)
        text +=
            "; give with --io the description that `lower --io` wrote, which has its scale and zero point, "
            "or give quantized values";
    return malformed(text);
}

// True if the graph reads the value as unsigned bytes: TOSA's integers are signless.
bool is_read_unsigned(value v, int nested = 0) {
    constexpr int max_looked_through = 16;
    if (nested == max_looked_through) return false;
    for (const edge& use : v.producer->uses()) {
        const node& reader = *use.target;
        if (*use.slot != v) continue;
        const auto* a = args_if<tosa::rescale>(reader);
        if (a != nullptr && a->input == v && a->input_unsigned) return true;
        if (is_of_dialect<tosa::dialect>(reader) && reader.op->has(trait::moving) &&
            is_read_unsigned({&const_cast<node&>(reader), 0}, nested + 1))
            return true;
    }
    return false;
}
bool takes_bytes(const node& placeholder) {
    const value v{&const_cast<node&>(placeholder), 0};
    return meta_of(v)->dtype == dtype::int8 &&
        (placeholder.find_annotation<unsigned_input>() != nullptr || is_read_unsigned(v));
}

// Converts integers of another dtype if the wanted one can hold all of them.
result<tensor> as_integers(const std::string& file, const tensor& given, const node& placeholder) {
    const std::vector<std::int64_t> numbers = given.to<std::int64_t>();
    tensor made = tensor::of(placeholder.results[0].meta->dtype, given.shape(), numbers);
    for (std::int64_t i = 0; i != made.size(); ++i) {
        const std::int64_t number = numbers[static_cast<std::size_t>(i)];
        if (made.integer(i) != number) {
            const bool are_bytes = given.type() == dtype::uint8 && made.type() == dtype::int8;
            return malformed(join_text(file, ": holds ", number, format_wanted_tensor(placeholder),
                are_bytes ? "; if these are bytes without a sign, say so with --io, "
                            "the description that `lower --io` wrote"
                          : ""));
        }
    }
    return made;
}

result<tensor> read_tensor(
    const std::string& file, const node& placeholder, signature_side side, bool& quantizes) {
    HEADRACE_TRY(array, read_npy(file));
    const tensor_meta& wanted = *placeholder.results[0].meta;
    const bool permutes = side == signature_side::exported && is_channels_last(placeholder, wanted.rank());
    eval::extents shape(wanted.shape.begin(), wanted.shape.end());
    if (permutes) shape = {shape[0], shape[3], shape[1], shape[2]};
    if (!std::ranges::equal(array.meta.shape, shape)) {
        return malformed(join_text(file, ": shape ", shape_text(array.meta.shape), " for input ",
            printable(placeholder.name()), ", which has ", shape_text(int_list(shape))));
    }
    tensor given = tensor_of_constant({.bytes = array.data.data()}, array.meta);
    if (permutes) given = eval::permuted(given, to_channels_last);
    // Each of these copies: the array does not outlive this function.
    const bool is_real = is_floating(array.meta.dtype);
    if (is_real && is_floating(wanted.dtype))
        return tensor::of(wanted.dtype, given.shape(), given.to<double>());
    if (array.meta.dtype == dtype::uint8 && takes_bytes(placeholder)) return given.cast(wanted.dtype);
    if (!is_real && !is_floating(wanted.dtype)) return as_integers(file, given, placeholder);
    const auto* q = quantization_at(placeholder);
    if (!is_real || q == nullptr) return wrong_type(file, array.meta.dtype, placeholder);
    quantizes = true;
    return quantized(given, *q, wanted.dtype);
}

// Returns the .ptd file of a .pte file: the given one or, if one is needed, that of the same stem; empty for
// none.
std::string external_data_path(
    const pte_file& file, const std::string& path, std::string_view method, const std::string& data) {
    if (!data.empty()) return data;
    const auto chosen = file.method(method);
    if (!chosen || !pte_file::needs_external_data(*chosen.value())) return {};
    const std::filesystem::path beside = std::filesystem::path(path).replace_extension(".ptd");
    std::error_code none;
    return std::filesystem::exists(beside, none) ? beside.string() : std::string();
}

result<program> read_pte_method(
    mapped_file file, const std::string& path, std::string_view method, const std::string& data = {}) {
    program p;
    auto opened = pte_file::open(file.bytes());
    if (!opened) {
        HEADRACE_TRY(file.check());
        return opened.error().in(path);
    }
    const std::string beside = external_data_path(opened.value(), path, method, data);
    std::optional<mapped_file> mapped;
    std::optional<ptd_file> external;
    if (!beside.empty()) {
        HEADRACE_TRY(data_file, open_mapped(beside));
        mapped.emplace(std::move(data_file));
        auto read = ptd_file::open(mapped->bytes());
        HEADRACE_TRY(mapped->check());
        if (!read) return read.error().in(beside);
        external = read.value();
        opened.value().attach(*external);
    }
    auto graph = read_pte(opened.value(), method);
    if (mapped) {
        HEADRACE_TRY(mapped->check());
    }
    HEADRACE_TRY(file.check());
    if (!graph) return graph.error().in(path);
    p.graph = std::move(graph).value();
    HEADRACE_TRY(check_metadata(*p.graph, path));
    p.file = std::move(file);
    p.user_outputs = p.graph->outputs().size();
    return p;
}

}  // namespace

result<program> read_model(const std::string& path, const size_choices& choices) {
    HEADRACE_TRY(file, open_mapped(path));
    if (pte_file::is_pte(file.bytes())) return read_pte_method(std::move(file), path, {});
    if (path.ends_with(".hr") || is_graph_text(file.bytes())) {
        HEADRACE_TRY(parsed, read_graph_text(path));
        HEADRACE_TRY(check_metadata(*parsed.graph, path));
        return std::move(parsed);
    }
    if (!is_tosa(file.bytes())) {
        HEADRACE_TRY(exported, read_pt2(std::move(file), path, choices, &truth_of_constant));
        if (!choices.examples) eliminate_dead_code(*exported.graph);
        if (const result<void> whole = refuse_unread(*exported.graph); !whole) {
            if (choices.examples) return std::move(exported);
            return whole.error().in(path);
        }
        if (exported.graph->outputs().empty() && !choices.examples)
            return unsupported({path, ": none of the program's outputs is a tensor"});
        HEADRACE_TRY(check_metadata(*exported.graph, path));
        return std::move(exported);
    }
    program p;
    auto graph = read_tosa(file.bytes());
    HEADRACE_TRY(file.check());
    if (!graph) return malformed(graph.error().in(path).message);
    p.graph = std::move(graph).value();
    p.file = std::move(file);
    p.user_outputs = p.graph->outputs().size();
    return p;
}

loaded_model::loaded_model() = default;
loaded_model::loaded_model(loaded_model&&) noexcept = default;
loaded_model::~loaded_model() = default;
result<void> loaded_model::check() const { return source ? source->check() : model.file.check(); }

namespace {

result<void> read_package(const std::string& path, const std::string& name, loaded_model& loaded) {
    HEADRACE_TRY(opened, package::open(path));
    loaded.source = std::make_unique<package>(std::move(opened));
    HEADRACE_TRY(method, loaded.source->method(name));
    program& p = loaded.model;
    if (method->delegate) {
        p.graph = std::make_unique<graph>();
        HEADRACE_TRY(flatbuffer, loaded.source->flatbuffer(*method->delegate));
        HEADRACE_TRY(read_tosa(flatbuffer, *p.graph));
        p.user_outputs = p.graph->outputs().size();
        return {};
    }
    const auto read = [](std::span<const std::byte> bytes, graph& region) {
        return read_tosa(bytes, region);
    };
    HEADRACE_TRY(host, loaded.source->read_host(*method, read));
    p = std::move(host);
    return check_metadata(*p.graph, path + "/" + method->host);
}

}  // namespace

result<loaded_model> load_model(
    const std::string& path, const std::string& method, const size_choices& choices) {
    return load_model_with_data(path, method, {}, choices);
}
result<loaded_model> load_model_with_data(const std::string& path, const std::string& method,
    const std::string& data, const size_choices& choices) {
    loaded_model loaded;
    if (package::is_package(path)) {
        if (!data.empty()) return invalid({path, ": is a package; external data is for .pte files"});
        HEADRACE_TRY(read_package(path, method, loaded));
    } else if (!method.empty() || !data.empty()) {
        HEADRACE_TRY(file, open_mapped(path));
        if (!pte_file::is_pte(file.bytes()))
            return invalid(path +
                (method.empty() ? ": is not a .pte file; only these have external data"
                                : ": is not a package or a .pte file"));
        HEADRACE_TRY(model, read_pte_method(std::move(file), path, method, data));
        loaded.model = std::move(model);
    } else {
        HEADRACE_TRY(model, read_model(path, choices));
        loaded.model = std::move(model);
    }
    return loaded;
}

result<given_inputs> read_inputs(const graph& g, const std::vector<std::string>& files, signature_side side) {
    given_inputs given;
    std::mt19937 engine(0);
    std::size_t k = 0;
    for (const node& n : g.inputs()) {
        if (files.empty()) {
            const std::uint64_t bytes = packed_bytes(*n.results[0].meta);
            if (bytes > max_computed_bytes)
                return unsupported(join_text("input ", printable(n.name()), " has ", bytes,
                    " bytes; give it as a file: random inputs have at most ", max_computed_bytes));
            given.tensors.push_back(random_tensor(*n.results[0].meta, engine));
        } else if (k < files.size()) {
            HEADRACE_TRY(t, read_tensor(files[k], n, side, given.quantized_here));
            given.tensors.push_back(std::move(t));
        }
        ++k;
    }
    if (!files.empty() && files.size() != k) {
        return malformed(join_text("the model has ", counted_text(k, "input"), ", but ",
            counted_text(files.size(), "file"), files.size() == 1 ? " was" : " were", " given"));
    }
    return given;
}

error unfit_random_inputs(const error& e) {
    if (e.kind != error_kind::malformed) return e;
    return unsupported(join_text(
        "the model cannot be executed with random inputs: ", e.message, "; give inputs that fit it (--in)"));
}

result<std::vector<tensor>> model_inputs(const graph& g, const std::vector<std::string>& files) {
    HEADRACE_TRY(given, read_inputs(g, files));
    return std::move(given.tensors);
}

}  // namespace headrace
