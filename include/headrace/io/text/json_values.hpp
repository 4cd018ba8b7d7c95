// SPDX-License-Identifier: MIT
// Defines how plain arguments are read from the JSON of a graph.
#ifndef HEADRACE_IO_TEXT_JSON_VALUES_HPP
#define HEADRACE_IO_TEXT_JSON_VALUES_HPP

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <headrace/base/dtype.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/op/fields.hpp>

namespace headrace::detail::graph_json {

using element = simdjson::dom::element;

template <class Enum>
[[nodiscard]] std::optional<Enum> enumerator_of(std::string_view name) {
    constexpr std::size_t max_enumerators = std::is_same_v<Enum, dtype> ? dtype_count : 8;
    for (std::size_t i = 0; i != max_enumerators; ++i) {
        if (name_of(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
    }
    return std::nullopt;
}

/// Reads values of kinds that refer to nothing else; returns false if the text is of another kind.
class plain_reader {
protected:
    static bool read(element text, bool& member) { return text.get(member) == simdjson::SUCCESS; }
    static bool read(element text, std::int64_t& member) { return text.get(member) == simdjson::SUCCESS; }
    static bool read(element text, double& member) {
        std::string_view word;
        if (text.is_double() || text.is_int64() || text.is_uint64())
            return text.get(member) == simdjson::SUCCESS;
        if (text.get(word)) return false;
        constexpr double infinity = std::numeric_limits<double>::infinity();
        if (word != "nan" && word != "inf" && word != "-inf") return false;
        member = word == "nan" ? std::numeric_limits<double>::quiet_NaN()
            : word == "inf"    ? infinity
                               : -infinity;
        return true;
    }
    static bool read(element text, scalar& member) {
        bool truth = false;
        std::int64_t integer = 0;
        double floating = 0;
        if (text.get(truth) == simdjson::SUCCESS) {
            member = scalar(truth);
        } else if (text.is_int64() && text.get(integer) == simdjson::SUCCESS) {
            member = scalar(integer);
        } else if (read(text, floating)) {
            member = scalar(floating);
        } else {
            return false;
        }
        return true;
    }
    static bool read(element text, std::string_view& member) { return text.get(member) == simdjson::SUCCESS; }
    template <class T>
        requires std::is_enum_v<T>
    static bool read(element text, T& member) {
        std::string_view word;
        const auto known = text.get(word) ? std::nullopt : enumerator_of<T>(word);
        if (known) member = *known;
        return known.has_value();
    }
    static bool read(element, tensor_data&) { return false; }
    static bool read_integers(simdjson::simdjson_result<element> text, std::vector<std::int64_t>& items) {
        simdjson::dom::array array;
        if (text.get(array)) return false;
        for (const element e : array) {
            std::int64_t item = 0;
            if (e.get(item)) return false;
            items.push_back(item);
        }
        return true;
    }
    static bool read_strings(simdjson::dom::array items, std::vector<std::string_view>& words) {
        for (const element e : items) {
            std::string_view word;
            if (e.get(word)) return false;
            words.push_back(word);
        }
        return true;
    }

    static bool is_permutation_of(const std::vector<std::int64_t>& order, std::size_t rank) {
        std::vector<bool> seen(rank);
        for (const std::int64_t d : order) {
            if (d < 0 || static_cast<std::size_t>(d) >= rank || seen[static_cast<std::size_t>(d)])
                return false;
            seen[static_cast<std::size_t>(d)] = true;
        }
        return order.size() == rank;
    }
};

}  // namespace headrace::detail::graph_json

#endif
