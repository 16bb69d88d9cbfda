//===- RunMain.cpp - Runs a compiled kernel on arrays from files ----------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Device/NumpyFile.h"
#include "wavesmith/Device/RunKernel.h"
#include "wavesmith/Support/FileTransaction.h"
#include "wavesmith/Support/ToolCommandLine.h"
#include "wavesmith/Tools/Tools.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdlib>

using namespace wavesmith;
namespace cl = llvm::cl;

namespace {

/// The command line. Made inside the main function, once LLVM's own options are
/// out of the way: some of their names (threads) are taken there.
struct Options {
  cl::OptionCategory category{"wavesmith-run options"};

  cl::opt<std::string> codeObject{cl::Positional, cl::desc("<code object>"),
                                  cl::Required, cl::cat(category)};
  cl::opt<std::string> description{
      "description", cl::value_desc("file.json"),
      cl::desc("Kernel description; beside the code object, with the ending "
               ".json, if not given"),
      cl::cat(category)};
  cl::opt<std::string> kernel{
      "kernel", cl::value_desc("name"),
      cl::desc("Kernel to run; not needed where there is only one"),
      cl::cat(category)};
  cl::list<std::string> inputs{"input", cl::value_desc("name=file.npy"),
                               cl::desc("Array for an input"),
                               cl::cat(category)};
  cl::list<std::string> scalars{"scalar", cl::value_desc("name=number"),
                                cl::desc("Value of a scalar"),
                                cl::cat(category)};
  cl::list<std::string> outputs{
      "output", cl::value_desc("name=file.npy"),
      cl::desc("Where to write an output; what is not named is dropped"),
      cl::cat(category)};
  cl::opt<std::string> zones{
      "zones", cl::value_desc("N"),
      cl::desc("Number of zones; not needed where an input has them"),
      cl::cat(category)};
  cl::opt<std::string> device{
      "device", cl::value_desc("auto|hip|sim"),
      cl::desc("Where to run (default auto: a GPU of the code object's "
               "architecture if there is one, else the simulator)"),
      cl::init("auto"), cl::cat(category)};
  cl::opt<std::string> deviceNumber{"device-number", cl::value_desc("N"),
                                    cl::desc("HIP's number of the GPU to take"),
                                    cl::cat(category)};
  cl::opt<std::string> chip{
      "chip", cl::value_desc("name"),
      cl::desc("Chip that the simulator stands for, e.g. mi300a"),
      cl::cat(category)};
  cl::opt<std::string> threads{
      "threads", cl::value_desc("N"),
      cl::desc("Host threads of the simulator (default 1)"), cl::init("1"),
      cl::cat(category)};
  cl::opt<std::string> maxInstructions{
      "max-instructions", cl::value_desc("N"),
      cl::desc("Instructions that a workgroup may issue on the simulator, "
               "against endless loops (default 2^32, about a minute); 0 is no "
               "limit"),
      cl::cat(category)};
  cl::opt<bool> check{
      "check",
      cl::desc("Run the simulator's checker: uninitialised values, races, "
               "missing waits, barriers; status 2 if it finds something"),
      cl::cat(category)};
  cl::opt<bool> modelTime{
      "model-time",
      cl::desc("Model the time of the launch on the chip and print where it "
               "goes; modelled, not measured"),
      cl::cat(category)};
  cl::opt<bool> varyFitted{
      "vary-fitted",
      cl::desc("Model the time again with the model's fitted parameters a "
               "third lower and higher"),
      cl::cat(category)};
  cl::opt<std::string> counters{
      "counters", cl::value_desc("file.csv"),
      cl::desc("Where to write the simulator's counters under rocprof's names"),
      cl::cat(category)};
  cl::opt<std::string> report{"report", cl::value_desc("file.json"),
                              cl::desc("Where to write the report"),
                              cl::cat(category)};

  /// The options that may be given once.
  llvm::SmallVector<const cl::Option *> single() const {
    return {&description, &kernel,  &zones,           &device, &deviceNumber,
            &chip,        &threads, &maxInstructions, &report, &counters};
  }
};

} // namespace

static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readFile(llvm::StringRef path) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                  /*RequiresNullTerminator=*/false,
                                  /*IsVolatile=*/true);
  if (!buffer)
    return llvm::createStringError("cannot read " + path + ": " +
                                   buffer.getError().message());
  return std::move(*buffer);
}

template <typename T> static void storeScalar(HostArray &array, T value) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(&value);
  array.bytes.assign(bytes, bytes + sizeof(T));
}

/// A number from the command line with the type of its argument.
static llvm::Expected<HostArray>
parseScalar(const ArgumentDescription &argument, llvm::StringRef text) {
  HostArray array;
  array.type = argument.type;
  bool failed = true;
  switch (argument.type) {
  case ElementType::F64:
  case ElementType::F32:
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::F8E4M3FNUZ: {
    double value = 0;
    failed = text.getAsDouble(value, /*AllowInexact=*/true);
    uint64_t bits = encodeFloat(argument.type, value);
    failed |= std::isfinite(value) &&
              !std::isfinite(decodeFloat(argument.type, bits));
    // The host is little endian, as the device is.
    storeScalar(array, bits);
    array.bytes.resize(getElementBytes(argument.type));
    break;
  }
  case ElementType::I64: {
    int64_t value = 0;
    failed = text.getAsInteger(10, value);
    storeScalar(array, value);
    break;
  }
  case ElementType::I32: {
    int32_t value = 0;
    failed = text.getAsInteger(10, value);
    storeScalar(array, value);
    break;
  }
  }
  if (failed)
    return llvm::createStringError(
        "scalar '" + argument.name + "': expected a number of type " +
        stringify(argument.type) + ", got '" + text + "'");
  return array;
}

/// The arguments of one kind, for messages.
static std::string listArguments(const KernelDescription &kernel,
                                 ArgumentKind kind) {
  std::string names;
  for (const ArgumentDescription &argument : kernel.arguments)
    if (argument.kind == kind)
      names += (names.empty() ? "" : ", ") + argument.name;
  return names.empty() ? "none" : names;
}

/// Splits all values of an option and finds their arguments; one that is
/// unknown, of another kind or given twice is an error.
static llvm::Expected<
    std::vector<std::pair<const ArgumentDescription *, llvm::StringRef>>>
readPairs(const KernelDescription &kernel, ArgumentKind kind,
          const cl::list<std::string> &option) {
  std::vector<std::pair<const ArgumentDescription *, llvm::StringRef>> pairs;
  llvm::StringSet<> seen;
  for (const std::string &text : option) {
    auto pair = splitNamedValue(option.ArgStr, text);
    if (!pair)
      return pair.takeError();
    auto [name, value] = *pair;
    const ArgumentDescription *argument = kernel.findArgument(name);
    if (!argument || argument->kind != kind)
      return llvm::createStringError(
          "kernel '" + kernel.name + "' has no " + stringify(kind) + " '" +
          name + "'; it has " + listArguments(kernel, kind));
    if (!seen.insert(name).second)
      return llvm::createStringError(stringify(kind) + " '" + name +
                                     "' is given twice");
    pairs.emplace_back(argument, value);
  }
  return pairs;
}

static void printSummary(const LaunchReport &report) {
  llvm::raw_ostream &os = llvm::outs();
  os << "kernel " << report.kernel << ": ";
  if (report.zones)
    os << report.zones << " zones, ";
  os << uint64_t(report.grid[0]) * report.grid[1] * report.grid[2]
     << " workgroups of " << report.workgroup[0] << "x" << report.workgroup[1]
     << "x" << report.workgroup[2] << "\n";
  os << "device: " << stringify(report.device.kind) << ", "
     << report.device.name << ", " << report.device.fullArchitecture << "\n";
  if (!report.device.note.empty())
    os << "  (" << report.device.note << ")\n";
  const KernelResources &resources = report.resources;
  os << "resources: " << resources.vgprs << " VGPRs, " << resources.agprs
     << " AGPRs, " << resources.sgprs << " SGPRs, " << resources.ldsBytes
     << " bytes of LDS, " << resources.scratchBytes << " bytes of scratch, "
     << resources.vgprSpills << " VGPR and " << resources.sgprSpills
     << " SGPR spills\n";
  os << "occupancy: " << report.occupancy.wavesPerSIMD
     << " waves a SIMD, limited by " << stringify(report.occupancy.limit)
     << "\n";
  if (report.counters) {
    os << "executed: " << report.counters->waves << " waves, "
       << report.counters->instructions << " instructions";
    if (report.zones)
      os << llvm::format(", %.2f", double(report.counters->instructions) /
                                       double(report.zones))
         << " a zone";
    os << "\n";
  }
  if (report.measuredSeconds)
    os << "time: " << llvm::format("%.6f", *report.measuredSeconds * 1e3)
       << " ms, measured by HIP events\n";
}

/// Sets found if the checker found something.
static llvm::Error run(const Options &commandLine, bool &found) {
  llvm::Expected<DeviceKind> kind = parseDeviceKind(commandLine.device);
  if (!kind)
    return kind.takeError();
  DeviceOptions options;
  options.chip = commandLine.chip;
  options.check = commandLine.check;
  options.modelTime = commandLine.modelTime || commandLine.varyFitted;
  if (llvm::StringRef(commandLine.threads).getAsInteger(10, options.threads) ||
      options.threads == 0)
    return llvm::createStringError("--threads=" + commandLine.threads +
                                   ": expected a positive integer");
  if (!commandLine.maxInstructions.empty() &&
      llvm::StringRef(commandLine.maxInstructions)
          .getAsInteger(10, options.maxInstructions))
    return llvm::createStringError(
        "--max-instructions=" + commandLine.maxInstructions +
        ": expected an integer from 0 on");
  if (!commandLine.deviceNumber.empty()) {
    int ordinal = 0;
    if (llvm::StringRef(commandLine.deviceNumber).getAsInteger(10, ordinal) ||
        ordinal < 0)
      return llvm::createStringError(
          "--device-number=" + commandLine.deviceNumber +
          ": expected an integer from 0 on");
    options.ordinal = ordinal;
  }

  RunRequest request;
  if (!commandLine.zones.empty()) {
    int64_t zones = 0;
    if (llvm::StringRef(commandLine.zones).getAsInteger(10, zones))
      return llvm::createStringError("--zones=" + commandLine.zones +
                                     ": expected a positive integer");
    request.zones = zones;
  }

  auto codeObject = readFile(commandLine.codeObject);
  if (!codeObject)
    return codeObject.takeError();
  request.codeObject = llvm::arrayRefFromStringRef((*codeObject)->getBuffer());

  llvm::SmallString<128> descriptionPath(
      llvm::StringRef{commandLine.description});
  if (descriptionPath.empty()) {
    descriptionPath = commandLine.codeObject;
    llvm::sys::path::replace_extension(descriptionPath, "json");
  }
  auto descriptionText = readFile(descriptionPath);
  if (!descriptionText)
    return descriptionText.takeError();
  llvm::Expected<CodeObjectDescription> description =
      CodeObjectDescription::parse((*descriptionText)->getBuffer());
  if (!description)
    return llvm::createStringError(descriptionPath + ": " +
                                   llvm::toString(description.takeError()));
  request.description = &*description;
  request.kernel = commandLine.kernel;
  llvm::Expected<const KernelDescription &> kernel =
      description->findKernel(commandLine.kernel);
  if (!kernel)
    return kernel.takeError();

  // All options are checked before a file is read and before a device is
  // opened.
  auto inputPairs = readPairs(*kernel, ArgumentKind::Input, commandLine.inputs);
  if (!inputPairs)
    return inputPairs.takeError();
  auto scalarPairs =
      readPairs(*kernel, ArgumentKind::Scalar, commandLine.scalars);
  if (!scalarPairs)
    return scalarPairs.takeError();
  auto outputPairs =
      readPairs(*kernel, ArgumentKind::Output, commandLine.outputs);
  if (!outputPairs)
    return outputPairs.takeError();
  llvm::StringSet<> written;
  auto claim = [&](llvm::StringRef path) -> llvm::Error {
    llvm::SmallString<128> absolute(path);
    llvm::sys::fs::make_absolute(absolute);
    llvm::sys::path::remove_dots(absolute, /*remove_dot_dot=*/true);
    if (!written.insert(absolute).second)
      return llvm::createStringError("two outputs would be written to " + path);
    return llvm::Error::success();
  };
  for (auto &[argument, path] : *outputPairs)
    if (llvm::Error error = claim(path))
      return error;
  for (llvm::StringRef path : {llvm::StringRef(commandLine.report),
                               llvm::StringRef(commandLine.counters)})
    if (!path.empty())
      if (llvm::Error error = claim(path))
        return error;

  llvm::StringMap<HostArray> values;
  for (auto &[argument, path] : *inputPairs) {
    llvm::Expected<HostArray> array = readNumpyFile(path);
    if (!array)
      return array.takeError();
    values.try_emplace(argument->name, std::move(*array));
  }
  for (auto &[argument, text] : *scalarPairs) {
    llvm::Expected<HostArray> array = parseScalar(*argument, text);
    if (!array)
      return array.takeError();
    values.try_emplace(argument->name, std::move(*array));
  }
  for (auto &entry : values)
    request.values.try_emplace(entry.first(), entry.second.view());

  // The request is checked before a device is looked for, so that the messages
  // do not depend on the machine.
  llvm::Expected<std::shared_ptr<const sim::CodeObject>> metadata =
      sim::CodeObject::load(request.codeObject);
  if (!metadata)
    return llvm::createStringError(commandLine.codeObject + ": " +
                                   llvm::toString(metadata.takeError()));
  llvm::Expected<RunPlan> plan = planRun(request, **metadata);
  if (!plan)
    return plan.takeError();

  llvm::Expected<std::unique_ptr<Device>> device =
      createDevice(*kind, description->target, options);
  if (!device)
    return device.takeError();
  llvm::Expected<RunResult> result = runKernel(**device, request);
  if (!result)
    return result.takeError();

  // The same launch on a device with other fitted parameters.
  llvm::SmallVector<std::pair<double, double>> varied;
  if (commandLine.varyFitted)
    for (double scale : {2.0 / 3.0, 4.0 / 3.0}) {
      DeviceOptions other = options;
      other.check = false;
      other.fittedScale = scale;
      auto otherDevice = createDevice(*kind, description->target, other);
      if (!otherDevice)
        return otherDevice.takeError();
      auto otherResult = runKernel(**otherDevice, request);
      if (!otherResult)
        return otherResult.takeError();
      varied.push_back({scale, otherResult->report.modelledTime->cycles});
    }

  FileTransaction files;
  if (!commandLine.counters.empty()) {
    std::vector<sim::RocprofCounter> counters =
        result->report.getRocprofCounters();
    if (counters.empty())
      return llvm::createStringError("--counters: a GPU's counters are "
                                     "rocprof's to read; take --device=sim");
    std::string text;
    llvm::raw_string_ostream os(text);
    sim::printCSV(os, result->report.kernel, counters);
    if (llvm::Error error =
            files.add(commandLine.counters, llvm::arrayRefFromStringRef(text)))
      return error;
  }
  for (auto &[argument, path] : *outputPairs)
    for (const auto &[name, array] : result->outputs)
      if (name == argument->name)
        if (llvm::Error error = files.add(path, formatNumpy(array.view())))
          return error;
  if (!commandLine.report.empty()) {
    llvm::json::Value root = result->report.toJSON();
    if (!varied.empty()) {
      llvm::json::Array list;
      for (auto [scale, cycles] : varied)
        list.push_back(
            llvm::json::Object{{"fitted_scale", scale}, {"cycles", cycles}});
      (*(*root.getAsObject())["modelled_time"].getAsObject())["varied"] =
          std::move(list);
    }
    std::string text;
    llvm::raw_string_ostream(text) << llvm::formatv("{0:2}", root) << "\n";
    if (llvm::Error error =
            files.add(commandLine.report, llvm::arrayRefFromStringRef(text)))
      return error;
  }
  if (llvm::Error error = files.commit())
    return error;
  printSummary(result->report);
  if (result->report.modelledTime)
    result->report.modelledTime->print(llvm::outs());
  for (auto [scale, cycles] : varied)
    llvm::outs() << "fitted parameters times " << llvm::format("%.2f", scale)
                 << ": " << llvm::format("%.0f", cycles) << " cycles ("
                 << llvm::format(
                        "%+.1f",
                        100 *
                            (cycles / result->report.modelledTime->cycles - 1))
                 << " %)\n";
  if (result->report.findings) {
    const std::vector<sim::Finding> &findings = *result->report.findings;
    llvm::outs() << "checked: "
                 << (findings.empty()
                         ? "nothing found"
                         : std::to_string(findings.size()) + " findings")
                 << "\n";
    llvm::outs().flush();
    for (const sim::Finding &finding : findings)
      llvm::errs() << finding.text() << "\n";
    found = !findings.empty();
  }
  return llvm::Error::success();
}

int wavesmith::runMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  initializeTool("wavesmith-run");
  Options commandLine;
  if (!parseToolCommandLine(argc, argv,
                            "Runs a kernel that wavesmith-compile wrote\n",
                            commandLine.single()))
    return 1;
  bool found = false;
  if (llvm::Error error = run(commandLine, found)) {
    printToolError(llvm::toString(std::move(error)));
    return 1;
  }
  return found ? 2 : 0;
}
