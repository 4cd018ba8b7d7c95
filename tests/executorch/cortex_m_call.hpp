// SPDX-License-Identifier: MIT
// Defines how the test's kernels of cortex_m take the values of a call, and refuse what ExecuTorch's refuse.
#ifndef HEADRACE_TESTS_EXECUTORCH_CORTEX_M_CALL_HPP
#define HEADRACE_TESTS_EXECUTORCH_CORTEX_M_CALL_HPP

#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cortex_m_scratch.hpp"

namespace cortex_m_kernels {

namespace runtime = executorch::runtime;
using cortex_m_scratch::core_kind;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;

inline void require(bool holds, const std::string& what) {
    if (!holds) throw std::invalid_argument(what);
}

/// The kind of core that the program is for, which the variable HEADRACE_CORE names.
inline core_kind core() {
    const char* const given = std::getenv("HEADRACE_CORE");
    const std::string_view name = given == nullptr ? "" : given;
    require(name == "scalar" || name == "dsp" || name == "mve", "HEADRACE_CORE is not scalar, dsp or mve");
    return name == "scalar" ? core_kind::scalar : name == "dsp" ? core_kind::dsp : core_kind::mve;
}

inline std::vector<std::int64_t> sizes_of(const Tensor& t) { return {t.sizes().begin(), t.sizes().end()}; }
inline bool is_contiguous(const Tensor& t) {
    for (std::size_t i = 0; i != t.dim_order().size(); ++i) {
        if (t.dim_order()[i] != i) return false;
    }
    return true;
}
/// True if a kernel takes a tensor for one whose elements are in the order N, H, W, C.
inline bool is_channels_last(const Tensor& t) {
    if (t.dim() != 4) return false;
    if (t.size(1) == 1 || (t.size(2) == 1 && t.size(3) == 1)) return true;
    constexpr std::array<int, 4> order{0, 2, 3, 1};
    return std::equal(order.begin(), order.end(), t.dim_order().begin());
}
template <class T>
std::span<const T> elements(const Tensor& t) {
    return {static_cast<const T*>(t.const_data_ptr()), static_cast<std::size_t>(t.numel())};
}
template <class T>
std::span<T> mutable_elements(const Tensor& t) {
    return {static_cast<T*>(t.mutable_data_ptr()), static_cast<std::size_t>(t.numel())};
}

/// The values of a call, which are read one after another: the arguments of the schema, then the result.
class call {
public:
    explicit call(runtime::Span<runtime::EValue*> values) : values_(values) {}

    const Tensor& tensor() { return next().toTensor(); }
    const Tensor& int8() { return typed(tensor(), ScalarType::Char); }
    std::optional<std::span<const std::int32_t>> optional_words(std::int64_t count) {
        runtime::EValue& v = next();
        if (v.isNone()) return std::nullopt;
        const auto found = elements<std::int32_t>(typed(v.toTensor(), ScalarType::Int));
        require(std::ssize(found) == count, "an element for each output channel is missing");
        return found;
    }
    std::span<const std::int32_t> words(std::int64_t count) {
        const auto found = optional_words(count);
        require(found.has_value(), "a tensor is missing");
        return *found;
    }
    std::int64_t integer() { return next().toInt(); }
    std::int64_t word() {
        const std::int64_t n = integer();
        require(n >= INT32_MIN && n <= INT32_MAX, "a number is outside int32");
        return n;
    }
    std::int64_t shift() {
        const std::int64_t n = integer();
        require(n >= -31 && n <= 31, "a shift is outside [-31, 31]");
        return n;
    }
    double real() { return next().toDouble(); }
    bool flag() { return next().toBool(); }
    std::vector<std::int64_t> list() {
        const auto items = next().toIntList();
        return {items.begin(), items.end()};
    }
    std::array<std::int64_t, 2> pair() {
        const auto items = list();
        require(items.size() == 2, "a list does not have two elements");
        return {items[0], items[1]};
    }
    /// Takes a buffer, which must have exactly that many bytes, and overwrites it: no other tensor may share it.
    void scratch(const Tensor& t, std::int64_t bytes) const {
        require(t.scalar_type() == ScalarType::Byte && t.dim() == 1, "a buffer is not uint8 of one axis");
        require(t.numel() == bytes,
            "a buffer has " + std::to_string(t.numel()) + " bytes instead of " + std::to_string(bytes));
        const std::span<std::uint8_t> all = mutable_elements<std::uint8_t>(t);
        require(
            bytes == 0 || reinterpret_cast<std::uintptr_t>(all.data()) % 4 == 0, "a buffer is not aligned");
        std::ranges::fill(all, std::uint8_t{0xA5});
    }
    /// Returns the tensor to write, which is given twice.
    const Tensor& out(ScalarType type, const std::vector<std::int64_t>& sizes) {
        const Tensor& t = typed(tensor(), type);
        require(sizes_of(t) == sizes, "the result has other sizes");
        require(next_ + 1 == values_.size() && values_[next_] == values_[next_ - 1],
            "the result is not given twice, or there are other arguments");
        return t;
    }
    const Tensor& out(const std::vector<std::int64_t>& sizes) { return out(ScalarType::Char, sizes); }

    static const Tensor& typed(const Tensor& t, ScalarType type) {
        require(t.scalar_type() == type,
            "a tensor has type " + std::to_string(static_cast<int>(t.scalar_type())) + " instead of " +
                std::to_string(static_cast<int>(type)));
        return t;
    }

private:
    runtime::EValue& next() {
        require(next_ < values_.size(), "arguments are missing");
        return *values_[next_++];
    }

    runtime::Span<runtime::EValue*> values_;
    std::size_t next_ = 0;
};

using kernel_function = void (*)(call& c);

/// A kernel for the runtime's registry, which must not meet exceptions.
template <kernel_function Function>
void boxed(runtime::KernelRuntimeContext& context, runtime::Span<runtime::EValue*> values) {
    try {
        call c(values);
        Function(c);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "a kernel of cortex_m refuses its call: %s\n", e.what());
        context.fail(runtime::Error::InvalidArgument);
    }
}

}  // namespace cortex_m_kernels

#endif
