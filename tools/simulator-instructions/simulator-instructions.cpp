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
#include "wavesmith/Support/ToolCommandLine.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  wavesmith::initializeTool("simulator-instructions");
  cl::OptionCategory category("simulator-instructions options");
  cl::opt<bool> markdown("markdown",
                         cl::desc("Print docs/simulator-instructions.md"),
                         cl::cat(category));
  if (!wavesmith::parseToolCommandLine(
          argc, argv,
          "Lists the instructions of gfx90a and gfx942, and which of them the "
          "simulator executes exactly, approximately or not at all\n",
          {}))
    return 1;
  if (markdown) {
    auto page = wavesmith::sim::instructionTable();
    if (!page) {
      wavesmith::printToolError(toString(page.takeError()));
      return 1;
    }
    outs() << *page;
    return 0;
  }
  for (const char *target : {"gfx90a", "gfx942"}) {
    auto list = wavesmith::sim::instructionSet(target);
    if (!list) {
      wavesmith::printToolError(toString(list.takeError()));
      return 1;
    }
    for (const auto &info : *list)
      outs() << target << " " << info.opcode << " "
             << wavesmith::sim::spelling(info.exactness)
             << (info.note.empty() ? "" : ": ") << info.note << "\n";
  }
  return 0;
}
