// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/text/storage.hpp.

#include <headrace/io/text/storage.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/fixed_string.hpp>
#include <headrace/io/file/element_copier.hpp>

namespace headrace::text {

std::optional<std::uint64_t> reached_elements(const int_list& shape, const int_list& strides) {
    std::int64_t last = 0;
    bool is_empty = false;
    for (std::size_t i = 0; i != shape.size(); ++i) {
        std::int64_t step = 0;
        is_empty = is_empty || shape[i] == 0;
        if (strides[i] < 0 || __builtin_mul_overflow(shape[i] - 1, strides[i], &step) ||
            __builtin_add_overflow(last, std::max<std::int64_t>(step, 0), &last) || last == INT64_MAX)
            return std::nullopt;
    }
    return is_empty ? 0 : static_cast<std::uint64_t>(last) + 1;
}

storage storage_of(const tensor_data& data, const tensor_meta& meta) {
    const auto count = static_cast<std::uint64_t>(meta.elements());
    const auto packed = [&](std::uint64_t n) {
        return static_cast<std::size_t>(storage_bytes(meta.dtype, n));
    };
    if (count == 0) return {};
    if (detail::is_row_major(data, meta.shape)) return {{data.bytes, packed(count)}, count};
    const auto reached = reached_elements(meta.shape, data.strides);
    if (reached && *reached <= count) return {{data.bytes, packed(*reached)}, *reached, true};
    storage whole{{}, count, false, std::vector<std::byte>(packed(count))};
    detail::element_copier(data, meta, reinterpret_cast<std::uint8_t*>(whole.copy.data())).copy();
    whole.bytes = whole.copy;
    return whole;
}

std::uint64_t constant_store::add(storage&& s) {
    std::uint64_t key = hash_of({reinterpret_cast<const char*>(s.bytes.data()), s.bytes.size()});
    for (;; ++key) {  // different constants with the same hash take the next free key
        const auto [at, is_new] = bytes_of_.emplace(key, s.bytes);
        if (is_new) break;
        if (std::ranges::equal(at->second, s.bytes)) return key;
    }
    if (!s.copy.empty()) bytes_of_[key] = copies_.emplace_back(std::move(s.copy));
    return key;
}

std::string key_text(std::uint64_t key) {
    std::string text(16, '0');
    for (std::size_t i = text.size(); i-- != 0; key /= 16) text[i] = "0123456789abcdef"[key % 16];
    return text;
}

}  // namespace headrace::text
