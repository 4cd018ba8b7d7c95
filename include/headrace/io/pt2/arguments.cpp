// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/arguments.hpp.

#include <headrace/io/pt2/arguments.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/pt2/convert.hpp>
#include <headrace/io/pt2/scope.hpp>
#include <headrace/io/pt2/target.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/op/op.hpp>

namespace headrace::pt2 {

namespace {

/// Returns the bits of a float16. Rounds to nearest, ties to even.
[[nodiscard]] constexpr std::uint16_t half_bits(float number) {
    constexpr std::uint32_t too_large = 0x47800000U;  // 65536
    constexpr std::uint32_t infinity = 0x7f800000U;
    constexpr std::uint32_t smallest_normal = 0x38800000U;  // 2^-14
    const auto bits = std::bit_cast<std::uint32_t>(number);
    const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
    std::uint32_t x = bits & 0x7fffffffU;
    if (x >= too_large) return static_cast<std::uint16_t>(sign | (x > infinity ? 0x7e00U : 0x7c00U));
    if (x < smallest_normal) {
        // Adding 1/2 lets the floating-point unit shift and round: float16's subnormals end up in the low
        // bits.
        x = std::bit_cast<std::uint32_t>(std::bit_cast<float>(x) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
        return static_cast<std::uint16_t>(sign | x);
    }
    constexpr std::uint32_t rebias = 0U - (112U << 23U);
    x += rebias + 0xfffU + ((x >> 13U) & 1U);
    return static_cast<std::uint16_t>(sign | (x >> 13U));
}

[[nodiscard]] constexpr std::uint16_t bfloat16_bits(float number) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    if (number != number) return 0x7fc0U;
    return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}

template <class T>
void store(std::span<std::byte> to, T number) {
    std::memcpy(to.data(), &number, sizeof number);
}

/// Writes a number as one element of that type.
void store_number(std::span<std::byte> to, dtype type, const scalar& number) {
    const std::int64_t whole = number.to_int();
    const auto real = static_cast<float>(number.to_double());
    switch (type) {
        case dtype::boolean:
            return store(to, static_cast<std::uint8_t>(number.to_double() != 0));
        case dtype::int8:
        case dtype::uint8:
            return store(to, static_cast<std::uint8_t>(whole));
        case dtype::int16:
        case dtype::uint16:
            return store(to, static_cast<std::uint16_t>(whole));
        case dtype::int32:
        case dtype::uint32:
            return store(to, static_cast<std::uint32_t>(whole));
        case dtype::int64:
        case dtype::uint64:
            return store(to, whole);
        case dtype::float16:
            return store(to, half_bits(real));
        case dtype::bfloat16:
            return store(to, bfloat16_bits(real));
        case dtype::float32:
            return store(to, real);
        case dtype::float64:
            return store(to, number.to_double());
        default:
            fail_unsupported(
                "a Python number cannot be combined with a tensor of " + std::string(name_of(type)));
    }
}

/// Returns the type that PyTorch's promotion gives a Python number next to a tensor of type `beside`.
[[nodiscard]] dtype type_beside(const scalar& number, dtype beside) {
    const bool integral = number.kind() == scalar::kind_type::integral;
    const dtype own = number.is_floating() ? dtype::float32 : integral ? dtype::int64 : dtype::boolean;
    if (is_complex(beside)) return magnitude_of(beside);  // real numbers cost less, and promote likewise
    return traits_of(own).category <= traits_of(beside).category ? beside : own;
}

/// Makes a constant of a Python number: `x + 2` is add.Tensor(x, 2) in an exported graph. The 2 becomes a
/// constant without dimensions, of a type that does not change the result's type.
[[nodiscard]] value number_constant(graph& g, const scalar& number, dtype beside) {
    const dtype type = type_beside(number, beside);
    return create_constant(g, tensor_meta{type, {}, {}}, nullptr,
        [&](std::span<std::byte> data) { store_number(data, type, number); });
}

/// Makes a constant of a Python number with an imaginary part.
[[nodiscard]] value complex_constant(graph& g, simdjson::dom::element parts) {
    return create_constant(g, tensor_meta{dtype::complex64, {}, {}}, nullptr, [&](std::span<std::byte> data) {
        store(data, static_cast<float>(json_get<double>(parts, "real")));
        store(data.subspan(sizeof(float)), static_cast<float>(json_get<double>(parts, "imag")));
    });
}

}  // namespace

bool is_graph(std::string_view text) {
    constexpr std::string_view graph = "as_graph";
    if (text.find(graph) == std::string_view::npos) return false;
    bool found = false;
    json_cursor at(text);
    at.members([&](std::string_view key) {
        found = found || key == graph;
        at.skip();
    });
    return found;
}

argument_reader::argument_reader(
    scope& names, json_parser& json, std::pmr::memory_resource* scratch, region_reader read_region)
    : argument_converter(names, scratch),
      json_(json),
      read_region_(std::move(read_region)),
      given_(scratch),
      numbers_(scratch),
      elements_(scratch),
      appended_(scratch) {}

const void* argument_reader::read(const op_info& op, std::string_view inputs) {
    void* arguments = scratch_->allocate(op.args_size + 1, op.args_alignment);
    std::memcpy(arguments, op.default_args, op.args_size);
    op_ = &op;
    arguments_ = static_cast<std::byte*>(arguments);
    for_each_input(inputs, [&](std::string_view name, std::string_view text) {
        try {
            read_one(name, text);
        } catch (failure& f) {
            if (!name.empty()) f.what = f.what.in("argument " + in_quotes(name));
            throw;
        }
    });
    place_appended();
    place_numbers();
    for (const field_info& f : op) require(f);
    return arguments;
}

const field_info& argument_reader::field_for(std::string_view name) {
    if (!name.empty()) {
        const field_info* found = op_->find(argument_name(*op_, name));
        if (found == nullptr) fail_malformed("the op has no such argument");
        return *found;
    }
    const bool to_last = !given_.empty() && given_.size() == op_->field_count;
    if (given_.size() >= op_->field_count &&
        !(to_last && op_->fields[op_->field_count - 1].kind == field_kind::tensors)) {
        fail_malformed("it has more arguments than the op");
    }
    return op_->fields[to_last ? op_->field_count - 1 : given_.size()];
}

void argument_reader::read_one(std::string_view name, std::string_view text) {
    if (is_ignored(name) && op_->find(name) == nullptr) return;
    const field_info& field = field_for(name);
    const bool again = std::find(given_.begin(), given_.end(), &field) != given_.end();
    if (field.kind == field_kind::region) {
        if (again) fail_malformed("it is given twice");
        given_.push_back(&field);
        at<graph*>(field) = read_region_(text);
        return;
    }
    if (is_graph(text)) fail_malformed("the op takes no graph here");
    const argument a(json_.parse(text));
    if (field.kind == field_kind::tensors && name.empty() && a.is("as_tensor")) return append(field, a);
    if (again) fail_malformed("it is given twice");
    given_.push_back(&field);
    assign(field, a);
}

void argument_reader::append(const field_info& field, const argument& a) {
    if (appended_to_ != &field) {
        place_appended();
        appended_to_ = &field;
        const auto& items = at<list<value>>(field);
        appended_.assign(items.begin(), items.end());
        if (given_.empty() || given_.back() != &field) given_.push_back(&field);
    }
    appended_.push_back(names_.find(json_get<std::string_view>(a.content, "name")));
}

void argument_reader::assign(const field_info& field, const argument& a) {
    switch (field.kind) {
        case field_kind::tensor:
            return put<value>(field, a);
        case field_kind::tensors:
            return put<list<value>>(field, a);
        case field_kind::optional_tensors:
            return put<list<std::optional<value>>>(field, a);
        case field_kind::integer:
            return put<std::int64_t>(field, a);
        case field_kind::integers:
            return put<int_list>(field, a);
        case field_kind::floating:
            return put<double>(field, a);
        case field_kind::floatings:
            return put<list<double>>(field, a);
        case field_kind::boolean:
            return put<bool>(field, a);
        case field_kind::number:
            return put<scalar>(field, a);
        case field_kind::text:
            return put<std::string_view>(field, a);
        case field_kind::element_type:
            return put<dtype>(field, a);
        case field_kind::format:
            return put<memory_format>(field, a);
        case field_kind::texts:
            return put<list<std::string_view>>(field, a);
        case field_kind::custom:
            return put_custom(field, a);
        default:
            fail_malformed("a .pt2 has no argument of that kind");
    }
}

void argument_reader::put_custom(const field_info& field, const argument& a) {
    std::string_view text;
    std::int64_t number = 0;
    if (!convert(a, text) && !convert(a, number)) fail_malformed("it cannot be " + in_quotes(a.tag));
    const std::string given = text.data() != nullptr ? std::string(text) : std::to_string(number);
    if (!field.custom->parse(given, arguments_ + field.offset))
        fail_malformed("it cannot be " + in_quotes(given));
}

void argument_reader::place_numbers() {
    if (numbers_.empty() && elements_.empty()) return;
    dtype beside = dtype::unknown;
    for (const field_info& f : *op_) {
        if (f.kind != field_kind::tensor) continue;
        const value v = f.optional ? at<std::optional<value>>(f).value_or(value{}) : at<value>(f);
        if (beside == dtype::unknown && v && meta_of(v) != nullptr) beside = meta_of(v)->dtype;
    }
    const auto place = [&](const field_info& field, value made) {
        if (field.optional) {
            at<std::optional<value>>(field) = made;
        } else {
            at<value>(field) = made;
        }
    };
    for (const auto& [field, number] : numbers_)
        place(*field, number_constant(names_.owner(), number, beside));
    for (const auto& [field, element] : elements_) place(*field, as_number(element, beside));
}

value argument_reader::as_number(value element, dtype beside) {
    const dtype own = meta_of(element)->dtype;
    if (is_complex(own)) return element;  // it promotes, whatever stands beside it
    const scalar kind = is_floating(own) ? scalar(0.0)
        : own == dtype::boolean          ? scalar(false)
                                         : scalar(std::int64_t{0});
    const dtype wanted = type_beside(kind, beside == dtype::unknown ? own : beside);
    if (wanted == own) return element;
    graph& g = names_.owner();
    const value cast = g.create<aten::_to_copy>({.self = element, .dtype = wanted}).result();
    g.set_meta(cast, {wanted, {}, {}});
    return cast;
}

void argument_reader::require(const field_info& field) {
    const bool is_list = field.kind == field_kind::tensors || field.kind == field_kind::optional_tensors;
    const bool missing = (field.kind == field_kind::tensor && !field.optional && !at<value>(field)) ||
        (field.kind == field_kind::region && at<graph*>(field) == nullptr) ||
        (is_list && std::find(given_.begin(), given_.end(), &field) == given_.end() &&
            field.name != "operands");
    if (missing) fail_malformed("argument " + in_quotes(field.name) + " is missing");
}

template <class T>
void argument_reader::put(const field_info& field, const argument& a) {
    const bool none = a.is("as_none") || (a.is("as_optional_tensor") && argument(a.content).is("as_none"));
    if (none && field.optional) {
        at<std::optional<T>>(field).reset();
    } else if (none && field.kind == field_kind::integers) {
        // Schemas with `int[2]? x=None`: the struct has an empty list for None.
    } else if (const value element = tensor_of_number(a); field.kind == field_kind::tensor && element) {
        elements_.emplace_back(&field, element);
    } else if (a.is("as_complex")) {
        if (field.kind != field_kind::tensor)
            fail_unsupported(
                "it is a complex number, where only tensors are lowered; give it as torch.tensor(1j)");
        elements_.emplace_back(&field, complex_constant(names_.owner(), a.content));
    } else if (scalar number; field.kind == field_kind::tensor && convert(a, number)) {
        numbers_.emplace_back(&field, number);
    } else if (T converted = initial<T>(field); convert(a, converted)) {
        if (field.optional) {
            at<std::optional<T>>(field) = converted;
        } else {
            at<T>(field) = converted;
        }
    } else {
        fail_malformed("it cannot be " + in_quotes(a.tag));
    }
}

}  // namespace headrace::pt2
