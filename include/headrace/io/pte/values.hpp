// SPDX-License-Identifier: MIT
// Defines the table of a method's values in a .pte file: tensors, and the numbers that kernels take.
#ifndef HEADRACE_IO_PTE_VALUES_HPP
#define HEADRACE_IO_PTE_VALUES_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace::detail::pte {

/// The place of a tensor's bytes: a constant, or an offset in planned memory.
struct tensor_place {
    std::uint32_t constant = 0;
    std::uint32_t memory = 0;
    std::uint64_t offset = 0;
};

/// Fails if a .pte file cannot hold a tensor that a node returns.
[[nodiscard]] inline result<void> check_tensor(const node& n, const tensor_meta& meta) {
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

/// The values of one method. Equal numbers are one value: nothing writes to them.
class value_table {
public:
    using index = std::int32_t;

    explicit value_table(flatbuffers::FlatBufferBuilder& builder) : builder_(builder) {}

    index null() {
        return once(nulls_, 0, [&] { return made(pte_fb::ValueKind::Null, pte_fb::CreateNull(builder_)); });
    }
    index integer(std::int64_t n) {
        return once(
            integers_, n, [&] { return made(pte_fb::ValueKind::Int, pte_fb::CreateInt(builder_, n)); });
    }
    index boolean(bool b) {
        return once(
            booleans_, b, [&] { return made(pte_fb::ValueKind::Bool, pte_fb::CreateBool(builder_, b)); });
    }
    index floating(double d) {
        return once(doubles_, std::bit_cast<std::uint64_t>(d), [&] {
            builder_.ForceDefaults(d == 0);  // else -0.0 is left out and read as 0.0
            const auto payload = pte_fb::CreateDouble(builder_, d);
            builder_.ForceDefaults(false);
            return made(pte_fb::ValueKind::Double, payload);
        });
    }
    index text(std::string_view s) {
        return once(texts_, std::string(s), [&] {
            return made(pte_fb::ValueKind::String, pte_fb::CreateString(builder_, builder_.CreateString(s)));
        });
    }
    index integers(std::span<const std::int64_t> items) {
        std::vector<std::int64_t> numbers;
        for (const std::int64_t n : items) numbers.push_back(integer(n));
        return once(integer_lists_, numbers, [&] {
            return made(
                pte_fb::ValueKind::IntList, pte_fb::CreateIntList(builder_, builder_.CreateVector(numbers)));
        });
    }
    index floatings(std::span<const double> items) {
        const std::vector<double> all(items.begin(), items.end());
        return made(
            pte_fb::ValueKind::DoubleList, pte_fb::CreateDoubleList(builder_, builder_.CreateVector(all)));
    }
    /// A list comes after its items.
    index tensors(const std::vector<index>& items) {
        return made(
            pte_fb::ValueKind::TensorList, pte_fb::CreateTensorList(builder_, builder_.CreateVector(items)));
    }
    index optional_tensors(const std::vector<index>& items) {
        return made(pte_fb::ValueKind::OptionalTensorList,
            pte_fb::CreateOptionalTensorList(builder_, builder_.CreateVector(items)));
    }

    /// Adds a tensor that check_tensor accepts.
    index tensor(const tensor_meta& meta, const tensor_place& place) {
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

    [[nodiscard]] std::size_t size() const { return all_.size(); }
    [[nodiscard]] auto finish() { return builder_.CreateVector(all_); }

private:
    template <class Table>
    index made(pte_fb::ValueKind kind, flatbuffers::Offset<Table> payload) {
        all_.push_back(pte_fb::CreateValue(builder_, kind, payload.Union()));
        return static_cast<index>(all_.size() - 1);
    }
    template <class Map, class Make>
    static typename Map::mapped_type once(Map& known, const typename Map::key_type& key, Make&& make) {
        const auto at = known.find(key);
        if (at != known.end()) return at->second;
        if constexpr (requires { make(key); }) {
            return known.emplace(key, make(key)).first->second;
        } else {
            return known.emplace(key, make()).first->second;
        }
    }

    flatbuffers::FlatBufferBuilder& builder_;
    std::vector<flatbuffers::Offset<pte_fb::Value>> all_;
    std::map<int, index> nulls_;
    std::map<std::int64_t, index> integers_;
    std::map<bool, index> booleans_;
    std::map<std::uint64_t, index> doubles_;  // by their bits: -0.0 is not 0.0
    std::map<std::string, index> texts_;
    std::map<std::vector<std::int64_t>, index> integer_lists_;
    std::map<std::vector<std::int32_t>, flatbuffers::Offset<flatbuffers::Vector<std::int32_t>>> sizes_;
    std::map<std::vector<std::uint8_t>, flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>>> orders_;
};

}  // namespace headrace::detail::pte

#endif
