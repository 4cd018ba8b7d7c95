// SPDX-License-Identifier: MIT
// Reads .pt2 files and prints the outcome of each: for fuzzing the reader under sanitizers.
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include <headrace/io/pt2/pt2.hpp>

namespace {

// Counts unknown ops by name, including those in nested graphs.
void count_opaque(const headrace::graph& g, std::map<std::string, int>& counts) {
    for (const headrace::node& n : g.nodes()) {
        if (headrace::is<headrace::builtin::opaque>(n)) ++counts[std::string(headrace::origin_name(n))];
        if (const auto* a =
                headrace::match<headrace::builtin::opaque>({const_cast<headrace::node*>(&n), 0})) {
            ++counts[std::string(a->target)];
            --counts[std::string(headrace::origin_name(n))];
        }
    }
    for (const headrace::graph& region : g.regions()) count_opaque(region, counts);
}

// Reads every byte of every constant, so that a view out of bounds is detected.
unsigned sum_of_constants(const headrace::graph& g) {
    unsigned sum = 0;
    for (const headrace::node& n : g.nodes_of(headrace::info_of<headrace::builtin::constant>)) {
        const auto& data = headrace::args_of<headrace::builtin::constant>(n).data;
        const headrace::tensor_meta& meta = *n.results[0].meta;
        const auto width = headrace::storage_bytes(meta.dtype, 1);
        std::int64_t last = meta.elements() - 1;
        if (!data.strides.empty() && last >= 0) {
            last = 0;
            for (std::size_t i = 0; i != meta.rank(); ++i) last += (meta.shape[i] - 1) * data.strides[i];
        }
        const auto bytes = static_cast<std::size_t>(last + 1) * width;
        for (std::size_t i = 0; i < bytes; ++i) sum += static_cast<unsigned>(data.bytes[i]);
    }
    return sum;
}

}  // namespace

int main(int count, char** paths) {
    std::map<std::string, int> opaque;
    int failed = 0;
    for (int i = 1; i < count; ++i) {
        const auto read = headrace::read_pt2(paths[i]);
        if (!read) {
            ++failed;
            std::printf("%s\n", read.error().message.c_str());
            continue;
        }
        const headrace::graph& g = *read.value().graph;
        const unsigned sum = sum_of_constants(g);
        count_opaque(g, opaque);
        if (count < 100) std::printf("%s: %zu nodes, checksum %u\n", paths[i], g.size(), sum);
    }
    for (const auto& [target, uses] : opaque) {
        if (uses != 0) std::printf("unknown op %s: %d\n", target.c_str(), uses);
    }
    if (count > 2) std::printf("%d of %d files refused\n", failed, count - 1);
    return failed == 0 ? 0 : 1;
}
