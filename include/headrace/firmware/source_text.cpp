// SPDX-License-Identifier: MIT
#include <headrace/firmware/source_text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include <headrace/io/c_text.hpp>

namespace headrace::firmware {

namespace {

constexpr std::size_t columns = 110;

// A name that only arrays with these contents have.
std::string shared_name(const std::string& contents) {
    boost::uuids::name_generator_sha1 name_of(boost::uuids::ns::oid());
    std::string name = "constant_" + boost::uuids::to_string(name_of(contents));
    std::erase(name, '-');
    return name;
}

// Elements in lines.
std::string wrapped(std::span<const std::string> elements) {
    std::string text, line = "   ";
    for (const std::string& e : elements) {
        if (line.size() + e.size() + 2 > columns) {
            text += line + '\n';
            line = "   ";
        }
        line += ' ' + e + ',';
    }
    return text + line + '\n';
}

}  // namespace

std::string identifiers::make(std::string_view wanted) {
    std::string name;
    for (const char c : wanted) {
        const char kept = is_c_letter(c) || is_c_digit(c) ? c : '_';
        if (kept != '_' || name.empty() || name.back() != '_') name += kept;
    }
    while (!name.empty() && name.back() == '_') name.pop_back();
    if (name.empty() || is_c_digit(name.front()) || name.front() == '_') name = "t" + name;
    if (!is_c_identifier(name)) name += "_of_model";
    std::string unique = name;
    for (int i = 2; !used_.insert(unique).second; ++i) unique = fmt::format("{}_{}", name, i);
    return unique;
}

std::string constant_arrays::add(std::string_view wanted, std::string_view type,
                                 std::span<const std::string> elements, std::size_t bytes) {
    std::string contents = fmt::format("inline constexpr {} @[{}] = {{\n", type, elements.size());
    contents += wrapped(elements) + "};\n";
    const auto [known, is_new] = known_.try_emplace(std::move(contents));
    if (is_new) {
        known->second = names_.make(wanted);
        std::string definition = known->first;
        const std::string shared = bytes < least_shared_bytes_ ? std::string() : shared_name(definition);
        const std::string_view name = shared.empty() ? known->second : shared;
        definition.replace(definition.find('@'), 1, name);
        definition.insert(0, "alignas(16) ");
        if (shared.empty()) {
            text_ += definition;
        } else {
            shared_text_ +=
                fmt::format("#ifndef HEADRACE_{0}\n#define HEADRACE_{0}\n{1}#endif\n", shared, definition);
            text_ +=
                fmt::format("inline constexpr auto& {} = headrace_constants::{};\n", known->second, shared);
        }
        bytes_ += bytes;
    }
    return known->second;
}

std::string constant_arrays::add(std::string_view wanted, on_device::element type,
                                 std::span<const std::int64_t> numbers) {
    std::vector<std::string> elements;
    elements.reserve(numbers.size());
    for (const std::int64_t n : numbers) elements.push_back(number_literal(n, type));
    return add(wanted, type_text(type), elements, numbers.size() * static_cast<std::size_t>(bytes_of(type)));
}

std::string constant_arrays::add_floats(std::string_view wanted, std::span<const float> numbers) {
    std::vector<std::string> elements;
    elements.reserve(numbers.size());
    for (const float n : numbers) elements.push_back(float_literal(n));
    return add(wanted, "float", elements, numbers.size() * sizeof(float));
}

std::string_view type_text(on_device::element e) {
    using enum on_device::element;
    switch (e) {
        case boolean:
            return "bool";
        case int8:
            return "std::int8_t";
        case uint8:
            return "std::uint8_t";
        case int16:
            return "std::int16_t";
        case uint16:
            return "std::uint16_t";
        case int32:
            return "std::int32_t";
        case int48:
            return "std::int64_t";
        case float32:
            return "float";
    }
    return "void";
}

std::string element_text(on_device::element e) {
    static constexpr std::string_view names[] = {"boolean", "int8",  "uint8", "int16",
                                                 "uint16",  "int32", "int48", "float32"};
    return fmt::format("hr::element::{}", names[static_cast<std::size_t>(e)]);
}

std::string tensor_text(const on_device::tensor& t) {
    const std::span sizes(t.size, static_cast<std::size_t>(t.rank));
    const std::span strides(t.stride, static_cast<std::size_t>(t.rank));
    if (t == row_major(t) && t.rank != 0)
        return fmt::format("hr::dense({}, {})", element_text(t.type), fmt::join(sizes, ", "));
    std::string text = fmt::format("hr::tensor{{.type = {}, .rank = {}", element_text(t.type), t.rank);
    if (t.rank != 0)
        text += fmt::format(", .size = {{{}}}, .stride = {{{}}}", fmt::join(sizes, ", "),
                            fmt::join(strides, ", "));
    if (t.offset != 0) text += fmt::format(", .offset = {}", t.offset);
    if (t.span != 1) text += fmt::format(", .span = {}", t.span);
    if (t.has_margin) text += fmt::format(", .has_margin = true, .margin = {}", t.margin);
    return text + '}';
}

std::string number_literal(std::int64_t number, on_device::element type) {
    if (type == on_device::element::boolean) return number != 0 ? "true" : "false";
    if (number == INT32_MIN) return "-2147483647 - 1";
    return fmt::format("{}", number);
}

std::string float_literal(float number) {
    if (std::isfinite(number)) {
        std::string text = fmt::format("{}", number);  // the shortest that gives the number again
        if (text.find_first_of(".e") == std::string::npos) text += '.';
        return text + 'F';
    }
    return fmt::format("hr::float_of_bits(0x{:08x}U)", std::bit_cast<std::uint32_t>(number));
}

}  // namespace headrace::firmware
