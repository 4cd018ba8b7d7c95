// SPDX-License-Identifier: MIT
// Start-up of Arm's MPS3 board with a Cortex-M55 (AN547), and semihosting, by which the debugger or QEMU
// prints and learns how the program ended (Arm, Semihosting for AArch32 and AArch64).
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "board.hpp"

extern "C" {

extern std::uint32_t data_begin[], data_end[], data_in_flash[], bss_begin[], bss_end[], stack_limit[],
    stack_top[];
extern void (*constructors_begin[])();
extern void (*constructors_end[])();
[[noreturn]] void reset();
[[noreturn]] void fault();

[[gnu::section(".vectors"), gnu::used]] void* const vectors[16] = {
    stack_top, reinterpret_cast<void*>(&reset),
    reinterpret_cast<void*>(&fault),  // NMI
    reinterpret_cast<void*>(&fault),  // HardFault, which takes all other faults, too: they are not enabled
};

}  // extern "C"

namespace {

constexpr std::uint32_t stack_paint = 0xdeadbeef;
constexpr int sys_write0 = 0x04;
constexpr int sys_exit_extended = 0x20;

void semihosting(int operation, const void* argument) {
    register int r0 asm("r0") = operation;
    register const void* r1 asm("r1") = argument;
    asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void enable_floating_point() {
    volatile auto& coprocessor_access = *reinterpret_cast<std::uint32_t*>(0xe000ed88);
    coprocessor_access = coprocessor_access | 0xfU << 20U;
    asm volatile("dsb\n isb");
}

}  // namespace

void reset() {
    enable_floating_point();
    const auto words = [](const std::uint32_t* begin, const std::uint32_t* end) { return end - begin; };
    for (std::ptrdiff_t i = 0; i != words(data_begin, data_end); ++i) data_begin[i] = data_in_flash[i];
    for (std::ptrdiff_t i = 0; i != words(bss_begin, bss_end); ++i) bss_begin[i] = 0;
    // Up to where this function's own frame may lie.
    for (std::ptrdiff_t i = 0; i != words(stack_limit, stack_top) - 64; ++i) stack_limit[i] = stack_paint;
    for (std::ptrdiff_t i = 0; i != constructors_end - constructors_begin; ++i) constructors_begin[i]();
    std::_Exit(firmware::run());
}

void fault() {
    firmware::print("fault\n");
    std::_Exit(2);
}

namespace firmware {

void print(const char* text) { semihosting(sys_write0, text); }

std::size_t stack_bytes() {
    const std::uint32_t* deepest = stack_limit;
    while (*deepest == stack_paint) ++deepest;
    return static_cast<std::size_t>(stack_top - deepest) * sizeof(std::uint32_t);
}

}  // namespace firmware

// There is no heap: code that asks for one has missed a memory resource.
void* operator new(std::size_t) {
    firmware::print("operator new was called\n");
    std::_Exit(3);
}
void* operator new(std::size_t bytes, std::align_val_t) { return operator new(bytes); }
void operator delete(void*) noexcept {}
void operator delete(void*, std::size_t) noexcept {}
void operator delete(void*, std::align_val_t) noexcept {}
void operator delete(void*, std::size_t, std::align_val_t) noexcept {}

extern "C" {

// Nothing is destroyed: the firmware does not end.
void* __dso_handle = nullptr;
int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }

[[noreturn]] void _exit(int status) {
    constexpr std::uint32_t application_exit = 0x20026;
    const std::uint32_t block[2] = {application_exit, static_cast<std::uint32_t>(status)};
    semihosting(sys_exit_extended, block);
    for (;;) {
    }
}
[[noreturn]] void abort() {
    firmware::print("abort\n");
    _exit(4);
}

}  // extern "C"
