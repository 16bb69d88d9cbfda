//===- wavesmith-opt.cpp - Runs passes on MLIR ----------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Tools/Tools.h"

int main(int argc, char **argv) { return wavesmith::optMain(argc, argv); }
