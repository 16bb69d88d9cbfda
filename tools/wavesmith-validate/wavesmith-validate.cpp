//===- wavesmith-validate.cpp - Every pass against the meaning ------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Tools/Tools.h"
#ifdef WAVESMITH_INCLUDE_TESTS
#include "TestPasses.h"
#endif

int main(int argc, char **argv) {
#ifdef WAVESMITH_INCLUDE_TESTS
  return wavesmith::validateMain(argc, argv, wavesmith::test::getTestPasses());
#else
  return wavesmith::validateMain(argc, argv);
#endif
}
