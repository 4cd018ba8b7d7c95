// SPDX-License-Identifier: MIT
// Defines the messages that several assertions share: each place asserts by itself, since a shared helper
// would lengthen the backtrace.
#ifndef HEADRACE_REWRITE_MESSAGES_HPP
#define HEADRACE_REWRITE_MESSAGES_HPP

#include <headrace/op/no_fault.hpp>

#define HEADRACE_NOT_A_PASS "pass: a type is not one; see not_a_pass<T>, derive it from headrace::pass"
#define HEADRACE_ONLY_DECLARED \
    "pass: it is only declared; see only_declared<Pass>, include the header that defines it"
#define HEADRACE_NOT_A_LIST \
    "pass: one of its lists is none; see not_a_list<Pass, Member, T>, write ops<…> or pass_list<…>"
#define HEADRACE_NO_RULES \
    "pass: rewrites() gives no rules; see no_rules<Pass, Result>, return rules(…), from a static function"
#define HEADRACE_NOT_CALLABLE \
    "rule: its callable does not take the operands; see not_callable_with<Op>, list them in order"
#define HEADRACE_NOT_CODE \
    "rule: its code has other parameters; see not_code_for<Op, List>, take emit<List>, const args<Op>&"
#define HEADRACE_CODE_NOT_PRODUCED \
    "rule: its code emits an op that is not in its list; see not_produced<Op, List>, add it there"
#define HEADRACE_CALL_DOES_NOT_FIT \
    "rule: a call or a pattern's node does not fit its op; see the diagnosis, fix that"
#define HEADRACE_NOT_IN_PATTERN \
    "match: the pattern has no node of that name; see not_in_pattern<Name, Names>, name one"
#define HEADRACE_NO_RESULTS \
    "rule: it does not return a value for each result; see the diagnosis, return those"
#define HEADRACE_NO_HANDLER "pass: a target has no handler; see no_handler<Pass, Op>, add one"
#define HEADRACE_HANDLER_NOT_CONST \
    "pass: a handler is not const; see handler_not_const<Pass, Op>, make it const"
#define HEADRACE_WRONG_HANDLER                                                                    \
    "pass: a handler has the wrong parameters; see wrong_handler<Pass, Op, Handler>, take const " \
    "args<Op>&, emit<…>&"
#define HEADRACE_NO_TARGETS \
    "pass: it has handlers but no targets; see no_targets<Pass>, list them in `targeted_ops`"
#define HEADRACE_WRONG_RESULT \
    "pass: a handler's result cannot replace a node; see wrong_result<Pass, Op, Result>, return values"
#define HEADRACE_NO_INFERENCE \
    "emit: an op has no infer_results; see no_inference<Op>, declare it beside the op"

#endif
