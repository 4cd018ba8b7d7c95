// SPDX-License-Identifier: MIT
// Defines headrace::op_set, sets of ops as compile-time values, with their operators.
#ifndef HEADRACE_OP_OP_SET_TYPE_HPP
#define HEADRACE_OP_OP_SET_TYPE_HPP

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <headrace/op/dialects.hpp>
#include <headrace/op/op.hpp>

namespace headrace {

namespace detail {

inline constexpr std::size_t word_bits = 64;

constexpr std::size_t words_for(std::size_t bits) { return (bits + word_bits - 1) / word_bits; }

}  // namespace detail

/// A set of ops of some dialects, as a value with one bit per op; each dialect has separate words. A
/// combination of sets over different dialects is a set over all of them.
///
///     constexpr auto lowered = ops_in<aten::add_tensor, aten::relu> | every_op<tosa::dialect>;
///     static_assert(lowered.contains<aten::relu>() && ops_in<tosa::add> <= lowered);
template <class... Dialects>
class op_set {
public:
    using dialect_list = dialects<Dialects...>;
    static constexpr std::size_t word_count = (detail::words_for(Dialects::size) + ... + 0);

    // Assigns each word: g++ 12 omits zeros that were not assigned from the name of a template argument, and
    // then confuses sets with the same words in different places.
    constexpr op_set() {
        for (std::uint64_t& w : words_) w = 0;
    }

    /// Returns the first word of the dialect at `position`.
    [[nodiscard]] static constexpr std::size_t first_word(std::size_t position) {
        constexpr std::size_t words[] = {detail::words_for(Dialects::size)..., 0};
        std::size_t first = 0;
        for (std::size_t i = 0; i != position; ++i) first += words[i];
        return first;
    }

    template <class Dialect>
    [[nodiscard]] static constexpr std::size_t position_of() {
        constexpr bool same[] = {__is_same(Dialect, Dialects)..., true};
        std::size_t position = 0;
        while (!same[position]) ++position;
        return position;
    }

    template <class Dialect>
    static constexpr std::size_t first_bit_of = first_word(position_of<Dialect>()) * detail::word_bits;
    /// The bit index of an op, from the first word on; the op must be in its dialect's list.
    template <op_tag Op>
    static constexpr std::size_t bit_of = first_bit_of<typename Op::dialect_type> + found_in_its_dialect<Op>;

    constexpr void insert_at(std::size_t first, std::size_t index) {
        words_[first + index / detail::word_bits] |= std::uint64_t{1} << (index % detail::word_bits);
    }
    constexpr void erase_at(std::size_t first, std::size_t index) {
        words_[first + index / detail::word_bits] &= ~(std::uint64_t{1} << (index % detail::word_bits));
    }
    template <op_tag Op>
    constexpr void insert() {
        // An op that its dialect does not list is in no set; its use is an error elsewhere.
        if constexpr (listed_in_its_dialect<Op>) insert_at(0, bit_of<Op>);
    }
    template <op_tag Op>
    [[nodiscard]] constexpr bool contains() const {
        if constexpr (position_of<typename Op::dialect_type>() == sizeof...(Dialects) ||
            !listed_in_its_dialect<Op>) {
            return false;
        } else {
            return (words_[bit_of<Op> / detail::word_bits] >> (bit_of<Op> % detail::word_bits) & 1) != 0;
        }
    }
    /// For ops known only at run time.
    [[nodiscard]] constexpr bool contains(const op_info& op) const {
        std::size_t first = 0;
        bool found = false;
        const auto look = [&](const dialect_info& d) {
            if (op.dialect == &d) {
                found =
                    (words_[first + op.index / detail::word_bits] >> (op.index % detail::word_bits) & 1) != 0;
            }
            first += detail::words_for(d.op_count);
        };
        static_cast<void>(look);
        (look(info_of_dialect<Dialects>), ...);
        return found;
    }

    [[nodiscard]] constexpr std::size_t size() const {
        std::size_t count = 0;
        for (const std::uint64_t w : words_) count += static_cast<std::size_t>(std::popcount(w));
        return count;
    }
    [[nodiscard]] constexpr bool empty() const {
        for (const std::uint64_t w : words_) {
            if (w != 0) return false;
        }
        return true;
    }
    [[nodiscard]] constexpr const auto& words() const { return words_; }

    /// Returns the same set over more dialects.
    template <class... Wider>
    [[nodiscard]] constexpr op_set<Wider...> over(dialects<Wider...>) const {
        op_set<Wider...> wide;
        const auto copy = [&]<class D>() {
            wide.copy_words(op_set<Wider...>::first_word(op_set<Wider...>::template position_of<D>()),
                words_.data() + first_word(position_of<D>()), detail::words_for(D::size));
        };
        static_cast<void>(copy);  // unused for the set of no dialect
        (copy.template operator()<Dialects>(), ...);
        return wide;
    }
    constexpr void copy_words(std::size_t first, const std::uint64_t* source, std::size_t count) {
        for (std::size_t i = 0; i != count; ++i) words_[first + i] = source[i];
    }

    /// Calls `f` with each op's name, dialect by dialect, in the order of the dialect's list.
    template <class F>
    constexpr void for_each(F&& f) const {
        std::size_t first = 0;
        [[maybe_unused]] const auto visit = [&]<class D>() {
            for (std::size_t i = 0; i != D::size; ++i) {
                if ((words_[first + i / detail::word_bits] >> (i % detail::word_bits) & 1) != 0)
                    f(D::op_names[i]);
            }
            first += detail::words_for(D::size);
        };
        static_cast<void>(visit);
        (visit.template operator()<Dialects>(), ...);
    }

    /// Returns the first op: {position of its dialect, index in it}. The set must not be empty.
    [[nodiscard]] constexpr std::pair<std::size_t, std::size_t> first() const {
        for (std::size_t position = 0; position != sizeof...(Dialects); ++position) {
            const std::size_t begin = first_word(position);
            for (std::size_t w = begin; w != first_word(position + 1); ++w) {
                if (words_[w] != 0) {
                    const auto bit = static_cast<std::size_t>(std::countr_zero(words_[w]));
                    return {position, (w - begin) * detail::word_bits + bit};
                }
            }
        }
        return {sizeof...(Dialects), 0};
    }

    // Separate loops instead of a shared function with a callable: compilers evaluate ten thousand of them
    // for a pipeline.
    constexpr op_set& operator|=(const op_set& other) {
        for (std::size_t i = 0; i != word_count; ++i) words_[i] |= other.words_[i];
        return *this;
    }
    constexpr op_set& operator&=(const op_set& other) {
        for (std::size_t i = 0; i != word_count; ++i) words_[i] &= other.words_[i];
        return *this;
    }
    constexpr op_set& operator-=(const op_set& other) {
        for (std::size_t i = 0; i != word_count; ++i) words_[i] &= ~other.words_[i];
        return *this;
    }
    /// Returns the set without the ops of `removed`, plus those of `added`.
    [[nodiscard]] constexpr op_set replaced(const op_set& removed, const op_set& added) const {
        op_set set = *this;
        for (std::size_t i = 0; i != word_count; ++i)
            set.words_[i] = (words_[i] & ~removed.words_[i]) | added.words_[i];
        return set;
    }
    friend constexpr op_set operator|(op_set a, const op_set& b) { return a |= b; }
    friend constexpr op_set operator&(op_set a, const op_set& b) { return a &= b; }
    friend constexpr op_set operator-(op_set a, const op_set& b) { return a -= b; }
    friend constexpr bool operator==(const op_set&, const op_set&) = default;
    /// True if `a` is a subset of `b`.
    friend constexpr bool operator<=(const op_set& a, const op_set& b) {
        for (std::size_t i = 0; i != word_count; ++i) {
            if ((a.words_[i] & ~b.words_[i]) != 0) return false;
        }
        return true;
    }
    /// True if the sets have an op in common.
    [[nodiscard]] constexpr bool meets(const op_set& other) const {
        for (std::size_t i = 0; i != word_count; ++i) {
            if ((words_[i] & other.words_[i]) != 0) return true;
        }
        return false;
    }

    /// Public, so that a set can be a template argument.
    std::array<std::uint64_t, word_count == 0 ? 1 : word_count> words_{};
};

template <class... A, class... B>
    requires(!__is_same(dialects<A...>, dialects<B...>))
[[nodiscard]] constexpr auto operator|(const op_set<A...>& a, const op_set<B...>& b) {
    using merged = typename merge_dialects<dialects<A...>, dialects<B...>>::type;
    return a.over(merged{}) | b.over(merged{});
}
template <class... A, class... B>
    requires(!__is_same(dialects<A...>, dialects<B...>))
[[nodiscard]] constexpr auto operator&(const op_set<A...>& a, const op_set<B...>& b) {
    using merged = typename merge_dialects<dialects<A...>, dialects<B...>>::type;
    return a.over(merged{}) & b.over(merged{});
}
template <class... A, class... B>
    requires(!__is_same(dialects<A...>, dialects<B...>))
[[nodiscard]] constexpr auto operator-(const op_set<A...>& a, const op_set<B...>& b) {
    using merged = typename merge_dialects<dialects<A...>, dialects<B...>>::type;
    return a.over(merged{}) - b.over(merged{});
}
template <class... A, class... B>
    requires(!__is_same(dialects<A...>, dialects<B...>))
[[nodiscard]] constexpr bool operator<=(const op_set<A...>& a, const op_set<B...>& b) {
    return (a - b).empty();
}

}  // namespace headrace

#endif
