// SPDX-License-Identifier: MIT
// Defines how the arguments of a kernel are read from the values of a .pte file.
#ifndef HEADRACE_IO_PTE_READING_ARGUMENTS_HPP
#define HEADRACE_IO_PTE_READING_ARGUMENTS_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/op/op.hpp>

namespace headrace::pte {

using value_vector = flatbuffers::Vector<flatbuffers::Offset<pte_fb::Value>>;

/// The values of a method. The number of reads is bounded: the tables of a hostile file may refer to one long
/// list over and over.
class value_source {
public:
    value_source(const value_vector& values, std::uint64_t most_reads) : values_(values), left_(most_reads) {}

    /// Returns the value at an index that the file gives.
    [[nodiscard]] result<const pte_fb::Value*> at(std::int64_t index);
    [[nodiscard]] result<void> spend(std::uint64_t reads);

private:
    const value_vector& values_;
    std::uint64_t left_;
};

/// An argument struct that is filled field by field; its lists live as long as it does.
class argument_reader {
public:
    /// Returns the graph's value for a tensor.
    using tensor_function = std::function<result<value>(std::int64_t index)>;

    argument_reader(value_source& values, const op_info& op, tensor_function tensor);

    [[nodiscard]] const void* arguments() const { return storage_.data(); }

    void put(const field_info& f, dtype type) { store(f, type); }
    void put(const field_info& f, value v) { store(f, v); }

    /// Reads a field from the value at an index.
    result<void> read(const field_info& f, std::int64_t index);

private:
    [[nodiscard]] error wrong(const field_info& f) const {
        return malformed({op_.name, " is given a value of the wrong kind as '", f.name, "'"});
    }
    template <class T>
    void store(const field_info& f, const T& item) {
        std::byte* const at = reinterpret_cast<std::byte*>(storage_.data()) + f.offset;
        if (f.optional) {
            *reinterpret_cast<std::optional<T>*>(at) = item;
        } else {
            *reinterpret_cast<T*>(at) = item;
        }
    }

    result<void> read_plain(const field_info& f, const pte_fb::Value& v);
    result<void> read_tensors(const field_info& f, const pte_fb::Value& v);
    result<void> read_optional_tensors(const field_info& f, const pte_fb::Value& v);
    result<void> read_integers(const field_info& f, const pte_fb::Value& v);
    result<void> read_floatings(const field_info& f, const pte_fb::Value& v);

    value_source& values_;
    const op_info& op_;
    tensor_function tensor_;
    std::vector<std::max_align_t> storage_;
    std::deque<std::vector<value>> tensors_;
    std::deque<std::vector<std::optional<value>>> optional_tensors_;
    std::deque<std::vector<std::int64_t>> integers_;
    std::deque<std::vector<double>> floatings_;
};

}  // namespace headrace::pte

#endif
