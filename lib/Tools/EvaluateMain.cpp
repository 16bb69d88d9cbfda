//===- EvaluateMain.cpp - Evaluates a function by the reference -----------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "wavesmith/Device/NumpyFile.h"
#include "wavesmith/Reference/AttentionEvaluator.h"
#include "wavesmith/Reference/FunctionEvaluator.h"
#include "wavesmith/Reference/WorkgroupEvaluator.h"
#include "wavesmith/Support/FileTransaction.h"
#include "wavesmith/Support/PrintableText.h"
#include "wavesmith/Support/ToolCommandLine.h"
#include "wavesmith/Tools/Tools.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace wavesmith;
namespace cl = llvm::cl;

namespace {

/// The command line. Made inside the main function, once LLVM's own options are
/// out of the way: some of their names (threads) are taken there.
struct CommandLine {
  cl::OptionCategory category{"wavesmith-evaluate options"};

  cl::opt<std::string> module{cl::Positional, cl::desc("<module>"),
                              cl::Required, cl::cat(category)};
  cl::opt<std::string> function{
      "function", cl::value_desc("name"),
      cl::desc("Function to evaluate; not needed where there is only one"),
      cl::cat(category)};
  cl::list<std::string> inputs{"input", cl::value_desc("name=file.npy"),
                               cl::desc("Array for an argument"),
                               cl::cat(category)};
  cl::list<std::string> scalars{"scalar", cl::value_desc("name=number"),
                                cl::desc("Value of a scalar argument"),
                                cl::cat(category)};
  cl::opt<std::string> termValues{
      "term-values", cl::value_desc("file.npy"),
      cl::desc("Values of the terms: compute the sums alone from them, without "
               "arguments"),
      cl::cat(category)};
  cl::list<std::string> outputs{"output", cl::value_desc("name=file.npy"),
                                cl::desc("Where to write a result"),
                                cl::cat(category)};
  cl::list<std::string> magnitudes{
      "magnitude", cl::value_desc("[name=]file.npy"),
      cl::desc(
          "Where to write the magnitude of a result that is a sum: the sum "
          "of its terms' absolute values; no name is needed where there "
          "is one result"),
      cl::cat(category)};
  cl::opt<std::string> recordSteps{
      "record-steps", cl::value_desc("n,n,..."),
      cl::desc("Numbers of steps of an integration (0 is the start) before "
               "which --record writes the zones"),
      cl::cat(category)};
  cl::list<std::string> records{
      "record", cl::value_desc("name=file.npy"),
      cl::desc("Where to write an array argument of the function as it stands "
               "before the steps of --record-steps: an input whose zones are "
               "the records, sorted by zone and step"),
      cl::cat(category)};
  cl::opt<std::string> branches{
      "branches", cl::value_desc("file.json"),
      cl::desc("Where to write how often an integration took each branch, for "
               "each zone"),
      cl::cat(category)};
  cl::opt<std::string> precision{
      "precision", cl::value_desc("f64|high"),
      cl::desc("The bits of the device (f64, the default), or computed in high "
               "precision and rounded once"),
      cl::init("f64"), cl::cat(category)};
  cl::opt<bool> roundResults{
      "round-results",
      cl::desc("Write the results of attention in their types, rounded to "
               "nearest even; without it they are f64"),
      cl::cat(category)};
  cl::opt<std::string> threads{
      "threads", cl::value_desc("N"),
      cl::desc("Host threads; 0 (the default) for all cores"), cl::init("0"),
      cl::cat(category)};
};

} // namespace

using Argument = FunctionEvaluator::Argument;
using ArgumentKind = FunctionEvaluator::ArgumentKind;
using Result = FunctionEvaluator::Result;

template <typename Range> static std::string listNames(Range &&range) {
  std::string names;
  for (const auto &entry : range)
    names += (names.empty() ? "" : ", ") + entry.name;
  return names.empty() ? "none" : names;
}

/// Finds what is called `name`; anything else is an error that lists what there
/// is.
template <typename T>
static llvm::Expected<const T *> findNamed(ArrayRef<T> list, StringRef what,
                                           StringRef name) {
  for (const T &entry : list)
    if (entry.name == name)
      return &entry;
  return llvm::createStringError("the function has no " + what + " '" + name +
                                 "'; it has " + listNames(list));
}

static std::vector<double> getNumbers(const HostArray &array) {
  std::vector<double> numbers(array.bytes.size() / sizeof(double));
  if (!numbers.empty())
    std::memcpy(numbers.data(), array.bytes.data(), array.bytes.size());
  return numbers;
}

/// Reads an array of one number a zone; sets `numZones`, or checks it if it is
/// set.
static llvm::Expected<std::vector<double>>
readVector(const llvm::Twine &what, StringRef path,
           std::optional<size_t> &numZones) {
  llvm::Expected<HostArray> array = readNumpyFile(path);
  if (!array)
    return array.takeError();
  if (array->type != ElementType::F64 || array->shape.size() != 1 ||
      (numZones && array->shape[0] != static_cast<int64_t>(*numZones)))
    return llvm::createStringError(
        what + ": expected f64 [" +
        (numZones ? std::to_string(*numZones) : "zones") + "], got " +
        stringify(array->type) + " " + formatShape(array->shape) + " in " +
        path);
  numZones = array->shape[0];
  return getNumbers(*array);
}

/// Reads an array of `rows` numbers a zone; sets `numZones`, or checks it if it
/// is set.
static llvm::Expected<std::vector<double>>
readArray(const FunctionEvaluator &function, const llvm::Twine &what,
          StringRef path, unsigned rows, std::optional<size_t> &numZones) {
  llvm::Expected<HostArray> array = readNumpyFile(path);
  if (!array)
    return array.takeError();
  bool zonesFirst = function.getLayout() == ZoneLayout::ArrayOfStructures;
  std::string zones = numZones ? std::to_string(*numZones) : "zones";
  std::string wanted = zonesFirst
                           ? "[" + zones + ", " + std::to_string(rows) + "]"
                           : "[" + std::to_string(rows) + ", " + zones + "]";
  bool fits = array->type == ElementType::F64 && array->shape.size() == 2 &&
              array->shape[zonesFirst ? 1 : 0] == rows;
  if (fits && numZones)
    fits = array->shape[zonesFirst ? 0 : 1] == static_cast<int64_t>(*numZones);
  if (!fits)
    return llvm::createStringError(what + ": expected f64 " + wanted +
                                   ", got " + stringify(array->type) + " " +
                                   formatShape(array->shape) + " in " + path);
  numZones = array->shape[zonesFirst ? 0 : 1];
  return getNumbers(*array);
}

namespace {
/// What the command line asks for, checked against the function.
struct Request {
  /// For each argument: a path or a number.
  std::vector<std::optional<StringRef>> arguments;
  struct File {
    size_t result;
    bool isMagnitude;
    StringRef path;
  };
  std::vector<File> files;
  /// What to record of an integration.
  std::vector<int64_t> recordedSteps;
  struct RecordFile {
    const Argument *argument;
    StringRef path;
  };
  std::vector<RecordFile> records;
};
} // namespace

/// Reads the options of an integration.
static llvm::Error
readRecords(const CommandLine &line, const FunctionEvaluator &function,
            llvm::function_ref<llvm::Error(StringRef)> addPath,
            Request &request) {
  bool hasSteps = !line.recordSteps.empty(), hasFiles = !line.records.empty();
  if (!function.getIntegration()) {
    if (hasSteps || hasFiles || !line.branches.empty())
      return llvm::createStringError(
          "--record-steps, --record and --branches: the function has no "
          "wavesmith.ode_integrate");
    return llvm::Error::success();
  }
  if (hasSteps != hasFiles)
    return llvm::createStringError(
        "--record-steps and --record need each other");
  if (hasSteps)
    for (StringRef text : llvm::split(StringRef(line.recordSteps), ',')) {
      uint32_t number;
      if (text.getAsInteger(10, number))
        return llvm::createStringError(
            "--record-steps: expected integers from 0 on, got '" + text + "'");
      request.recordedSteps.push_back(number);
    }
  for (StringRef text : line.records) {
    auto pair = splitNamedValue("record", text);
    if (!pair)
      return pair.takeError();
    auto argument = findNamed(function.getArguments(), "argument", pair->first);
    if (!argument)
      return argument.takeError();
    if ((*argument)->rows == 0)
      return llvm::createStringError("argument '" + pair->first +
                                     "' has no number for each zone");
    if (llvm::Error error = addPath(pair->second))
      return error;
    request.records.push_back({*argument, pair->second});
  }
  return line.branches.empty() ? llvm::Error::success()
                               : addPath(line.branches);
}

static llvm::Expected<Request> readRequest(const CommandLine &line,
                                           const FunctionEvaluator &function) {
  Request request;
  ArrayRef<Argument> arguments = function.getArguments();
  ArrayRef<Result> results = function.getResults();
  request.arguments.resize(arguments.size());
  for (auto [option, isScalar] :
       {std::pair(&line.inputs, false), std::pair(&line.scalars, true)})
    for (const std::string &text : *option) {
      auto pair = splitNamedValue(isScalar ? "scalar" : "input", text);
      if (!pair)
        return pair.takeError();
      auto argument = findNamed(arguments, "argument", pair->first);
      if (!argument)
        return argument.takeError();
      if ((*argument)->kind == ArgumentKind::Unused)
        return llvm::createStringError("argument '" + pair->first +
                                       "' is not used by the function");
      if (isScalar != (*argument)->isScalar())
        return llvm::createStringError(
            "argument '" + pair->first + "' is " +
            (isScalar ? "an array: pass --input" : "a scalar: pass --scalar"));
      std::optional<StringRef> &value =
          request.arguments[*argument - arguments.begin()];
      if (value)
        return llvm::createStringError("argument '" + pair->first +
                                       "' is given twice");
      value = pair->second;
    }

  llvm::StringSet<> paths;
  auto addPath = [&](StringRef path) -> llvm::Error {
    if (paths.insert(path).second)
      return llvm::Error::success();
    return llvm::createStringError("two results would be written to " + path);
  };
  auto addFile = [&](const Result *result, bool isMagnitude,
                     StringRef path) -> llvm::Error {
    if (llvm::Error error = addPath(path))
      return error;
    request.files.push_back(
        {static_cast<size_t>(result - results.begin()), isMagnitude, path});
    return llvm::Error::success();
  };
  for (const std::string &text : line.outputs) {
    auto pair = splitNamedValue("output", text);
    if (!pair)
      return pair.takeError();
    auto result = findNamed(results, "result", pair->first);
    if (!result)
      return result.takeError();
    if (llvm::Error error = addFile(*result, false, pair->second))
      return error;
  }
  for (StringRef text : line.magnitudes) {
    const Result *result = nullptr;
    StringRef path = text;
    if (results.size() == 1 && !text.starts_with(results[0].name + "=")) {
      result = &results[0];
    } else {
      auto pair = splitNamedValue("magnitude", text);
      if (!pair)
        return pair.takeError();
      auto found = findNamed(results, "result", pair->first);
      if (!found)
        return found.takeError();
      result = *found;
      path = pair->second;
    }
    if (!result->isSum())
      return llvm::createStringError("result '" + result->name +
                                     "' is not a sum and has no magnitude");
    if (llvm::Error error = addFile(result, true, path))
      return error;
  }
  if (llvm::Error error = readRecords(line, function, addPath, request))
    return error;
  if (request.files.empty() && request.records.empty() && line.branches.empty())
    return llvm::createStringError(
        "no result is asked for: pass --output=name=file.npy; results are " +
        listNames(results));
  return request;
}

/// The records of an argument as an array whose zones they are.
static std::vector<uint8_t>
formatRecords(const FunctionEvaluator &function, const Argument &argument,
              ArrayRef<OdeEvaluator::Record> records,
              ArrayRef<double> parameters, size_t numZones) {
  bool zonesFirst = function.getLayout() == ZoneLayout::ArrayOfStructures;
  auto getNumber = [&](const OdeEvaluator::Record &record, unsigned row) {
    switch (argument.kind) {
    case ArgumentKind::ZoneTime:
      return record.time;
    case ArgumentKind::ZoneStep:
      return record.step;
    case ArgumentKind::States:
      return record.states[row];
    default:
      // Parameters, in the layout of the function.
      return parameters[zonesFirst ? record.zone * argument.rows + row
                                   : row * numZones + record.zone];
    }
  };
  std::vector<double> numbers(argument.rows * records.size());
  for (auto [index, record] : llvm::enumerate(records))
    for (unsigned row = 0; row != argument.rows; ++row)
      numbers[zonesFirst ? index * argument.rows + row
                         : row * records.size() + index] =
          getNumber(record, row);
  HostArrayView view;
  if (argument.isVector())
    view.shape = {static_cast<int64_t>(records.size())};
  else
    view.shape = function.getShape(argument.rows, records.size());
  view.bytes = ArrayRef(reinterpret_cast<const uint8_t *>(numbers.data()),
                        numbers.size() * sizeof(double));
  return formatNumpy(view);
}

static std::vector<uint8_t>
formatBranches(ArrayRef<OdeEvaluator::BranchCounts> branches, bool isTsit5) {
  llvm::json::Array zones;
  for (const OdeEvaluator::BranchCounts &counts : branches)
    if (isTsit5)
      zones.push_back(llvm::json::Object{{"accepted", counts.accepted},
                                         {"rejected", counts.rejected}});
    else
      zones.push_back(llvm::json::Object{{"reduced", counts.reduced},
                                         {"stretched", counts.stretched},
                                         {"unchanged", counts.unchanged},
                                         {"asymptotic", counts.asymptotic},
                                         {"euler", counts.euler}});
  llvm::json::Value root = llvm::json::Object{{"zones", std::move(zones)}};
  std::string text = llvm::formatv("{0:2}\n", root);
  return {text.begin(), text.end()};
}

static llvm::Expected<std::vector<FunctionEvaluator::ResultArrays>>
evaluate(const CommandLine &line, const FunctionEvaluator &function,
         const Request &request, const OdeEvaluator::Options &options,
         std::optional<size_t> &numZones, FileTransaction &files) {
  if (!line.termValues.empty()) {
    if (!line.inputs.empty() || !line.scalars.empty())
      return llvm::createStringError(
          "--term-values takes the place of all arguments: pass no --input "
          "and no --scalar");
    auto values = readArray(function, "the values of the terms",
                            line.termValues, function.getNumTerms(), numZones);
    if (!values)
      return values.takeError();
    return function.evaluateSums(*values, *numZones, options);
  }

  double scalar = 0;
  std::vector<double> time, step, states, parameters;
  for (auto [argument, value] :
       llvm::zip_equal(function.getArguments(), request.arguments)) {
    if (argument.kind == ArgumentKind::Unused)
      continue;
    bool isScalar = argument.isScalar();
    if (!value)
      return llvm::createStringError(
          "argument '" + argument.name + "' is missing: pass --" +
          (isScalar ? "scalar=" : "input=") + argument.name +
          (isScalar ? "=number" : "=file.npy"));
    if (isScalar) {
      if (value->getAsDouble(scalar, /*AllowInexact=*/true))
        return llvm::createStringError("argument '" + argument.name +
                                       "': expected a number, got '" + *value +
                                       "'");
      continue;
    }
    std::string what = "argument '" + argument.name + "'";
    auto numbers = argument.isVector() ? readVector(what, *value, numZones)
                                       : readArray(function, what, *value,
                                                   argument.rows, numZones);
    if (!numbers)
      return numbers.takeError();
    switch (argument.kind) {
    case ArgumentKind::ZoneTime:
      time = std::move(*numbers);
      break;
    case ArgumentKind::ZoneStep:
      step = std::move(*numbers);
      break;
    case ArgumentKind::States:
      states = std::move(*numbers);
      break;
    default:
      parameters = std::move(*numbers);
      break;
    }
  }
  if (!function.getIntegration())
    return function.evaluate(scalar, states, parameters, *numZones, options);
  if (options.highPrecision)
    return llvm::createStringError(
        "--precision=high: an integration is computed in f64 only");
  OdeEvaluator::Integration integration = *function.getIntegration();
  integration.end = scalar;
  integration.numThreads = options.numThreads;
  integration.recordedSteps = request.recordedSteps;
  OdeEvaluator::IntegrationResults all;
  auto arrays = function.integrate(integration, time, step, states, parameters,
                                   *numZones, all);
  if (!arrays)
    return arrays.takeError();
  for (const Request::RecordFile &file : request.records)
    if (llvm::Error error = files.add(
            file.path, formatRecords(function, *file.argument, all.records,
                                     parameters, *numZones)))
      return std::move(error);
  if (!line.branches.empty())
    if (llvm::Error error = files.add(
            line.branches,
            formatBranches(all.branches, integration.tsit5.has_value())))
      return std::move(error);
  return arrays;
}

static llvm::Error run(const CommandLine &line,
                       const FunctionEvaluator &function) {
  OdeEvaluator::Options options;
  if (line.precision != "f64" && line.precision != "high")
    return llvm::createStringError("--precision=" + line.precision +
                                   ": expected f64 or high");
  options.highPrecision = line.precision == "high";
  if (StringRef(line.threads).getAsInteger(10, options.numThreads))
    return llvm::createStringError("--threads=" + line.threads +
                                   ": expected an integer from 0 on");
  llvm::Expected<Request> request = readRequest(line, function);
  if (!request)
    return request.takeError();

  std::optional<size_t> numZones;
  FileTransaction files;
  auto arrays = evaluate(line, function, *request, options, numZones, files);
  if (!arrays)
    return arrays.takeError();

  for (const Request::File &file : request->files) {
    const FunctionEvaluator::ResultArrays &result = (*arrays)[file.result];
    const Result &description = function.getResults()[file.result];
    HostArrayView view;
    if (description.isVector())
      view.shape = {static_cast<int64_t>(*numZones)};
    else
      view.shape = function.getShape(description.rows, *numZones);
    auto setNumbers = [&](ElementType type, const auto &numbers) {
      view.type = type;
      view.bytes = ArrayRef(reinterpret_cast<const uint8_t *>(numbers.data()),
                            numbers.size() * sizeof(numbers[0]));
    };
    if (description.isInteger())
      setNumbers(ElementType::I32, result.integers);
    else
      setNumbers(ElementType::F64,
                 file.isMagnitude ? result.magnitudes : result.numbers);
    if (llvm::Error error = files.add(file.path, formatNumpy(view)))
      return error;
  }
  return files.commit();
}

//===----------------------------------------------------------------------===//
// Functions of a workgroup
//===----------------------------------------------------------------------===//

/// The number of a scalar argument, from the command line's text.
static llvm::Expected<HostArray>
readScalar(const WorkgroupEvaluator::Argument &argument, StringRef text) {
  HostArray scalar;
  scalar.type = argument.type;
  scalar.bytes.resize(getElementBytes(argument.type));
  bool wrong = false;
  auto set = [&](auto number) {
    std::memcpy(scalar.bytes.data(), &number, sizeof(number));
  };
  double number = 0;
  int64_t integer = 0;
  int32_t narrow = 0;
  switch (argument.type) {
  case ElementType::F64:
  case ElementType::F32:
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::F8E4M3FNUZ: {
    wrong = text.getAsDouble(number, /*AllowInexact=*/true);
    // The host is little endian.
    uint64_t bits = encodeFloat(argument.type, number);
    std::memcpy(scalar.bytes.data(), &bits, scalar.bytes.size());
    break;
  }
  case ElementType::I64:
    wrong = text.getAsInteger(10, integer);
    set(integer);
    break;
  case ElementType::I32:
    wrong = text.getAsInteger(10, narrow);
    set(narrow);
    break;
  }
  if (wrong)
    return llvm::createStringError(
        "argument '" + argument.name + "': expected a number of type " +
        stringify(argument.type) + ", got '" + text + "'");
  return scalar;
}

/// Evaluates a function of one workgroup: --input gives its batches, --output
/// names those that it writes. One that is written and not given begins with
/// zeros.
static llvm::Error runWorkgroup(const CommandLine &line,
                                const WorkgroupEvaluator &function) {
  if (!line.termValues.empty() || !line.magnitudes.empty() ||
      line.precision != "f64")
    return llvm::createStringError(
        "--term-values, --magnitude and --precision=high are for a quantity "
        "of a system, and the function is a workgroup");
  WorkgroupEvaluator::Options options;
  if (StringRef(line.threads).getAsInteger(10, options.numThreads))
    return llvm::createStringError("--threads=" + line.threads +
                                   ": expected an integer from 0 on");

  ArrayRef<WorkgroupEvaluator::Argument> arguments = function.getArguments();
  std::vector<std::optional<HostArray>> given(arguments.size());
  std::optional<int64_t> numZones;
  for (auto [option, isScalar] :
       {std::pair(&line.inputs, false), std::pair(&line.scalars, true)})
    for (const std::string &text : *option) {
      auto pair = splitNamedValue(isScalar ? "scalar" : "input", text);
      if (!pair)
        return pair.takeError();
      auto argument = findNamed(arguments, "argument", pair->first);
      if (!argument)
        return argument.takeError();
      if (isScalar == (*argument)->isArray)
        return llvm::createStringError(
            "argument '" + pair->first + "' is " +
            (isScalar ? "an array: pass --input" : "a scalar: pass --scalar"));
      std::optional<HostArray> &value = given[*argument - arguments.begin()];
      if (value)
        return llvm::createStringError("argument '" + pair->first +
                                       "' is given twice");
      llvm::Expected<HostArray> array =
          isScalar ? readScalar(**argument, pair->second)
                   : readNumpyFile(pair->second);
      if (!array)
        return array.takeError();
      // The evaluator checks shapes; here the zones must agree.
      if (array->shape.size() == (*argument)->shape.size())
        for (auto [size, wanted] :
             llvm::zip_equal(array->shape, (*argument)->shape)) {
          if (!ShapedType::isDynamic(wanted))
            continue;
          if (numZones && *numZones != size)
            return llvm::createStringError(
                "argument '" + pair->first + "': expected " + Twine(*numZones) +
                " zones, got " + Twine(size) + " in " + pair->second);
          numZones = size;
        }
      if (isScalar && (*argument)->isNumZones && !numZones) {
        int64_t number;
        if (array->bytes.size() == sizeof(number)) {
          std::memcpy(&number, array->bytes.data(), sizeof(number));
          numZones = number;
        }
      }
      value = std::move(*array);
    }

  struct File {
    size_t argument;
    StringRef path;
  };
  SmallVector<File> files;
  llvm::StringSet<> paths;
  std::vector<WorkgroupEvaluator::Argument> written;
  for (const auto &argument : arguments)
    if (argument.isWritten)
      written.push_back(argument);
  for (const std::string &text : line.outputs) {
    auto pair = splitNamedValue("output", text);
    if (!pair)
      return pair.takeError();
    auto result = findNamed(ArrayRef(written), "result", pair->first);
    if (!result)
      return result.takeError();
    if (!paths.insert(pair->second).second)
      return llvm::createStringError("two results would be written to " +
                                     pair->second);
    auto argument = llvm::find_if(arguments, [&](const auto &entry) {
      return entry.name == pair->first;
    });
    files.push_back(
        {static_cast<size_t>(argument - arguments.begin()), pair->second});
  }
  if (files.empty())
    return llvm::createStringError(
        "no result is asked for: pass --output=name=file.npy; results are " +
        listNames(written));

  std::vector<HostArray> arrays;
  for (auto [argument, value] : llvm::zip_equal(arguments, given)) {
    HostArray array;
    if (value) {
      array = std::move(*value);
    } else if (!argument.isArray && argument.isNumZones && numZones) {
      array.type = argument.type;
      array.bytes.resize(sizeof(int64_t));
      std::memcpy(array.bytes.data(), &*numZones, sizeof(int64_t));
    } else if (argument.isArray && !argument.isRead && numZones) {
      array.type = argument.type;
      array.shape = argument.getShape(*numZones);
      std::optional<uint64_t> bytes = getArrayBytes(array.type, array.shape);
      if (!bytes)
        return llvm::createStringError("argument '" + argument.name +
                                       "': no array of shape " +
                                       formatShape(array.shape));
      array.bytes.resize(*bytes);
    } else {
      return llvm::createStringError(
          "argument '" + argument.name + "' is missing: pass --" +
          (argument.isArray ? "input=" + argument.name + "=file.npy"
                            : "scalar=" + argument.name + "=number"));
    }
    arrays.push_back(std::move(array));
  }
  if (llvm::Error error = function.evaluate(arrays, options))
    return error;
  FileTransaction transaction;
  for (const File &file : files)
    if (llvm::Error error = transaction.add(
            file.path, formatNumpy(arrays[file.argument].view())))
      return error;
  return transaction.commit();
}

//===----------------------------------------------------------------------===//
// Functions of attention
//===----------------------------------------------------------------------===//

static llvm::Error runAttention(const CommandLine &line,
                                const AttentionEvaluator &function) {
  if (!line.termValues.empty() || !line.magnitudes.empty() ||
      !line.recordSteps.empty() || !line.records.empty() ||
      !line.branches.empty() || line.precision != "f64")
    return llvm::createStringError(
        "--term-values, --magnitude, --record-steps, --record, --branches and "
        "--precision=high are for systems, and the function is attention");
  if (!line.scalars.empty())
    return llvm::createStringError(
        "--scalar: the function has no scalar argument");
  AttentionEvaluator::Options options;
  options.roundResults = line.roundResults;
  if (StringRef(line.threads).getAsInteger(10, options.numThreads))
    return llvm::createStringError("--threads=" + line.threads +
                                   ": expected an integer from 0 on");

  ArrayRef<AttentionEvaluator::Array> arguments = function.getArguments();
  std::vector<std::optional<HostArray>> given(arguments.size());
  for (const std::string &text : line.inputs) {
    auto pair = splitNamedValue("input", text);
    if (!pair)
      return pair.takeError();
    auto argument = findNamed(arguments, "argument", pair->first);
    if (!argument)
      return argument.takeError();
    if (!(*argument)->isUsed)
      return llvm::createStringError("argument '" + pair->first +
                                     "' is not used by the function");
    std::optional<HostArray> &value = given[*argument - arguments.begin()];
    if (value)
      return llvm::createStringError("argument '" + pair->first +
                                     "' is given twice");
    llvm::Expected<HostArray> array = readNumpyFile(pair->second);
    if (!array)
      return array.takeError();
    value = std::move(*array);
  }
  std::vector<HostArray> arrays;
  for (auto [argument, value] : llvm::zip_equal(arguments, given)) {
    if (argument.isUsed && !value)
      return llvm::createStringError(
          "argument '" + argument.name +
          "' is missing: pass --input=" + argument.name + "=file.npy");
    arrays.push_back(value ? std::move(*value) : HostArray());
  }

  struct File {
    size_t result;
    StringRef path;
  };
  SmallVector<File> files;
  llvm::StringSet<> paths;
  ArrayRef<AttentionEvaluator::Array> results = function.getResults();
  for (const std::string &text : line.outputs) {
    auto pair = splitNamedValue("output", text);
    if (!pair)
      return pair.takeError();
    auto result = findNamed(results, "result", pair->first);
    if (!result)
      return result.takeError();
    if (!paths.insert(pair->second).second)
      return llvm::createStringError("two results would be written to " +
                                     pair->second);
    files.push_back(
        {static_cast<size_t>(*result - results.begin()), pair->second});
  }
  if (files.empty())
    return llvm::createStringError(
        "no result is asked for: pass --output=name=file.npy; results are " +
        listNames(results));

  llvm::Expected<std::vector<HostArray>> outputs =
      function.evaluate(arrays, options);
  if (!outputs)
    return outputs.takeError();
  FileTransaction transaction;
  for (const File &file : files)
    if (llvm::Error error = transaction.add(
            file.path, formatNumpy((*outputs)[file.result].view())))
      return error;
  return transaction.commit();
}

/// Makes the evaluator of a function and runs it; the program's exit status.
template <typename EvaluatorT>
static int evaluate(func::FuncOp function, const CommandLine &line,
                    llvm::Error (*run)(const CommandLine &,
                                       const EvaluatorT &)) {
  // Diagnostics have been printed.
  FailureOr<EvaluatorT> evaluator = EvaluatorT::create(function);
  if (failed(evaluator))
    return 1;
  if (llvm::Error error = run(line, *evaluator)) {
    printToolError(llvm::toString(std::move(error)));
    return 1;
  }
  return 0;
}

int wavesmith::evaluateMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  initializeTool("wavesmith-evaluate");
  CommandLine line;
  if (!parseToolCommandLine(
          argc, argv,
          "Evaluates a function of a module by the reference evaluator\n",
          {&line.function, &line.termValues, &line.recordSteps, &line.branches,
           &line.precision, &line.threads, &line.roundResults}))
    return 1;

  DialectRegistry registry;
  registry.insert<WavesmithDialect, arith::ArithDialect, func::FuncDialect,
                  gpu::GPUDialect, math::MathDialect, memref::MemRefDialect,
                  scf::SCFDialect, tensor::TensorDialect>();
  MLIRContext context(registry);
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> text =
      llvm::MemoryBuffer::getFileOrSTDIN(line.module);
  if (!text) {
    printToolError("cannot read " + line.module + ": " +
                   text.getError().message());
    return 1;
  }
  if (llvm::Error error = checkIsModule((*text)->getBuffer())) {
    printToolError(line.module + ": " + llvm::toString(std::move(error)));
    return 1;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*text), llvm::SMLoc());
  PrintableStream diagnostics(llvm::errs());
  SourceMgrDiagnosticHandler handler(sources, &context, diagnostics);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  // Diagnostics have been printed.
  if (!module)
    return 1;
  llvm::Expected<func::FuncOp> function = findFunction(*module, line.function);
  if (!function) {
    printToolError(llvm::toString(function.takeError()));
    return 1;
  }
  if (AttentionEvaluator::isFor(*function))
    return evaluate<AttentionEvaluator>(*function, line, runAttention);
  if (line.roundResults) {
    printToolError("--round-results is for attention, and the function is "
                   "none");
    return 1;
  }
  if (WorkgroupEvaluator::isFor(*function))
    return evaluate<WorkgroupEvaluator>(*function, line, runWorkgroup);
  return evaluate<FunctionEvaluator>(*function, line, run);
}
