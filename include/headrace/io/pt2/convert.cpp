// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/convert.hpp.

#include <headrace/io/pt2/convert.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/pt2/tensor.hpp>
#include <headrace/op/fields.hpp>

namespace headrace::pt2 {

argument::argument(simdjson::dom::element e) {
    simdjson::dom::object object;
    if (e.get(object) || object.size() != 1) fail_malformed("an argument is not an object with one member");
    const auto only = *object.begin();
    tag = only.key;
    content = only.value;
}

double read_float(simdjson::dom::element e) {
    double number = 0;
    if (e.get(number) == simdjson::SUCCESS) return number;
    std::string_view text;
    if (e.get(text) == simdjson::SUCCESS) {
        if (text == "Infinity") return std::numeric_limits<double>::infinity();
        if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
        if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    }
    fail_malformed("'as_float' is not a number");
}

bool argument_converter::convert(const argument& a, value& out) {
    if (a.is("as_optional_tensor")) return convert(argument(a.content), out);
    if (!a.is("as_tensor")) return false;
    out = names_.find(json_get<std::string_view>(a.content, "name"));
    return true;
}

bool argument_converter::convert(const argument& a, list<value>& out) {
    return convert_list<value>(a, "as_tensors", out, [&](simdjson::dom::element e, value& v) {
        v = names_.find(json_get<std::string_view>(e, "name"));
        return true;
    });
}

bool argument_converter::convert(const argument& a, list<std::optional<value>>& out) {
    if (!a.is("as_optional_tensors")) {
        list<value> all;
        if (!convert(a, all)) return false;
        const pmr_vector<std::optional<value>> items(all.begin(), all.end(), scratch_);
        out = keep(items);
        return true;
    }
    return convert_list<std::optional<value>>(
        a, "as_optional_tensors", out, [&](simdjson::dom::element e, std::optional<value>& v) {
            const argument item(e);
            if (item.is("as_none")) return true;
            return convert(item, v.emplace());
        });
}

bool argument_converter::convert(const argument& a, scalar& out) {
    std::int64_t whole = 0;
    bool truth = false;
    if (is_symbolic(a)) return convert(argument(a.content), out);
    if (std::string_view name; a.is("as_name") && a.content.get(name) == simdjson::SUCCESS)
        return static_cast<void>(out = names_.number(name)), true;
    if (a.is("as_int") && a.content.get(whole) == simdjson::SUCCESS)
        return static_cast<void>(out = whole), true;
    if (a.is("as_bool") && a.content.get(truth) == simdjson::SUCCESS)
        return static_cast<void>(out = truth), true;
    if (!a.is("as_float")) return false;
    out = read_float(a.content);
    return true;
}

bool argument_converter::convert(const argument& a, std::int64_t& out) {
    scalar number;
    if (!convert(a, number) || number.is_floating()) return false;
    out = number.to_int();
    return true;
}

bool argument_converter::convert(const argument& a, double& out) {
    scalar number;
    if (!convert(a, number)) return false;
    out = number.to_double();
    return true;
}

bool argument_converter::convert(const argument& a, bool& out) {
    std::int64_t number = 0;
    if (!convert(a, number) || (number != 0 && number != 1)) return false;
    out = number == 1;
    return true;
}

bool argument_converter::convert(const argument& a, int_list& out) {
    if (std::int64_t one = 0; convert(a, one)) {
        const pmr_vector<std::int64_t> items(std::max<std::size_t>(out.size(), 1), one, scratch_);
        out = int_list(std::span<const std::int64_t>(keep(items)));
        return true;
    }
    list<std::int64_t> items;
    const auto item = [&](simdjson::dom::element e, std::int64_t& number) {
        return a.is("as_sym_ints") ? convert(argument(e), number) : e.get(number) == simdjson::SUCCESS;
    };
    if (!convert_list<std::int64_t>(a, a.is("as_sym_ints") ? "as_sym_ints" : "as_ints", items, item))
        return false;
    out = int_list(std::span<const std::int64_t>(items));
    return true;
}

bool argument_converter::convert(const argument& a, list<double>& out) {
    const auto item = [](simdjson::dom::element e, double& number) {
        number = read_float(e);
        return true;
    };
    return convert_list<double>(a, a.is("as_ints") ? "as_ints" : "as_floats", out, item);
}

bool argument_converter::convert(const argument& a, std::string_view& out) {
    std::string_view text;
    if (!a.is("as_string") || a.content.get(text)) return false;
    out = text;
    return keep(out);
}

bool argument_converter::convert(const argument& a, list<std::string_view>& out) {
    return convert_list<std::string_view>(
        a, "as_strings", out, [&](simdjson::dom::element e, std::string_view& text) {
            return e.get(text) == simdjson::SUCCESS && keep(text);
        });
}

bool argument_converter::convert(const argument& a, dtype& out) {
    std::int64_t number = 0;
    if (!a.is("as_scalar_type") || a.content.get(number)) return false;
    out = read_dtype(number);
    return true;
}

bool argument_converter::convert(const argument& a, memory_format& out) {
    std::int64_t number = 0;
    if (!a.is("as_memory_format") || a.content.get(number)) return false;
    if (number < 0 || number > static_cast<std::int64_t>(memory_format::preserve)) return false;
    out = static_cast<memory_format>(number);
    return true;
}

value argument_converter::tensor_of_number(const argument& a) const {
    std::string_view name;
    if (!is_symbolic(a) || a.content["as_name"].get(name)) return {};
    return names_.tensor_of_number(name);
}

bool argument_converter::keep(std::string_view& text) {
    char* copy = static_cast<char*>(scratch_->allocate(text.size() + 1, 1));
    std::memcpy(copy, text.data(), text.size());
    text = {copy, text.size()};
    return true;
}

}  // namespace headrace::pt2
