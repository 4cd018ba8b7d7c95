// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/tosa/backend.hpp.

#include <headrace/io/tosa/backend.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/io/tosa/delegate.hpp>
#include <headrace/io/tosa/emitter.hpp>
#include <headrace/partition/backend.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

result<preprocess_result> tosa_backend::preprocess(
    graph& program, std::span<const compile_spec> specs) const {
    named_data_store store;
    HEADRACE_TRY(made, preprocess_into(program, specs, store));
    made.data = store.output();
    return std::move(made);
}

result<method_results> tosa_backend::preprocess_multimethod(
    const method_programs& programs, const method_compile_specs& specs) const {
    named_data_store store;
    HEADRACE_TRY(
        results, preprocess_each(programs, specs, [&](graph& program, std::span<const compile_spec> given) {
            return preprocess_into(program, given, store);
        }));
    for (auto& [method, made] : results) {
        if (!made.empty()) made.front().data = store.output();
    }
    return std::move(results);
}

result<preprocess_result> tosa_backend::preprocess_into(
    graph& program, std::span<const compile_spec> specs, named_data_store& store) const {
    pass_context context(functions_);
    HEADRACE_TRY(lower_(program, context));
    if (!context.diagnostics().empty()) {
        const diagnostic& d = context.diagnostics()[0];
        return error{d.kind, diagnostic_text(d)};
    }
    HEADRACE_TRY(emitted, emit_tosa(program));
    HEADRACE_TRY(split, split_tosa(emitted.bytes()));
    const auto tag =
        std::find_if(specs.begin(), specs.end(), [](const auto& s) { return s.key == "external_tag"; });
    preprocess_result made{std::move(split.delegate), {}, {}};
    for (const auto& constant : split.constants) {
        made.data_keys.push_back(key_of(constant));
        HEADRACE_TRY(store.add_named_data(made.data_keys.back(), constant, alignment_of(constant.size()),
            tag == specs.end() ? std::string_view() : tag->value));
    }
    return made;
}

std::string tosa_backend::key_of(std::span<const std::byte> bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string key = "tosa." + std::to_string(bytes.size()) + ".";
    const std::uint64_t hash = hash_of_bytes(bytes);
    for (int shift = 60; shift >= 0; shift -= 4) key += digits[hash >> shift & 15U];
    return key;
}

std::size_t tosa_backend::alignment_of(std::size_t size) {
    constexpr std::size_t max_alignment = 16;
    std::size_t alignment = 1;
    while (alignment != max_alignment && size % (2 * alignment) == 0) alignment *= 2;
    return alignment;
}

}  // namespace headrace
