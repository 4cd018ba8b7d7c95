// SPDX-License-Identifier: MIT
// Firmware that builds only if its model, its pipeline and its board fit together. The contract was written
// by
//     headrace contract examples/models/kws_dscnn_int8/model.pt2 --name kws --core cortex-m4
//         -o examples/kws_contract.hpp
#include <cstdio>

//! [contract]
#include <headrace/contract/contract.hpp>
#include <headrace/passes/standard_lowering.hpp>

//! [certificate]
#include "kws_contract.hpp"
//! [certificate]

using namespace headrace;

struct firmware_pipeline : standard_lowering {};
static_assert(lowers<firmware_pipeline, kws>);

struct board : ethos_u55 {
    static constexpr std::uint64_t memory = 64 * 1024;  // of activations
    static constexpr std::uint64_t flash = 128 * 1024;  // for the flatbuffer
};
static_assert(fits<board, kws>);
static_assert(fits<ethos_u85, kws>);
// ❌ static_assert(fits<tosa_target<"TOSA-1.0+FP">, kws>);
// error: … target_does_not_take_model<…, refused<tosa::reshape, type_limit::profile, at_node<0, …>, …>>

// The same model as a C++ type on a microcontroller without an NPU, by its own figures.
struct microcontroller : core_target<"cortex-m4"> {
    static constexpr std::uint64_t memory = 16 * 1024;  // for the arena, states, and the stack if measured
    static constexpr std::uint64_t flash = 64 * 1024;   // for the constants, and the code if measured
};
static_assert(fits<microcontroller, kws>);

// The versions of the project's tools execute its files.
static_assert(runs_on<kws, tool::executorch<1, 5>, tool::vela<5, 2>, ethos_u55>);

// No integer of the model overflows, whatever its inputs are.
//! [certificate]
static_assert(kws::certificate::no_overflow);
//! [certificate]

// The reverse: the models that a firmware accepts.
struct accepted {
    static constexpr std::array<contract_tensor, 1> inputs{{{"audio", dtype::int8, {1, 1, 49, 10}}}};
    static constexpr std::array<contract_tensor, 1> outputs{{{"words", dtype::int8, {1, 12}}}};
    static constexpr std::uint64_t memory = board::memory;
};
static_assert(conforms<kws, accepted>);
//! [contract]

//! [certificate]
static_assert(kws::certificate::accumulator_bits <= 24);
//! [certificate]

// Contracts can also decide instead of fail.
struct small_board : ethos_u55 {
    static constexpr std::uint64_t memory = 32 * 1024;
};
template <budget Budget, std::uint64_t Needed, std::uint64_t Available>
constexpr std::uint64_t missing_bytes(over_budget<Budget, needs_bytes<Needed>, has_bytes<Available>>) {
    return Needed - Available;
}

int main() {
    for (const contract_tensor& t : kws::inputs) {
        std::printf("input %s: %s of rank %zu, scale %g\n", t.name.data(), name_of(t.dtype).data(),
            t.shape.size(), t.scale);
    }
    std::printf("%zu exported ops, %zu operators of TOSA\n", kws::exported_ops::size, kws::nodes.size());
    std::printf(
        "the small board lacks %u bytes\n", static_cast<unsigned>(missing_bytes(misfit<small_board, kws>{})));
}
