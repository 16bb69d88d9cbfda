//===- simulator-instructions.cpp - The simulator's coverage ------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Prints every instruction that gfx90a and gfx942 can decode and whether the
/// simulator executes it exactly, approximately or not at all.
///
///   simulator-instructions --markdown > docs/simulator-instructions.md
///
//===----------------------------------------------------------------------===//

#include "wavesmith/Simulator/Simulator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static cl::opt<bool> markdown("markdown",
                              cl::desc("Print the page that docs/ holds"));

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv,
                              "the instructions that the simulator executes\n");
  if (markdown) {
    auto page = wavesmith::sim::instructionTable();
    if (!page) {
      errs() << "error: " << toString(page.takeError()) << "\n";
      return 1;
    }
    outs() << *page;
    return 0;
  }
  for (const char *target : {"gfx90a", "gfx942"}) {
    auto list = wavesmith::sim::instructionSet(target);
    if (!list) {
      errs() << "error: " << toString(list.takeError()) << "\n";
      return 1;
    }
    for (const auto &info : *list)
      outs() << target << " " << info.opcode << " "
             << wavesmith::sim::spelling(info.exactness)
             << (info.note.empty() ? "" : ": ") << info.note << "\n";
  }
  return 0;
}
