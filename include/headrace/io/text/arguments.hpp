// SPDX-License-Identifier: MIT
// Defines headrace::text::argument_reader, which reads the arguments of any op from a graph's
// text.
#ifndef HEADRACE_IO_TEXT_ARGUMENTS_HPP
#define HEADRACE_IO_TEXT_ARGUMENTS_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <headrace/base/dtype.hpp>
#include <headrace/base/lists.hpp>
#include <headrace/io/text/cursor.hpp>
#include <headrace/io/text/elements.hpp>
#include <headrace/op/fields.hpp>
#include <headrace/op/op.hpp>
#include <headrace/op/value.hpp>

namespace headrace::text {

/// Returns the enumerator of that name; nullopt if there is none.
template <class Enum>
[[nodiscard]] std::optional<Enum> enumerator_of(std::string_view name) {
    constexpr std::size_t max_enumerators = std::is_same_v<Enum, dtype> ? dtype_count : 8;
    for (std::size_t i = 0; i != max_enumerators; ++i) {
        if (name_of(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
    }
    return std::nullopt;
}

class argument_reader {
public:
    /// Functions that read what the op alone does not define: a value, a graph in braces, and elements.
    struct references {
        std::function<value()> operand;
        std::function<graph*()> region;
        std::function<tensor_data()> data;
    };
    /// `memory` holds the arguments.
    argument_reader(cursor& at, std::pmr::memory_resource& memory, references others)
        : at_(at), memory_(memory), others_(std::move(others)) {}

    /// Reads `(%x, %w, stride=[2, 2])` into an args struct of the op.
    const void* read(const op_info& op);

private:
    void read_argument(
        const op_info& op, void* arguments, std::vector<bool>& given, bool& positional, std::size_t& next);
    static std::string expected(const field_info& f);
    static std::string fields_of(const op_info& op);

    // --- by kind; false if something else is there ---------------------------------------

    bool read(value& member);
    bool read(graph*& member);
    bool read(bool& member);
    bool read(std::int64_t& member) { return number_in(at_.literal("an integer"), member); }
    bool read(double& member) { return number_in(at_.literal("a number"), member); }
    bool read(scalar& member);
    bool read(std::string_view& member);
    template <class T>
        requires std::is_enum_v<T>
    bool read(T& member) {
        if (!at_.at_word()) return false;
        const auto known = enumerator_of<T>(at_.word("a word"));
        if (known) member = *known;
        return known.has_value();
    }
    bool read(custom_member& member) {
        return member.type->parse(at_.raw("a value of the dialect's own"), member.at);
    }
    bool read(tensor_data& member);
    template <class T>
    bool read(std::optional<T>& member) {
        member.reset();
        return at_.accept_word("none") || read(member.emplace());
    }
    bool read(int_list& member);
    template <class T>
    bool read(list<T>& member) {
        std::vector<T> items;
        if (!read_items(items)) return false;
        member = {kept(items.data(), items.size()), items.size()};
        return true;
    }
    template <class T>
    bool read_items(std::vector<T>& items);
    template <class T>
    const T* kept(const T* items, std::size_t count) {
        if (count == 0) return nullptr;
        T* const copy = static_cast<T*>(memory_.allocate(count * sizeof(T), alignof(T)));
        std::uninitialized_copy_n(items, count, copy);
        return copy;
    }

    cursor& at_;
    std::pmr::memory_resource& memory_;
    references others_;
};

}  // namespace headrace::text

#endif
