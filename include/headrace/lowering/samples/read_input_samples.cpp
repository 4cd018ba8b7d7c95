// SPDX-License-Identifier: MIT
// Defines the function of headrace/lowering/samples/read_input_samples.hpp.

#include <headrace/lowering/samples/read_input_samples.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/base/text.hpp>
#include <headrace/lowering/samples/array_stream.hpp>

namespace headrace {

namespace {

/// An input whose samples come from a stream, which may be that of other inputs, too.
struct input_on_stream {
    input_samples* input;
    std::shared_ptr<array_stream> stream;
};

// Takes an array for each input in turn, until the streams end: one program may write to all of them.
result<void> take_streams(std::span<const input_on_stream> inputs, const progress_of_samples& tell) {
    if (inputs.empty()) return {};
    for (;;) {
        const input_on_stream* ended = nullptr;
        std::size_t given = 0;
        for (const input_on_stream& one : inputs) {
            HEADRACE_TRY(more, one.input->add_next(one.stream));
            given += more ? 1 : 0;
            if (!more && ended == nullptr) ended = &one;
        }
        if (ended != nullptr && given == 0) break;
        if (ended != nullptr)
            return malformed(join_text(ended->stream->name(), ": it ends before sample ",
                ended->input->size(), " for input ", printable(ended->input->name())));
        if (tell) tell(inputs[0].input->size() - 1, 0);
    }
    if (inputs[0].input->size() != 0) return {};
    return malformed(join_text(inputs[0].stream->name(), ": there are no samples"));
}

}  // namespace

result<samples_of_inputs> read_input_samples(
    const graph& g, const std::vector<std::string>& files, const progress_of_samples& tell) {
    auto inputs = std::make_shared<std::deque<input_samples>>();
    const bool has_one_stream = files.size() == 1 && array_stream::is_stream(files[0]);
    std::vector<input_on_stream> streamed;
    for (const node& n : g.inputs()) {
        const std::size_t i = has_one_stream ? 0 : inputs->size();
        if (i == files.size()) {
            return malformed(join_text("no samples are given for input ", printable(n.name()),
                "; give a file or a directory for each input, in order"));
        }
        input_samples& input = inputs->emplace_back(n);
        if (has_one_stream && !streamed.empty()) {
            streamed.push_back({&input, streamed[0].stream});
        } else if (array_stream::is_stream(files[i])) {
            HEADRACE_TRY(stream, array_stream::open(files[i]));
            streamed.push_back({&input, std::move(stream)});
        } else {
            HEADRACE_TRY(input.add(files[i]));
        }
    }
    if (!has_one_stream && inputs->size() != files.size())
        return malformed(join_text("the model has ", counted_text(inputs->size(), "input"),
            ", samples are given for ", files.size()));
    if (inputs->empty()) return unsupported("the model has no inputs to give samples of");
    HEADRACE_TRY(take_streams(streamed, tell));
    const auto place_of = [&](std::size_t i) {
        return has_one_stream ? std::string(printable((*inputs)[i].name())) : files[i];
    };
    for (std::size_t i = 1; i != inputs->size(); ++i) {
        if ((*inputs)[i].size() == inputs->front().size()) continue;
        return malformed(join_text(place_of(i), ": it has ", counted_text((*inputs)[i].size(), "sample"),
            ", ", place_of(0), " has ", inputs->front().size(), "; each input needs the same number"));
    }
    return inputs;
}

}  // namespace headrace
