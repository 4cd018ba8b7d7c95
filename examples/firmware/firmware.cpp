// SPDX-License-Identifier: MIT
// Lowers a graph on the device, in static memory, and checks the TOSA file that comes of it.
#include <algorithm>
//! [memory]
#include <array>

#include <headrace/io/tosa/emitter.hpp>

#include "lowering.hpp"
#include "memory.hpp"
//! [memory]
#include "board.hpp"

namespace {

//! [memory]
using namespace headrace;

firmware::static_memory<48 * 1024> graph_memory;
firmware::static_memory<16 * 1024> scratch_memory;
alignas(16) std::array<std::byte, 12 * 1024> file_memory;
//! [memory]

void print_figure(std::string_view name, std::uint64_t number) {
    std::pmr::string line(name);
    line.append(" ").append(number_text(number)).append("\n");
    firmware::print(line.c_str());
}
int fail(const error& e) {
    std::pmr::string line = "error: " + e.message + "\n";
    firmware::print(line.c_str());
    return 1;
}

// FNV-1a, to compare with what another machine makes of the same graph.
std::uint32_t hash_of(std::span<const std::byte> bytes) {
    std::uint32_t hash = 0x811c9dc5;
    for (const std::byte b : bytes) hash = (hash ^ std::to_integer<std::uint32_t>(b)) * 0x01000193;
    return hash;
}

result<void> check(std::span<const std::byte> file) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(file.data());
    flatbuffers::Verifier verifier(data, file.size());
    if (!tosa_fb::VerifyTosaGraphBuffer(verifier)) return invalid("the file is not a TOSA graph");
    const auto& block = *tosa_fb::GetTosaGraph(data)->regions()->Get(0)->blocks()->Get(0);
    const auto count = [&](tosa_fb::Op op) {
        return std::count_if(block.operators()->begin(), block.operators()->end(),
            [&](const tosa_fb::TosaOperator* o) { return o->op() == op; });
    };
    if (count(tosa_fb::Op::MUL) != 4 || count(tosa_fb::Op::ADD) != 2 || count(tosa_fb::Op::CLAMP) != 2 ||
        count(tosa_fb::Op::SIGMOID) != 1)
        return invalid("the operators of the file are not those of the graph");
    if (block.inputs()->Get(0)->string_view() != "x" || block.outputs()->Get(0)->string_view() != "y")
        return invalid("the inputs and outputs of the file are not those of the graph");
    return {};
}

//! [lower]
result<std::span<const std::byte>> lower_and_emit() {
    graph g(&graph_memory);
    g.set_target(target_spec{}.with(target_feature::profile_fp));
    firmware::build(g);
    pass_context context;
    // Unchecked, as emit_tosa refuses what is not TOSA: another check would only take flash.
    HEADRACE_TRY(firmware::lower::run_unchecked(g, context));
    if (!context.diagnostics().empty()) return invalid(context.diagnostics().front().reason);
    return emit_tosa(g, file_memory);
}
//! [lower]

}  // namespace

int firmware::run() {
    std::pmr::set_default_resource(&scratch_memory);
    const auto file = lower_and_emit();
    if (!file) return fail(file.error());
    print_figure("file_bytes", file.value().size());
    print_figure("file_hash", hash_of(file.value()));
    print_figure("graph_bytes", graph_memory.max_used());
    print_figure("scratch_bytes", scratch_memory.max_used());
    print_figure("stack_bytes", firmware::stack_bytes());
    const auto sound = check(file.value());
    if (!sound) return fail(sound.error());
    firmware::print("lowered\n");
    return 0;
}
