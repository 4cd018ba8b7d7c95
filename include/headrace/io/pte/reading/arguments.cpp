// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/reading/arguments.hpp.

#include <headrace/io/pte/reading/arguments.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/op/op.hpp>

namespace headrace::pte {

result<const pte_fb::Value*> value_source::at(std::int64_t index) {
    if (index < 0 || index >= static_cast<std::int64_t>(values_.size()))
        return malformed({"it has no value ", index});
    HEADRACE_TRY(spend(1));
    return values_.Get(static_cast<flatbuffers::uoffset_t>(index));
}

result<void> value_source::spend(std::uint64_t reads) {
    if (left_ < reads) return malformed("its tables refer to the same values over and over");
    left_ -= reads;
    return {};
}

argument_reader::argument_reader(value_source& values, const op_info& op, tensor_function tensor)
    : values_(values),
      op_(op),
      tensor_(std::move(tensor)),
      storage_(op.args_size / sizeof(std::max_align_t) + 1) {
    std::memcpy(storage_.data(), op.default_args, op.args_size);
}

result<void> argument_reader::read(const field_info& f, std::int64_t index) {
    HEADRACE_TRY(v, values_.at(index));
    if (v->kind_type() == pte_fb::ValueKind::Null || v->kind_type() == pte_fb::ValueKind::NONE) {
        if (f.optional || f.kind == field_kind::format) return {};
        return wrong(f);
    }
    switch (f.kind) {
        case field_kind::tensor: {
            HEADRACE_TRY(tensor, tensor_(index));
            store(f, tensor);
            return {};
        }
        case field_kind::tensors:
            return read_tensors(f, *v);
        case field_kind::optional_tensors:
            return read_optional_tensors(f, *v);
        case field_kind::integers:
            return read_integers(f, *v);
        case field_kind::floatings:
            return read_floatings(f, *v);
        default:
            return read_plain(f, *v);
    }
}

result<void> argument_reader::read_plain(const field_info& f, const pte_fb::Value& v) {
    const pte_fb::Int* const integer = v.kind_as_Int();
    const pte_fb::Bool* const boolean = v.kind_as_Bool();
    const pte_fb::Double* const floating = v.kind_as_Double();
    const pte_fb::String* const text = v.kind_as_String();
    if (f.kind == field_kind::integer && integer != nullptr) {
        store(f, integer->value());
    } else if (f.kind == field_kind::boolean && boolean != nullptr) {
        store(f, boolean->value());
    } else if (f.kind == field_kind::floating && floating != nullptr) {
        store(f, floating->value());
    } else if (f.kind == field_kind::number && integer != nullptr) {
        store(f, scalar(integer->value()));
    } else if (f.kind == field_kind::number && boolean != nullptr) {
        store(f, scalar(boolean->value()));
    } else if (f.kind == field_kind::number && floating != nullptr) {
        store(f, scalar(floating->value()));
    } else if (f.kind == field_kind::text && text != nullptr && text->value() != nullptr) {
        store(f, text->value()->string_view());
    } else if (f.kind == field_kind::element_type && integer != nullptr) {
        const std::int64_t number = integer->value();
        store(f, number < 0 || number > 127 ? dtype::unknown : dtype_of(static_cast<std::int8_t>(number)));
    } else if (f.kind != field_kind::format || integer == nullptr) {  // dim_order tells the format
        return wrong(f);
    }
    return {};
}

result<void> argument_reader::read_tensors(const field_info& f, const pte_fb::Value& v) {
    const pte_fb::TensorList* const given = v.kind_as_TensorList();
    if (given == nullptr || given->items() == nullptr) return wrong(f);
    std::vector<value>& items = tensors_.emplace_back();
    for (const std::int32_t index : *given->items()) {
        HEADRACE_TRY(item, tensor_(index));
        items.push_back(item);
    }
    store(f, list<value>(items));
    return {};
}

result<void> argument_reader::read_optional_tensors(const field_info& f, const pte_fb::Value& v) {
    const pte_fb::OptionalTensorList* const given = v.kind_as_OptionalTensorList();
    if (given == nullptr || given->items() == nullptr) return wrong(f);
    std::vector<std::optional<value>>& items = optional_tensors_.emplace_back();
    for (const std::int32_t index : *given->items()) {
        items.emplace_back();
        if (index == -1) continue;
        HEADRACE_TRY(at, values_.at(index));
        if (at->kind_type() == pte_fb::ValueKind::Null) continue;
        HEADRACE_TRY(item, tensor_(index));
        items.back() = item;
    }
    store(f, list<std::optional<value>>(items));
    return {};
}

result<void> argument_reader::read_integers(const field_info& f, const pte_fb::Value& v) {
    const pte_fb::IntList* const given = v.kind_as_IntList();
    if (given == nullptr || !is_readable(given->items())) return wrong(f);
    std::vector<std::int64_t>& items = integers_.emplace_back();
    for (const std::int64_t index : *given->items()) {
        HEADRACE_TRY(item, values_.at(index));
        if (item->kind_as_Int() == nullptr) return wrong(f);
        items.push_back(item->kind_as_Int()->value());
    }
    store(f, int_list(items));
    return {};
}

result<void> argument_reader::read_floatings(const field_info& f, const pte_fb::Value& v) {
    const pte_fb::DoubleList* const given = v.kind_as_DoubleList();
    if (given == nullptr || !is_readable(given->items())) return wrong(f);
    HEADRACE_TRY(values_.spend(given->items()->size()));
    std::vector<double>& items = floatings_.emplace_back(given->items()->begin(), given->items()->end());
    store(f, list<double>(items));
    return {};
}

}  // namespace headrace::pte
