//===- Tools.h - The main functions of the tools ----------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The commands of tools/, as functions: libwavesmith has them too, for the
// programs of a Python wheel (wavesmith-c/Tools.h).
//
// Each takes over the process, as a main function does: it parses the command
// line by LLVM's global options, installs handlers for signals and fatal
// errors, may end the process, and is called once. No option is made before it
// runs, so that all of them can be linked into one library.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_TOOLS_TOOLS_H
#define WAVESMITH_TOOLS_TOOLS_H

#include "llvm/ADT/ArrayRef.h"

namespace wavesmith {

struct OptionalPass;

/// wavesmith-compile: MLIR to a code object. Returns 0, or 1 after an error.
int compileMain(int argc, char **argv);

/// wavesmith-evaluate: a function by the reference evaluator. Returns 0, or 1
/// after an error.
int evaluateMain(int argc, char **argv);

/// wavesmith-opt: mlir-opt with Wavesmith's dialect and passes, and all of
/// MLIR's. Returns 0, or 1 after an error.
int optMain(int argc, char **argv);

/// wavesmith-run: a code object on arrays from files. Returns 0, 1 after an
/// error, or 2 if the simulator's checker found something.
int runMain(int argc, char **argv);

/// wavesmith-validate: each optional pass against the meaning. Returns 0 if
/// every stage passes, 1 if one fails, 2 if there is nothing to validate. With
/// \p testPasses there is an option to add some of them.
int validateMain(int argc, char **argv,
                 llvm::ArrayRef<OptionalPass> testPasses = {});

} // namespace wavesmith

#endif // WAVESMITH_TOOLS_TOOLS_H
