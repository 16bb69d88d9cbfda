//===- ValidateMain.cpp - Every pass against the meaning ------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wavesmith-validate in.mlir --target=gfx90a [--input=name=file.npy ...]
//
// Exit status 0 if every stage passes, 1 if one fails, 2 if there is nothing to
// validate: a wrong command line, input that does not fit.
//
//===----------------------------------------------------------------------===//

#include "mlir/Parser/Parser.h"
#include "wavesmith/Device/NumpyFile.h"
#include "wavesmith/Support/FileTransaction.h"
#include "wavesmith/Support/PrintableText.h"
#include "wavesmith/Support/ToolCommandLine.h"
#include "wavesmith/Tools/Tools.h"
#include "wavesmith/Validation/Validation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <optional>

using namespace mlir;
using namespace wavesmith;
namespace cl = llvm::cl;

namespace {

/// The command line. Made inside the main function, once LLVM's own options are
/// out of the way.
struct CommandLine {
  cl::OptionCategory category{"wavesmith-validate options"};

  cl::opt<std::string> module{cl::Positional, cl::desc("<module>"),
                              cl::Required, cl::cat(category)};
  cl::opt<std::string> target{"target", cl::value_desc("name"),
                              cl::desc("The architecture: gfx90a or gfx942"),
                              cl::cat(category)};
  cl::opt<std::string> chip{
      "chip", cl::value_desc("name"),
      cl::desc("The chip, by default the architecture's first"),
      cl::cat(category)};
  cl::opt<std::string> function{
      "function", cl::value_desc("name"),
      cl::desc("Function to validate; not needed where there is only one"),
      cl::cat(category)};
  cl::opt<std::string> passes{
      "passes", cl::value_desc("names"),
      cl::desc("The optional passes to add one by one: all (the default), "
               "none, or names between commas"),
      cl::init("all"), cl::cat(category)};
  cl::list<std::string> inputs{"input", cl::value_desc("name=file.npy"),
                               cl::desc("Array for an argument"),
                               cl::cat(category)};
  cl::list<std::string> scalars{
      "scalar", cl::value_desc("name=number"),
      cl::desc("Value of a scalar argument, or of every element of an array"),
      cl::cat(category)};
  cl::opt<std::string> zones{
      "zones", cl::value_desc("N"),
      cl::desc("Number of zones where no --input has them (default 16)"),
      cl::cat(category)};
  cl::opt<std::string> seed{
      "seed", cl::value_desc("N"),
      cl::desc("Seed of the arguments that are not given (default 1)"),
      cl::init("1"), cl::cat(category)};
  cl::opt<std::string> device{
      "device", cl::value_desc("auto|hip|sim"),
      cl::desc("Where to run (default auto: a GPU of the target if there is "
               "one, else the simulator, in checker mode)"),
      cl::init("auto"), cl::cat(category)};
  cl::opt<std::string> threads{
      "threads", cl::value_desc("N"),
      cl::desc("Host threads of the simulator and the evaluators (default 1)"),
      cl::init("1"), cl::cat(category)};
  cl::opt<bool> noTime{"no-time",
                       cl::desc("Do not model the time on the simulator"),
                       cl::cat(category)};
  cl::opt<std::string> form{
      "form", cl::value_desc("name"),
      cl::desc("The code's form: auto, straight_line or table"),
      cl::init("auto"), cl::cat(category)};
  cl::opt<std::string> workgroupSize{
      "workgroup-size", cl::value_desc("N"),
      cl::desc("Threads of a workgroup; 0 chooses"), cl::init("0"),
      cl::cat(category)};
  cl::opt<std::string> threadsPerZone{
      "threads-per-zone", cl::value_desc("N"),
      cl::desc("Threads that integrate one zone; 0 takes the whole workgroup"),
      cl::init("0"), cl::cat(category)};
  cl::opt<std::string> maxError{
      "max-error", cl::value_desc("number"),
      cl::desc("Bound of the relative error after passes that change "
               "annotations, in place of the one that is computed"),
      cl::cat(category)};
  cl::opt<std::string> restarts{
      "restarts", cl::value_desc("N"),
      cl::desc("Steps of an integration to start again from, where passes "
               "change annotations (default 16)"),
      cl::init("16"), cl::cat(category)};
  cl::opt<std::string> json{"json", cl::value_desc("file.json"),
                            cl::desc("Where to write the table as JSON"),
                            cl::cat(category)};

  /// --test-passes, which only builds with tests have.
  std::optional<cl::opt<std::string>> testPasses;

  explicit CommandLine(bool hasTestPasses) {
    if (hasTestPasses)
      testPasses.emplace(
          "test-passes", cl::value_desc("names"),
          cl::desc("Passes of Wavesmith's own tests to add after those of "
                   "their level"),
          cl::init("none"), cl::cat(category));
  }

  /// The options that may be given once.
  llvm::SmallVector<const cl::Option *> single() const {
    return {&target, &chip,           &function, &passes,  &zones,
            &seed,   &device,         &threads,  &form,    &workgroupSize,
            &json,   &threadsPerZone, &maxError, &restarts};
  }
};

/// What the command line says. lld resets all options of the process, so
/// nothing may be read from them later.
struct Request {
  CompileOptions compile;
  ValidationOptions validation;
  std::string module, json;
};

} // namespace

template <typename T>
static llvm::Error readInteger(const cl::opt<std::string> &option, T least,
                               T &value) {
  if (StringRef(option.getValue()).getAsInteger(10, value) || value < least)
    return llvm::createStringError(
        "--" + option.ArgStr + "=" + option.getValue() +
        ": expected an integer from " + Twine(least) + " on");
  return llvm::Error::success();
}

static llvm::Error readRequest(const CommandLine &line,
                               ArrayRef<OptionalPass> testPasses,
                               Request &request) {
  request.module = line.module;
  request.json = line.json;
  ValidationOptions &validation = request.validation;
  CompileOptions &compile = request.compile;
  compile.architecture = line.target.getValue();
  compile.chip = line.chip.getValue();
  compile.form = line.form.getValue();
  if (line.target.empty())
    return llvm::createStringError("pass --target=gfx90a or --target=gfx942");
  if (auto target = lookupTarget(line.target, line.chip); !target)
    return target.takeError();
  int64_t size = 0, threadsPerZone = 0;
  if (llvm::Error error = readInteger<int64_t>(line.workgroupSize, 0, size))
    return error;
  if (llvm::Error error =
          readInteger<int64_t>(line.threadsPerZone, 0, threadsPerZone))
    return error;
  compile.workgroupSize = size;
  compile.threadsPerZone = threadsPerZone;

  validation.function = line.function;
  llvm::Expected<DeviceKind> kind = parseDeviceKind(line.device);
  if (!kind)
    return kind.takeError();
  validation.device = *kind;
  validation.modelTime = !line.noTime;
  if (llvm::Error error =
          readInteger<unsigned>(line.threads, 1, validation.threads))
    return error;
  if (llvm::Error error = readInteger<uint64_t>(line.seed, 0, validation.seed))
    return error;
  if (llvm::Error error =
          readInteger<unsigned>(line.restarts, 1, validation.restarts))
    return error;
  if (!line.zones.empty()) {
    int64_t zones = 0;
    if (llvm::Error error = readInteger<int64_t>(line.zones, 1, zones))
      return error;
    validation.zones = zones;
  }
  if (!line.maxError.empty()) {
    double number = 0;
    if (StringRef(line.maxError).getAsDouble(number) || !(number > 0))
      return llvm::createStringError("--max-error=" + line.maxError +
                                     ": expected a positive number");
    validation.maxError = number;
  }

  auto passes = selectOptionalPasses(line.passes, getOptionalPasses());
  if (!passes)
    return passes.takeError();
  validation.passes = std::move(*passes);
  if (line.testPasses) {
    auto tests = selectOptionalPasses(*line.testPasses, testPasses);
    if (!tests)
      return tests.takeError();
    // Each stands after those of its level.
    for (const OptionalPass &pass : *tests) {
      auto after =
          llvm::find_if(validation.passes, [&](const OptionalPass &other) {
            return other.level > pass.level;
          });
      validation.passes.insert(after, pass);
    }
  }

  for (StringRef text : line.inputs) {
    auto pair = splitNamedValue("input", text);
    if (!pair)
      return pair.takeError();
    llvm::Expected<HostArray> array = readNumpyFile(pair->second);
    if (!array)
      return array.takeError();
    if (!validation.inputs.try_emplace(pair->first, std::move(*array)).second)
      return llvm::createStringError("argument '" + pair->first +
                                     "' is given twice");
  }
  for (StringRef text : line.scalars) {
    auto pair = splitNamedValue("scalar", text);
    if (!pair)
      return pair.takeError();
    double number = 0;
    if (pair->second.getAsDouble(number, /*AllowInexact=*/true))
      return llvm::createStringError("argument '" + pair->first +
                                     "': expected a number, got '" +
                                     pair->second + "'");
    if (!validation.values.emplace(pair->first.str(), number).second)
      return llvm::createStringError("argument '" + pair->first +
                                     "' is given twice");
  }
  return llvm::Error::success();
}

int wavesmith::validateMain(int argc, char **argv,
                            ArrayRef<OptionalPass> testPasses) {
  llvm::InitLLVM init(argc, argv);
  initializeTool("wavesmith-validate");
  constexpr int badUsage = 2;
  CommandLine line(/*hasTestPasses=*/!testPasses.empty());
  if (!parseToolCommandLine(
          argc, argv,
          "Compiles a function after each optional pass, runs the code and "
          "compares the results with the function's meaning\n",
          line.single()))
    return badUsage;
  auto fail = [&](const Twine &message) {
    printToolError(message);
    return badUsage;
  };
  Request request;
  if (llvm::Error error = readRequest(line, testPasses, request))
    return fail(llvm::toString(std::move(error)));

  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> text =
      llvm::MemoryBuffer::getFileOrSTDIN(request.module);
  if (!text)
    return fail("cannot read " + request.module + ": " +
                text.getError().message());
  if (llvm::Error error = checkIsModule((*text)->getBuffer()))
    return fail(request.module + ": " + llvm::toString(std::move(error)));
  DialectRegistry registry;
  registerDialects(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module;
  {
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(std::move(*text), llvm::SMLoc());
    PrintableStream diagnostics(llvm::errs());
    SourceMgrDiagnosticHandler handler(sources, context.get(), diagnostics);
    module = parseSourceFile<ModuleOp>(sources, context.get());
  }
  // Diagnostics have been printed.
  if (!module)
    return badUsage;

  bool gaveUp = false;
  llvm::Expected<ValidationReport> report =
      validate(*module, request.compile, request.validation, &gaveUp);
  if (gaveUp) {
    // Neither may be destroyed any more.
    module.release();
    context.release();
  }
  if (!report)
    return fail(llvm::toString(report.takeError()));
  report->print(llvm::outs());
  llvm::outs().flush();
  if (!request.json.empty()) {
    FileTransaction files;
    std::string json = llvm::formatv("{0:2}\n", report->toJSON());
    llvm::Error error =
        files.add(request.json, llvm::arrayRefFromStringRef(json));
    if (!error)
      error = files.commit();
    if (error)
      return fail(llvm::toString(std::move(error)));
  }
  return report->passed() ? 0 : 1;
}
