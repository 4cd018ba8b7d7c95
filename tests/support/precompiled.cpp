// SPDX-License-Identifier: MIT
// Owns the precompiled header that all tests share.
