//===- FatalErrors.cpp - Fatal errors and crashes as errors ---------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Support/FatalErrors.h"
#include "wavesmith/Support/PrintableText.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <unistd.h>

using namespace wavesmith;

char FatalError::ID = 0;

/// The signals of crashes, those that LLVM's crash recovery takes.
static constexpr int crashSignals[] = {SIGABRT, SIGBUS,  SIGFPE,
                                       SIGILL,  SIGSEGV, SIGTRAP};

/// Of the tool that exits on fatal errors; empty in a library.
static llvm::StringRef exitingTool;

/// What LLVM said before it gave up.
static thread_local std::string fatalMessage;

/// Writes a message without buffers or locks, and ends the process.
[[noreturn]] static void exitWithMessage(const char *message) {
  auto write = [](llvm::StringRef text) {
    while (!text.empty()) {
      ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
      if (written <= 0)
        return;
      text = text.drop_front(written);
    }
  };
  write(exitingTool);
  write(": error: ");
  write(message);
  write("\n");
  llvm::sys::RunInterruptHandlers(); // Removes temporary files.
  std::_Exit(1);
}

static void handleFatalError(void *, const char *reason, bool) {
  if (auto *recovery = llvm::CrashRecoveryContext::GetCurrent()) {
    fatalMessage = reason;
    recovery->HandleExit(1);
  }
  if (!exitingTool.empty())
    exitWithMessage(printable(reason, "\n\t").c_str());
  // LLVM ends the process after this, but says nothing where there is a
  // handler.
  llvm::errs() << "LLVM ERROR: " << reason << "\n";
}

/// Damaged files may ask for more memory than there is.
static void handleBadAllocation(void *, const char *, bool) {
  handleFatalError(nullptr, "out of memory", false);
  std::abort();
}

static const char *describeCrash(int signal) {
  switch (signal) {
  case SIGABRT:
    return "it crashed (abort)";
  case SIGBUS:
    return "it crashed (bus error)";
  case SIGFPE:
    return "it crashed (arithmetic exception)";
  case SIGILL:
    return "it crashed (illegal instruction)";
  case SIGSEGV:
    return "it crashed (invalid memory access, or input too deeply nested)";
  default:
    return "it crashed";
  }
}

namespace {
/// A stack for signal handlers of this thread, without which nothing can be
/// done about the overflow of its stack.
class SignalStack {
public:
  SignalStack() {
    stack_t previous;
    if (sigaltstack(nullptr, &previous) != 0 ||
        (!(previous.ss_flags & SS_DISABLE) && previous.ss_size >= size))
      return;
    memory.reset(new (std::nothrow) char[size]);
    if (!memory)
      return;
    stack_t stack = {};
    stack.ss_sp = memory.get();
    stack.ss_size = size;
    isSet = sigaltstack(&stack, &replaced) == 0;
  }
  SignalStack(const SignalStack &) = delete;
  ~SignalStack() {
    if (isSet)
      sigaltstack(&replaced, nullptr);
  }

private:
  static constexpr size_t size = 65536;
  std::unique_ptr<char[]> memory;
  bool isSet = false;
  stack_t replaced;
};

/// Has the handlers of signals and fatal errors in place while it lives, in
/// however many threads.
class HandlersInPlace {
public:
  HandlersInPlace() {
    std::lock_guard<std::mutex> lock(mutex);
    if (users++ > 0)
      return;
    llvm::CrashRecoveryContext::Enable();
    // LLVM's handlers run on the stack that has just overflowed, unless they
    // are told not to.
    for (int signal : crashSignals) {
      struct sigaction action;
      if (sigaction(signal, nullptr, &action) == 0) {
        action.sa_flags |= SA_ONSTACK;
        sigaction(signal, &action, nullptr);
      }
    }
    llvm::remove_fatal_error_handler();
    llvm::install_fatal_error_handler(handleFatalError);
    llvm::remove_bad_alloc_error_handler();
    llvm::install_bad_alloc_error_handler(handleBadAllocation);
  }
  HandlersInPlace(const HandlersInPlace &) = delete;
  ~HandlersInPlace() {
    std::lock_guard<std::mutex> lock(mutex);
    if (--users > 0)
      return;
    llvm::CrashRecoveryContext::Disable();
    llvm::remove_bad_alloc_error_handler();
    if (exitingTool.empty())
      llvm::remove_fatal_error_handler();
  }

private:
  static std::mutex mutex;
  static unsigned users;
};
} // namespace

std::mutex HandlersInPlace::mutex;
unsigned HandlersInPlace::users = 0;

llvm::Error wavesmith::containFatalErrors(llvm::function_ref<void()> body) {
  HandlersInPlace handlers;
  SignalStack stack;
  fatalMessage.clear();
  llvm::CrashRecoveryContext recovery;
  if (recovery.RunSafely(body))
    return llvm::Error::success();
  std::string message = std::move(fatalMessage);
  fatalMessage.clear();
  // After a signal LLVM gives the status that a shell would.
  if (message.empty())
    message = describeCrash(recovery.RetCode - 128);
  return llvm::make_error<FatalError>(std::move(message));
}

void wavesmith::exitOnFatalErrors(llvm::StringLiteral toolName) {
  exitingTool = toolName;
  llvm::remove_fatal_error_handler();
  llvm::install_fatal_error_handler(handleFatalError);
  // For the main thread, until the program ends.
  static SignalStack stack;
  for (int signal : crashSignals) {
    struct sigaction action = {};
    action.sa_handler = [](int signal) {
      exitWithMessage(describeCrash(signal));
    };
    action.sa_flags = SA_ONSTACK | SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}
