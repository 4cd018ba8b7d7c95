// SPDX-License-Identifier: MIT
// Defines which bytes of a constant a text has, and headrace::text::constant_store.
#ifndef HEADRACE_IO_TEXT_STORAGE_HPP
#define HEADRACE_IO_TEXT_STORAGE_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <headrace/base/lists.hpp>
#include <headrace/ir/tensor_meta.hpp>
#include <headrace/op/fields.hpp>

namespace headrace::text {

/// Returns the number of elements from the first to the last that the strides reach; nullopt if a stride is
/// negative, or if there are too many to count.
[[nodiscard]] std::optional<std::uint64_t> reached_elements(const int_list& shape, const int_list& strides);

/// A constant's elements as they are written: a view of them in place, or a copy if they are scattered among
/// others.
struct storage {
    std::span<const std::byte> bytes;
    std::uint64_t count = 0;
    bool keeps_strides = false;
    std::vector<std::byte> copy{};  ///< the bytes that `bytes` views if the elements had to be gathered
};

[[nodiscard]] storage storage_of(const tensor_data& data, const tensor_meta& meta);

/// Large constants, each distinct one once, under a key made from its bytes.
class constant_store {
public:
    /// The bytes must outlive the store unless the storage owns them.
    std::uint64_t add(storage&& s);
    [[nodiscard]] const auto& constants() const { return bytes_of_; }

private:
    std::map<std::uint64_t, std::span<const std::byte>> bytes_of_;
    std::deque<std::vector<std::byte>> copies_;
};

/// Returns a key as the text and the data file have it: 16 hexadecimal digits.
[[nodiscard]] std::string key_text(std::uint64_t key);

}  // namespace headrace::text

#endif
