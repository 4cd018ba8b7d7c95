// SPDX-License-Identifier: MIT
// Defines the kernels of composite functions, which run the decomposition that the passes make, and those of
// random numbers.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/composite.hpp>
#include <headrace/eval/evaluation.hpp>
#include <headrace/eval/iterate.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/map.hpp>

namespace headrace::eval {

namespace {

template <op_where<aten::dialect, trait::composite> Op>
void evaluate(Op, const args<Op>&, evaluation& e) {
    evaluate_decomposed(e);
}

template <one_of<ops<aten::_upsample_bilinear2d_aa, aten::_upsample_bilinear2d_aa_vec,
    aten::_upsample_bicubic2d_aa, aten::_upsample_bicubic2d_aa_vec>>
        Op>
void evaluate(Op, const args<Op>&, evaluation& e) {
    evaluate_decomposed(e);
}

template <one_of<ops<aten::feature_dropout, aten::alpha_dropout, aten::feature_alpha_dropout>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    e.set_output(e.input(a.input));
}

void evaluate(aten::masked_scatter, const args<aten::masked_scatter>& a, evaluation& e) {
    const tensor self = broadcast_to(e.input(a.self), e.output_shape());
    const std::vector<std::int64_t> mask =
        broadcast_to(e.input(a.mask), e.output_shape()).cast(dtype::boolean).to<std::int64_t>();
    const tensor& source = e.input(a.source);
    const auto wanted = static_cast<std::int64_t>(std::ranges::count_if(mask, [](auto m) { return m != 0; }));
    if (wanted > source.size()) return e.fail("the mask selects more elements than the source has");
    visit_width(self.type(), [&]<class U>(U) {
        const auto from = source.data<U>();
        const auto out = e.output().mutable_data<U>();
        std::ranges::copy(self.data<U>(), out.begin());
        std::size_t next = 0;
        for (std::size_t i = 0; i != mask.size(); ++i) {
            if (mask[i] != 0) out[i] = from[next++];
        }
    });
}
void evaluate(aten::repeat_interleave_tensor, const args<aten::repeat_interleave_tensor>& a, evaluation& e) {
    std::vector<std::int64_t> positions;
    const std::vector<std::int64_t> repeats = e.input(a.repeats).to<std::int64_t>();
    for (std::size_t i = 0; i != repeats.size(); ++i) {
        if (repeats[i] < 0) return e.fail("a number of repetitions is negative");
        if (repeats[i] > e.output().size() - static_cast<std::int64_t>(positions.size()))
            return e.fail("the repetitions are more than output_size");
        positions.insert(positions.end(), idx(repeats[i]), static_cast<std::int64_t>(i));
    }
    if (static_cast<std::int64_t>(positions.size()) != e.output().size())
        return e.fail("the repetitions are fewer than output_size");
    e.output().assign(positions);
}

/// Different numbers on each run, as in PyTorch.
template <one_of<ops<aten::rand, aten::randn, aten::rand_like, aten::randn_like>> Op>
void evaluate(Op, const args<Op>&, evaluation& e) {
    static std::mt19937_64 engine{std::random_device{}()};
    std::vector<double> numbers(idx(e.output().size()));
    for (double& x : numbers) {
        if constexpr (one_of<Op, ops<aten::rand, aten::rand_like>>) {
            x = std::uniform_real_distribution<float>()(engine);
        } else {
            x = std::normal_distribution<double>()(engine);
        }
    }
    e.output().assign(numbers);
}
/// 1 with the given probability, 0 otherwise.
template <one_of<ops<aten::bernoulli, aten::bernoulli_p>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    static std::mt19937_64 engine{std::random_device{}()};
    std::vector<double> numbers(idx(e.output().size()));
    if constexpr (requires { a.p; }) {
        std::ranges::fill(numbers, a.p);
    } else {
        numbers = e.input(a.self).template to<double>();
    }
    for (double& x : numbers) x = std::uniform_real_distribution<float>()(engine) < x ? 1 : 0;
    e.output().assign(numbers);
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_composite_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
