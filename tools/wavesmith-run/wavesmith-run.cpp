//===- wavesmith-run.cpp - Runs a compiled kernel on arrays from files ----===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Tools/Tools.h"

int main(int argc, char **argv) { return wavesmith::runMain(argc, argv); }
