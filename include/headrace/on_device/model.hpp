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
#include <headrace/on_device/layers.hpp>
#include <headrace/on_device/memory_plan.hpp>
#include <headrace/on_device/sample.hpp>
#include <headrace/on_device/stream.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

/// An input or output of a model: the elements of a buffer, `Offset` elements after its start, in row-major
/// order.
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

/// A network. `Description` is what `headrace lower MODEL -o NAME.hpp` writes: `plan`, `layers`,
/// `first_states`, `inputs`, `outputs`, `macs` and `constant_bytes`, and `stream` for a model of a step. It
/// needs no memory but the arena, and calls nothing but its kernels.
template <class Description, class Core = native>
class model {
    using plan = typename Description::plan;
    using number = typename detail::number_of<Description>::type;
    using all_layers = typename Description::layers;
    static constexpr std::int32_t more = detail::more_scratch<plan, Core>(all_layers{});
    static constexpr std::int32_t planned_end = (plan::bytes + 15) / 16 * 16;

    static_assert(plan::is_sound, "the memory plan puts two tensors that live at once into one place");

public:
    using inputs = typename Description::inputs;
    using outputs = typename Description::outputs;

    /// Multiplications with additions of convolutions and matrix products, in one inference.
    static constexpr std::int64_t macs = Description::macs;
    /// The size of the arena.
    static constexpr std::size_t arena_bytes =
        static_cast<std::size_t>(more == 0 ? plan::bytes : planned_end + more);
    /// The size of the arena in each bank of memory, if there are several.
    static constexpr auto bytes_of_bank = [] {
        std::array<std::size_t, static_cast<std::size_t>(plan::banks)> bytes{arena_bytes};
        for (std::size_t i = 1; i != bytes.size(); ++i)
            bytes[i] = static_cast<std::size_t>(plan::end_of(false, static_cast<std::int32_t>(i)));
        return bytes;
    }();
    /// Weights, scales and tables, in flash.
    static constexpr std::size_t constant_bytes = Description::constant_bytes;
    static constexpr std::size_t arena_lower_bound = static_cast<std::size_t>(plan::lower_bound);

    /// The arena is `arena_bytes`, aligned to 16 bytes; other models may use it between two inferences.
    explicit model(std::span<std::byte, arena_bytes> memory_of_arena)
        requires(plan::banks == 1)
        : model(memory_of_arena.data()) {}
    explicit model(std::byte* start_of_arena)
        requires(plan::banks == 1)
        : arena_{start_of_arena} {
        reset();
    }
    /// An arena in each bank of memory: each has the `bytes_of_bank` of its number, aligned to 16 bytes.
    explicit model(const std::array<std::byte*, static_cast<std::size_t>(plan::banks)>& starts_of_arenas)
        requires(plan::banks > 1)
    {
        for (std::size_t i = 0; i != starts_of_arenas.size(); ++i) arena_.of[i] = starts_of_arenas[i];
        reset();
    }

    /// Gives states the values that they begin with. A stream begins anew.
    void reset() {
        steps_.reset();
        collected_.reset();
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
        return port_span<p, const typename p::element_type>(
            memory().template get<p::buffer>() + p::type.offset);
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
        steps_.next();
    }

    /// Takes numbers of a stream, any count of them: element after element of the streamed axis, each in the
    /// order of the input's other axes. Each step that they fill is run. Returns true if the outputs of one
    /// were due: those of the last one can be read until the next call that fills a step. `on_output()` is
    /// called after each step whose outputs are due, and can read them.
    template <class OnOutput>
    bool push(std::span<const number> numbers, OnOutput&& on_output) {
        static_assert(detail::is_streaming<Description>,
            "push: the model is not one of a step; make it one by `headrace stream` or `lower --stream`");
        static_assert(!detail::is_streaming<Description> || inputs::size == 1,
            "push: the model has inputs beside its stream; write them and call run(), or keep states in it");
        bool is_one_due = false;
        if constexpr (detail::takes_numbers<Description>) {
            const number* from = numbers.data();
            std::size_t available = numbers.size();
            while (const number* const step = collected_.next(from, available)) {
                collected_.place(step, input<0>().data());
                run();
                if (!is_due()) continue;
                is_one_due = true;
                on_output();
            }
        }
        return is_one_due;
    }
    bool push(std::span<const number> numbers) {
        return push(numbers, [] {});
    }
    bool push(const number* first, std::size_t count) { return push(std::span(first, count)); }

    /// True if the outputs of the last inference of a stream are those of the whole model: it has had the
    /// elements that they depend on.
    [[nodiscard]] bool is_due() const
        requires streaming<Description>
    {
        return steps_.is_due();
    }
    /// Elements by which an output of a stream comes later than the whole model's.
    template <std::size_t Output>
        requires streaming<Description>
    static constexpr std::int32_t delay() {
        return Description::stream::outputs[Output].delay;
    }

    /// One inference that shows an observer each input, and each result that the flatbuffer has, too, right
    /// after its layer: `observer(const observed&)`. headrace::on_device::dump is one.
    template <class Observer>
        requires(requires(Observer& f, const observed& x) { f(x); })
    void run(Observer&& observer) {
        auto memory = this->memory();
        const auto show = [&]<std::size_t... I>(std::index_sequence<I...>) {
            (observer(observed{inputs::template get<I>::name.text, inputs::template get<I>::type,
                 memory.at(inputs::template get<I>::buffer)}),
                ...);
        };
        show(std::make_index_sequence<inputs::size>{});
        detail::run_and_tell<plan, Core>(all_layers{}, memory, [&]([[maybe_unused]] std::int32_t layer) {
            if constexpr (requires { Description::traces; })
                for (const trace& t : Description::traces)
                    if (t.layer == layer) observer(observed{t.name, t.type, memory.at(t.buffer)});
        });
    }

    /// Runs the sample that the header carries, and compares its results: true if this board computes what
    /// `headrace run` does. States begin anew afterwards.
    [[nodiscard]] bool self_test()
        requires(requires { typename Description::sample; })
    {
        using expected = typename Description::sample;
        sample_numbers numbers;
        const auto fill = [&]<std::size_t... I>(std::index_sequence<I...>) { (fill_input<I>(numbers), ...); };
        const auto compare = [&]<std::size_t... I>(std::index_sequence<I...>) {
            return (has_output<I>(expected::template get<I>()) && ...);
        };
        reset();
        fill(std::make_index_sequence<inputs::size>{});
        run();
        const bool is_right = compare(std::make_index_sequence<outputs::size>{});
        reset();
        return is_right;
    }

    /// One inference in a constant expression, of a model with one input and one output: `run<portable>(x) ==
    /// y`.
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
    template <std::size_t Index>
    void fill_input(sample_numbers& numbers) {
        for (auto& x : input<Index>()) x = numbers.template next<inputs::template get<Index>::type.type>();
    }
    template <std::size_t Index>
    bool has_output(const auto& expected) {
        const auto y = output<Index>();
        constexpr element type = outputs::template get<Index>::type.type;
        const auto step = static_cast<std::size_t>(sample_step(static_cast<std::int32_t>(y.size())));
        return are_near<type>(y.data(), expected, y.size(), step);
    }

    detail::arena_memory<plan, planned_end> memory() { return {arena_, states_}; }

    detail::arena_starts<plan::banks> arena_;
    [[no_unique_address]] detail::step_count<Description> steps_;
    [[no_unique_address]] detail::collected_step<Description> collected_;
    alignas(8) std::byte states_[plan::state_bytes == 0 ? 1 : plan::state_bytes];
};

}  // namespace headrace::on_device

#endif
