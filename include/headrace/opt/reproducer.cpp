// SPDX-License-Identifier: MIT
// Defines the functions of headrace/opt/reproducer.hpp.

#include <headrace/opt/reproducer.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace headrace {

namespace {

constexpr std::string_view run_line = "// RUN:";

std::string reproducer_line(const reproducer& r) {
    std::string line = join_text(run_line, " --passes ", r.passes, r.verify ? " --verify" : "");
    if (!r.assumed.empty()) line += " --assume " + r.assumed;
    if (!r.inputs.empty()) line += " --in";
    for (const std::string& file : r.inputs) (line += ' ') += file;
    return line + '\n';
}

}  // namespace

result<void> write_reproducer(const std::string& path, const graph& g, const reproducer& r) {
    return write_graph_text(path, g, {.heading = reproducer_line(r)});
}

reproducer read_reproducer(const std::string& path) {
    reproducer r;
    const auto file = path.ends_with(".hr") ? open_mapped(path) : result<mapped_file>(malformed("no text"));
    if (!file) return r;
    std::string_view line = file.value().text();
    line = line.substr(0, line.find('\n'));
    if (!line.starts_with(run_line)) return r;
    line.remove_prefix(run_line.size());
    std::string_view option;
    while (!line.empty()) {
        const std::string_view word = line.substr(0, line.find(' '));
        line.remove_prefix(std::min(word.size() + 1, line.size()));
        if (word.starts_with("--")) {
            option = word;
            r.verify = r.verify || word == "--verify";
        } else if (!word.empty() && option == "--passes") {
            r.passes = word;
        } else if (!word.empty() && option == "--assume") {
            r.assumed = word;
        } else if (!word.empty() && option == "--in") {
            r.inputs.emplace_back(word);
        }
    }
    return r;
}

void pass_progress::ended(std::string_view name) {
    ++count_;
    for (std::size_t i = next_; i < names_.size(); ++i) {
        if (names_[i] == name) {
            next_ = i + 1;
            return;
        }
    }
}

}  // namespace headrace
