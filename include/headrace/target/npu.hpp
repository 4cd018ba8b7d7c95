// SPDX-License-Identifier: MIT
// Defines headrace::npu, the sizes and rates of an Ethos-U from which its cycles are estimated.
#ifndef HEADRACE_TARGET_NPU_HPP
#define HEADRACE_TARGET_NPU_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <headrace/base/target_spec.hpp>

namespace headrace {

/// Rows, columns and channels.
struct npu_extent {
    std::int64_t height = 1, width = 1, depth = 1;
};

/// A memory as an NPU reaches it. Rates are in bytes per cycle.
struct npu_memory {
    double bandwidth;      ///< of all that is read and written
    double reads;          ///< of images that are multiplied or pooled
    double element_reads;  ///< of elementwise operators
    double weight_reads;
    double copies;  ///< of weights that are copied to the chip
    double writes;
    double read_latency, write_latency;  ///< in cycles
    std::int64_t burst;                  ///< the bytes of a transfer; fewer take as long
};

/// Cycles per element of a result.
struct npu_output {
    double narrow;         ///< a sum of products, as INT8
    double wide;           ///< a sum of products of INT16, or an elementwise product
    double maximum;        ///< a maximum of INT8
    double sum;            ///< an elementwise sum or difference of INT8 or INT16
    double unary, binary;  ///< elementwise operators of INT32
    double table;          ///< at least, if it is looked up in a table
    double clamp;          ///< at least, if it is clamped
    double moved;          ///< at least, if rows and columns are exchanged
};

/// An Ethos-U, with the memories that Vela assumes by default.
struct npu {
    std::string_view name;  ///< as Vela calls it
    target_feature feature;
    std::int64_t macs;
    std::array<npu_extent, 3> dense;     ///< results that are computed at once; the best fit is chosen
    npu_extent planar;                   ///< those of poolings and depthwise convolutions
    npu_extent block;                    ///< the most results that are in work
    std::int64_t input_bytes;            ///< memory for the input of two blocks
    std::int64_t sum_bytes;              ///< memory for the sums of two blocks; 0 if they share the input's
    std::int64_t input_part, sum_part;   ///< the parts in which that memory is given
    std::array<npu_extent, 3> granules;  ///< of an input of up to 16, of 32 and of more channels
    std::int64_t taps_depth, channels_depth;  ///< channels of a block by whether taps or channels are first
    npu_output output;
    npu_memory on_chip, off_chip;
    std::int64_t on_chip_bytes;  ///< for images; 0 if all are there
    bool multiplies_matrices;    ///< otherwise by a product and a sum for each column
    bool chains;                 ///< computes elementwise operators after others before it writes results
    bool fuses_moves;            ///< writes what it computes with its axes in another order
};

namespace detail {

// The figures are those of Vela 5.2: regor/architecture/ethosu55/ethos_u55.cpp and ethosu85/ethos_u85.cpp in
// its sources, Ethos_U55_High_End_Embedded and Ethos_U85_SYS_DRAM_Mid in config_files/Arm/vela.ini.

constexpr npu u55_with(std::string_view name, std::int64_t macs, npu_extent step, std::int64_t banks,
    std::int64_t input_banks, std::int64_t sum_banks, const npu_output& output) {
    constexpr std::int64_t bank = 1024;
    constexpr npu_memory sram{8, 8, 8, 8, 8, 8, 32, 32, 32}, flash{1, 1, 1, 1, 1, 1, 64, 0, 128};
    return {name, target_feature::u55, macs, {step, step, step}, step, {32, 64, 128}, banks * bank, 0,
        input_banks * bank, sum_banks * bank, {step, step, step}, 16, 32, output, sram, flash, 0, false,
        false, false};
}

/// Bytes under way on the channels of an Ethos-U85.
struct npu_channels {
    double copies, element_reads, weight_reads, reads;
};

constexpr npu_memory u85_memory(double bandwidth, double requests, double writes, double read_latency,
    double write_latency, std::int64_t burst, const npu_channels& buffered) {
    constexpr double used = 0.8;  // of the requests, and of the time
    const double bytes = static_cast<double>(burst);
    const auto rate = [&](double buffer) {
        return std::min(
            bandwidth, bytes * std::min(buffer * 16 / bytes, requests * used) / read_latency * used);
    };
    return {bandwidth, rate(buffered.reads), rate(buffered.element_reads), rate(buffered.weight_reads),
        rate(buffered.copies), std::min(bandwidth, bytes * writes * used / write_latency * used),
        read_latency, write_latency, burst};
}

constexpr npu u85_with(std::string_view name, std::int64_t macs, const std::array<npu_extent, 3>& dense,
    npu_extent planar, std::int64_t input_bytes, std::int64_t sum_bytes, const npu_output& output,
    const npu_channels& channels) {
    return {name, target_feature::u85, macs, dense, planar, {128, 128, 1024}, input_bytes, sum_bytes, 1, 1,
        {{{2, 2, 16}, {1, 2, 32}, {1, 1, 64}}}, 16, 64, output, u85_memory(32, 16, 16, 32, 32, 64, channels),
        u85_memory(12, 64, 32, 500, 250, 128, channels), 384 * 1024, true, true, true};
}

inline constexpr npu npus[] = {u55_with("ethos-u55-32", 32, {1, 1, 4}, 14, 2, 4, {2, 3, 1, 6, 2, 3, 2, 2, 2}),
    u55_with("ethos-u55-64", 64, {1, 1, 8}, 14, 2, 4, {1, 1.5, 0.5, 3, 1, 1.5, 1, 1, 1}),
    u55_with("ethos-u55-128", 128, {1, 2, 8}, 20, 4, 8, {0.5, 0.75, 0.25, 1.5, 0.75, 1.25, 1, 0.5, 0.5}),
    u55_with(
        "ethos-u55-256", 256, {2, 2, 8}, 44, 8, 16, {0.25, 0.375, 0.125, 0.75, 0.625, 1.125, 1, 0.25, 0.25}),
    u85_with("ethos-u85-128", 128, {{{1, 2, 8}, {1, 2, 8}, {1, 2, 8}}}, {1, 1, 16}, 8192, 8192,
        {0.5, 0.5, 0.5, 0.5, 0.5, 1, 0.5, 0.5, 1}, {64, 64, 128, 104}),
    u85_with("ethos-u85-256", 256, {{{1, 4, 8}, {2, 2, 8}, {2, 2, 8}}}, {1, 2, 16}, 16384, 16384,
        {0.25, 0.25, 0.25, 0.25, 0.25, 0.5, 0.25, 0.25, 0.5}, {104, 104, 128, 128}),
    u85_with("ethos-u85-512", 512, {{{2, 2, 16}, {1, 4, 16}, {1, 4, 16}}}, {2, 2, 16}, 16384, 32768,
        {0.125, 0.125, 0.125, 0.125, 0.25, 0.25, 0.125, 0.125, 0.25}, {128, 128, 256, 128}),
    u85_with("ethos-u85-1024", 1024, {{{2, 2, 32}, {1, 4, 32}, {2, 4, 16}}}, {2, 4, 16}, 16384, 65536,
        {0.0625, 0.125, 0.0625, 0.0625, 0.25, 0.25, 0.0625, 0.0625, 0.125}, {256, 256, 416, 256}),
    u85_with("ethos-u85-2048", 2048, {{{2, 2, 64}, {1, 4, 64}, {4, 4, 16}}}, {4, 4, 16}, 32768, 131072,
        {0.03125, 0.0625, 0.03125, 0.03125, 0.125, 0.125, 0.03125, 0.03125, 0.0625}, {256, 256, 512, 256})};

}  // namespace detail

/// The NPUs whose cycles can be predicted.
inline constexpr const auto& all_npus = detail::npus;

/// Returns the NPU with a name such as `ethos-u55-128`; null if there is none.
[[nodiscard]] constexpr const npu* npu_named(std::string_view name) {
    for (const npu& n : all_npus) {
        if (n.name == name) return &n;
    }
    return nullptr;
}

/// Returns the NPU for which a target's forms are chosen: an Ethos-U55 of 128 or an Ethos-U85 of 256 products
/// per cycle; null for a target without one.
[[nodiscard]] constexpr const npu* npu_of(const target_spec& target) {
    if (target.has(target_feature::u55)) return npu_named("ethos-u55-128");
    if (target.has(target_feature::u85)) return npu_named("ethos-u85-256");
    return nullptr;
}

}  // namespace headrace

#endif
