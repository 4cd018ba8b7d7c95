// SPDX-License-Identifier: MIT
// Defines the table of a method's values in a .pte file: tensors, and the numbers that kernels take.
#ifndef HEADRACE_IO_PTE_WRITING_VALUES_HPP
#define HEADRACE_IO_PTE_WRITING_VALUES_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace::pte {

/// The place of a tensor's bytes: a constant, or an offset in planned memory.
struct tensor_place {
    std::uint32_t constant = 0;
    std::uint32_t memory = 0;
    std::uint64_t offset = 0;
};

/// Fails if a .pte file cannot hold a tensor that a node returns.
[[nodiscard]] result<void> check_tensor(const node& n, const tensor_meta& meta);

/// The values of one method. Equal numbers are one value: nothing writes to them.
class value_table {
public:
    using index = std::int32_t;

    explicit value_table(flatbuffers::FlatBufferBuilder& builder) : builder_(builder) {}

    index null() {
        return once(nulls_, 0, [&] { return made(pte_fb::ValueKind::Null, pte_fb::CreateNull(builder_)); });
    }
    index integer(std::int64_t n);
    index boolean(bool b);
    index floating(double d);
    index text(std::string_view s);
    index integers(std::span<const std::int64_t> items);
    index floatings(std::span<const double> items);
    /// A list comes after its items.
    index tensors(const std::vector<index>& items);
    index optional_tensors(const std::vector<index>& items);

    /// Adds a tensor that check_tensor accepts.
    index tensor(const tensor_meta& meta, const tensor_place& place);

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

}  // namespace headrace::pte

#endif
