// SPDX-License-Identifier: MIT
#include <headrace/firmware/layer_writer.hpp>
#include <headrace/ir/meta_text.hpp>
namespace headrace::firmware {
result<void> layer_writer::write(device::product, const args<device::product>&, const node& n) { return refuse(n, "not yet"); }
result<void> layer_writer::write(device::pooling, const args<device::pooling>&, const node& n) { return refuse(n, "not yet"); }
result<void> layer_writer::write(tosa::argmax, const args<tosa::argmax>&, const node& n) { return refuse(n, "not yet"); }
result<void> layer_writer::write(tosa::conv3d, const args<tosa::conv3d>&, const node& n) { return refuse(n, "not yet"); }
result<void> layer_writer::write(tosa::transpose_conv2d, const args<tosa::transpose_conv2d>&, const node& n) { return refuse(n, "not yet"); }
result<void> layer_writer::write(tosa::fft2d, const args<tosa::fft2d>&, const node& n) { return refuse(n, "not yet"); }
result<void> layer_writer::write(tosa::rfft2d, const args<tosa::rfft2d>&, const node& n) { return refuse(n, "not yet"); }
result<void> layer_writer::write(tosa::resize, const args<tosa::resize>&, const node& n) { return refuse(n, "not yet"); }
}
