//===- ToolsCAPI.cpp - The tools behind the C API -------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith-c/Tools.h"
#include "wavesmith/Pipelines/Pipelines.h"
#include "wavesmith/Tools/Tools.h"
#include "llvm/ADT/StringSwitch.h"

using namespace wavesmith;

int wavesmith_tool_main(const char *tool, int argc, char **argv) {
  using Main = int (*)(int, char **);
  auto main =
      llvm::StringSwitch<Main>(tool ? tool : "")
          .Case("wavesmith-compile", compileMain)
          .Case("wavesmith-evaluate", evaluateMain)
          .Case("wavesmith-opt", optMain)
          .Case("wavesmith-run", runMain)
          .Case("wavesmith-validate",
                [](int argc, char **argv) { return validateMain(argc, argv); })
          .Default(nullptr);
  return main ? main(argc, argv) : -1;
}
