// SPDX-License-Identifier: MIT
#include "models.hpp"

#include <cstdint>
#include <cstring>

//! [contract]
#include "kws_contract.hpp"
//! [contract]
// Each header defines the types that they share.
#include "kws_dscnn_model.h"
#include "kws_integers_model.h"
//! [contract]
#include "kws_model.h"
//! [contract]
#include "kws_program_model.h"
#ifdef WITH_NPU
#include "npu_model.h"
#endif

//! [contract]
struct board : headrace::tosa_target<"TOSA-1.0+INT"> {
    static constexpr std::uint64_t memory = 64 * 1024;
    static constexpr std::uint64_t flash = 64 * 1024;
};
static_assert(headrace::fits<board, kws>);
static_assert(kws::flatbuffer_bytes == sizeof(kws_model));
//! [contract]

namespace {

bool is_flatbuffer(const unsigned char* bytes, std::size_t size, const char* identifier = "TOSA") {
    return size > 8 && std::memcmp(bytes + 4, identifier, 4) == 0 &&
        reinterpret_cast<std::uintptr_t>(bytes) % 16 == 0;
}

#ifdef WITH_NPU
bool is_in_arena(const headrace_tensor& t) {
    return t.bytes != 0 && t.arena_offset % 16 == 0 && t.arena_offset + t.bytes <= NPU_ARENA_BYTES;
}
bool npu_is_sound() {
    return std::memcmp(npu_model, "COP1", 4) == 0 && npu_weights_size == NPU_WEIGHTS_BYTES &&
        is_in_arena(npu_io.inputs[0]) && is_in_arena(npu_io.outputs[0]);
}
#else
bool npu_is_sound() { return true; }
#endif

// True for a program that takes and gives what the flatbuffer does, and for one that takes and gives floats.
bool programs_are_sound() {
    const headrace_tensor& integers = kws_integers_io.inputs[0];
    const headrace_tensor& sound = kws_io.inputs[0];
    const headrace_tensor& real = kws_program_io.inputs[0];
    return is_flatbuffer(kws_program_model, kws_program_model_size, "ET12") &&
        is_flatbuffer(kws_integers_model, kws_integers_model_size, "ET12") &&
        integers.exact_scale == sound.exact_scale &&
        integers.scale == static_cast<float>(sound.exact_scale) && integers.zero_point == sound.zero_point &&
        integers.bytes == sound.bytes && integers.shape[3] == sound.shape[1] &&
        kws_integers_io.outputs[0].exact_scale == kws_io.outputs[0].exact_scale &&
        std::strcmp(real.dtype, "FP32") == 0 && real.exact_scale == 0;
}

}  // namespace

bool models_are_sound() {
    const headrace_tensor& sound = kws_io.inputs[0];
    const headrace_tensor& words = kws_io.outputs[0];
    const headrace_tensor& real = kws_dscnn_io.inputs[0];
    return npu_is_sound() && programs_are_sound() && is_flatbuffer(kws_model, kws_model_size) &&
        is_flatbuffer(kws_dscnn_model, kws_dscnn_model_size) && kws_model_size == sizeof(kws_model) &&
        kws_io.input_count == 1 && kws_io.output_count == 1 && std::strcmp(sound.dtype, "INT8") == 0 &&
        sound.rank == 4 && sound.shape[2] == 49 && sound.bytes == 490 && sound.scale > 0 &&
        sound.qmax == 127 && words.rank == 2 && words.bytes == 12 && std::strcmp(real.dtype, "FP32") == 0 &&
        real.bytes == 1960 && real.scale == 0 && real.shape[3] == 1;
}
