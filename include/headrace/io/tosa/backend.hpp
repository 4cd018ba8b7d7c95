// SPDX-License-Identifier: MIT
// Defines headrace::tosa_backend, which lowers programs to TOSA flatbuffers whose constants are shared.
#ifndef HEADRACE_IO_TOSA_BACKEND_HPP
#define HEADRACE_IO_TOSA_BACKEND_HPP

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/result.hpp>
#include <headrace/partition/backend.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

/// The backend "tosa". Each program becomes a delegate (io/tosa/delegate.hpp); constants are named data,
/// stored once if equal, for all methods. With the compile spec "external_tag" they are data of that tag.
class tosa_backend {
public:
    /// Lowers a graph to TOSA; refusals are in the context.
    using lower_function = std::function<result<void>(graph& program, pass_context& context)>;

    explicit tosa_backend(lower_function lower, node_functions functions = {})
        : lower_(std::move(lower)), functions_(functions) {}

    [[nodiscard]] static constexpr std::string_view name() { return "tosa"; }

    [[nodiscard]] result<preprocess_result> preprocess(
        graph& program, std::span<const compile_spec> specs) const;

    /// Uses one store for all methods: the first delegate of each method carries it.
    [[nodiscard]] result<method_results> preprocess_multimethod(
        const method_programs& programs, const method_compile_specs& specs) const;

private:
    [[nodiscard]] result<preprocess_result> preprocess_into(
        graph& program, std::span<const compile_spec> specs, named_data_store& store) const;

    // Names a constant by its content, so that it has the same name in every program.
    static std::string key_of(std::span<const std::byte> bytes);
    // The alignment divides the size, so that a file with the strictest alignments first has no gaps. It is
    // at least the alignment of the elements.
    static std::size_t alignment_of(std::size_t size);

    lower_function lower_;
    node_functions functions_;
};

}  // namespace headrace

#endif
