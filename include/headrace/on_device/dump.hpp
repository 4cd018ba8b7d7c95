// SPDX-License-Identifier: MIT
// Defines headrace::on_device::dump, which writes a model's tensors for `headrace compare --board`.
#ifndef HEADRACE_ON_DEVICE_DUMP_HPP
#define HEADRACE_ON_DEVICE_DUMP_HPP

#include <cstddef>
#include <cstdint>
#include <utility>

#include <headrace/on_device/layers.hpp>

namespace headrace::on_device {

/// Observes an inference, `m.run(hr::dump(sink))`, and writes each tensor as a record, after the head of the
/// file. `sink(const void* bytes, std::size_t count)` writes to a serial line, a debugger or a file, and may
/// wait. Elements are written in row-major order, whatever their layout in memory.
template <class Sink>
class dump {
public:
    explicit dump(Sink sink) : sink_(std::move(sink)) {}

    void operator()(const observed& x) {
        if (!has_begun_) {
            sink_("HRDP", 4);
            put(1);
        }
        has_begun_ = true;
        std::size_t length = 0;
        while (x.name[length] != 0) ++length;
        put(length);
        put(static_cast<std::size_t>(x.type.elements()) * width(x));
        sink_(x.name, length);
        if (x.type.is_dense())
            sink_(at(x, x.type.offset), static_cast<std::size_t>(x.type.elements()) * width(x));
        else
            put_axes(x, 0, x.type.offset);
    }

private:
    static std::size_t width(const observed& x) { return static_cast<std::size_t>(bytes_of(x.type.type)); }
    static const std::byte* at(const observed& x, std::int32_t element) {
        return x.buffer + static_cast<std::ptrdiff_t>(element) * bytes_of(x.type.type);
    }
    // Elements with the same indices up to an axis.
    void put_axes(const observed& x, int axis, std::int32_t first) {
        if (axis == x.type.rank) {
            sink_(at(x, first), width(x));
        } else if (axis + 1 == x.type.rank && x.type.stride[axis] == 1) {
            sink_(at(x, first), static_cast<std::size_t>(x.type.size[axis]) * width(x));
        } else {
            for (std::int32_t i = 0; i != x.type.size[axis]; ++i)
                put_axes(x, axis + 1, first + i * x.type.stride[axis]);
        }
    }
    void put(std::size_t number) {
        const unsigned char bytes[] = {static_cast<unsigned char>(number),
            static_cast<unsigned char>(number >> 8U), static_cast<unsigned char>(number >> 16U),
            static_cast<unsigned char>(number >> 24U)};
        sink_(bytes, sizeof bytes);
    }

    Sink sink_;
    bool has_begun_ = false;
};

}  // namespace headrace::on_device

#endif
