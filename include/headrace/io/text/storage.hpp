// SPDX-License-Identifier: MIT
// Defines which bytes of a constant a text has, and headrace::detail::graph_text::constant_store.
#ifndef HEADRACE_IO_TEXT_STORAGE_HPP
#define HEADRACE_IO_TEXT_STORAGE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/fixed_string.hpp>
#include <headrace/io/file/element_copier.hpp>

namespace headrace::detail::graph_text {

/// Returns the number of elements from the first to the last that the strides reach; nullopt if a stride is
/// negative, or if there are too many to count.
[[nodiscard]] inline std::optional<std::uint64_t> reached_elements(
    const int_list& shape, const int_list& strides) {
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

/// A constant's elements as they are written: a view of them in place, or a copy if they are scattered among
/// others.
struct storage {
    std::span<const std::byte> bytes;
    std::uint64_t count = 0;
    bool keeps_strides = false;
    std::vector<std::byte> copy{};  ///< the bytes that `bytes` views if the elements had to be gathered
};

[[nodiscard]] inline storage storage_of(const tensor_data& data, const tensor_meta& meta) {
    const auto count = static_cast<std::uint64_t>(meta.elements());
    const auto packed = [&](std::uint64_t n) {
        return static_cast<std::size_t>(storage_bytes(meta.dtype, n));
    };
    if (count == 0) return {};
    if (is_row_major(data, meta.shape)) return {{data.bytes, packed(count)}, count};
    const auto reached = reached_elements(meta.shape, data.strides);
    if (reached && *reached <= count) return {{data.bytes, packed(*reached)}, *reached, true};
    storage whole{{}, count, false, std::vector<std::byte>(packed(count))};
    element_copier(data, meta, reinterpret_cast<std::uint8_t*>(whole.copy.data())).copy();
    whole.bytes = whole.copy;
    return whole;
}

/// Large constants, each distinct one once, under a key made from its bytes.
class constant_store {
public:
    /// The bytes must outlive the store unless the storage owns them.
    std::uint64_t add(storage&& s) {
        std::uint64_t key = hash_of({reinterpret_cast<const char*>(s.bytes.data()), s.bytes.size()});
        for (;; ++key) {  // different constants with the same hash take the next free key
            const auto [at, is_new] = bytes_of_.emplace(key, s.bytes);
            if (is_new) break;
            if (std::ranges::equal(at->second, s.bytes)) return key;
        }
        if (!s.copy.empty()) bytes_of_[key] = copies_.emplace_back(std::move(s.copy));
        return key;
    }
    [[nodiscard]] const auto& constants() const { return bytes_of_; }

private:
    std::map<std::uint64_t, std::span<const std::byte>> bytes_of_;
    std::deque<std::vector<std::byte>> copies_;
};

/// Returns a key as the text and the data file have it: 16 hexadecimal digits.
[[nodiscard]] inline std::string key_text(std::uint64_t key) {
    std::string text(16, '0');
    for (std::size_t i = text.size(); i-- != 0; key /= 16) text[i] = "0123456789abcdef"[key % 16];
    return text;
}

}  // namespace headrace::detail::graph_text

#endif
