// SPDX-License-Identifier: MIT
// Defines headrace::banks, the banks of memory of a board as a type, for headrace::fits.
#ifndef HEADRACE_CONTRACT_BANKS_HPP
#define HEADRACE_CONTRACT_BANKS_HPP

#include <array>
#include <cstddef>
#include <cstdint>

#include <boost/mp11/algorithm.hpp>

#include <headrace/base/fixed_string.hpp>
#include <headrace/base/memory_use.hpp>
#include <headrace/contract/diagnoses.hpp>

namespace headrace {

inline namespace literals {

[[nodiscard]] consteval std::uint64_t operator""_KiB(unsigned long long n) { return n << 10U; }
[[nodiscard]] consteval std::uint64_t operator""_MiB(unsigned long long n) { return n << 20U; }

}  // namespace literals

/// A bank of memory, and what it may hold.
template <fixed_string Name, std::uint64_t Bytes, memory_use... Uses>
struct bank {
    static constexpr auto name = Name;
    static constexpr std::uint64_t bytes = Bytes;
    [[nodiscard]] static constexpr bool may_hold(memory_use use) { return ((Uses == use) || ...); }
};

/// The banks of a board. A model fits if one bank has room for its arena, one for its states, one for its
/// stack, and what is left for its constants; `headrace plan --memory` also divides an arena.
template <class... Banks>
struct banks {
    static constexpr std::size_t size = sizeof...(Banks);
};

namespace detail {

template <class T>
inline constexpr bool is_banks = false;
template <class... Banks>
inline constexpr bool is_banks<banks<Banks...>> = true;

struct bank_facts {
    std::uint64_t bytes = 0;
    bool holds[4]{};
    [[nodiscard]] constexpr bool may_hold(memory_use use) const {
        return holds[static_cast<std::size_t>(use)];
    }
};
template <class... Banks>
constexpr auto facts_of(banks<Banks...>) {
    std::array<bank_facts, sizeof...(Banks)> all{};
    std::size_t i = 0;
    const auto add = [&](std::uint64_t bytes, auto may_hold) {
        all[i].bytes = bytes;
        for (const memory_use use : memory_uses) all[i].holds[static_cast<std::size_t>(use)] = may_hold(use);
        ++i;
    };
    (add(Banks::bytes, [](memory_use use) { return Banks::may_hold(use); }), ...);
    return all;
}

template <class Needs>
constexpr std::uint64_t need_of(memory_use use) {
    constexpr std::uint64_t all[] = {Needs::constants, Needs::arena, Needs::state, Needs::stack};
    return all[static_cast<std::size_t>(use)];
}

// Puts the bytes of the uses from `use` on into banks. Constants come last and may be divided.
template <class Needs, std::size_t Size>
constexpr bool have_room(std::array<bank_facts, Size> left, memory_use use) {
    if (use == memory_use::constants) {
        std::uint64_t room = 0;
        for (const bank_facts& b : left) room += b.may_hold(use) ? b.bytes : 0;
        return need_of<Needs>(use) <= room;
    }
    const memory_use next = use == memory_use::arena ? memory_use::state
        : use == memory_use::state                   ? memory_use::stack
                                                     : memory_use::constants;
    const std::uint64_t bytes = need_of<Needs>(use);
    if (bytes == 0) return have_room<Needs>(left, next);
    for (std::size_t i = 0; i != Size; ++i) {
        if (!left[i].may_hold(use) || left[i].bytes < bytes) continue;
        left[i].bytes -= bytes;
        if (have_room<Needs>(left, next)) return true;
        left[i].bytes += bytes;
    }
    return false;
}

// Returns the largest bank for a use, or the number of banks if none may hold it.
template <std::size_t Size>
constexpr std::size_t largest_for(const std::array<bank_facts, Size>& all, memory_use use) {
    std::size_t found = Size;
    for (std::size_t i = 0; i != Size; ++i) {
        if (all[i].may_hold(use) && (found == Size || all[i].bytes > all[found].bytes)) found = i;
    }
    return found;
}

template <memory_use Use, class Needs, class... Banks>
auto diagnose_use(banks<Banks...> all) {
    constexpr auto facts = facts_of(banks<Banks...>{});
    constexpr std::size_t largest = largest_for(facts, Use);
    constexpr std::uint64_t needed = need_of<Needs>(Use);
    if constexpr (needed == 0) {
        return held<no_fault>{};
    } else if constexpr (largest == sizeof...(Banks)) {
        return held<no_bank_holds<Use>>{};
    } else if constexpr (Use != memory_use::constants && facts[largest].bytes < needed) {
        using too_small = boost::mp11::mp_at_c<banks<Banks...>, largest>;
        return held<bank_too_small<too_small::name, Use, needs_bytes<needed>, has_bytes<too_small::bytes>>>{};
    } else {
        static_cast<void>(all);
        return held<no_fault>{};
    }
}

// The first diagnosis of several.
template <class First, class... Rest>
auto first_fault(held<First> first, Rest... rest) {
    if constexpr (sizeof...(Rest) == 0 || !__is_same(First, no_fault)) {
        return first;
    } else {
        return first_fault(rest...);
    }
}

template <class Banks, class Needs>
auto diagnose_banks() {
    using enum memory_use;
    constexpr auto facts = facts_of(Banks{});
    constexpr std::uint64_t total = [] {
        std::uint64_t sum = 0;
        for (const bank_facts& b : facts_of(Banks{})) sum += b.bytes;
        return sum;
    }();
    constexpr std::uint64_t needed = Needs::constants + Needs::arena + Needs::state + Needs::stack;
    using of_one_use =
        decltype(first_fault(diagnose_use<arena, Needs>(Banks{}), diagnose_use<state, Needs>(Banks{}),
            diagnose_use<stack, Needs>(Banks{}), diagnose_use<constants, Needs>(Banks{})));
    if constexpr (!__is_same(of_one_use, held<no_fault>)) {
        return of_one_use{};
    } else if constexpr (!have_room<Needs>(facts, arena)) {
        return held<banks_too_small<needs_bytes<needed>, has_bytes<total>>>{};
    } else {
        return held<no_fault>{};
    }
}

}  // namespace detail

}  // namespace headrace

#endif
