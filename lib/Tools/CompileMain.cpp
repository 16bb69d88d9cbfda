//===- CompileMain.cpp - Compiles MLIR to a code object -------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wavesmith-compile in.mlir --target=gfx942 -o k.hsaco
//
// Writes the code object and, beside it, its description k.json. All files of
// one run are written, or none. Exit status 0, or 1 after an error.
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Pipelines/Pipelines.h"
#include "wavesmith/Support/FatalErrors.h"
#include "wavesmith/Support/FileTransaction.h"
#include "wavesmith/Support/PrintableText.h"
#include "wavesmith/Target/Target.h"
#include "wavesmith/Tools/Tools.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace wavesmith;
namespace cl = llvm::cl;

namespace {

/// The command line. Made inside the main function: in libwavesmith no option
/// may be there without its tool.
struct CommandLine {
  cl::OptionCategory category{"wavesmith-compile options"};

  cl::opt<std::string> input{cl::Positional, cl::desc("<input.mlir>"),
                             cl::init("-"), cl::cat(category)};
  cl::opt<std::string> output{
      "o", cl::desc("The file to write; '-' is the standard output"),
      cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> emit{
      "emit",
      cl::desc("What to write: hsaco (with its description), mlir (the rocdl "
               "dialect), llvm, isa, json (the description)"),
      cl::init("hsaco"), cl::cat(category)};
  cl::opt<std::string> target{
      "target", cl::desc("The architecture: gfx90a or gfx942 (the default)"),
      cl::init(CompileOptions().architecture.getValue()), cl::cat(category)};
  cl::opt<std::string> chip{
      "chip", cl::desc("The chip, by default the architecture's first"),
      cl::cat(category)};
  cl::opt<std::string> form{
      "form", cl::desc("The code's form: auto, straight_line or table"),
      cl::init("auto"), cl::cat(category)};
  cl::opt<int64_t> workgroupSize{"workgroup-size",
                                 cl::desc("Threads of a workgroup; 0 chooses"),
                                 cl::init(0), cl::cat(category)};
  cl::opt<int64_t> threadsPerZone{
      "threads-per-zone",
      cl::desc("Threads that integrate one zone; 0 takes the whole workgroup"),
      cl::init(0), cl::cat(category)};
  cl::opt<int64_t> straightLineLimit{
      "straight-line-limit",
      cl::desc("The most calls of exp, log and the like in unrolled code"),
      cl::init(CompileOptions().straightLineLimit.getValue()),
      cl::cat(category)};
  cl::opt<std::string> passes{
      "passes",
      cl::desc("The optional passes to run: all (the default), none, or names "
               "between commas"),
      cl::value_desc("names"), cl::init("all"), cl::cat(category)};
  cl::opt<int> codeObjectVersion{"code-object-version",
                                 cl::desc("4 or 5 (the default)"), cl::init(5),
                                 cl::cat(category)};
  cl::opt<int> optimizationLevel{"O", cl::Prefix,
                                 cl::desc("Optimisation level: 0 to 3"),
                                 cl::init(3), cl::cat(category)};
  cl::opt<std::string> report{
      "report", cl::desc("Write a report of the compilation as JSON"),
      cl::value_desc("file.json"), cl::cat(category)};
};

} // namespace

static int fail(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "wavesmith-compile")
      << printable(message.str(), "\n\t") << "\n";
  return 1;
}

int wavesmith::compileMain(int argc, char **argv) {
  llvm::InitLLVM initialize(argc, argv);
  exitOnFatalErrors("wavesmith-compile");
  CommandLine line;
  cl::HideUnrelatedOptions(line.category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Compiles a module of the wavesmith dialect\n");

  // lld, which links the kernels, resets all command-line options of the
  // process, so their values are kept here.
  std::string input = line.input, output = line.output, emit = line.emit,
              report = line.report;
  bool targetIsGiven = line.target.getNumOccurrences();
  CompileOptions options;
  options.architecture = line.target;
  options.chip = line.chip;
  options.form = line.form;
  options.workgroupSize = line.workgroupSize;
  options.threadsPerZone = line.threadsPerZone;
  options.straightLineLimit = line.straightLineLimit;
  options.passes = line.passes;
  options.codeObjectVersion = line.codeObjectVersion;
  options.optimizationLevel = line.optimizationLevel;
  CompileStages stages;
  stages.rocdl = emit == "mlir";
  stages.llvmIR = emit == "llvm";
  stages.isa = emit == "isa";
  if (!stages.rocdl && !stages.llvmIR && !stages.isa && emit != "hsaco" &&
      emit != "json")
    return fail("unknown --emit=" + emit +
                ", expected hsaco, mlir, llvm, isa or json");
  if (output.empty())
    output = emit == "hsaco" ? "" : "-";
  if (output.empty())
    return fail("expected -o <file> for the code object");

  if (auto target = lookupTarget(options.architecture, options.chip); !target)
    return fail(llvm::toString(target.takeError()));
  if (!targetIsGiven)
    llvm::WithColor::note(llvm::errs(), "wavesmith-compile")
        << "no --target is given, compiling for "
        << options.architecture.getValue() << "\n";

  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(input);
  if (!buffer)
    return fail("cannot read " + input + ": " + buffer.getError().message());
  FailureOr<CompileResult> result =
      compileText(std::move(*buffer), options, stages, llvm::errs());
  if (failed(result))
    return 1; // Diagnostics have been printed.

  std::string description = llvm::formatv("{0:2}\n", result->description);
  StringRef codeObject(result->codeObject.data(), result->codeObject.size());
  StringRef text = emit == "hsaco"  ? codeObject
                   : emit == "mlir" ? StringRef(result->rocdl)
                   : emit == "llvm" ? StringRef(result->llvmIR)
                   : emit == "isa"  ? StringRef(result->isa)
                                    : StringRef(description);
  FileTransaction files;
  auto add = [&](StringRef path, StringRef contents) -> llvm::Error {
    return files.add(path, llvm::arrayRefFromStringRef(contents));
  };
  if (output == "-") {
    llvm::outs() << text;
  } else {
    SmallString<128> descriptionPath(output);
    llvm::sys::path::replace_extension(descriptionPath, "json");
    if (emit == "hsaco" && descriptionPath == output)
      return fail("expected a name for the code object that does not end in "
                  ".json, got " +
                  output);
    if (llvm::Error error = add(output, text))
      return fail(llvm::toString(std::move(error)));
    if (emit == "hsaco")
      if (llvm::Error error = add(descriptionPath, description))
        return fail(llvm::toString(std::move(error)));
  }
  if (!report.empty())
    if (llvm::Error error = add(report, description))
      return fail(llvm::toString(std::move(error)));
  if (llvm::Error error = files.commit())
    return fail(llvm::toString(std::move(error)));
  return 0;
}
