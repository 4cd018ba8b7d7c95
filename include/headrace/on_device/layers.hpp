// SPDX-License-Identifier: MIT
// Defines headrace::on_device::layers, a list of calls of kernels, and how it is run.
#ifndef HEADRACE_ON_DEVICE_LAYERS_HPP
#define HEADRACE_ON_DEVICE_LAYERS_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include <headrace/on_device/core.hpp>
#include <headrace/on_device/memory_plan.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

/// Text as an argument of templates.
template <std::size_t N>
struct fixed_text {
    char text[N]{};
    consteval fixed_text(const char (&from)[N]) {  // implicit, so that "x" is one
        for (std::size_t i = 0; i != N; ++i) text[i] = from[i];
    }
    template <std::size_t M>
    constexpr bool operator==(const fixed_text<M>& other) const {
        if constexpr (N != M) return false;
        for (std::size_t i = 0; i != N && N == M; ++i)
            if (text[i] != other.text[i]) return false;
        return true;
    }
};

// Operands of a layer.

/// A buffer.
template <std::size_t Index>
struct at {};
/// An array in flash.
template <const auto& Array>
struct flash {};
/// A null pointer, in place of a constant that the layer has not.
struct nothing {};
/// Scratch memory: a buffer, or, for a kernel that needs more than was planned, the memory after the plan.
template <std::size_t Index>
struct scratch {};
/// Scratch memory that was not planned.
struct no_scratch {};

/// One call of a kernel. `Operands` are in the order of its parameters.
template <fixed_text Name, class Op, class Scratch, class... Operands>
struct layer {
    static constexpr auto name = Name;
    using op = Op;
};

template <class... Layers>
struct layers {
    static constexpr std::size_t size = sizeof...(Layers);
};

/// TOSA 1.0, 2.15.1 (COND_IF): the layers of `Then` if the boolean in a buffer is true, else those of `Else`.
template <fixed_text Name, std::size_t Condition, class Then, class Else>
struct branch {};
/// TOSA 1.0, 2.15.2 (WHILE_LOOP): `Test` computes the boolean in a buffer; `Body` runs while it is true.
template <fixed_text Name, std::size_t Condition, class Test, class Body>
struct loop {};

/// A tensor of the flatbuffer that a model was made from, and the buffer where it lies right after a layer.
struct trace {
    std::int32_t layer = 0;
    std::size_t buffer = 0;
    const char* name = "";
    tensor type{};
};

/// A tensor in memory; the next layer may write over it.
struct observed {
    const char* name = "";  ///< in the flatbuffer
    tensor type{};
    const std::byte* buffer = nullptr;  ///< `type.offset` elements before the first element
};

namespace detail {

/// The start of the arena, or of each where there are several.
template <std::int32_t Banks>
struct arena_starts {
    std::byte* of[static_cast<std::size_t>(Banks)];

    template <std::int32_t Bank>
    HEADRACE_INLINE std::byte* get() const {
        return of[Bank];
    }
    HEADRACE_INLINE std::byte* at(std::int32_t bank) const { return of[bank]; }
};
template <>
struct arena_starts<1> {
    std::byte* start;

    template <std::int32_t>
    HEADRACE_INLINE std::byte* get() const {
        return start;
    }
    HEADRACE_INLINE std::byte* at(std::int32_t) const { return start; }
};

/// Buffers as parts of the arenas.
template <class Plan, std::int32_t End>
struct arena_memory {
    arena_starts<Plan::banks> start;
    std::byte* states;

    template <std::size_t Index>
    HEADRACE_INLINE auto* get() const {
        constexpr buffer b = Plan::all[Index];
        return reinterpret_cast<element_t<b.type>*>(
            (b.is_state ? states : start.template get<b.bank>()) + b.offset);
    }
    template <std::size_t Index>
    HEADRACE_INLINE std::int8_t* get_scratch() const {
        constexpr buffer b = Plan::all[Index];
        return reinterpret_cast<std::int8_t*>(start.template get<b.bank>() + b.offset);
    }
    HEADRACE_INLINE std::int8_t* more_scratch() const {
        return reinterpret_cast<std::int8_t*>(start.template get<0>() + End);
    }
    HEADRACE_INLINE const std::byte* at(std::size_t index) const {
        const buffer& b = Plan::all[index];
        return (b.is_state ? states : start.at(b.bank)) + b.offset;
    }
};

/// Buffers as arrays, each of its type, as constant expressions need them.
template <class Plan, std::int32_t More, class Indices = std::make_index_sequence<Plan::size>>
struct separate_memory;
template <class Plan, std::int32_t More, std::size_t... Indices>
struct separate_memory<Plan, More, std::index_sequence<Indices...>> {
    std::tuple<std::array<element_t<Plan::all[Indices].type>, Plan::all[Indices].count>...> arrays{};
    std::array<std::int8_t, More + 1> more{};

    template <std::size_t Index>
    constexpr auto* get() {
        return std::get<Index>(arrays).data();
    }
    template <std::size_t Index>
    constexpr std::int8_t* get_scratch() {
        return std::get<Index>(arrays).data();
    }
    constexpr std::int8_t* more_scratch() { return more.data(); }
};

template <std::size_t Index>
HEADRACE_INLINE constexpr auto* operand(at<Index>, auto& memory) {
    return memory.template get<Index>();
}
template <const auto& Array>
HEADRACE_INLINE constexpr const auto* operand(flash<Array>, auto&) {
    return &Array[0];
}
HEADRACE_INLINE constexpr std::nullptr_t operand(nothing, auto&) { return nullptr; }

template <class Plan, class Scratch>
inline constexpr std::int32_t planned_scratch = 0;
template <class Plan, std::size_t Index>
inline constexpr std::int32_t planned_scratch<Plan, scratch<Index>> = Plan::all[Index].bytes();

/// A layer on a core: its kernel, and the scratch memory that it gets.
template <class Layer, class Core, class Plan>
struct call;
template <fixed_text Name, class Op, class Scratch, class... Operands, class Core, class Plan>
struct call<layer<Name, Op, Scratch, Operands...>, Core, Plan> {
    using used = kernel<Op, Core>;
    static constexpr bool fits = used::scratch <= planned_scratch<Plan, Scratch>;
    static constexpr std::int32_t more_scratch = fits ? 0 : used::scratch;

    template <std::size_t Index>
    HEADRACE_INLINE static constexpr std::int8_t* scratch_of(scratch<Index>, auto& memory) {
        return memory.template get_scratch<Index>();
    }

    HEADRACE_INLINE static constexpr void run(auto& memory) {
        if constexpr (used::scratch == 0) {
            used::run(operand(Operands{}, memory)...);
        } else if constexpr (fits) {
            used::run(operand(Operands{}, memory)..., scratch_of(Scratch{}, memory));
        } else {
            used::run(operand(Operands{}, memory)..., memory.more_scratch());
        }
    }
};

template <class Plan, class Core, class... Layers>
constexpr std::int32_t more_scratch(layers<Layers...>) {
    std::int32_t most = 0;
    ((most = call<Layers, Core, Plan>::more_scratch > most ? call<Layers, Core, Plan>::more_scratch : most),
        ...);
    return most;
}

// A fold over a pack: it needs no other library, and no compiler spends less on a list of types.
template <class Plan, class Core, class... Layers>
HEADRACE_INLINE constexpr void run_all(layers<Layers...>, auto& memory) {
    (call<Layers, Core, Plan>::run(memory), ...);
}

/// Calls `after(i)` after layer i.
template <class Plan, class Core, class... Layers>
void run_and_tell(layers<Layers...>, auto& memory, const auto& after) {
    std::int32_t i = 0;
    ((call<Layers, Core, Plan>::run(memory), after(i++)), ...);
}

template <class Plan, class Core, class First, class Second>
constexpr std::int32_t more_scratch_of_either() {
    const std::int32_t first = more_scratch<Plan, Core>(First{}), second = more_scratch<Plan, Core>(Second{});
    return first > second ? first : second;
}

template <fixed_text Name, std::size_t Condition, class Then, class Else, class Core, class Plan>
struct call<branch<Name, Condition, Then, Else>, Core, Plan> {
    static constexpr std::int32_t more_scratch = more_scratch_of_either<Plan, Core, Then, Else>();
    static constexpr void run(auto& memory) {
        if (*memory.template get<Condition>())
            run_all<Plan, Core>(Then{}, memory);
        else
            run_all<Plan, Core>(Else{}, memory);
    }
};
template <fixed_text Name, std::size_t Condition, class Test, class Body, class Core, class Plan>
struct call<loop<Name, Condition, Test, Body>, Core, Plan> {
    static constexpr std::int32_t more_scratch = more_scratch_of_either<Plan, Core, Test, Body>();
    static constexpr void run(auto& memory) {
        for (run_all<Plan, Core>(Test{}, memory); *memory.template get<Condition>();
             run_all<Plan, Core>(Test{}, memory))
            run_all<Plan, Core>(Body{}, memory);
    }
};

}  // namespace detail

}  // namespace headrace::on_device

#endif
