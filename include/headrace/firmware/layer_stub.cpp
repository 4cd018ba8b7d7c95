#include <headrace/firmware/layer_writer.hpp>
namespace headrace::firmware {
result<void> layer_writer::write(device::product, const args<device::product>&, const node& n) { return refuse(n, "not yet"); }
result<void> layer_writer::write(device::pooling, const args<device::pooling>&, const node& n) { return refuse(n, "not yet"); }
}
