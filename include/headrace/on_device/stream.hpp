// SPDX-License-Identifier: MIT
// Defines what a model of a step says of its stream, and the memory that collects a step's numbers.
#ifndef HEADRACE_ON_DEVICE_STREAM_HPP
#define HEADRACE_ON_DEVICE_STREAM_HPP

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace headrace::on_device {

/// An input of which each inference takes the next elements of an axis: its port, and the sizes before the
/// axis, of it, and after it.
struct streamed_input {
    std::size_t port = 0;
    std::int32_t outer = 1, step = 1, inner = 1;

    constexpr std::int32_t numbers() const { return outer * step * inner; }
};

/// An output: element n of its axis is element n - delay of what the whole model computes. It has no such
/// axis if each inference makes no elements of one.
struct streamed_output {
    std::int32_t elements = 0, delay = 0;
};

/// A model of a step: its description has a type `stream` with `inputs`, `outputs` and `first_step`.
template <class Description>
concept streaming = requires { typename Description::stream; };

namespace detail {

template <class Description>
inline constexpr bool is_streaming = streaming<Description>;  // whose assertion does not print the concept

/// The model can take numbers as they come: its only input is the stream.
template <class Description>
inline constexpr bool takes_numbers = false;
template <streaming Description>
inline constexpr bool takes_numbers<Description> = Description::inputs::size == 1;

template <class Description>
struct number_of {
    using type = std::int8_t;
};
template <class Description>
    requires(Description::inputs::size != 0)
struct number_of<Description> {
    using type = typename Description::inputs::template get<0>::element_type;
};

/// Counts the inferences of a stream.
template <class Description>
struct step_count {
    void reset() {}
    void next() {}
};
template <streaming Description>
struct step_count<Description> {
    static constexpr std::int32_t first = Description::stream::first_step;
    std::int32_t begun = 0;  ///< at most one more than `first`

    void reset() { begun = 0; }
    void next() { begun += begun <= first ? 1 : 0; }
    bool is_due() const { return begun > first; }
};

/// The numbers of a step that has not begun, as they came.
template <class Description>
struct collected_step {
    void reset() {}
};
template <class Description>
    requires takes_numbers<Description>
struct collected_step<Description> {
    static constexpr streamed_input axis = Description::stream::inputs[0];
    static constexpr auto size = static_cast<std::size_t>(axis.numbers());
    using number = typename number_of<Description>::type;
    number numbers[size]{};
    std::size_t count = 0;

    void reset() { count = 0; }

    /// Takes numbers from `from` on, of `available`. Returns a step's numbers, or null if it is not full.
    const number* next(const number*& from, std::size_t& available) {
        if (count == 0 && available >= size) {
            const number* const whole = from;
            from += size, available -= size;
            return whole;
        }
        for (; available != 0 && count != size; --available) numbers[count++] = *from++;
        if (count != size) return nullptr;
        count = 0;
        return numbers;
    }
    /// Puts a step's numbers, which come element by element of the axis, in the order of the input.
    static void place(const number* from, number* to) {
        const auto outer = static_cast<std::size_t>(axis.outer), step = static_cast<std::size_t>(axis.step),
                   inner = static_cast<std::size_t>(axis.inner);
        for (std::size_t t = 0; t != step; ++t)
            for (std::size_t o = 0; o != outer; ++o)
                for (std::size_t i = 0; i != inner; ++i) to[(o * step + t) * inner + i] = *from++;
    }
};

}  // namespace detail

}  // namespace headrace::on_device

#endif
