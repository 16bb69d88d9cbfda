//===- ToolCommandLine.h - What the tools' mains share ----------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_SUPPORT_TOOLCOMMANDLINE_H
#define WAVESMITH_SUPPORT_TOOLCOMMANDLINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <utility>

namespace llvm::cl {
class Option;
} // namespace llvm::cl

namespace wavesmith {

/// Gives messages the tool's name, and makes fatal errors and crashes one
/// message and the exit status 1 (exitOnFatalErrors). Takes away all options
/// but the general ones (--help, --version): those of the LLVM libraries mean
/// nothing to the tool, and some of their names (threads) are wanted. Call it
/// before the tool's own options are made. \p toolName must live as long as the
/// program.
void initializeTool(llvm::StringLiteral toolName);

/// Prints "<tool>: error: <message>".
void printToolError(const llvm::Twine &message);

/// Parses the command line. A wrong one is one message; so is an option of \p
/// single that is given twice. False after an error.
bool parseToolCommandLine(int argc, char **argv, llvm::StringRef overview,
                          llvm::ArrayRef<const llvm::cl::Option *> single);

/// Splits "name=value", the text of an option.
llvm::Expected<std::pair<llvm::StringRef, llvm::StringRef>>
splitNamedValue(llvm::StringRef option, llvm::StringRef text);

} // namespace wavesmith

#endif // WAVESMITH_SUPPORT_TOOLCOMMANDLINE_H
