// SPDX-License-Identifier: MIT
// Defines headrace::no_fault, the diagnosis of what compiles, the kinds of faults, and the messages about
// declarations of ops.
#ifndef HEADRACE_OP_NO_FAULT_HPP
#define HEADRACE_OP_NO_FAULT_HPP

#include <type_traits>

/// Defines a kind of fault, from which its diagnoses derive, and the trait that its assertions test.
#define HEADRACE_FAULT(kind, trait) \
    namespace faults {              \
    struct kind {};                 \
    }                               \
    template <class Diagnosis>      \
    inline constexpr bool trait = !std::is_base_of_v<faults::kind, Diagnosis>

#define HEADRACE_WRONG_FIELDS \
    "op: its field names are not the members of args; write the same names in the same order"
#define HEADRACE_UNNAMED_ENUMERATION                                                                 \
    "op: an enumeration in args has no enumerator_names; see unnamed_enumeration, declare that and " \
    "include op/custom.hpp"
#define HEADRACE_WRONG_MEMBER \
    "op: a member of args has a type that no argument can have; see no_argument_type, use one of kind_of"

namespace headrace {

/// The diagnosis of success. All others name the culprit in a compile error.
struct no_fault {};

}  // namespace headrace

#endif
