// SPDX-License-Identifier: MIT
// Pushes numbers to a model of a whole window.
// EXPECT: push: the model is not one of a step
// LINES: clang++ 11

#include <headrace/on_device/model.hpp>
#include <headrace/on_device/move.hpp>

namespace hr = headrace::on_device;

struct steps {
    static constexpr hr::streamed_input inputs[]{{0, 1, 4, 1}};
    static constexpr hr::streamed_output outputs[]{{4, 0}};
    static constexpr std::int32_t first_step = 0;
};

struct description {
    static constexpr hr::tensor row = hr::dense(hr::element::int8, 4);
    using plan =
        hr::memory_plan<hr::buffer{hr::element::int8, 4, 0, 0, 0}, hr::buffer{hr::element::int8, 4, 4, 0, 0}>;
    using layers = hr::layers<hr::layer<"copy", hr::copy<row, row>, hr::no_scratch, hr::at<0>, hr::at<1>>>;
    using first_states = hr::layers<>;
    using inputs = hr::ports<hr::port<"x", 0, row, hr::not_quantized>>;
    using outputs = hr::ports<hr::port<"y", 1, row, hr::not_quantized>>;
    static constexpr std::int64_t macs = 0;
    static constexpr std::size_t constant_bytes = 0;
    using stream = steps;
};

bool hear(hr::model<description>& m, std::span<const std::int8_t> numbers) { return m.push(numbers); }
