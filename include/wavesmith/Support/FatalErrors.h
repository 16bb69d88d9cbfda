//===- FatalErrors.h - Fatal errors and crashes as errors -------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM ends the process where it cannot go on, and input that is deep enough
// overflows the stack of any parser that recurses. A library must survive
// both.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_SUPPORT_FATALERRORS_H
#define WAVESMITH_SUPPORT_FATALERRORS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <string>

namespace wavesmith {

/// LLVM's report_fatal_error, an abort or a crash.
class FatalError : public llvm::ErrorInfo<FatalError> {
public:
  static char ID;

  explicit FatalError(std::string message) : message(std::move(message)) {}

  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  std::string message;
};

/// Runs \p body. A fatal error inside of LLVM, an abort, or a signal such as
/// SIGSEGV (a stack overflow too) in this thread ends the body and is returned
/// as a FatalError. The body is left by a jump, without destructors: its
/// objects are leaked, its locks stay locked, and what it worked on is in no
/// state to be used or destroyed. Other threads are not affected; each calls
/// this function for itself. Calls may be nested.
///
/// While any thread is in such a call, the process' handlers for these signals
/// are LLVM's; then the previous ones are put back.
llvm::Error containFatalErrors(llvm::function_ref<void()> body);

/// For the main function of a tool: a fatal error or crash that nobody
/// contains, in whatever thread, prints "<toolName>: error: <what happened>"
/// and ends the process with the status 1; temporary files are removed. \p
/// toolName must live as long as the program.
void exitOnFatalErrors(llvm::StringLiteral toolName);

} // namespace wavesmith

#endif // WAVESMITH_SUPPORT_FATALERRORS_H
