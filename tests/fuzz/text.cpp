// SPDX-License-Identifier: MIT
// Fuzzes the reader of graphs as text, and the processing of the graphs that it returns.
#include <algorithm>
#include <array>
#include <cctype>
#include <headrace/io/text/graph_text.hpp>
#include <headrace/run/execution.hpp>
#include <random>

#include "lowering_checks.hpp"

namespace headrace::fuzz {

namespace {

// Prints a graph that was read, reads it again, and compares.
void check_round_trip(const program& read) {
    step("printing");
    const auto printed = graph_text(read);
    if (!printed) return check(printed.error());
    step("reading back");
    const auto again = parse_graph_text(printed.value());
    if (!again) found("what was printed cannot be read: " + std::string(again.error().message));
    step("printing again");
    const auto twice = graph_text(again.value());
    if (!twice || twice.value() != printed.value()) found("printing what was read back gives another text");
}

/// A word, a number or a sign, or the white space in between.
struct token {
    std::size_t begin;
    std::size_t size;
};

// Returns the kind of a character: adjacent characters of a kind form a token, except signs, which are tokens
// of their own.
int kind_of(char c) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isspace(u) != 0) return 1;
    return std::isalnum(u) != 0 || c == '_' || c == '.' ? 2 : 0;
}

std::vector<token> tokens_of(std::string_view text) {
    std::vector<token> all;
    for (std::size_t i = 0; i != text.size(); ++i) {
        const int kind = kind_of(text[i]);
        if (!all.empty() && kind != 0 && kind == kind_of(text[i - 1])) {
            ++all.back().size;
        } else {
            all.push_back({i, 1});
        }
    }
    return all;
}

std::size_t line_end(std::string_view text, std::size_t from) {
    return std::min(text.find('\n', from), text.size() - 1) + 1;
}

// Changes one part of a text and keeps most of its grammar.
class text_mutator {
public:
    text_mutator(std::string text, unsigned seed) : text_(std::move(text)), random_(seed) {}

    std::string changed() {
        const std::vector<token> all = tokens_of(text_);
        if (all.empty()) return text_;
        const token at = all[below(all.size())];
        const token other = all[below(all.size())];
        const std::size_t line = text_.rfind('\n', at.begin) + 1;  // npos + 1 is the first line
        switch (below(6)) {
            case 0:  // another token of the text in its place
                return text_.replace(at.begin, at.size, text_.substr(other.begin, other.size));
            case 1:
                return text_.replace(at.begin, at.size, numbers[below(numbers.size())]);
            case 2:
                return text_.erase(at.begin, at.size);
            case 3:
                return text_.erase(line, line_end(text_, line) - line);
            case 4:
                return text_.insert(line, text_.substr(line, line_end(text_, line) - line));
            default:
                return text_.insert(at.begin, text_.substr(other.begin, other.size));
        }
    }

private:
    static constexpr std::array<const char*, 12> numbers = {"0", "1", "2", "7", "-1", "255", "2147483648",
        "9223372036854775807", "-9223372036854775808", "1e308", "nan", "-inf"};

    std::size_t below(std::size_t bound) { return random_() % bound; }

    std::string text_;
    std::mt19937 random_;
};

}  // namespace

void run(std::span<const std::uint8_t> input) {
    step("reading");
    const auto read = parse_graph_text({reinterpret_cast<const char*>(input.data()), input.size()});
    if (!read) return check(read.error());
    check_round_trip(read.value());
    step("verifying");
    if (const auto sound = verify_metadata(*read.value().graph); !sound) return saw(sound.error().message);
    saw_graph(*read.value().graph, "read");
    check_execution(*read.value().graph);
    const memory_file file(input);
    check_lowering(file.path(), {});
}
bytes mutated(const bytes& input, std::size_t capacity, unsigned seed) {
    if (seed % 8 == 0) return mutated_bytes(input, capacity);
    const std::string text = text_mutator({input.begin(), input.end()}, seed).changed();
    return text.size() <= capacity ? bytes(text.begin(), text.end()) : input;
}
std::vector<bytes> simpler(const bytes& input) { return without_parts(input); }

}  // namespace headrace::fuzz
