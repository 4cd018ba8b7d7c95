// SPDX-License-Identifier: MIT
#include "graph_files.hpp"

#include <sstream>

#include <headrace/io/atomic_file.hpp>
#include <headrace/io/dot.hpp>
#include <headrace/io/graph_text.hpp>
#include <headrace/io/tosa_emitter.hpp>
#include <headrace/ir/listing.hpp>

namespace headrace::cli {

result<void> write_graph(const std::string& path, const program& p, std::size_t inlined) {
    if (path.ends_with(".hr")) return write_graph_text(path, p, {.inline_elements = inlined});
    if (path.ends_with(".tosa")) {
        BOOST_OUTCOME_TRY(emitted, emit_tosa(*p.graph));
        return write_atomically(path, emitted.bytes());
    }
    if (!path.ends_with(".dot")) return write_atomically(path, listing(*p.graph));
    std::ostringstream picture;
    write_dot(picture, *p.graph);
    return write_atomically(path, picture.str());
}

}  // namespace headrace::cli
