// SPDX-License-Identifier: MIT
// Defines headrace::pt2::opaque_argument_writer, which writes the arguments of an op that no dialect knows.
#ifndef HEADRACE_IO_PT2_WRITING_OPAQUE_WRITER_HPP
#define HEADRACE_IO_PT2_WRITING_OPAQUE_WRITER_HPP

#include <string_view>

#include <headrace/io/pt2/writing/argument_writer.hpp>
#include <headrace/io/text/opaque_arguments.hpp>

namespace headrace::pt2 {

/// Writes the arguments in torch.export's schema. The order of an unknown op's arguments is not known:
/// leading tensors are given by position, unless PyTorch takes them by name only, and all else by name, which
/// every schema allows.
class opaque_argument_writer : protected argument_writer {
protected:
    using argument_writer::argument_writer;

    void write_opaque_inputs(const node& n);

private:
    using content = opaque_argument::content;

    static bool is_none(const opaque_argument& a) { return a.kind == content::word && a.text == "none"; }
    static bool is_of_tensors(const opaque_argument& a);

    void write_one(const node& n, const opaque_argument& a);
    void write_word(const node& n, const opaque_argument& a);

    // The items of a list have one kind, as in Python's schemas.
    void write_list(const node& n, const opaque_argument& a);
    void write_items(std::string_view key, const opaque_argument& a, const auto& write);
    void write_float(std::string_view text);
};

}  // namespace headrace::pt2

#endif
