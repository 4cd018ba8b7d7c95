// SPDX-License-Identifier: MIT
// Defines headrace::on_device::model, a network as a list of layers over a planned arena.
#ifndef HEADRACE_ON_DEVICE_MODEL_HPP
#define HEADRACE_ON_DEVICE_MODEL_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <headrace/on_device/core.hpp>
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

/// Memory for a tensor, or for several that never live at once: `count` elements from byte `offset` of the arena on,
/// in use from the layer `first` to the layer `last`. A state lives from one inference to the next, and lies in the
/// model itself.
struct buffer {
    element type = element::int8;
    std::int32_t count = 0;
    std::int32_t offset = 0;
    std::int32_t first = 0, last = 0;
    bool is_state = false;

    constexpr std::int32_t bytes() const { return count * bytes_of(type); }
    constexpr bool overlaps(const buffer& other) const {
        return offset < other.offset + other.bytes() && other.offset < offset + bytes();
    }
    constexpr bool lives_with(const buffer& other) const {
        return is_state == other.is_state && first <= other.last && other.first <= last;
    }
};

template <buffer... Buffers>
struct memory_plan {
    static constexpr std::size_t size = sizeof...(Buffers);
    static constexpr std::array<buffer, sizeof...(Buffers)> all{Buffers...};

    static constexpr std::int32_t end_of(bool is_state) {
        std::int32_t end = 0;
        for (const buffer& b : all)
            if (b.is_state == is_state && b.offset + b.bytes() > end) end = b.offset + b.bytes();
        return end;
    }
    static constexpr std::int32_t bytes = end_of(false), state_bytes = end_of(true);
    /// The least that any plan needs: what lives at the fullest layer.
    static constexpr std::int32_t lower_bound = [] {
        std::int32_t most = 0;
        for (const buffer& at : all) {
            std::int32_t sum = 0;
            for (const buffer& b : all)
                sum += !b.is_state && b.first <= at.first && at.first <= b.last ? b.bytes() : 0;
            most = sum > most ? sum : most;
        }
        return most;
    }();
    /// True if no two buffers that live at once share a byte, and each lies where its elements may.
    static constexpr bool is_sound = [] {
        for (std::size_t i = 0; i != size; ++i) {
            if (all[i].offset % bytes_of(all[i].type) != 0) return false;
            for (std::size_t k = 0; k != i; ++k)
                if (all[i].lives_with(all[k]) && all[i].overlaps(all[k])) return false;
        }
        return true;
    }();
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
/// Scratch memory: a buffer, or, for a kernel that needs more than was planned, what lies behind the plan.
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
/// TOSA 1.0, 2.15.2 (WHILE_LOOP): `Test` computes the boolean in a buffer; `Body` runs as long as it is true.
template <fixed_text Name, std::size_t Condition, class Test, class Body>
struct loop {};

namespace detail {

/// Buffers as parts of an arena.
template <class Plan, std::int32_t End>
struct arena_memory {
    std::byte* start;
    std::byte* states;

    template <std::size_t Index>
    HEADRACE_INLINE auto* get() const {
        constexpr buffer b = Plan::all[Index];
        return reinterpret_cast<element_t<b.type>*>((b.is_state ? states : start) + b.offset);
    }
    template <std::size_t Index>
    HEADRACE_INLINE std::int8_t* get_scratch() const {
        return reinterpret_cast<std::int8_t*>(start + Plan::all[Index].offset);
    }
    HEADRACE_INLINE std::int8_t* more_scratch() const { return reinterpret_cast<std::int8_t*>(start + End); }
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
    ((most = call<Layers, Core, Plan>::more_scratch > most ? call<Layers, Core, Plan>::more_scratch : most), ...);
    return most;
}

// A fold over a pack: it needs no other library, and no compiler spends less on a list of types.
template <class Plan, class Core, class... Layers>
HEADRACE_INLINE constexpr void run_all(layers<Layers...>, auto& memory) {
    (call<Layers, Core, Plan>::run(memory), ...);
}

template <class Plan, class Core, class First, class Second>
inline constexpr std::int32_t more_scratch_of_either =
    more_scratch<Plan, Core>(First{}) > more_scratch<Plan, Core>(Second{}) ? more_scratch<Plan, Core>(First{})
                                                                          : more_scratch<Plan, Core>(Second{});

template <fixed_text Name, std::size_t Condition, class Then, class Else, class Core, class Plan>
struct call<branch<Name, Condition, Then, Else>, Core, Plan> {
    static constexpr std::int32_t more_scratch = more_scratch_of_either<Plan, Core, Then, Else>;
    static constexpr void run(auto& memory) {
        if (*memory.template get<Condition>())
            run_all<Plan, Core>(Then{}, memory);
        else
            run_all<Plan, Core>(Else{}, memory);
    }
};
template <fixed_text Name, std::size_t Condition, class Test, class Body, class Core, class Plan>
struct call<loop<Name, Condition, Test, Body>, Core, Plan> {
    static constexpr std::int32_t more_scratch = more_scratch_of_either<Plan, Core, Test, Body>;
    static constexpr void run(auto& memory) {
        for (run_all<Plan, Core>(Test{}, memory); *memory.template get<Condition>();
             run_all<Plan, Core>(Test{}, memory))
            run_all<Plan, Core>(Body{}, memory);
    }
};

}  // namespace detail

/// An input or output of a model: the elements of a buffer, `Offset` elements behind its start, in row-major order.
template <fixed_text Name, std::size_t Buffer, tensor Type, class Quantization>
struct port {
    static constexpr auto name = Name;
    static constexpr std::size_t buffer = Buffer;
    static constexpr tensor type = Type;
    using element_type = element_t<Type.type>;
    using quantization = Quantization;
    using array = std::array<element_type, static_cast<std::size_t>(Type.elements())>;
};

/// For integers that stand for no real numbers, and for floats.
struct not_quantized {};

/// The elements of a port, and what their integers stand for: `scale` times the difference to `zero_point`.
template <class Port, class Element>
struct port_span : std::span<Element, static_cast<std::size_t>(Port::type.elements())>, Port::quantization {
    using base = std::span<Element, static_cast<std::size_t>(Port::type.elements())>;
    constexpr explicit port_span(Element* first) : base(first, base::extent) {}
};

template <class... Ports>
struct ports {
    static constexpr std::size_t size = sizeof...(Ports);
    template <std::size_t Index>
    using get = std::tuple_element_t<Index, std::tuple<Ports...>>;
    template <fixed_text Name>
    static constexpr std::size_t find = [] {
        std::size_t i = 0;
        static_cast<void>(((Ports::name == Name ? true : (++i, false)) || ...));
        return i;
    }();
};

/// A network. `Description` is what `headrace lower MODEL -o NAME.hpp` writes: `plan`, `layers`, `first_states`,
/// `inputs`, `outputs`, `macs` and `constant_bytes`. It needs no memory but the arena, and calls nothing but its kernels.
template <class Description, class Core = native>
class model {
    using plan = typename Description::plan;
    using all_layers = typename Description::layers;
    static constexpr std::int32_t more = detail::more_scratch<plan, Core>(all_layers{});
    static constexpr std::int32_t planned_end = (plan::bytes + 15) / 16 * 16;

    static_assert(plan::is_sound, "the memory plan puts two tensors that live at once into one place");

public:
    using inputs = typename Description::inputs;
    using outputs = typename Description::outputs;

    /// Multiplications with additions of convolutions and matrix products, in one inference.
    static constexpr std::int64_t macs = Description::macs;
    /// Of the arena.
    static constexpr std::size_t arena_bytes =
        static_cast<std::size_t>(more == 0 ? plan::bytes : planned_end + more);
    /// Weights, scales and tables, in flash.
    static constexpr std::size_t constant_bytes = Description::constant_bytes;
    static constexpr std::size_t arena_lower_bound = static_cast<std::size_t>(plan::lower_bound);

    /// The arena is `arena_bytes`, aligned to 16 bytes; other models may use it between two inferences.
    explicit model(std::span<std::byte, arena_bytes> arena) : model(arena.data()) {}
    explicit model(std::byte* arena) : arena_(arena) { reset(); }

    /// Gives states the values that they begin with.
    void reset() {
        auto memory = this->memory();
        detail::run_all<plan, Core>(typename Description::first_states{}, memory);
    }

    template <std::size_t Index>
    auto input() {
        using p = typename inputs::template get<Index>;
        return port_span<p, typename p::element_type>(memory().template get<p::buffer>() + p::type.offset);
    }
    template <fixed_text Name>
        requires(inputs::template find<Name> < inputs::size)
    auto input() {
        return input<inputs::template find<Name>>();
    }
    template <std::size_t Index>
    auto output() {
        using p = typename outputs::template get<Index>;
        return port_span<p, const typename p::element_type>(memory().template get<p::buffer>() + p::type.offset);
    }
    template <fixed_text Name>
        requires(outputs::template find<Name> < outputs::size)
    auto output() {
        return output<outputs::template find<Name>>();
    }

    /// One inference. The inputs' memory is used for other tensors: write them anew before the next.
    void run() {
        auto memory = this->memory();
        detail::run_all<plan, Core>(all_layers{}, memory);
    }

    /// One inference in a constant expression, of a model with one input and one output: `run<portable>(x) == y`.
    template <class OnCore>
    static constexpr auto run(const typename inputs::template get<0>::array& x) {
        using from = typename inputs::template get<0>;
        using to = typename outputs::template get<0>;
        detail::separate_memory<plan, detail::more_scratch<plan, OnCore>(all_layers{})> memory;
        auto* const in = memory.template get<from::buffer>() + from::type.offset;
        for (std::size_t i = 0; i != x.size(); ++i) in[i] = x[i];
        detail::run_all<plan, OnCore>(typename Description::first_states{}, memory);
        detail::run_all<plan, OnCore>(all_layers{}, memory);
        typename to::array y{};
        const auto* const out = memory.template get<to::buffer>() + to::type.offset;
        for (std::size_t i = 0; i != y.size(); ++i) y[i] = out[i];
        return y;
    }

private:
    detail::arena_memory<plan, planned_end> memory() { return {arena_, states_}; }

    std::byte* arena_;
    alignas(8) std::byte states_[plan::state_bytes == 0 ? 1 : plan::state_bytes];
};

}  // namespace headrace::on_device

#endif
