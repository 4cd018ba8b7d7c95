// SPDX-License-Identifier: MIT
// Checks how a model of a step takes the numbers of a stream.
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include <headrace/on_device/model.hpp>
#include <headrace/on_device/move.hpp>

namespace hr = headrace::on_device;

namespace {

// Copies steps of 3 elements of axis 1, whose outputs are due from the third step on.
struct copied_steps {
    static constexpr std::int64_t macs = 0;
    static constexpr std::size_t constant_bytes = 0;
    static constexpr hr::tensor image = hr::dense(hr::element::int16, 2, 3, 2);

    using plan = hr::memory_plan<hr::buffer{hr::element::int16, 12, 0, 0, 0},
        hr::buffer{hr::element::int16, 12, 24, 0, 0}>;
    using layers =
        hr::layers<hr::layer<"copy", hr::copy<image, image>, hr::no_scratch, hr::at<0>, hr::at<1>>>;
    using first_states = hr::layers<>;
    using inputs = hr::ports<hr::port<"x", 0, image, hr::not_quantized>>;
    using outputs = hr::ports<hr::port<"y", 1, image, hr::not_quantized>>;
    struct stream {
        static constexpr hr::streamed_input inputs[]{{0, 2, 3, 2}};
        static constexpr hr::streamed_output outputs[]{{3, 5}};
        static constexpr std::int32_t first_step = 2;
    };
};

using copied_model = hr::model<copied_steps>;
static_assert(copied_model::macs == 0 && copied_model::constant_bytes == 0);

// Number k of a stream has the value k; an element of the axis has 4 of them, 2 of each row.
std::vector<std::int16_t> step_of_copies(int step) {
    std::vector<std::int16_t> y;
    for (int row = 0; row != 2; ++row)
        for (int t = 0; t != 3; ++t)
            for (int i = 0; i != 2; ++i)
                y.push_back(static_cast<std::int16_t>((step * 3 + t) * 4 + row * 2 + i));
    return y;
}

}  // namespace

TEST_CASE("a stream takes any count of numbers, and says when outputs are due", "[on_device][stream]") {
    alignas(16) static std::byte arena[copied_model::arena_bytes];
    std::vector<std::int16_t> numbers(12 * 6);
    std::iota(numbers.begin(), numbers.end(), std::int16_t{0});
    for (const std::size_t chunk : {1U, 5U, 12U, 13U, 24U, 31U, 72U}) {
        copied_model m(arena);
        int step = 2, due = 0;
        const auto check = [&] {
            const auto y = m.output<0>();
            REQUIRE(std::vector<std::int16_t>(y.begin(), y.end()) == step_of_copies(step++));
        };
        for (std::size_t at = 0; at < numbers.size(); at += chunk) {
            const std::size_t end = std::min(at + chunk, numbers.size());
            const bool is_due = m.push(std::span(numbers).subspan(at, end - at), check);
            REQUIRE(is_due == (end / 12 > at / 12 && end / 12 > 2));
            due += is_due ? 1 : 0;
        }
        CHECK(step == 6);
        CHECK(due > 0);
    }
    STATIC_REQUIRE(copied_model::delay<0>() == 5);
}

TEST_CASE("a stream begins anew, without the numbers of a step that had not begun", "[on_device][stream]") {
    alignas(16) static std::byte arena[copied_model::arena_bytes];
    copied_model m(arena);
    const std::vector<std::int16_t> zeros(12 * 3 + 7);
    CHECK(m.push(zeros.data(), zeros.size()));
    CHECK(m.is_due());
    m.reset();
    CHECK(!m.is_due());
    std::vector<std::int16_t> numbers(12 * 3);
    std::iota(numbers.begin(), numbers.end(), std::int16_t{0});
    CHECK(m.push(numbers));
    const auto y = m.output<0>();
    CHECK(std::vector<std::int16_t>(y.begin(), y.end()) == step_of_copies(2));
    CHECK(!m.push(std::span<const std::int16_t>{}));
}
