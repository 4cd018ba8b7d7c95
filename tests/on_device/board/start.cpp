// SPDX-License-Identifier: MIT
// Starts a program on QEMU's boards mps2-an385, mps2-an386 and mps3-an547, and defines what board.hpp
// declares.
#include "board.hpp"

extern "C" {
extern std::uint32_t data_begin[], data_end[], data_in_flash[], bss_begin[], bss_end[], stack_limit[],
    stack_top[];
extern void (*constructors_begin[])();
extern void (*constructors_end[])();
int main();
[[noreturn]] void start();
[[noreturn]] void fault();
}

[[gnu::section(".vectors"), gnu::used]] void* const vectors[16] = {
    stack_top,
    reinterpret_cast<void*>(&start),  // reset
    reinterpret_cast<void*>(&fault),  // NMI
    reinterpret_cast<void*>(&fault),  // hard fault
    reinterpret_cast<void*>(&fault),  // memory management
    reinterpret_cast<void*>(&fault),  // bus
    reinterpret_cast<void*>(&fault),  // usage
};

namespace {
// Arm's semihosting: the host performs an operation at a breakpoint.
int ask_host(int operation, const void* argument) {
    register int r0 __asm("r0") = operation;
    register const void* r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

volatile std::uint32_t& word_at(std::uint32_t address) {
    return *reinterpret_cast<volatile std::uint32_t*>(address);
}
constexpr std::uint32_t systick_control = 0xe000e010, systick_reload = 0xe000e014, systick_value = 0xe000e018;
constexpr std::uint32_t coprocessor_access = 0xe000ed88;
constexpr std::uint32_t paint = 0xa5c35a3c;
}  // namespace

namespace board {
void print(const char* text) { ask_host(0x04, text); }

void print(std::int64_t value) {
    char text[21];
    char* p = text + sizeof text;
    *--p = 0;
    auto rest = static_cast<std::uint64_t>(value < 0 ? -value : value);
    do *--p = static_cast<char>('0' + rest % 10);
    while (rest /= 10);
    if (value < 0) *--p = '-';
    print(p);
}

int open_file(const char* path) {
    std::size_t length = 0;
    while (path[length] != 0) ++length;
    constexpr std::uint32_t write_binary = 5;
    const std::uint32_t block[3] = {reinterpret_cast<std::uint32_t>(path), write_binary, length};
    return ask_host(0x01, block);
}

void write_file(int file, const void* bytes, std::size_t count) {
    const std::uint32_t block[3] = {
        static_cast<std::uint32_t>(file), reinterpret_cast<std::uint32_t>(bytes), count};
    ask_host(0x05, block);
}

void close_file(int file) {
    const std::uint32_t block[1] = {static_cast<std::uint32_t>(file)};
    ask_host(0x02, block);
}

[[noreturn]] void quit(int status) {
    const std::uint32_t block[2] = {0x20026, static_cast<std::uint32_t>(status)};
    ask_host(0x20, block);
    for (;;) {
    }
}

void start_ticks() {
    word_at(systick_reload) = 0xffffff;
    word_at(systick_value) = 0;
    word_at(systick_control) = 5;
    while (word_at(systick_value) == 0) {
    }
}

std::uint32_t ticks() { return 0xffffff - (word_at(systick_value) & 0xffffff); }

[[gnu::noinline]] void paint_stack() {
    std::uint32_t here;
    for (std::uint32_t* p = stack_limit; p < &here - 16; ++p) *p = paint;
}

std::uint32_t stack_used() {
    const std::uint32_t* p = stack_limit;
    while (*p == paint) ++p;
    return static_cast<std::uint32_t>(stack_top - p) * 4;
}
}  // namespace board

void start() {
    word_at(coprocessor_access) |= 0xfu << 20;  // floating point and vectors
    __asm volatile("dsb\n isb");
    for (std::uint32_t *to = data_begin, *from = data_in_flash; to != data_end;) *to++ = *from++;
    for (std::uint32_t* p = bss_begin; p != bss_end;) *p++ = 0;
    board::paint_stack();
    for (auto c = constructors_begin; c != constructors_end; ++c) (*c)();
    board::quit(main());
}

void fault() {
    board::print("fault\n");
    board::quit(2);
}
