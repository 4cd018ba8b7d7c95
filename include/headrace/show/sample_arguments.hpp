// SPDX-License-Identifier: MIT
// Defines arguments of any op as data: headrace::samples::small_arguments draws arguments that inference
// rules often accept, and headrace::samples::argument_struct converts them for graph::create.
#ifndef HEADRACE_SHOW_SAMPLE_ARGUMENTS_HPP
#define HEADRACE_SHOW_SAMPLE_ARGUMENTS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/op/op.hpp>

namespace headrace::samples {

using integers = std::vector<std::int64_t>;

/// An operand to be made; `data` says what its elements are.
struct operand {
    enum class content : unsigned char { zeros, small, extreme };
    dtype type = dtype::float32;
    integers shape{};
    content data = content::small;
};

/// One argument. The type of its field determines which members are used.
struct argument {
    bool absent = false;
    std::vector<std::optional<operand>> tensors{};
    integers ints{};
    std::vector<double> reals{};
    scalar number = 1;
    std::string text{};
    dtype type = dtype::float32;
};

using arguments = std::vector<argument>;

/// The argument struct of an op. It refers to the arguments, which must outlive it.
class argument_struct {
public:
    /// `add` returns the value of each operand.
    argument_struct(const op_info& op, const arguments& all, std::function<value(const operand&)> add);
    [[nodiscard]] const void* data() const { return bytes_.data(); }

private:
    template <class T>
    static void store(std::byte* at, const field_info& field, const T& given, bool absent) {
        if (field.optional) {
            *reinterpret_cast<std::optional<T>*>(at) = absent ? std::optional<T>() : std::optional<T>(given);
        } else {
            std::memcpy(at, &given, sizeof(T));
        }
    }
    void put(std::byte* at, std::size_t i, const argument& a);

    const op_info* op_;
    std::function<value(const operand&)> add_;
    std::vector<std::max_align_t> bytes_;
    std::vector<std::vector<value>> values_;
    std::vector<std::vector<std::optional<value>>> optional_values_;
};

using shape_lists = std::vector<std::vector<integers>>;

/// Returns the fitting shapes of an op, or null: they are then drawn.
[[nodiscard]] const shape_lists* shapes_of(const op_info& op);

/// Draws arguments that rules often accept: small shapes that are related to each other.
class small_arguments {
public:
    explicit small_arguments(std::mt19937& random) : random_(random) {}

    arguments draw(const op_info& op);
    /// Draws arguments with that dtype and shape for most operands.
    arguments draw(const op_info& op, dtype type, const integers& base);

private:
    static bool holds_indices(const field_info& field) {
        return field.name == "index" || field.name == "indices" || field.name == "offsets";
    }
    static dtype type_of(const field_info& field, dtype type) {
        if (holds_indices(field)) return dtype::int64;
        return is_floating(type) || is_complex(type) ? type : dtype::float32;
    }

    template <class T>
    T pick(std::initializer_list<T> from) {
        return *(from.begin() + random_() % from.size());
    }
    std::size_t up_to(std::size_t max) { return random_() % (max + 1); }

    integers shape();
    operand tensor() {
        return {up_to(5) == 0 ? pick({dtype::int64, dtype::boolean, dtype::float32}) : type_, shape()};
    }
    argument draw(const field_info& field);

    std::mt19937& random_;
    integers base_;
    dtype type_ = dtype::float32;
};

}  // namespace headrace::samples

#endif
