/*===- Tools.h - The tools inside of libwavesmith -----------------*- C -*-===*\
|*                                                                            *|
|* Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.     *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef WAVESMITH_C_TOOLS_H
#define WAVESMITH_C_TOOLS_H

#include "wavesmith-c/Wavesmith.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Runs a command-line tool: "wavesmith-compile", "wavesmith-evaluate",
 * "wavesmith-opt", "wavesmith-run" or "wavesmith-validate", on the arguments of
 * a main function, and returns its exit status (--help and docs/reference say
 * which); -1 where there is no tool of that name.
 *
 * For a main function that does nothing else, as those of the Python package
 * are. Unlike every other function of the library it takes over the process: it
 * reads and writes the standard streams, installs handlers for signals and
 * fatal errors, may end the process, and is called once. */
WAVESMITH_API int wavesmith_tool_main(const char *tool, int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif /* WAVESMITH_C_TOOLS_H */
