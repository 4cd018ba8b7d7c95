// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/writing/values.hpp.

#include <headrace/io/pte/writing/values.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/infer/inference.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace::pte {

result<void> check_tensor(const node& n, const tensor_meta& meta) {
    if (!scalar_type_of(meta.dtype))
        return unsupported(
            {message_prefix(n), "ExecuTorch's programs have no tensors of ", name_of(meta.dtype)});
    if (meta.rank() > max_rank)
        return unsupported({message_prefix(n), "ExecuTorch's tensors have at most 16 axes"});
    for (const std::int64_t size : meta.shape) {
        if (size > std::numeric_limits<std::int32_t>::max())
            return unsupported({message_prefix(n), "ExecuTorch's tensors have sizes below 2^31"});
    }
    return {};
}

value_table::index value_table::integer(std::int64_t n) {
    return once(integers_, n, [&] { return made(pte_fb::ValueKind::Int, pte_fb::CreateInt(builder_, n)); });
}

value_table::index value_table::boolean(bool b) {
    return once(booleans_, b, [&] { return made(pte_fb::ValueKind::Bool, pte_fb::CreateBool(builder_, b)); });
}

value_table::index value_table::floating(double d) {
    return once(doubles_, std::bit_cast<std::uint64_t>(d), [&] {
        builder_.ForceDefaults(d == 0);  // else -0.0 is left out and read as 0.0
        const auto payload = pte_fb::CreateDouble(builder_, d);
        builder_.ForceDefaults(false);
        return made(pte_fb::ValueKind::Double, payload);
    });
}

value_table::index value_table::text(std::string_view s) {
    return once(texts_, std::string(s), [&] {
        return made(pte_fb::ValueKind::String, pte_fb::CreateString(builder_, builder_.CreateString(s)));
    });
}

value_table::index value_table::integers(std::span<const std::int64_t> items) {
    std::vector<std::int64_t> numbers;
    for (const std::int64_t n : items) numbers.push_back(integer(n));
    return once(integer_lists_, numbers, [&] {
        return made(
            pte_fb::ValueKind::IntList, pte_fb::CreateIntList(builder_, builder_.CreateVector(numbers)));
    });
}

value_table::index value_table::floatings(std::span<const double> items) {
    const std::vector<double> all(items.begin(), items.end());
    return made(
        pte_fb::ValueKind::DoubleList, pte_fb::CreateDoubleList(builder_, builder_.CreateVector(all)));
}

value_table::index value_table::tensors(const std::vector<index>& items) {
    return made(
        pte_fb::ValueKind::TensorList, pte_fb::CreateTensorList(builder_, builder_.CreateVector(items)));
}

value_table::index value_table::optional_tensors(const std::vector<index>& items) {
    return made(pte_fb::ValueKind::OptionalTensorList,
        pte_fb::CreateOptionalTensorList(builder_, builder_.CreateVector(items)));
}

value_table::index value_table::tensor(const tensor_meta& meta, const tensor_place& place) {
    const auto sizes = once(sizes_, std::vector<std::int32_t>(meta.shape.begin(), meta.shape.end()),
        [&](const auto& s) { return builder_.CreateVector(s); });
    std::vector<std::uint8_t> order(meta.rank());
    for (std::size_t i = 0; i != order.size(); ++i) order[i] = static_cast<std::uint8_t>(i);
    const auto axes = once(orders_, order, [&](const auto& o) { return builder_.CreateVector(o); });
    flatbuffers::Offset<pte_fb::Allocation> allocation;
    if (place.memory != 0) {
        allocation = pte_fb::CreateAllocation(builder_, place.memory,
            static_cast<std::uint32_t>(place.offset), static_cast<std::uint32_t>(place.offset >> 32));
    }
    pte_fb::TensorBuilder t(builder_);
    t.add_scalar_type(*scalar_type_of(meta.dtype));
    t.add_sizes(sizes);
    t.add_dim_order(axes);
    t.add_data(place.constant);
    if (place.memory != 0) t.add_allocation(allocation);
    return made(pte_fb::ValueKind::Tensor, t.Finish());
}

}  // namespace headrace::pte
