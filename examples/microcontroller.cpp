// SPDX-License-Identifier: MIT
// Runs a model as a C++ type, as firmware does, and computes some of its layers by a custom kernel.
// [firmware]
#include <algorithm>
// [stream]
#include <cstddef>
#include <cstdint>
// [firmware]
#include <span>
// [stream]
// [observer]
#include <cstdio>

#include <headrace/on_device/dump.hpp>

// [firmware]
#include "kws.hpp"
// [observer]

static_assert(kws::model::macs == 2'656'768 && kws::model::arena_bytes <= 9 * 1024);
alignas(16) static std::byte arena[kws::model::arena_bytes];

auto classify(const std::int8_t (&features)[490]) {
    static kws::model m{arena};
    std::ranges::copy(features, m.input<"x">().begin());
    m.run();
    return m.output<0>();
}
// [firmware]

// [stream]
#include "kws_step.hpp"

alignas(16) static std::byte arena_of_step[kws_step::model::arena_bytes];

/// Takes any number of features as they come, and calls `use` with the scores of each step that are due.
void listen(std::span<const std::int8_t> features, const auto& use) {
    static kws_step::model m{arena_of_step};
    m.push(features, [&] { use(m.output<0>()); });
}
// [stream]

// [observer]
// Writes each tensor of an inference: to a UART, by semihosting, or to memory.
void dump(kws::model& m, std::FILE* to) {
    m.run(headrace::on_device::dump(
        [to](const void* bytes, std::size_t count) { std::fwrite(bytes, 1, count, to); }));
}
// [observer]

// [own_kernel]
struct my_npu {
    using next = headrace::on_device::native;
};

/// Computes pointwise convolutions of images with planar channels.
template <headrace::on_device::convolution S>
    requires(S.is_pointwise() && S.input.stride[3] != 1)
struct headrace::on_device::kernel<headrace::on_device::conv2d<S>, my_npu> {
    static constexpr std::int32_t scratch = 64;  // bytes; the arena grows if the plan has fewer

    static void run(
        const std::int8_t* x, const std::int8_t* w, const channel* q, std::int8_t* y, std::int8_t* memory) {
        static_assert(kernel<conv2d<S>, native>::scratch <= scratch);
        kernel<conv2d<S>, native>::run(x, w, q, y, memory);  // a real one would start the NPU
    }
};

using accelerated = headrace::on_device::model<kws::description, my_npu>;
// [own_kernel]

int main() {
    std::int8_t features[490];
    for (std::size_t i = 0; i != std::size(features); ++i)
        features[i] = static_cast<std::int8_t>(i * 37 % 251);
    const auto scores = classify(features);
    std::printf("%zu scores, the best is number %td\n", scores.size(),
        std::ranges::max_element(scores) - scores.begin());

    int due = 0;
    for (int second = 0; second != 2; ++second) listen(features, [&](auto) { ++due; });
    std::printf("a stream: %d scores in 2 s\n", due);

    static kws::model observed{arena};
    std::ranges::copy(features, observed.input<"x">().begin());
    std::FILE* const file = std::tmpfile();
    dump(observed, file);
    std::printf("a dump of %ld bytes\n", std::ftell(file));
    std::fclose(file);

    alignas(16) static std::byte larger[accelerated::arena_bytes];
    accelerated m{larger};
    std::ranges::copy(features, m.input<"x">().begin());
    m.run();
    std::printf("by the own kernel: %s, in %zu bytes more\n",
        std::ranges::equal(m.output<0>(), scores) ? "the same" : "other scores",
        accelerated::arena_bytes - kws::model::arena_bytes);
}
