// SPDX-License-Identifier: MIT
// Defines the functions of headrace/opt/opt_command_line.hpp.

#include <headrace/opt/opt_command_line.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/edit_distance.hpp>
#include <headrace/base/strings.hpp>

namespace headrace {

namespace {

using names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 5> commands{"show", "opt", "lower", "run", "plan"};

// Returns the options that a command takes.
names opt_options_of(std::string_view command) {
    static constexpr std::string_view show[] = {"-o", "--help"};
    static constexpr std::string_view opt[] = {"-o", "--passes", "--all", "--assume", "--retrace", "--check",
        "--verify", "--in", "--reproducer", "--ir", "--ir-around", "--help"};
    static constexpr std::string_view lower[] = {"-o", "--pipeline", "--partition", "--retrace", "--check",
        "--verify", "--in", "--reproducer", "--ir", "--ir-around", "--help"};
    static constexpr std::string_view run[] = {"--in", "--out", "--help"};
    static constexpr std::string_view plan[] = {"--verify", "--in", "--help"};
    return command == "show" ? names(show)
        : command == "opt"   ? names(opt)
        : command == "lower" ? names(lower)
        : command == "run"   ? names(run)
        : command == "plan"  ? names(plan)
                             : names();
}

// Returns "; did you mean --passes?", or nothing if no name is near.
std::string nearest_of(std::string_view word, names known) {
    constexpr std::size_t max_length =
        100;  // the distance takes time proportional to the product of both lengths
    if (word.size() > max_length || known.empty()) return {};
    const auto distance = [&](std::string_view name) { return edit_distance(word, name); };
    const std::string_view nearest = *std::ranges::min_element(known, {}, distance);
    if (distance(nearest) > std::max<std::size_t>(2, word.size() / 3)) return {};
    return join_text("; did you mean ", nearest, "?");
}

// Errors are of the usage.
template <class... Parts>
error misuse(const Parts&... parts) {
    return unwritable({join_text(parts...)});
}

class opt_parser {
public:
    explicit opt_parser(std::span<char*> words)
        : words_(words.begin(), words.end()), at_(std::min<std::size_t>(words_.size(), 1)) {}

    [[nodiscard]] result<opt_request> parse() {
        if (at_ == words_.size()) return misuse("no command is given");
        const std::string_view command = words_[at_++];
        asked_.command = command;
        if (command == "--help" || command == "-h" || command == "help") {
            asked_.help = true;
            return asked_;
        }
        const names known = opt_options_of(command);
        if (known.empty())
            return misuse("there is no command '", command, "'", nearest_of(command, commands));
        while (at_ != words_.size()) {
            HEADRACE_TRY(take_word(words_[at_++], known));
        }
        if (asked_.help) return asked_;
        HEADRACE_TRY(check());
        return asked_;
    }

private:
    [[nodiscard]] result<void> take_word(std::string_view word, names known) {
        if (word == "-h") word = "--help";
        if (!word.starts_with("-")) {
            if (!std::exchange(asked_.file, word).empty())
                return misuse(asked_.command, " takes one file, but '", word, "' is another");
            return {};
        }
        if (std::ranges::find(known, word) == known.end())
            return misuse(asked_.command, " has no option ", word, nearest_of(word, known));
        return take(word);
    }

    [[nodiscard]] result<void> check() const {
        if (asked_.file.empty()) return misuse(asked_.command, " needs a file");
        if (asked_.all_passes && !asked_.passes.empty())
            return misuse("--all and --passes exclude each other");
        if (asked_.partition && (!asked_.ir.empty() || !asked_.reproducer.empty()))
            return misuse("--ir and --reproducer are for a whole graph: leave out --partition");
        if (!asked_.ir_around.empty() && asked_.ir.empty()) return misuse("--ir-around needs --ir FOLDER");
        return {};
    }

    [[nodiscard]] bool take_flag(std::string_view option) {
        if (option == "--check") return true;  // programs by opt_main check after each pass in any case
        const std::pair<std::string_view, bool*> flags[] = {{"--all", &asked_.all_passes},
            {"--verify", &asked_.verify}, {"--partition", &asked_.partition}, {"--retrace", &asked_.retrace},
            {"--help", &asked_.help}};
        for (const auto& [name, value] : flags) {
            if (name == option) return *value = true;
        }
        return false;
    }

    // Takes an option with its argument.
    [[nodiscard]] result<void> take(std::string_view option) {
        if (take_flag(option)) return {};
        std::vector<std::string> given;
        const bool takes_several = option == "--in" || option == "--out";
        while (at_ != words_.size() && !words_[at_].starts_with("-") && (takes_several || given.empty()))
            given.emplace_back(words_[at_++]);
        if (given.empty()) return misuse(option, " needs an argument");
        if (takes_several) {
            (option == "--in" ? asked_.inputs : asked_.results) = std::move(given);
            return {};
        }
        const std::pair<std::string_view, std::string*> texts[] = {{"-o", &asked_.output},
            {"--passes", &asked_.passes}, {"--pipeline", &asked_.pipeline}, {"--assume", &asked_.assumed},
            {"--reproducer", &asked_.reproducer}, {"--ir", &asked_.ir}, {"--ir-around", &asked_.ir_around}};
        for (const auto& [name, value] : texts) {
            if (name == option) *value = std::move(given[0]);
        }
        return {};
    }

    std::vector<std::string_view> words_;
    std::size_t at_;
    opt_request asked_;
};

constexpr std::string_view usage_of_commands =
    " COMMAND FILE\n"
    "  show FILE [-o FILE.hr]                     prints a graph, or writes it as text\n"
    "  opt FILE [--passes a,b|--all] [-o FILE.hr] the graph after passes\n"
    "  lower FILE [--pipeline NAME] [-o FILE.hr]  the graph after a pipeline\n"
    "  run FILE [--in FILE.npy…] [--out FILE.npy…]\n"
    "  plan FILE                                  places in memory\n"
    "opt, lower and plan take --verify [--in FILE.npy…]: they execute before and after\n"
    "opt and lower take --ir FOLDER: the graph after each pass, as text; --ir-around a,b for some\n"
    "opt and lower take --reproducer FILE.hr: if a pass fails, the graph before it, for `opt`\n"
    "opt and lower take --retrace: passes visit every node; --check: types and ops are checked after each\n"
    "  pass, which they are in any case\n"
    "opt takes --assume PROPERTY,…: properties that hold already, of which passes require that some pass\n"
    "  ensures them\n"
    "lower takes --partition: what the pipeline lowers becomes calls of lowered graphs, the rest stays\n";

}  // namespace

result<opt_request> parse_opt_command(std::span<char*> words) { return opt_parser(words).parse(); }

std::string opt_usage(const opt_program& own, const std::string& name) {
    std::string text = join_text("usage: ", name, usage_of_commands);
    for (const opt_pipeline& p : own.pipelines)
        text += join_text("pipeline ", p.name, ": ", p.passes.size(), " passes\n");
    text += "passes:\n";
    constexpr std::size_t width = 30;
    for (const any_pass& p : own.passes.passes()) {
        std::string shown(p.name());
        shown.resize(std::max(width, shown.size()), ' ');
        text += join_text("  ", shown, ' ', p.info().summary, '\n');
    }
    return text;
}

}  // namespace headrace
