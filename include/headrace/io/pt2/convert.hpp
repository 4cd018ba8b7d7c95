// SPDX-License-Identifier: MIT
// Defines headrace::pt2::argument, an argument of a node, and its conversion to the members of an op's
// struct.
#ifndef HEADRACE_IO_PT2_CONVERT_HPP
#define HEADRACE_IO_PT2_CONVERT_HPP

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string_view>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/io/pt2/scope.hpp>
#include <headrace/op/fields.hpp>

namespace headrace::pt2 {

/// An Argument of the schema, which is an object with one member.
struct argument {
    std::string_view tag;
    simdjson::dom::element content;

    explicit argument(simdjson::dom::element e);
    [[nodiscard]] bool is(std::string_view t) const { return tag == t; }
};

/// True if the argument is a number that the program computes from sizes.
[[nodiscard]] inline bool is_symbolic(const argument& a) {
    return a.is("as_sym_int") || a.is("as_sym_float") || a.is("as_sym_bool");
}

[[nodiscard]] double read_float(simdjson::dom::element e);

/// Converts arguments to the requested type: each overload returns false for an argument of another kind.
/// Lists are stored in `scratch`.
class argument_converter {
public:
    argument_converter(scope& names, std::pmr::memory_resource* scratch) : names_(names), scratch_(scratch) {}

    bool convert(const argument& a, value& out);
    bool convert(const argument& a, list<value>& out);
    bool convert(const argument& a, list<std::optional<value>>& out);
    bool convert(const argument& a, scalar& out);
    bool convert(const argument& a, std::int64_t& out);
    bool convert(const argument& a, double& out);
    bool convert(const argument& a, bool& out);
    // `out` comes with the schema's default: a single number stands for a list of that length.
    bool convert(const argument& a, int_list& out);
    bool convert(const argument& a, list<double>& out);
    bool convert(const argument& a, std::string_view& out);
    bool convert(const argument& a, list<std::string_view>& out);
    bool convert(const argument& a, dtype& out);
    bool convert(const argument& a, memory_format& out);

    /// Returns the tensor whose only element that number is; null for other arguments.
    [[nodiscard]] value tensor_of_number(const argument& a) const;

    bool keep(std::string_view& text);

    // An empty list may be typed as a list of anything.
    template <class T, class Item>
    bool convert_list(const argument& a, std::string_view tag, list<T>& out, Item&& item) {
        simdjson::dom::array array;
        if (a.content.get(array) || (!a.is(tag) && array.size() != 0)) return false;
        pmr_vector<T> items(scratch_);
        for (const simdjson::dom::element e : array) {
            if (!item(e, items.emplace_back())) return false;
        }
        out = keep(items);
        return true;
    }

    template <class T>
    list<T> keep(const pmr_vector<T>& items) {
        T* copy = static_cast<T*>(scratch_->allocate(items.size() * sizeof(T) + 1, alignof(T)));
        std::uninitialized_copy(items.begin(), items.end(), copy);
        return {copy, items.size()};
    }

protected:
    scope& names_;
    std::pmr::memory_resource* scratch_;
};

}  // namespace headrace::pt2

#endif
