// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/reading/opaque.hpp.

#include <headrace/io/pte/reading/opaque.hpp>

#include <cstdint>
#include <string>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/format.hpp>

namespace headrace::pte {

bool opaque_arguments::is_list_of_results(const pte_fb::Value& v) const {
    const pte_fb::TensorList* const l = v.kind_as_TensorList();
    return l != nullptr && l->items() != nullptr && l->items()->size() != 0 && is_result(l->items()->Get(0));
}

result<void> opaque_arguments::put(std::int64_t index, const pte_fb::Value& v) {
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

void opaque_arguments::put_one(std::int64_t index, const pte_fb::Value& v) {
    if (method_.is_computed(index)) return out_.put_raw("computed");
    if (const auto* const i = v.kind_as_Int()) return out_.put_raw(std::to_string(i->value()));
    if (const auto* const b = v.kind_as_Bool()) return put_truth(b->value());
    if (const auto* const d = v.kind_as_Double()) return out_.put(d->value());
    const auto* const text = v.kind_as_String();
    if (text == nullptr || text->value() == nullptr) return out_.put_raw("none");
    out_.put_quoted(text->value()->string_view());
}

result<void> opaque_arguments::put_tensor(std::int64_t index) {
    HEADRACE_TRY(operand, tensor_(index));
    out_.put(operand);
    return {};
}

template <class Items, class Put>
result<void> opaque_arguments::put_items(const Items* items, Put&& put_item) {
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

template <class Items>
result<void> opaque_arguments::put_tensors(const Items* items) {
    return put_items(items, [&](std::int64_t index) -> result<void> {
        if (index != -1) {
            HEADRACE_TRY(v, method_.values().at(index));
            if (v->kind_as_Tensor() != nullptr) return put_tensor(index);
        }
        out_.put_raw("none");
        return {};
    });
}

template <class Items>
result<void> opaque_arguments::put_integers(const Items* items) {
    return put_items(items, [&](std::int64_t index) -> result<void> {
        HEADRACE_TRY(v, method_.values().at(index));
        put_one(index, *v);
        return {};
    });
}

}  // namespace headrace::pte
