// SPDX-License-Identifier: MIT
// Defines how Catch2 prints the types that tests compare. It is in the precompiled header, so that all tests
// of an executable print alike.
#ifndef HEADRACE_TESTS_SUPPORT_PRINTERS_HPP
#define HEADRACE_TESTS_SUPPORT_PRINTERS_HPP

#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/op/op_set.hpp>

namespace headrace::testing {

[[nodiscard]] inline std::string printed(const error& e) {
    static constexpr const char* kinds[] = {"unsupported", "malformed", "invalid"};
    return std::string(kinds[static_cast<unsigned>(e.kind)]) + ": " + std::string(e.message);
}

/// Returns "%conv2d (aten.conv2d.default, node 7): float32[1, 4, 3, 3]".
[[nodiscard]] inline std::string printed(const value& v) {
    if (!v) return "no value";
    const node& n = *v.producer;
    return "%" + std::string(n.results[v.result].name) + " (" + std::string(n.op->name) + ", node " +
        std::to_string(n.id) + ", result " + std::to_string(v.result) +
        "): " + std::string(meta_text(meta_of(v)));
}

}  // namespace headrace::testing

namespace Catch {

template <>
struct StringMaker<headrace::dtype> {
    static std::string convert(headrace::dtype type) { return std::string(headrace::name_of(type)); }
};
template <>
struct StringMaker<headrace::int_list> {
    static std::string convert(const headrace::int_list& sizes) {
        return std::string(headrace::shape_text(sizes));
    }
};
template <>
struct StringMaker<headrace::scalar> {
    static std::string convert(const headrace::scalar& number) {
        return std::string(headrace::number_text(number.to_double()));
    }
};
template <>
struct StringMaker<headrace::tensor_meta> {
    static std::string convert(const headrace::tensor_meta& meta) {
        return std::string(headrace::meta_text(meta));
    }
};
template <>
struct StringMaker<headrace::value> {
    static std::string convert(const headrace::value& v) { return headrace::testing::printed(v); }
};
template <>
struct StringMaker<headrace::graph> {
    static std::string convert(const headrace::graph& g) { return '\n' + std::string(headrace::listing(g)); }
};
template <>
struct StringMaker<headrace::error> {
    static std::string convert(const headrace::error& e) { return headrace::testing::printed(e); }
};
template <class T>
struct StringMaker<headrace::result<T>> {
    static std::string convert(const headrace::result<T>& r) {
        if (!r) return headrace::testing::printed(r.error());
        if constexpr (std::is_void_v<T>) {
            return "success";
        } else {
            return Detail::stringify(r.value());
        }
    }
};
template <class... Dialects>
struct StringMaker<headrace::op_set<Dialects...>> {
    static std::string convert(const headrace::op_set<Dialects...>& set) {
        std::string text;
        set.for_each([&](std::string_view name) { (text += text.empty() ? "" : ", ") += name; });
        return "{" + text + "}";
    }
};

}  // namespace Catch

#endif
