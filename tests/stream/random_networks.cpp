// SPDX-License-Identifier: MIT
// Tests that random networks give the same numbers in steps as they give of whole windows.
//
// HEADRACE_RANDOM_STREAMS sets their number, HEADRACE_FIRST_STREAM the first seed.
#include "networks.hpp"

#include <cstdlib>

using headrace::testing::stream_network;
using namespace headrace;

namespace {

class random_network {
public:
    explicit random_network(std::uint32_t seed)
        : n(1 + seed % 3, 96, seed), quantizes_(seed % 2 == 1), now_(n.x()) {
        if (quantizes_) now_ = n.quantized(now_);
        const int layers = 2 + pick(5);
        for (int i = 0; i != layers; ++i) {
            add_layer();
            if (quantizes_) now_ = n.quantized(now_);
            known_.push_back(now_);
        }
        n.end(now_);
    }

    stream_network n;
    [[nodiscard]] bool quantizes() const { return quantizes_; }

private:
    int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(n.random()); }
    [[nodiscard]] std::int64_t length() const { return stream_network::shape(now_)[2]; }
    [[nodiscard]] std::int64_t channels() const { return stream_network::shape(now_)[1]; }

    void add_window() {
        const std::int64_t kernel = 1 + pick(4);
        const std::int64_t dilation = 1 + pick(3);
        const std::int64_t span = (kernel - 1) * dilation + 1;
        const std::int64_t stride = halvings_ < 2 && pick(3) == 0 ? 2 : 1;
        if (length() < 2 * span + 8) return;
        halvings_ += stride - 1;
        const std::int64_t before = pick(3) == 0 ? span - 1 : 0;
        if (before != 0) now_ = n.add<aten::constant_pad_nd>({now_, {before, 0}});
        const std::int64_t padding = before == 0 && pick(2) == 0 ? span / 2 : 0;
        now_ = n.convolution(now_, 1 + pick(3), kernel, stride, padding, dilation);
    }
    void add_pool() {
        if (length() < 16 || halvings_ >= 2) return;
        ++halvings_;
        const std::int64_t kernel = 2 + pick(2);
        if (pick(2) == 0) {
            const std::int64_t padding = pick(2);
            pads_with_zeros_ = pads_with_zeros_ && padding == 0;
            now_ = n.add<aten::max_pool1d>(
                {.self = now_, .kernel_size = {kernel}, .stride = {2}, .padding = {padding}});
        } else {
            now_ = n.add<aten::avg_pool1d>({.self = now_, .kernel_size = {2}, .stride = {2}});
        }
    }
    void add_upsampling() {
        if (length() > 128) return;
        if (pick(3) == 0) {
            const int_list size{2 * length()};
            const bool is_linear = pick(2) == 0;
            pads_with_zeros_ = pads_with_zeros_ && !is_linear;
            now_ = is_linear
                ? n.add<aten::upsample_linear1d>({.self = now_, .output_size = size, .align_corners = false})
                : n.add<aten::upsample_nearest1d>({.self = now_, .output_size = size});
            return;
        }
        now_ = n.add<aten::conv_transpose1d>({.input = now_,
            .weight = n.weights({channels(), 2, 1 + pick(5)}),
            .stride = {2},
            .padding = {pick(2)},
            .output_padding = {pick(2)}});
    }
    void join() {
        std::vector<value> fitting;
        for (const value v : known_) {
            if (std::ranges::equal(stream_network::shape(v), stream_network::shape(now_)))
                fitting.push_back(v);
        }
        if (fitting.empty()) return;
        const value other = fitting[static_cast<std::size_t>(pick(static_cast<int>(fitting.size())))];
        const value both[]{other, now_};
        now_ = pick(2) == 0 ? n.add<aten::add_tensor>({other, now_}) : n.add<aten::cat>({both, 1});
    }
    void add_rows() {
        const value rows = n.add<aten::transpose_int>({now_, 1, 2});
        const value made = n.add<aten::linear>({rows, n.weights({2, channels()}), n.weights({2})});
        now_ = n.add<aten::permute>({made, {0, 2, 1}});
    }
    void add_recurrence() {
        const value rows = n.add<aten::transpose_int>({now_, 1, 2});
        const value params[]{n.weights({6, channels()}), n.weights({6, 2}), n.weights({6}), n.weights({6})};
        const value made =
            n.add<aten::gru_input>({rows, n.weights({1, 1, 2}), params, true, 1, 0.0, false, false, true});
        now_ = n.add<aten::permute>({made, {0, 2, 1}});
    }
    void add_layer() {
        switch (pick(11)) {
            case 0:
                now_ = n.add<aten::relu>({now_});
                return;
            case 1:
                now_ = n.add<aten::hardtanh>({now_});
                return;
            case 2:
                add_pool();
                return;
            case 3:
                add_upsampling();
                return;
            case 4:
            case 5:
                join();
                return;
            case 6:
                add_rows();
                return;
            case 7:
                if (pads_with_zeros_ && !quantizes_ && !sums_) now_ = n.add<aten::cumsum>({now_, 2});
                sums_ = true;
                return;
            case 8:
                if (pads_with_zeros_ && !quantizes_) add_recurrence();
                return;
            default:
                add_window();
                return;
        }
    }

    bool quantizes_;
    value now_;
    std::vector<value> known_;
    std::int64_t halvings_ = 0;
    bool sums_ = false;            // once, as differences of large sums lose digits
    bool pads_with_zeros_ = true;  // a recurrence needs that of what is before it
};

}  // namespace

TEST_CASE("random networks are equal in steps", "[stream]") {
    const char* const asked = std::getenv("HEADRACE_RANDOM_STREAMS");
    const auto count = static_cast<std::uint32_t>(asked != nullptr ? std::atoi(asked) : 1000);
    std::uint64_t compared = 0;
    const char* const from = std::getenv("HEADRACE_FIRST_STREAM");
    const auto begin = static_cast<std::uint32_t>(from != nullptr ? std::atoi(from) : 0);
    for (std::uint32_t seed = begin; seed != begin + count; ++seed) {
        random_network network(seed);
        INFO("seed " << seed);
        const auto made = network.n.stream(4 * (1 + seed % 3));
        if (!made) FAIL(made.error().message);
        const auto check = network.n.check(made.value(), seed);
        if (!check) FAIL(check.error().message);
        INFO(check.value().where << " differs by " << check.value().largest);
        REQUIRE(check.value().agrees());
        if (network.quantizes()) REQUIRE(check.value().different == 0);
        compared += check.value().compared;
    }
    REQUIRE(compared > count);
}
