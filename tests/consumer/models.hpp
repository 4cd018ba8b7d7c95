// SPDX-License-Identifier: MIT
#ifndef CONSUMER_MODELS_HPP
#define CONSUMER_MODELS_HPP

/// True if the embedded models are flatbuffers whose inputs and outputs are as described.
bool models_are_sound();

#endif
