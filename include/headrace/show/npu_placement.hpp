// SPDX-License-Identifier: MIT
// Defines headrace::npu_placement, which tensors of a TOSA graph are on the chip.
#ifndef HEADRACE_SHOW_NPU_PLACEMENT_HPP
#define HEADRACE_SHOW_NPU_PLACEMENT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include <headrace/show/npu_fusion.hpp>
#include <headrace/target/npu_layer.hpp>

namespace headrace {

namespace detail {

/// Decides which results of operators stay on the chip, and in which layout.
class npu_placement {
public:
    npu_placement(const graph& g, const std::vector<fused_operator>& operators, const npu& target)
        : limit_(target.on_chip_bytes) {
        for (const node& n : g.nodes()) find_storage(n);
        for (std::size_t i = 0; i != operators.size(); ++i) {
            const fused_operator& all = operators[i];
            touch(result_of(all.copied != nullptr ? *all.head : all.last()), i);
            const auto read = [&](const node& n) {
                for (std::uint32_t k = 0; k != n.operand_count; ++k) touch(n.operand(k), i);
            };
            if (all.copied != nullptr) {
                touch(result_of(*all.copied), i);
                continue;
            }
            read(*all.head);
            for (const node* n : all.before) read(*n);
            for (const node* n : all.after) read(*n);
        }
        place(operators.size());
        for (const fused_operator& all : operators) put_in_stripes(all);
    }

    void apply(npu_image& image, value v) const {
        const auto found = storage_.find(v.producer);
        const auto it = found == storage_.end() ? tensors_.end() : tensors_.find(found->second);
        if (it == tensors_.end()) return;
        image.on_chip = limit_ == 0 || it->second.on_chip;
        image.in_groups = !it->second.is_linear;
    }

private:
    // Vela computes a convolution of the network's image, and the windows that alone read its result, in
    // stripes, to keep the result on the chip if it is large. The image is then read from slow memory.
    void put_in_stripes(const fused_operator& all) {
        if (limit_ == 0 || !is<tosa::conv2d>(*all.head) || !has_one_use(result_of(all.last()))) return;
        const node& reader = *all.last().first_use->target;
        const bool has_windows = is<tosa::depthwise_conv2d>(reader) || is<tosa::max_pool2d>(reader);
        const auto image = storage_.find(all.head->operand(0).producer);
        const auto result = storage_.find(&all.last());
        if (!has_windows || image == storage_.end() || result == storage_.end()) return;
        tensor& read = tensors_[image->second];
        tensor& written = tensors_[result->second];
        if (written.on_chip || !read.is_linear) return;
        written.on_chip = true;
        read.on_chip = false;
    }

    struct tensor {
        double bytes = 0;
        std::size_t first = 0, last = 0;
        bool is_touched = false, is_outside = false, is_linear = false, on_chip = false;
    };

    // Values that are views of others lie where those lie, and operands of a CONCAT where its result does.
    void find_storage(const node& n) {
        if (n.result_count == 0) {
            if (!is<builtin::output>(n)) return;
            for (std::uint32_t i = 0; i != n.operand_count; ++i) {
                if (const auto it = storage_.find(n.operand(i).producer); it != storage_.end()) {
                    tensors_[it->second].is_outside = tensors_[it->second].is_linear = true;
                }
            }
            return;
        }
        const node* root = &n;
        const bool is_part = n.op->has(trait::reshaping) || n.op->has(trait::slicing);
        if (is_part && storage_.contains(n.operand(0).producer)) root = storage_[n.operand(0).producer];
        storage_[&n] = root;
        tensor& t = tensors_[root];
        if (const tensor_meta* meta = meta_of_result(n); meta != nullptr && root == &n) {
            t.bytes = static_cast<double>(meta->elements()) * std::max(1, traits_of(meta->dtype).bits / 8);
        }
        if (is<tosa::reshape>(n) || crops_for_some(n)) t.is_linear = true;
        if (is<builtin::placeholder>(n)) t.is_outside = t.is_linear = true;
        if (!is<tosa::concat>(n)) return;
        for (std::uint32_t i = 0; i != n.operand_count; ++i) {
            const node* part = n.operand(i).producer;
            if (has_one_use(n.operand(i)) && storage_.contains(part) && storage_[part] == part)
                storage_[part] = root;
        }
    }
    // True if one reader takes fewer columns than others.
    static bool crops_for_some(const node& n) {
        if (!is<tosa::slice>(n) || has_one_use(n.operand(0))) return false;
        const tensor_meta* whole = meta_of(n.operand(0));
        const tensor_meta* part = meta_of_result(n);
        return whole != nullptr && part != nullptr && whole->rank() == 4 && whole->shape[2] != part->shape[2];
    }
    void touch(value v, std::size_t index) {
        const auto found = storage_.find(v.producer);
        if (found == storage_.end()) return;
        tensor& t = tensors_[found->second];
        t.first = t.is_touched ? std::min(t.first, index) : index;
        t.last = std::max(t.last, index);
        t.is_touched = true;
    }
    // Small tensors are placed first, as most of them fit.
    void place(std::size_t count) {
        if (limit_ == 0) return;
        std::vector<tensor*> inner;
        for (auto& [n, t] : tensors_) {
            if (t.is_touched && !t.is_outside && t.bytes <= static_cast<double>(limit_)) inner.push_back(&t);
        }
        std::sort(inner.begin(), inner.end(), [](const tensor* a, const tensor* b) {
            return std::pair(a->bytes, a->first) < std::pair(b->bytes, b->first);
        });
        std::vector<double> used(count, 0);
        for (tensor* t : inner) {
            bool fits = true;
            for (std::size_t i = t->first; i <= t->last; ++i)
                fits = fits && used[i] + t->bytes <= static_cast<double>(limit_);
            if (!fits) continue;
            t->on_chip = true;
            for (std::size_t i = t->first; i <= t->last; ++i) used[i] += t->bytes;
        }
    }

    std::int64_t limit_;
    std::unordered_map<const node*, const node*> storage_{};
    std::unordered_map<const node*, tensor> tensors_{};
};

}  // namespace detail

}  // namespace headrace

#endif
