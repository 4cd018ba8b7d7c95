// SPDX-License-Identifier: MIT
// Defines headrace::pte::opaque_arguments, which keeps the arguments of an unknown kernel.
#ifndef HEADRACE_IO_PTE_READING_OPAQUE_HPP
#define HEADRACE_IO_PTE_READING_OPAQUE_HPP

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>

#include <headrace/base/result.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/io/pte/reading/arguments.hpp>
#include <headrace/io/pte/reading/method_source.hpp>
#include <headrace/io/text/opaque_text.hpp>

namespace headrace::pte {

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
    [[nodiscard]] bool is_list_of_results(const pte_fb::Value& v) const;

    result<void> put(std::int64_t index, const pte_fb::Value& v);
    void put_one(std::int64_t index, const pte_fb::Value& v);
    void put_truth(bool truth) { out_.put_raw(truth ? "true" : "false"); }
    result<void> put_tensor(std::int64_t index);

    template <class Items, class Put>
    result<void> put_items(const Items* items, Put&& put_item);
    template <class Items, class Put>
    result<void> put_plain(const Items* items, Put&& put_item) {
        return put_items(items, [&](auto item) -> result<void> {
            put_item(item);
            return {};
        });
    }
    // -1 and Null mean that there is no tensor.
    template <class Items>
    result<void> put_tensors(const Items* items);
    // Integers in lists are values of their own.
    template <class Items>
    result<void> put_integers(const Items* items);

    method_source& method_;
    std::span<const std::int64_t> results_;
    tensor_function tensor_;
    text::opaque_writer out_;
};

}  // namespace headrace::pte

#endif
