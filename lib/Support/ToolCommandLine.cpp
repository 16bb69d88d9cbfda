//===- ToolCommandLine.cpp - What the tools' mains share ------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Support/ToolCommandLine.h"
#include "wavesmith/Support/FatalErrors.h"
#include "wavesmith/Support/PrintableText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace wavesmith;
namespace cl = llvm::cl;

static llvm::StringRef toolName;

void wavesmith::printToolError(const llvm::Twine &message) {
  llvm::errs() << toolName << ": error: " << printable(message.str(), "\n\t")
               << "\n";
}

void wavesmith::initializeTool(llvm::StringLiteral name) {
  toolName = name;
  exitOnFatalErrors(name);
  llvm::SmallVector<cl::Option *> foreign;
  for (auto &entry : cl::getRegisteredOptions())
    if (!llvm::is_contained(
            {"help", "help-hidden", "help-list", "help-list-hidden", "version"},
            entry.first))
      foreign.push_back(entry.second);
  for (cl::Option *option : foreign)
    option->removeArgument();
}

bool wavesmith::parseToolCommandLine(
    int argc, char **argv, llvm::StringRef overview,
    llvm::ArrayRef<const cl::Option *> single) {
  std::string problems;
  llvm::raw_string_ostream problemStream(problems);
  if (!cl::ParseCommandLineOptions(argc, argv, overview, &problemStream)) {
    // One line in the tool's own form.
    llvm::StringRef text = llvm::StringRef(problems).split('\n').first;
    text.consume_front(llvm::sys::path::filename(argv[0]));
    text.consume_front(": ");
    std::string message = text.split("  Try:").first.rtrim(".!").str();
    if (!message.empty())
      message[0] = llvm::toLower(message[0]);
    printToolError(message + " (--help lists the options)");
    return false;
  }
  for (const cl::Option *option : single)
    if (option->getNumOccurrences() > 1) {
      printToolError("--" + option->ArgStr + " is given twice");
      return false;
    }
  return true;
}

llvm::Expected<std::pair<llvm::StringRef, llvm::StringRef>>
wavesmith::splitNamedValue(llvm::StringRef option, llvm::StringRef text) {
  auto [name, value] = text.split('=');
  if (name.empty() || value.empty())
    return llvm::createStringError("--" + option + "=" + text +
                                   ": expected name=value");
  return std::make_pair(name, value);
}
