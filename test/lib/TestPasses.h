//===- TestPasses.h - Passes that validation must catch ---------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_TEST_LIB_TESTPASSES_H
#define WAVESMITH_TEST_LIB_TESTPASSES_H

#include "wavesmith/Pipelines/Pipelines.h"

namespace wavesmith::test {

/// Two honest passes:
/// - test-nothing: does nothing, and says so.
/// - test-lanes: folds each sum of the workgroup level by up to four lanes,
///   which is announced.
/// And broken ones:
/// - test-hidden-lanes: the same, not announced.
/// - test-segment-bound: moves a bound between two segments by one, and
///   announces a change of annotations, as if it had changed the lanes.
/// - test-swapped-operand: a subtraction, division or fma with two operands
///   exchanged.
/// - test-dropped-barrier: removes the barriers of the kernel.
llvm::ArrayRef<OptionalPass> getTestPasses();

} // namespace wavesmith::test

#endif // WAVESMITH_TEST_LIB_TESTPASSES_H
