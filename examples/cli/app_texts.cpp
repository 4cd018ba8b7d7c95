// SPDX-License-Identifier: MIT
#include "app_texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "suggestions.hpp"

namespace headrace::cli {

namespace {

// CLI11 also lists hidden commands, which have no group.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
    return command.get_options([](const CLI::Option* o) { return o->nonpositional(); });
}

// Returns "-o" and "--output".
std::vector<std::string> spellings_of(const CLI::Option& o) {
    std::vector<std::string> all;
    for (const std::string& name : o.get_snames()) all.push_back("-" + name);
    for (const std::string& name : o.get_lnames()) all.push_back("--" + name);
    return all;
}

std::vector<std::string> option_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* o : options_of(command)) {
        for (std::string& name : spellings_of(*o)) names.push_back(std::move(name));
    }
    return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : commands_of(app)) names.push_back(command->get_name());
    return names;
}

bool takes_value(const CLI::Option& o) {
    return o.get_items_expected_max() != 0 && !o.get_type_name().empty();
}

// Returns the values of an option that takes only these: CLI11 shows them as "TEXT:{nchw,nhwc}".
std::vector<std::string> values_of(const CLI::Option& o) {
    const std::string type = o.get_type_name();
    const std::size_t begin = type.find('{');
    const std::size_t end = type.rfind('}');
    if (begin == std::string::npos || end == std::string::npos) return {};
    return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

// Returns "DIR" for "DIR", "TEXT" for "TEXT:{nchw,nhwc}".
std::string placeholder_of(const CLI::Option& o) {
    const std::string type = o.get_type_name();
    return type.substr(0, type.find(':'));
}

// Joins the lines of a description; its line breaks are for --help.
std::string in_one_line(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return text;
}

// Returns the part of a description for a list of completions: the first sentence, up to the first semicolon.
std::string first_clause(const std::string& description) {
    const std::string line = in_one_line(description);
    return line.substr(0, std::min(line.find(". "), line.find("; ")));
}

// Escapes a text between single quotes for a shell that has no escapes there.
std::string in_quotes(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'') {
            out += "'\\''";
        } else {
            out += c;
        }
    }
    return out + '\'';
}

constexpr const char* pass_names = "$(headrace opt --passes help 2>/dev/null | cut -d' ' -f1)";

std::string bash_case(const CLI::App& command) {
    std::string text = fmt::format("    {})\n        case $before in\n", command.get_name());
    for (const CLI::Option* o : options_of(command)) {
        const std::string patterns = fmt::format("{}", fmt::join(spellings_of(*o), "|"));
        const bool is_passes = o->check_lname("passes");
        if (is_passes || o->check_lname("pass")) {
            text += fmt::format(
                "        {})\n            [[ $word == *,* ]] && done=${{word%,*}},\n            "
                "COMPREPLY=($(compgen -P \"$done\" -W \"{}\" -- \"${{word##*,}}\"))\n            return ;;\n",
                patterns, pass_names);
        } else if (const auto values = values_of(*o); !values.empty()) {
            text += fmt::format("        {}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n",
                patterns, fmt::join(values, " "));
        }
    }
    return text +
        fmt::format("        esac\n        options=\"{}\" ;;\n", fmt::join(option_names(command), " "));
}

std::string bash_completions(const CLI::App& app) {
    std::string text = R"(# Completion of headrace for bash; `headrace completions bash` prints it.
_headrace() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local command= options= done= i
    for ((i = 1; i < COMP_CWORD; ++i)); do
        case ${COMP_WORDS[i]} in
        -*) ;;
        *) command=${COMP_WORDS[i]}; break ;;
        esac
    done
    COMPREPLY=()
    case $command in
)";
    text += fmt::format("    '') COMPREPLY=($(compgen -W \"{} {}\" -- \"$word\")); return ;;\n",
        fmt::join(command_names(app), " "), fmt::join(option_names(app), " "));
    for (const CLI::App* command : commands_of(app)) text += bash_case(*command);
    return text + R"(    esac
    case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}
complete -o filenames -F _headrace headrace
)";
}

// Escapes a description between brackets in a specification of _arguments.
std::string format_zsh(const std::string& description) {
    std::string out;
    for (const char c : first_clause(description)) {
        if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

std::string zsh_action(const CLI::Option& o) {
    if (!takes_value(o)) return "";
    const auto values = values_of(o);
    if (!values.empty()) return fmt::format(":{}:({})", placeholder_of(o), fmt::join(values, " "));
    return fmt::format(":{}:{}", placeholder_of(o), placeholder_of(o) == "DIR" ? "_files -/" : "_files");
}

std::string zsh_completions(const CLI::App& app) {
    std::string text = R"(#compdef headrace
# Completion of headrace for zsh; `headrace completions zsh` prints it.
_headrace() {
    local -a commands
    commands=(
)";
    for (const CLI::App* command : commands_of(app))
        text += fmt::format("        {}\n",
            in_quotes(fmt::format("{}:{}", command->get_name(), format_zsh(command->get_description()))));
    text += R"(    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
)";
    for (const CLI::App* command : commands_of(app)) {
        text += fmt::format("    {})\n        _arguments", command->get_name());
        for (const CLI::Option* o : options_of(*command)) {
            for (const std::string& name : spellings_of(*o))
                text += fmt::format(" \\\n            {}",
                    in_quotes(
                        fmt::format("*{}[{}]{}", name, format_zsh(o->get_description()), zsh_action(*o))));
        }
        text += " \\\n            '*:file:_files' ;;\n";
    }
    return text + "    esac\n}\n_headrace \"$@\"\n";
}

std::string fish_completions(const CLI::App& app) {
    std::string text = "# Completion of headrace for fish; `headrace completions fish` prints it.\n";
    for (const CLI::App* command : commands_of(app))
        text += fmt::format("complete -c headrace -f -n __fish_use_subcommand -a {} -d {}\n",
            command->get_name(), in_quotes(first_clause(command->get_description())));
    for (const CLI::App* command : commands_of(app)) {
        for (const CLI::Option* o : options_of(*command)) {
            text +=
                fmt::format("complete -c headrace -n '__fish_seen_subcommand_from {}'", command->get_name());
            for (const std::string& name : o->get_snames()) text += " -s " + name;
            for (const std::string& name : o->get_lnames()) text += " -l " + name;
            const auto values = values_of(*o);
            if (o->check_lname("pass") || o->check_lname("passes")) {
                text += " -x -a \"(headrace opt --passes help | string split -f1 ' ')\"";
            } else if (!values.empty()) {
                text += fmt::format(" -x -a '{}'", fmt::join(values, " "));
            } else if (takes_value(*o)) {
                text += " -r";
            }
            text += fmt::format(" -d {}\n", in_quotes(first_clause(o->get_description())));
        }
    }
    return text;
}

// Escapes text for roff: hyphens stay hyphens when copied, and no line begins with a request.
std::string roff(std::string_view text) {
    std::string out;
    bool begins = true;
    for (const char c : text) {
        if (begins && (c == '.' || c == '\'')) out += "\\&";
        begins = c == '\n';
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else {
            out += c;
        }
    }
    return out;
}

// ".TP" begins an entry: a line with the term, then its description.
void add_option(std::string& page, const CLI::Option& o) {
    constexpr std::size_t few = 4;
    std::string description = in_one_line(o.get_description());
    if (o.get_positional()) {
        page += fmt::format(".TP\n\\fI{}\\fR\n{}\n", roff(o.get_name()), roff(description));
        return;
    }
    page += fmt::format(".TP\n\\fB{}\\fR", roff(fmt::format("{}", fmt::join(spellings_of(o), ", "))));
    const auto values = values_of(o);
    if (!values.empty() && values.size() <= few) {
        page += fmt::format(" \\fI{}\\fR", roff(fmt::format("{}", fmt::join(values, "|"))));
    } else if (takes_value(o)) {
        page += fmt::format(" \\fI{}\\fR", roff(placeholder_of(o)));
    }
    if (values.size() > few) description += fmt::format(". One of {}", fmt::join(values, ", "));
    page += fmt::format("\n{}\n", roff(description));
}

void add_options(std::string& page, const CLI::App& command) {
    for (const bool positional : {true, false}) {
        for (const CLI::Option* o : command.get_options()) {
            if (o->get_positional() == positional) add_option(page, *o);
        }
    }
}

// Adds the text below a command's options: paragraphs are filled, indented lines are kept.
void add_footer(std::string& page, const CLI::App& command) {
    if (!command.get_footer().empty()) page += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.get_footer()));
}

// False for a value, `-` for standard output, and a negative number.
bool is_option(const char* word) {
    return word[0] == '-' && word[1] != '\0' && std::isdigit(static_cast<unsigned char>(word[1])) == 0;
}

// True for "--jobs" and "-j", and for "-j4", another spelling of it.
bool is_known(const CLI::App& command, std::string_view name) {
    const std::string spelled(name.starts_with("--") ? name : name.substr(0, 2));
    return command.get_option_no_throw(spelled) != nullptr;
}

}  // namespace

std::string completions(const CLI::App& app, std::string_view shell) {
    if (shell == "bash") return bash_completions(app);
    return shell == "zsh" ? zsh_completions(app) : fish_completions(app);
}

std::string manual_page(const CLI::App& app, std::string_view version) {
    std::string page = fmt::format(".TH HEADRACE 1 \"\" \"headrace {}\" \"User Commands\"\n", version);
    page += ".SH NAME\nheadrace \\- lowers PyTorch exports to TOSA\n";
    page += ".SH SYNOPSIS\n\\fBheadrace\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n";
    page += fmt::format(".SH DESCRIPTION\n{}\n", roff(in_one_line(app.get_description())));
    page += ".SH COMMANDS\n";
    for (const CLI::App* command : commands_of(app)) {
        page += fmt::format(".SS headrace {}\n{}.\n", roff(command->get_name()),
            roff(in_one_line(command->get_description())));
        add_options(page, *command);
        add_footer(page, *command);
    }
    page += ".SH OPTIONS\n";
    add_options(page, app);
    page += ".SH NOTES";
    add_footer(page += '\n', app);
    return page;
}

const CLI::App* chosen_command(const CLI::App& app, std::span<const char* const> words) {
    const auto word = std::ranges::find_if_not(words, is_option);
    if (word == words.end()) return nullptr;
    const auto found = app.get_subcommands([&](const CLI::App* c) { return c->get_name() == *word; });
    return found.empty() ? nullptr : found.front();
}

std::string format_usage_error(
    const CLI::App& app, std::span<const char* const> words, std::string_view reason) {
    const CLI::App* const command = chosen_command(app, words);
    if (command == nullptr) {
        const auto word = std::ranges::find_if_not(words, is_option);
        if (word != words.end())
            return fmt::format(
                "headrace has no command '{}'{}", *word, did_you_mean(*word, command_names(app)));
    }
    const CLI::App& asked = command == nullptr ? app : *command;
    for (const std::string_view given : words) {
        if (given == "--") break;
        const std::string_view name = given.substr(0, given.find('='));
        if (!is_option(given.data()) || is_known(asked, name) || is_known(app, name)) continue;
        return fmt::format(
            "{} has no option {}{}", asked.get_name(), name, did_you_mean(name, option_names(asked)));
    }
    if (command == nullptr) return fmt::format("name a command: {}", fmt::join(command_names(app), ", "));
    return std::string(reason);
}

}  // namespace headrace::cli
