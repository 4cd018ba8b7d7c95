// SPDX-License-Identifier: MIT
// Writes names, arrays and descriptions as C++.
#include <headrace/firmware/source_text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include <headrace/io/file/c_text.hpp>

namespace headrace::firmware {

namespace {

constexpr std::size_t columns = 110;

// A number of 128 bits for an array's type and elements: equal arrays have one, and no other by chance.
std::string content_hash(std::string_view type, std::string_view elements) {
    const XXH128_hash_t hash =
        XXH3_128bits_withSeed(elements.data(), elements.size(), XXH3_64bits(type.data(), type.size()));
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// Elements in lines.
class wrapped_lines {
public:
    void add(std::string_view element) {
        if (column_ + element.size() + 2 > columns) {
            text_ += "\n   ";
            column_ = 3;
        }
        text_ += ' ';
        text_ += element;
        text_ += ',';
        column_ += element.size() + 2;
    }
    std::string end() && { return std::move(text_ += '\n'); }

private:
    std::string text_ = "   ";
    std::size_t column_ = 3;
};

std::uint16_t bits_as(on_device::element type, float number) {
    return type == on_device::element::float16 ? on_device::half_float(number).bits()
                                               : on_device::brain_float(number).bits();
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

std::string constant_arrays::add_lines(std::string_view wanted, std::string_view type,
    const std::string& lines, std::size_t count, std::size_t bytes, form elements) {
    const std::string hash = content_hash(type, lines);
    const auto [known, is_new] = known_.try_emplace(hash);
    if (!is_new) return known->second;
    known->second = names_.make(wanted);
    bytes_ += bytes;
    const bool is_shared = bytes >= least_shared_bytes_;
    const std::string name = is_shared ? "constant_" + hash : known->second;
    std::string& text = is_shared ? shared_text_ : text_;
    if (is_shared) text += fmt::format("#ifndef HEADRACE_{0}\n#define HEADRACE_{0}\n", name);
    constexpr std::string_view opening = "alignas(16) ";
    arrays_.push_back({known->second, bytes, is_shared, text.size() + opening.size()});
    const bool is_from_bits = elements == form::bits;
    text += is_from_bits ? fmt::format(
                               "alignas(16) inline constexpr auto {} = "
                               "hr::constants_of<{}>(hr::constant_bits<{}>{{{{\n",
                               name, type, count)
                         : fmt::format("alignas(16) inline constexpr {} {}[{}] = {{\n", type, name, count);
    text += lines;
    text += is_from_bits ? "}});\n" : "};\n";
    if (is_shared) {
        text += "#endif\n";
        text_ += fmt::format("inline constexpr auto& {} = headrace_constants::{};\n", known->second, name);
    }
    return known->second;
}

void constant_arrays::add_attributes(const std::vector<std::string>& of_arrays) {
    for (std::size_t i = arrays_.size(); i-- != 0;) {  // from the end, so that earlier positions stay
        const array& a = arrays_[i];
        (a.is_shared ? shared_text_ : text_).insert(a.attribute_at, of_arrays[i] + ' ');
    }
}

std::string constant_arrays::add(std::string_view wanted, std::string_view type,
    std::span<const std::string> elements, std::size_t bytes) {
    wrapped_lines lines;
    for (const std::string& e : elements) lines.add(e);
    return add_lines(wanted, type, std::move(lines).end(), elements.size(), bytes);
}

std::string constant_arrays::add(
    std::string_view wanted, on_device::element type, std::span<const std::int64_t> numbers) {
    wrapped_lines lines;
    for (const std::int64_t n : numbers) {
        const fmt::format_int number(n);
        if (type == on_device::element::boolean || n == INT32_MIN)
            lines.add(number_literal(n, type));
        else
            lines.add({number.data(), number.size()});
    }
    return add_lines(wanted, format_type(type), std::move(lines).end(), numbers.size(),
        numbers.size() * static_cast<std::size_t>(bytes_of(type)));
}

std::string constant_arrays::add_floats(
    std::string_view wanted, on_device::element type, std::span<const float> numbers) {
    wrapped_lines lines;
    const bool is_small = type != on_device::element::float32;
    for (const float n : numbers)
        lines.add(is_small ? fmt::format("{}", bits_as(type, n)) : float_literal(n));
    return add_lines(wanted, format_type(type), std::move(lines).end(), numbers.size(),
        numbers.size() * static_cast<std::size_t>(bytes_of(type)),
        is_small ? form::bits : form::initializers);
}

std::string_view format_type(on_device::element e) {
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
        case float16:
            return "hr::half_float";
        case bfloat16:
            return "hr::brain_float";
    }
    return "void";
}

std::string format_element(on_device::element e) {
    static constexpr std::string_view names[] = {
        "boolean", "int8", "uint8", "int16", "uint16", "int32", "int48", "float32", "float16", "bfloat16"};
    return fmt::format("hr::element::{}", names[static_cast<std::size_t>(e)]);
}

std::string format_tensor(const on_device::tensor& t) {
    const std::span sizes(t.size, static_cast<std::size_t>(t.rank));
    const std::span strides(t.stride, static_cast<std::size_t>(t.rank));
    if (t == row_major(t) && t.rank != 0)
        return fmt::format("hr::dense({}, {})", format_element(t.type), fmt::join(sizes, ", "));
    std::string text = fmt::format("hr::tensor{{.type = {}, .rank = {}", format_element(t.type), t.rank);
    if (t.rank != 0)
        text += fmt::format(
            ", .size = {{{}}}, .stride = {{{}}}", fmt::join(sizes, ", "), fmt::join(strides, ", "));
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
