// SPDX-License-Identifier: MIT
// Defines headrace::detail::pte::opaque_arguments, which keeps the arguments of an unknown kernel.
#ifndef HEADRACE_IO_PTE_OPAQUE_HPP
#define HEADRACE_IO_PTE_OPAQUE_HPP

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/result.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/io/pte/arguments.hpp>
#include <headrace/io/pte/method_source.hpp>
#include <headrace/io/text/opaque_text.hpp>

namespace headrace::detail::pte {

/// Reads the arguments of one call, whatever they are; arguments of kernels have no names. A number that
/// another call computes becomes the word `computed`.
class opaque_arguments {
public:
    using tensor_function = argument_reader::tensor_function;

    /// `results` are the values that the call writes, which are not arguments.
    opaque_arguments(method_source& method, std::span<const std::int64_t> results, tensor_function tensor)
        : method_(method), results_(results), tensor_(std::move(tensor)) {}

    /// The result views this object and the name.
    template <class Indices>
    [[nodiscard]] result<args<builtin::opaque>> read(std::string_view name, const Indices& indices) {
        for (const std::int32_t index : indices) {
            if (is_result(index)) continue;
            HEADRACE_TRY(v, method_.values().at(index));
            if (is_list_of_results(*v)) continue;
            out_.begin({});
            HEADRACE_TRY(put(index, *v));
        }
        return out_.arguments(name);
    }

private:
    [[nodiscard]] bool is_result(std::int64_t index) const {
        return std::ranges::find(results_, index) != results_.end();
    }
    [[nodiscard]] bool is_list_of_results(const pte_fb::Value& v) const {
        const pte_fb::TensorList* const l = v.kind_as_TensorList();
        return l != nullptr && l->items() != nullptr && l->items()->size() != 0 &&
            is_result(l->items()->Get(0));
    }

    result<void> put(std::int64_t index, const pte_fb::Value& v) {
        if (v.kind_as_Tensor() != nullptr) return put_tensor(index);
        if (const auto* const l = v.kind_as_TensorList()) return put_tensors(l->items());
        if (const auto* const l = v.kind_as_OptionalTensorList()) return put_tensors(l->items());
        if (const auto* const l = v.kind_as_IntList()) return put_integers(l->items());
        if (const auto* const l = v.kind_as_DoubleList())
            return put_plain(l->items(), [&](double number) { out_.put(number); });
        if (const auto* const l = v.kind_as_BoolList())
            return put_plain(l->items(), [&](auto truth) { put_truth(truth != 0); });
        put_one(index, v);
        return {};
    }
    void put_one(std::int64_t index, const pte_fb::Value& v) {
        if (method_.is_computed(index)) return out_.put_raw("computed");
        if (const auto* const i = v.kind_as_Int()) return out_.put_raw(std::to_string(i->value()));
        if (const auto* const b = v.kind_as_Bool()) return put_truth(b->value());
        if (const auto* const d = v.kind_as_Double()) return out_.put(d->value());
        const auto* const text = v.kind_as_String();
        if (text == nullptr || text->value() == nullptr) return out_.put_raw("none");
        out_.put_quoted(text->value()->string_view());
    }
    void put_truth(bool truth) { out_.put_raw(truth ? "true" : "false"); }
    result<void> put_tensor(std::int64_t index) {
        HEADRACE_TRY(operand, tensor_(index));
        out_.put(operand);
        return {};
    }

    template <class Items, class Put>
    result<void> put_items(const Items* items, Put&& put_item) {
        if (!is_readable(items)) return malformed("a list of arguments is not there");
        HEADRACE_TRY(method_.values().spend(items->size()));
        out_.put_raw("[");
        for (const auto item : *items) {
            out_.begin({});
            HEADRACE_TRY(put_item(item));
        }
        out_.put_raw("]");
        return {};
    }
    template <class Items, class Put>
    result<void> put_plain(const Items* items, Put&& put_item) {
        return put_items(items, [&](auto item) -> result<void> {
            put_item(item);
            return {};
        });
    }
    // -1 and Null mean that there is no tensor.
    template <class Items>
    result<void> put_tensors(const Items* items) {
        return put_items(items, [&](std::int64_t index) -> result<void> {
            if (index != -1) {
                HEADRACE_TRY(v, method_.values().at(index));
                if (v->kind_as_Tensor() != nullptr) return put_tensor(index);
            }
            out_.put_raw("none");
            return {};
        });
    }
    // Integers in lists are values of their own.
    template <class Items>
    result<void> put_integers(const Items* items) {
        return put_items(items, [&](std::int64_t index) -> result<void> {
            HEADRACE_TRY(v, method_.values().at(index));
            put_one(index, *v);
            return {};
        });
    }

    method_source& method_;
    std::span<const std::int64_t> results_;
    tensor_function tensor_;
    graph_text::opaque_writer out_;
};

}  // namespace headrace::detail::pte

#endif
