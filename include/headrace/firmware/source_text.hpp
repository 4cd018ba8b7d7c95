// SPDX-License-Identifier: MIT
// Defines what the parts of a generated header are made of: names, arrays and descriptions as C++.
#ifndef HEADRACE_FIRMWARE_SOURCE_TEXT_HPP
#define HEADRACE_FIRMWARE_SOURCE_TEXT_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/on_device/tensor.hpp>

namespace headrace::firmware {

/// Names that are C++ identifiers and differ from each other.
class identifiers {
public:
    /// A name like `wanted`: what no identifier has becomes `_`, and a number follows where it is taken.
    [[nodiscard]] std::string make(std::string_view wanted);

private:
    std::set<std::string, std::less<>> used_;
};

/// The arrays of a header. Equal ones are one, and large ones are shared by all models of an image: their
/// names follow from their contents.
class constant_arrays {
public:
    constant_arrays() = default;
    /// Arrays of at least that many bytes are shared.
    explicit constant_arrays(std::size_t least_shared_bytes) : least_shared_bytes_(least_shared_bytes) {}

    /// The name of an array with these elements, each of them C++ of the type `type`.
    std::string add(std::string_view wanted, std::string_view type, std::span<const std::string> elements,
        std::size_t bytes);
    std::string add(std::string_view wanted, on_device::element type, std::span<const std::int64_t> numbers);
    /// Floats of a floating type, from bits where text would lose what a NaN holds.
    std::string add_floats(std::string_view wanted, on_device::element type, std::span<const float> numbers);

    [[nodiscard]] const std::string& text() const { return text_; }
    /// Definitions for namespace headrace_constants, outside of the model's.
    [[nodiscard]] const std::string& shared_text() const { return shared_text_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

    /// One array of the header.
    struct array {
        std::string name;
        std::size_t bytes = 0;
        bool is_shared = false;
        std::size_t attribute_at = 0;  ///< where an attribute may stand in the text, or the shared text
    };
    [[nodiscard]] const std::vector<array>& arrays() const { return arrays_; }
    /// Adds an attribute to the definition of each array. It must be called once, after all are added.
    void add_attributes(const std::vector<std::string>& of_arrays);

private:
    // An element is its initializer, or the bits of a float of 16 bits.
    enum class form : std::uint8_t { initializers, bits };
    std::string add_lines(std::string_view wanted, std::string_view type, const std::string& lines,
        std::size_t count, std::size_t bytes, form elements = form::initializers);

    identifiers names_;
    std::map<std::string, std::string, std::less<>> known_;  // from hashes of contents to names
    std::string text_, shared_text_;
    std::vector<array> arrays_;
    std::size_t bytes_ = 0;
    std::size_t least_shared_bytes_ = 256;  // a smaller one is not worth a name of its own
};

[[nodiscard]] std::string_view format_type(on_device::element e);  ///< std::int8_t
[[nodiscard]] std::string format_element(on_device::element e);    ///< hr::element::int8
[[nodiscard]] std::string format_tensor(const on_device::tensor& t);
[[nodiscard]] std::string number_literal(std::int64_t number, on_device::element type);
/// A float as C++ that gives its bits, infinities and NaNs included.
[[nodiscard]] std::string float_literal(float number);

}  // namespace headrace::firmware

#endif
