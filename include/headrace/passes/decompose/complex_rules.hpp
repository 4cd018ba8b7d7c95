// SPDX-License-Identifier: MIT
// Defines headrace::complex_rules: for each op that takes or gives complex numbers, the real ops that it
// becomes.
#ifndef HEADRACE_PASSES_DECOMPOSE_COMPLEX_RULES_HPP
#define HEADRACE_PASSES_DECOMPOSE_COMPLEX_RULES_HPP

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include <headrace/base/function_ref.hpp>
#include <headrace/ir/operand_fields.hpp>
#include <headrace/passes/decompose/signal_rules.hpp>

namespace headrace {

/// The results of an op of complex numbers, by their parts. Of real results, the imaginary part is missing.
class complex_rules {
public:
    using made = joined<complex_arithmetic::made, signal_rules::made,
        ops<aten::stack, aten::full, aten::expand, aten::select_int, aten::logical_and, aten::logical_or,
            aten::ne_tensor, aten::_to_copy>>;
    /// Ops of Fourier transforms and complex numbers, none of which is left; those of real operands too.
    using targeted_ops = joined<aten::transforms,
        ops<aten::stft, aten::stft_center, aten::istft, aten::complex, aten::polar, aten::imag,
            aten::view_as_real, aten::view_as_complex, aten::_conj, aten::conj_physical, aten::_conj_physical,
            aten::resolve_conj, aten::resolve_neg>>;
    using parts_of_value = function_ref<std::optional<complex_parts>(value)>;

    /// `parts_of` returns the parts of an operand; nothing if it has been refused.
    complex_rules(emit<made> e, const node& n, parts_of_value parts_of)
        : e_(e),
          n_(n),
          parts_of_(parts_of),
          calculate_(e),
          form_(n.find_annotation<transforms_as_products>() == nullptr ? transform_form::layers
                                                                       : transform_form::products) {}

    /// Returns the parts of all results; none if the node is refused, or if an operand was.
    pmr_vector<complex_parts> results() {
        for (const edge& operand : n_.operand_edges()) {
            if (!parts_of_(*operand.slot)) return {};
        }
        visit_args(joined<targeted_ops, arithmetic::targeted_ops>{}, n_,
            [&]<class Op>(Op op, const args<Op>& a) { results_ = {rule(op, a)}; });
        if (results_.empty() && !e_.failed()) by_traits();
        if (e_.failed()) return {};
        return results_;
    }

private:
    struct arithmetic {
        using targeted_ops =
            ops<aten::real, aten::conj, aten::abs, aten::angle, aten::sgn, aten::add_tensor, aten::sub_tensor,
                aten::rsub_tensor, aten::mul_tensor, aten::div_tensor, aten::add_scalar, aten::sub_scalar,
                aten::rsub_scalar, aten::mul_scalar, aten::div_scalar, aten::pow_tensor_scalar, aten::square,
                aten::reciprocal, aten::exp, aten::eq_tensor, aten::ne_tensor, aten::masked_fill_scalar>;
    };

    complex_parts of(value v) { return *parts_of_(v); }
    value number(scalar x, value like) { return e_.splat(x, e_.dtype(like), e_.rank(like)); }
    complex_parts real_number(scalar x, value like) { return {number(x, like)}; }
    complex_parts scaled(const complex_parts& z, scalar alpha) {
        return alpha.to_double() == 1 ? z : calculate_.product(z, real_number(alpha, z.re));
    }

    // Parts.

    complex_parts rule(aten::complex, const args<aten::complex>& a) { return {a.real, a.imag}; }
    complex_parts rule(aten::polar, const args<aten::polar>& a) { return calculate_.polar(a.abs, a.angle); }
    complex_parts rule(aten::real, const args<aten::real>& a) { return {of(a.self).re}; }
    complex_parts rule(aten::imag, const args<aten::imag>& a) {
        const complex_parts z = of(a.self);
        return {z.im ? z.im : zeros(e_, z.re)};
    }
    complex_parts rule(aten::view_as_real, const args<aten::view_as_real>& a) {
        return {as_pairs(e_, of(a.self))};
    }
    complex_parts rule(aten::view_as_complex, const args<aten::view_as_complex>& a) {
        return of_pairs(e_, a.self);
    }
    template <one_of<ops<aten::conj, aten::_conj, aten::conj_physical, aten::_conj_physical>> Op>
    complex_parts rule(Op, const args<Op>& a) {
        return calculate_.conjugate(of(a.self));
    }
    template <one_of<ops<aten::resolve_conj, aten::resolve_neg>> Op>
    complex_parts rule(Op, const args<Op>& a) {
        return of(a.self);
    }

    // Arithmetic.

    complex_parts rule(aten::abs, const args<aten::abs>& a) {
        const bool folds = form_ == transform_form::products && !is_only_squared(n_);
        return {folds ? calculate_.folded_magnitude(of(a.self)) : calculate_.magnitude(of(a.self))};
    }
    complex_parts rule(aten::angle, const args<aten::angle>& a) { return {calculate_.angle(of(a.self))}; }
    complex_parts rule(aten::sgn, const args<aten::sgn>& a) { return calculate_.sign(of(a.self)); }
    complex_parts rule(aten::add_tensor, const args<aten::add_tensor>& a) {
        return calculate_.sum(of(a.self), scaled(of(a.other), a.alpha));
    }
    complex_parts rule(aten::sub_tensor, const args<aten::sub_tensor>& a) {
        return calculate_.difference(of(a.self), scaled(of(a.other), a.alpha));
    }
    complex_parts rule(aten::rsub_tensor, const args<aten::rsub_tensor>& a) {
        return calculate_.difference(of(a.other), scaled(of(a.self), a.alpha));
    }
    complex_parts rule(aten::mul_tensor, const args<aten::mul_tensor>& a) {
        return calculate_.product(of(a.self), of(a.other));
    }
    complex_parts rule(aten::div_tensor, const args<aten::div_tensor>& a) {
        return calculate_.quotient(of(a.self), of(a.other));
    }
    complex_parts rule(aten::add_scalar, const args<aten::add_scalar>& a) {
        const complex_parts z = of(a.self);
        return calculate_.sum(z, real_number(a.other.to_double() * a.alpha.to_double(), z.re));
    }
    complex_parts rule(aten::sub_scalar, const args<aten::sub_scalar>& a) {
        const complex_parts z = of(a.self);
        return calculate_.difference(z, real_number(a.other.to_double() * a.alpha.to_double(), z.re));
    }
    complex_parts rule(aten::rsub_scalar, const args<aten::rsub_scalar>& a) {
        const complex_parts z = of(a.self);
        return calculate_.difference(real_number(a.other, z.re), scaled(z, a.alpha));
    }
    complex_parts rule(aten::mul_scalar, const args<aten::mul_scalar>& a) {
        return scaled(of(a.self), a.other);
    }
    complex_parts rule(aten::div_scalar, const args<aten::div_scalar>& a) {
        const complex_parts z = of(a.self);
        return calculate_.quotient(z, real_number(a.other, z.re));
    }
    complex_parts rule(aten::pow_tensor_scalar, const args<aten::pow_tensor_scalar>& a) {
        constexpr double most = 64;
        const double n = a.exponent.to_double();
        if (n != std::floor(n) || std::abs(n) > most || n == 0) {
            e_.unsupported("a power of complex numbers must be whole, and at most 64; use exp and log");
            return {};
        }
        const complex_parts z = calculate_.power(of(a.self), static_cast<std::int64_t>(std::abs(n)));
        return n < 0 ? calculate_.reciprocal(z) : z;
    }
    complex_parts rule(aten::square, const args<aten::square>& a) { return calculate_.power(of(a.self), 2); }
    complex_parts rule(aten::reciprocal, const args<aten::reciprocal>& a) {
        return calculate_.reciprocal(of(a.self));
    }
    complex_parts rule(aten::exp, const args<aten::exp>& a) { return calculate_.exponential(of(a.self)); }
    // Numbers are equal if both parts are, and differ if one does.
    template <one_of<ops<aten::eq_tensor, aten::ne_tensor>> Op>
    complex_parts rule(Op, const args<Op>& a) {
        const complex_parts x = of(a.self);
        const complex_parts y = of(a.other);
        const value re = e_.make<Op>(x.re, y.re);
        const value zero = number(0, x.im ? x.im : y.im);
        const value im = e_.make<Op>(x.im ? x.im : zero, y.im ? y.im : zero);
        return {std::is_same_v<Op, aten::eq_tensor> ? e_.make<aten::logical_and>(re, im)
                                                    : e_.make<aten::logical_or>(re, im)};
    }
    complex_parts rule(aten::masked_fill_scalar, const args<aten::masked_fill_scalar>& a) {
        const complex_parts z = of(a.self);
        const auto filled = [&](value v, scalar x) {
            return v ? e_.make<aten::where_self>(a.mask, number(x, v), v) : v;
        };
        const value re = filled(z.re, a.value);
        return {re, filled(z.im, 0)};
    }

    // Transforms.

    template <one_of<aten::transforms> Op>
    complex_parts rule(Op, const args<Op>& a) {
        const auto t = transform_of<Op>(a, e_.meta(a.self));
        if (!t) {
            e_.fail(t.error());
            return {};
        }
        complex_parts z = of(a.self);
        const bool is_float = is_floating(e_.dtype(z.re));
        if (!is_float) z = {cast(e_, z.re, dtype::float32)};
        if (!z.im) {
            if (const auto spectra = signal_rules(e_, form_).of_frames(z.re, t.value())) return *spectra;
        }
        return fourier_builder(e_, form_).transform(t.value(), z);
    }
    template <one_of<ops<aten::stft, aten::stft_center>> Op>
    complex_parts rule(Op, const args<Op>& a) {
        const complex_parts spectra = signal_rules(e_, form_).spectra<Op>(a, of(a.self));
        return is_complex(e_.result_meta().dtype) ? spectra : complex_parts{as_pairs(e_, spectra)};
    }
    complex_parts rule(aten::istft, const args<aten::istft>& a) {
        return signal_rules(e_, form_).signal(a, of(a.self));
    }

    // Rules by traits.

    void by_traits() {
        if (n_.op->has(trait::casting) || is<aten::_to_copy>(n_)) return cast_parts();
        if (n_.op->has(trait::gives_zeros | trait::gives_ones)) return fill();
        if (is_product() && n_.operand_count == 2) return multiply();
        if (is_linear()) return by_parts();
        e_.unsupported(no_complex_numbers);
    }
    bool is_product() const {
        return n_.op->has(trait::matrix_product) || is<aten::einsum>(n_) || is<aten::outer>(n_);
    }
    // True if each part of the results is the same function of that part of the operands.
    bool is_linear() {
        bool found = n_.op->has(trait::moving | trait::gathering | trait::copying);
        visit_args(linear::targeted_ops{}, n_, [&](auto, const auto&) { found = true; });
        return found;
    }
    struct linear {
        using targeted_ops = ops<aten::neg, aten::sum, aten::sum_dim_intlist, aten::mean, aten::mean_dim,
            aten::cumsum, aten::tril, aten::triu, aten::where_self, aten::select_scatter, aten::slice_scatter,
            aten::index_put, aten::roll, aten::fft_fftshift, aten::fft_ifftshift, aten::einsum>;
    };

    void cast_parts() {
        const dtype type = magnitude_of(n_.results[0].meta->dtype);
        if (is_boolean(type)) {
            e_.unsupported("complex numbers as booleans; compare them with 0");
            return;
        }
        complex_parts z = of(n_.operand(0));
        if (!is_complex(n_.results[0].meta->dtype)) z.im = {};
        results_.push_back(for_parts(z, [&](value v) { return cast(e_, v, type); }));
    }
    void fill() {
        const tensor_meta& meta = *n_.results[0].meta;
        const double number = n_.op->has(trait::gives_ones) ? 1 : 0;
        results_.push_back({e_.make<aten::full>(
            {.size = meta.shape, .fill_value = number, .dtype = magnitude_of(meta.dtype)})});
    }
    void multiply() {
        const complex_parts x = of(n_.operand(0));
        const complex_parts y = of(n_.operand(1));
        const auto product = [&](value a, value b) -> complex_parts {
            if (!a || !b) return {};
            const value operands[] = {a, b};
            return {clone(operands)};
        };
        const complex_parts squares = product(x.re, y.re);
        const complex_parts re = calculate_.difference(squares, product(x.im, y.im));
        const complex_parts mixed = product(x.re, y.im);
        results_.push_back({re.re, calculate_.sum(mixed, product(x.im, y.re)).re});
    }
    void by_parts() {
        if (gives_dtype() || pads_with_number(n_)) {
            e_.unsupported("complex numbers with a dtype, or a number other than 0 around them");
            return;
        }
        const auto fields = operand_fields(n_);
        pmr_vector<value> re, im;
        bool has_im = false;
        for (std::size_t i = 0; i != n_.operand_count; ++i) {
            const complex_parts z = of(n_.operand(i));
            const bool is_place = fields[i] == "condition" || fields[i].starts_with("ind");
            has_im = has_im || z.im;
            re.push_back(z.re);
            im.push_back(is_place ? z.re : z.im);
        }
        node* first = clone_node(re);
        if (first == nullptr) return;
        for (std::uint32_t i = 0; i != n_.result_count; ++i) results_.push_back({first->result(i)});
        if (!has_im) return;
        for (std::size_t i = 0; i != im.size(); ++i)
            if (!im[i]) im[i] = zeros(e_, re[i]);
        node* second = clone_node(im);
        for (std::uint32_t i = 0; second != nullptr && i != n_.result_count; ++i)
            results_[i].im = second->result(i);
    }
    node* clone_node(std::span<const value> operands) {
        return e_.clone(n_, operands, [](tensor_meta& meta) { meta.dtype = magnitude_of(meta.dtype); });
    }
    value clone(std::span<const value> operands) {
        node* copy = clone_node(operands);
        return copy == nullptr ? value{} : copy->result();
    }
    bool gives_dtype() {
        return std::any_of(n_.op->begin(), n_.op->end(), [&](const field_info& f) {
            return f.kind == field_kind::element_type && f.item_in(n_.arguments) != nullptr;
        });
    }

    emit<made> e_;
    const node& n_;
    parts_of_value parts_of_;
    complex_arithmetic calculate_;
    transform_form form_;
    pmr_vector<complex_parts> results_;
};

}  // namespace headrace

#endif
