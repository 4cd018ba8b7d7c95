// SPDX-License-Identifier: MIT
// Defines the functions of lowering/models.hpp. Include it in exactly one translation unit of a program: it
// compiles the readers of all formats.
#ifndef HEADRACE_LOWERING_MODELS_DEFINITION_HPP
#define HEADRACE_LOWERING_MODELS_DEFINITION_HPP

#include <cstddef>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/io/graph_text.hpp>
#include <headrace/io/npy.hpp>
#include <headrace/io/package.hpp>
#include <headrace/io/pt2.hpp>
#include <headrace/io/pte_reader.hpp>
#include <headrace/io/tosa_reader.hpp>
#include <headrace/lowering/execution.hpp>
#include <headrace/lowering/models.hpp>
#include <headrace/pass/emit.hpp>

namespace headrace {

namespace detail {

[[nodiscard]] inline bool is_tosa(std::span<const std::byte> bytes) {
    return bytes.size() >= 8 && std::memcmp(bytes.data() + 4, "TOSA", 4) == 0;
}

// What a file leaves out of the metadata is inferred; what it says must be what inference gives.
[[nodiscard]] inline result<void> check_metadata(graph& g, const std::string& path) {
    result<void> sound = complete_metadata(g);
    if (sound) sound = verify_metadata(g);
    return sound ? boost::outcome_v2::success() : result<void>(malformed(sound.error().in(path).message));
}

[[nodiscard]] inline tensor random_tensor(const tensor_meta& meta, std::mt19937& engine) {
    std::vector<double> numbers(static_cast<std::size_t>(meta.elements()));
    std::normal_distribution<double> normal;
    for (double& x : numbers) {
        // Indices and flags must be valid whatever they select from: 0 and 1 are.
        x = is_floating(meta.dtype) ? normal(engine) : static_cast<double>(engine() % 2);
    }
    return tensor::of(meta.dtype, {meta.shape.begin(), meta.shape.end()}, numbers);
}

[[nodiscard]] inline result<tensor> read_tensor(const std::string& file, const node& placeholder) {
    BOOST_OUTCOME_TRY(array, read_npy(file));
    const tensor_meta& wanted = *placeholder.results[0].meta;
    tensor given = tensor_of_constant({.bytes = array.data.data()}, array.meta);
    if (!(array.meta.shape == wanted.shape)) {
        return malformed(join_text(file, ": shape ", shape_text(array.meta.shape), " for input ",
                                   placeholder.name(), ", which has ", shape_text(wanted.shape)));
    }
    // A copy of its own: the array does not outlive this function.
    tensor copy = tensor::of(wanted.dtype, {wanted.shape.begin(), wanted.shape.end()}, given.to<double>());
    return copy;
}

[[nodiscard]] inline result<program> read_pte_method(mapped_file file, const std::string& path,
                                                     std::string_view method) {
    program p;
    const auto opened = pte_file::open(file.bytes());
    auto graph = opened ? read_pte(opened.value(), method) : opened.error();
    BOOST_OUTCOME_TRY(file.check());
    if (!graph) return graph.error().in(path);
    p.graph = std::move(graph).value();
    BOOST_OUTCOME_TRY(check_metadata(*p.graph, path));
    p.file = std::move(file);
    p.user_outputs = p.graph->outputs().size();
    return p;
}

}  // namespace detail

result<program> read_model(const std::string& path, const size_choices& choices) {
    BOOST_OUTCOME_TRY(file, open_mapped(path));
    if (pte_file::is_pte(file.bytes())) return detail::read_pte_method(std::move(file), path, {});
    if (path.ends_with(".hr") || is_graph_text(file.bytes())) {
        BOOST_OUTCOME_TRY(parsed, read_graph_text(path));
        BOOST_OUTCOME_TRY(detail::check_metadata(*parsed.graph, path));
        return std::move(parsed);
    }
    if (!detail::is_tosa(file.bytes())) {
        BOOST_OUTCOME_TRY(exported, read_pt2(std::move(file), path, choices));
        BOOST_OUTCOME_TRY(detail::check_metadata(*exported.graph, path));
        return std::move(exported);
    }
    program p;
    auto graph = read_tosa(file.bytes());
    BOOST_OUTCOME_TRY(file.check());
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

namespace detail {

inline result<void> read_package(const std::string& path, const std::string& name, loaded_model& loaded) {
    BOOST_OUTCOME_TRY(opened, package::open(path));
    loaded.source = std::make_unique<package>(std::move(opened));
    BOOST_OUTCOME_TRY(method, loaded.source->method(name));
    program& p = loaded.model;
    p.graph = std::make_unique<graph>();
    if (method->delegate) {
        BOOST_OUTCOME_TRY(flatbuffer, loaded.source->flatbuffer(*method->delegate));
        BOOST_OUTCOME_TRY(read_tosa(flatbuffer, *p.graph));
        p.user_outputs = p.graph->outputs().size();
        return boost::outcome_v2::success();
    }
    const auto read = [](std::span<const std::byte> bytes, graph& region) {
        return read_tosa(bytes, region);
    };
    BOOST_OUTCOME_TRY(loaded.source->read_host(*method, *p.graph, read));
    BOOST_OUTCOME_TRY(check_metadata(*p.graph, path + "/" + method->host));
    p.user_outputs = method->user_outputs;
    return boost::outcome_v2::success();
}

}  // namespace detail

result<loaded_model> load_model(const std::string& path, const std::string& method,
                                const size_choices& choices) {
    loaded_model loaded;
    if (package::is_package(path)) {
        BOOST_OUTCOME_TRY(detail::read_package(path, method, loaded));
    } else if (!method.empty()) {  // only these have several
        BOOST_OUTCOME_TRY(file, open_mapped(path));
        if (!pte_file::is_pte(file.bytes())) return invalid(path + ": is not a package or a .pte file");
        BOOST_OUTCOME_TRY(model, detail::read_pte_method(std::move(file), path, method));
        loaded.model = std::move(model);
    } else {
        BOOST_OUTCOME_TRY(model, read_model(path, choices));
        loaded.model = std::move(model);
    }
    return loaded;
}

result<std::vector<tensor>> model_inputs(const graph& g, const std::vector<std::string>& files) {
    std::vector<tensor> tensors;
    std::mt19937 engine(0);
    std::size_t k = 0;
    for (const node& n : g.inputs()) {
        if (files.empty()) {
            const std::uint64_t bytes = packed_bytes(*n.results[0].meta);
            if (bytes > max_computed_bytes)
                return unsupported(join_text("input ", printable(n.name()), " has ", bytes,
                                             " bytes; give it as a file, random numbers are for up to ",
                                             max_computed_bytes));
            tensors.push_back(detail::random_tensor(*n.results[0].meta, engine));
        } else if (k < files.size()) {
            BOOST_OUTCOME_TRY(t, detail::read_tensor(files[k], n));
            tensors.push_back(std::move(t));
        }
        ++k;
    }
    if (!files.empty() && files.size() != k) {
        return malformed(join_text("the model has ", k, " inputs, ", files.size(), " were given"));
    }
    return tensors;
}

}  // namespace headrace

#endif
