// SPDX-License-Identifier: MIT
// Defines headrace::firmware::layer_writer, which writes the layers of one graph one after the other.
#ifndef HEADRACE_FIRMWARE_LAYER_WRITER_HPP
#define HEADRACE_FIRMWARE_LAYER_WRITER_HPP

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/firmware/layers.hpp>
#include <headrace/on_device/convolution.hpp>
#include <headrace/passes/device/layers.hpp>

namespace headrace::firmware {

/// A kernel's operand: a pointer, as C++, and the layout of its elements.
struct operand {
    std::string text;
    on_device::tensor type{};
    std::optional<std::size_t> buffer{};
};

/// A tensor without gaps, or nothing if kernels do not compute with its type, or it has too many axes or
/// elements.
[[nodiscard]] std::optional<on_device::tensor> dense_tensor(const tensor_meta& meta);

/// The parts of a layer's graph.
struct layer_body {
    explicit layer_body(const layer_parts& parts);

    /// Returns the layer's operand for an input of the graph; any other value unchanged.
    [[nodiscard]] value outside(value v) const;
    [[nodiscard]] value result() const { return parts.body->outputs()[0]; }
    /// The node that reads a value, if it is one alone and the value is not the graph's result.
    [[nodiscard]] const node* only_reader(value v) const;

    layer_parts parts;
    std::vector<const node*> nodes;  ///< in the order of their execution
};

/// The CONV2D or DEPTHWISE_CONV2D of a convolution's graph.
[[nodiscard]] const node& convolution_in(const layer_body& body);

/// The members that CONV2D and DEPTHWISE_CONV2D share.
struct window_attributes {
    value input, weight, bias, input_zp, weight_zp;
    int_list pad, stride, dilation;
};

/// The numbers that a convolution subtracts from the elements of its input and from its weights.
struct zero_points {
    std::int64_t input = 0, weight = 0;
};

/// The constants of a convolution, in flash.
struct packed_constants {
    operand weights, channels;
};

struct scaled_result;

class layer_writer {
public:
    /// The graph and the names must outlive it.
    layer_writer(const graph& g, const core_description& core, const result_names& names)
        : graph_(g), core_(core), names_(names) {}
    result<written_layers> run();

    // One overload for each operator and layer that is written: the set of all is what the pipeline may end
    // in.

    result<void> write(device::convolution, const args<device::convolution>& a, const node& n);
    result<void> write(device::product, const args<device::product>& a, const node& n);
    result<void> write(device::pooling, const args<device::pooling>& a, const node& n);
    result<void> write(device::reduction, const args<device::reduction>& a, const node& n);
    result<void> write(device::elementwise, const args<device::elementwise>& a, const node& n);

    result<void> write(tosa::argmax, const args<tosa::argmax>& a, const node& n);
    result<void> write(tosa::conv3d, const args<tosa::conv3d>& a, const node& n);
    result<void> write(tosa::transpose_conv2d, const args<tosa::transpose_conv2d>& a, const node& n);
    result<void> write(tosa::fft2d, const args<tosa::fft2d>& a, const node& n);
    result<void> write(tosa::rfft2d, const args<tosa::rfft2d>& a, const node& n);
    result<void> write(tosa::concat, const args<tosa::concat>& a, const node& n);
    result<void> write(tosa::pad, const args<tosa::pad>& a, const node& n);
    result<void> write(tosa::reshape, const args<tosa::reshape>& a, const node& n);
    result<void> write(tosa::reverse, const args<tosa::reverse>& a, const node& n);
    result<void> write(tosa::slice, const args<tosa::slice>& a, const node& n);
    result<void> write(tosa::tile, const args<tosa::tile>& a, const node& n);
    result<void> write(tosa::transpose, const args<tosa::transpose>& a, const node& n);
    result<void> write(tosa::identity, const args<tosa::identity>& a, const node& n);
    result<void> write(tosa::gather, const args<tosa::gather>& a, const node& n);
    result<void> write(tosa::scatter, const args<tosa::scatter>& a, const node& n);
    result<void> write(tosa::resize, const args<tosa::resize>& a, const node& n);
    result<void> write(tosa::cond_if, const args<tosa::cond_if>& a, const node& n);
    result<void> write(tosa::while_loop, const args<tosa::while_loop>& a, const node& n);
    result<void> write(tosa::variable, const args<tosa::variable>& a, const node& n);
    result<void> write(tosa::variable_read, const args<tosa::variable_read>& a, const node& n);
    result<void> write(tosa::variable_write, const args<tosa::variable_write>& a, const node& n);
    result<void> write(tosa::const_shape, const args<tosa::const_shape>& a, const node& n);

private:
    // --- memory --------------------------------------------------------------------------

    std::size_t add_buffer(on_device::element type, std::int64_t count);
    void put(value v, const place& p);
    // Puts what a node computes, after which the memory is named; other values are views of it.
    void put_new(const node& n, std::uint32_t result, const place& p);
    result<place> add_result(const node& n, std::uint32_t i = 0);
    // Adds a convolution's result: channels are planes where a depthwise one is at either end or the input
    // has them, and the memory of the input, or of the one further operand, is used where it may be.
    result<place> add_image(
        const node& n, const on_device::convolution& s, value input, std::span<const operand> extras);
    // Returns the part of a CONCAT's result where a convolution writes, if convolutions write all of its
    // parts; makes room for the whole with the first of them.
    std::optional<place> place_in_concat(const node& n, bool has_planes);
    // True if the result may be written over the operand, which is in memory for this node alone.
    [[nodiscard]] bool is_residual(
        const node& n, value input, const operand& extra, const on_device::tensor& result) const;
    // True if a part of a tensor is read where it lies.
    [[nodiscard]] bool is_read_as_view(
        const node& n, const operand& from, const on_device::tensor& part) const;
    [[nodiscard]] bool wants_planes(const node& n, bool has_planes) const;
    // True if the buffer's last readers are those of this node.
    [[nodiscard]] bool ends_with(const node& n, std::size_t buffer) const;
    // Returns the place of an operand that the result may overwrite element by element, or null.
    const place* replaceable(const node& n, const on_device::tensor& result) const;
    result<operand> operand_of(value v);
    // An array in flash, or nothing if kernels do not compute with its type.
    std::optional<operand> add_constant(
        std::string_view name, const tensor_meta& meta, const tensor_data& data);
    // Returns a value's place in memory; a constant is copied there.
    result<place> place_of(value v);
    void hold(std::size_t known, std::int64_t begin);
    static operand at(const place& p);
    static operand flash(const std::string& name);
    void end_reads(const node& n);

    // --- calls ---------------------------------------------------------------------------

    call& call_kernel(const node& n, std::string op, const std::vector<operand>& operands);
    // Memory of the last call alone.
    void add_scratch(call& to, std::int64_t bytes);
    result<void> copy(const node& n, const operand& from, const operand& to);
    result<std::string> finish(const layer_body& body, std::span<const node* const> nodes, value first,
        std::vector<operand>& extras, const on_device::tensor& out);
    result<void> write_node(const node& n);
    // Notes where the result lies if calls have computed it, since there were `calls_before`.
    void trace(const node& n, std::size_t calls_before);
    // Returns the calls of a region whose inputs are at `inputs`.
    result<std::vector<call>> write_region(const graph& region, std::span<const place> inputs);
    // Copies a region's outputs to the places `to`, after its calls.
    result<void> copy_outputs(const graph& region, std::span<const place> to, std::vector<call>& behind);
    result<std::vector<place>> add_results(const node& n);
    result<packed_constants> pack(on_device::convolution& s, const std::optional<scaled_result>& scale,
        const window_attributes& a, const node& n);
    result<void> write_computed(
        const layer_body& body, const node& anchor, const window_attributes& a, const node& n);
    [[nodiscard]] static std::string name_of_node(const node& n);
    result<operand> biases_of(value bias, std::int32_t channels);
    static result<zero_points> zero_points_of(value input_zp, value weight_zp, const node& n);
    [[nodiscard]] static error refuse(const node& n, std::string_view reason);

    const graph& graph_;
    core_description core_;
    const result_names& names_;
    written_layers done_;
    std::map<std::pair<const node*, std::uint32_t>, place> places_;
    std::vector<std::int64_t> reads_left_;  // of each buffer
    std::map<std::string, place, std::less<>> variables_;
    std::vector<call>* into_ = &done_.calls;
};

/// Matches operators and layers that are written: each has at least a portable kernel.
template <class Op>
concept has_writer = requires(layer_writer& w, const args<Op>& a, const node& n) { w.write(Op{}, a, n); };

}  // namespace headrace::firmware

#endif
