//===- Validation.cpp - Every pass against the meaning --------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Validation/Validation.h"
#include "Annotations.h"
#include "Inputs.h"
#include "mlir/IR/Diagnostics.h"
#include "wavesmith/Reference/FunctionEvaluator.h"
#include "wavesmith/Reference/WorkgroupEvaluator.h"
#include "wavesmith/Support/FatalErrors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace wavesmith;

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {

using Arrays = llvm::StringMap<HostArray>;
using Numbers = llvm::StringMap<std::vector<double>>;

/// Keeps a context's errors as text, in place of printing them.
class ErrorCollector {
public:
  explicit ErrorCollector(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return success();
          std::string where;
          if (auto place =
                  diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
              place && place.getLine() != 0)
            where =
                (place.getFilename().strref() + ":" + Twine(place.getLine()) +
                 ":" + Twine(place.getColumn()) + ": ")
                    .str();
          text += (text.empty() ? "" : "; ") + where + diagnostic.str();
          return success();
        }) {}

  llvm::Error take() {
    return llvm::createStringError(text.empty() ? "failed without a message"
                                                : text);
  }

private:
  std::string text;
  ScopedDiagnosticHandler handler;
};

/// The code after some of the passes.
struct Stage {
  Annotations annotations;
  /// Of the code at the workgroup level, and the same with rounding errors;
  /// absent where it cannot be evaluated or the errors have no rule.
  std::optional<WorkgroupEvaluator> evaluator, errors;
  std::string noEvaluator, noErrors;
  CompileResult code;
  CodeObjectDescription description;
};

} // namespace

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

template <typename T> static T getElement(const HostArray &array, size_t i) {
  T value;
  std::memcpy(&value, array.bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

static size_t getNumElements(const HostArray &array) {
  return array.bytes.size() / getElementBytes(array.type);
}

/// Numbers in the order of their values: the distance between two is the
/// number of representable ones between them. The zeros are one.
template <typename Bits, typename T> static int64_t getRank(T value) {
  Bits bits;
  std::memcpy(&bits, &value, sizeof(bits));
  constexpr Bits sign = Bits(1) << (8 * sizeof(Bits) - 1);
  return bits & sign ? -static_cast<int64_t>(bits & ~sign)
                     : static_cast<int64_t>(bits);
}

template <typename T, typename Bits>
static void compareElements(const HostArray &got, const HostArray &wanted,
                            ArrayRef<double> scale, ArrayRef<double> bound,
                            ResultComparison &result) {
  for (size_t i = 0; i != result.size; ++i) {
    T a = getElement<T>(got, i), b = getElement<T>(wanted, i);
    bool aIsNaN = a != a, bIsNaN = b != b;
    if (std::memcmp(&a, &b, sizeof(T)) == 0 || (aIsNaN && bIsNaN))
      continue;
    ++result.differing;
    if (aIsNaN || bIsNaN) {
      result.maxRelativeError = infinity;
      result.maxUlps = std::numeric_limits<uint64_t>::max();
      if (!bound.empty())
        result.maxOverBound = infinity;
      continue;
    }
    auto difference = std::abs(static_cast<double>(a) - static_cast<double>(b));
    auto over = [&](double reference) {
      // Zeros of different signs, and equal infinities, are no error.
      if (a == b)
        return 0.0;
      return reference > 0 ? difference / reference : infinity;
    };
    result.maxRelativeError = std::max(
        result.maxRelativeError,
        over(scale.empty() ? std::abs(static_cast<double>(b)) : scale[i]));
    if constexpr (std::is_floating_point_v<T>) {
      // Unsigned: the distance of two numbers of different signs may not fit.
      auto x = static_cast<uint64_t>(getRank<Bits>(a)),
           y = static_cast<uint64_t>(getRank<Bits>(b));
      result.maxUlps = std::max(
          result.maxUlps, getRank<Bits>(a) > getRank<Bits>(b) ? x - y : y - x);
    }
    if (!bound.empty())
      result.maxOverBound = std::max(result.maxOverBound, over(bound[i]));
  }
}

/// Compares element by element; `scale` and `bound` are empty or one number for
/// each.
static ResultComparison compare(StringRef name, const HostArray &got,
                                const HostArray &wanted,
                                ArrayRef<double> scale = {},
                                ArrayRef<double> bound = {}) {
  ResultComparison result;
  result.name = name.str();
  result.size = getNumElements(wanted);
  if (!bound.empty())
    result.maxOverBound = 0;
  switch (wanted.type) {
  case ElementType::F64:
    compareElements<double, uint64_t>(got, wanted, scale, bound, result);
    break;
  case ElementType::F32:
    compareElements<float, uint32_t>(got, wanted, scale, bound, result);
    break;
  case ElementType::I64:
    compareElements<int64_t, uint64_t>(got, wanted, scale, bound, result);
    break;
  case ElementType::I32:
    compareElements<int32_t, uint32_t>(got, wanted, scale, bound, result);
    break;
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::F8E4M3FNUZ:
    llvm_unreachable("functions of zones have none of these");
  }
  return result;
}

/// The number of elements that differ in all results of `got`.
static uint64_t countDiffering(const Arrays &got, const Arrays &wanted) {
  uint64_t count = 0;
  for (const auto &entry : got)
    count +=
        compare(entry.first(), entry.second, wanted.find(entry.first())->second)
            .differing;
  return count;
}

//===----------------------------------------------------------------------===//
// Evaluators
//===----------------------------------------------------------------------===//

static std::vector<double> getDoubles(const HostArray &array) {
  std::vector<double> numbers(array.bytes.size() / sizeof(double));
  if (!numbers.empty())
    std::memcpy(numbers.data(), array.bytes.data(), array.bytes.size());
  return numbers;
}

template <typename T>
static HostArray makeArray(ElementType type, ArrayRef<int64_t> shape,
                           ArrayRef<T> numbers) {
  HostArray array;
  array.type = type;
  array.shape.assign(shape.begin(), shape.end());
  const auto *bytes = reinterpret_cast<const uint8_t *>(numbers.data());
  array.bytes.assign(bytes, bytes + numbers.size() * sizeof(T));
  return array;
}

/// Runs code at the workgroup level as a device does: what it writes begins
/// with all bits set.
static llvm::Expected<Arrays> evaluate(const WorkgroupEvaluator &evaluator,
                                       const Arrays &values, int64_t zones,
                                       unsigned threads) {
  std::vector<HostArray> arrays;
  for (const WorkgroupEvaluator::Argument &argument :
       evaluator.getArguments()) {
    if (auto value = values.find(argument.name); value != values.end()) {
      arrays.push_back(value->second);
      continue;
    }
    HostArray array;
    array.type = argument.type;
    if (argument.isArray)
      array.shape = argument.getShape(zones);
    array.bytes.assign(getArrayBytes(array.type, array.shape).value_or(0),
                       0xff);
    if (!argument.isArray)
      array = makeArray<int64_t>(ElementType::I64, {}, zones);
    arrays.push_back(std::move(array));
  }
  WorkgroupEvaluator::Options options;
  options.numThreads = threads;
  if (llvm::Error error = evaluator.evaluate(arrays, options))
    return std::move(error);
  Arrays results;
  for (auto [argument, array] :
       llvm::zip_equal(evaluator.getArguments(), arrays))
    results[argument.name] = std::move(array);
  return results;
}

namespace {

/// What a function means, before any pass.
class Meaning {
public:
  static llvm::Expected<Meaning> create(func::FuncOp function);

  bool isProblem() const { return problem.has_value(); }
  bool isIntegration() const {
    return problem && problem->getIntegration().has_value();
  }

  struct Results {
    Arrays arrays;
    /// Of sums of terms: the sums of their absolute values.
    Numbers magnitudes;
    /// Of an integration.
    OdeEvaluator::IntegrationResults integration;
  };
  /// With `recorded`, an integration records the states before these steps;
  /// `maxSteps` replaces its own.
  llvm::Expected<Results>
  evaluate(const Arrays &values, int64_t zones, unsigned threads,
           ArrayRef<int64_t> recorded = {},
           std::optional<int64_t> maxSteps = std::nullopt) const;

  /// The most terms of one sum.
  unsigned getMaxTerms() const { return maxTerms; }

  std::optional<FunctionEvaluator> problem;
  std::optional<OdeEvaluator> system;
  std::optional<WorkgroupEvaluator> workgroup, errors;
  std::string noErrors;
  unsigned maxTerms = 0;
};

} // namespace

/// Makes the evaluators of code at the workgroup level.
static llvm::Error makeEvaluators(func::FuncOp function,
                                  std::optional<WorkgroupEvaluator> &evaluator,
                                  std::optional<WorkgroupEvaluator> &errors,
                                  std::string &noErrors) {
  auto create = [&](func::FuncOp from,
                    std::optional<WorkgroupEvaluator> &into) -> llvm::Error {
    ErrorCollector collector(from.getContext());
    FailureOr<WorkgroupEvaluator> made = WorkgroupEvaluator::create(from);
    if (failed(made))
      return collector.take();
    into = std::move(*made);
    return llvm::Error::success();
  };
  if (llvm::Error error = create(function, evaluator))
    return error;
  llvm::Expected<OwningOpRef<ModuleOp>> with = buildRunningErrors(function);
  llvm::Error error =
      with ? create(*(*with)->getOps<func::FuncOp>().begin(), errors)
           : with.takeError();
  if (error)
    noErrors = llvm::toString(std::move(error));
  return llvm::Error::success();
}

llvm::Expected<Meaning> Meaning::create(func::FuncOp function) {
  Meaning meaning;
  Operation *quantity = findQuantity(function);
  if (!quantity) {
    if (!WorkgroupEvaluator::isFor(function))
      return llvm::createStringError(
          "function @" + function.getSymName() +
          " holds neither a quantity of a system nor a workgroup");
    if (llvm::Error error = makeEvaluators(function, meaning.workgroup,
                                           meaning.errors, meaning.noErrors))
      return std::move(error);
    return meaning;
  }
  ErrorCollector collector(function.getContext());
  FailureOr<FunctionEvaluator> problem = FunctionEvaluator::create(function);
  if (failed(problem))
    return collector.take();
  OdeSystemOp op = findSystem(quantity);
  FailureOr<OdeEvaluator> system = OdeEvaluator::create(op);
  if (failed(system))
    return collector.take();
  meaning.problem = std::move(*problem);
  meaning.system = std::move(*system);
  std::vector<unsigned> terms(op.getNumStates());
  for (TermOp term : getTerms(op)) {
    std::vector<bool> taken(terms.size());
    for (ArrayAttr states : {term.getGainStates(), term.getLossStates()})
      for (auto name : states.getAsRange<StringAttr>())
        if (std::optional<unsigned> state = op.findState(name.getValue()))
          taken[*state] = true;
    for (auto [count, has] : llvm::zip_equal(terms, taken))
      count += has;
  }
  for (unsigned count : terms)
    meaning.maxTerms = std::max(meaning.maxTerms, count);
  return meaning;
}

llvm::Expected<Meaning::Results>
Meaning::evaluate(const Arrays &values, int64_t zones, unsigned threads,
                  ArrayRef<int64_t> recorded,
                  std::optional<int64_t> maxSteps) const {
  Results results;
  if (workgroup) {
    llvm::Expected<Arrays> arrays =
        ::evaluate(*workgroup, values, zones, threads);
    if (!arrays)
      return arrays.takeError();
    results.arrays = std::move(*arrays);
    return results;
  }

  using Kind = FunctionEvaluator::ArgumentKind;
  double scalar = 0;
  std::vector<double> time, step, states, parameters;
  for (const FunctionEvaluator::Argument &argument : problem->getArguments()) {
    auto value = values.find(argument.name);
    if (argument.kind == Kind::Unused || value == values.end())
      continue;
    std::vector<double> numbers = getDoubles(value->second);
    switch (argument.kind) {
    case Kind::Time:
    case Kind::End:
      scalar = numbers.empty() ? 0 : numbers.front();
      break;
    case Kind::ZoneTime:
      time = std::move(numbers);
      break;
    case Kind::ZoneStep:
      step = std::move(numbers);
      break;
    case Kind::States:
      states = std::move(numbers);
      break;
    default:
      parameters = std::move(numbers);
      break;
    }
  }
  llvm::Expected<std::vector<FunctionEvaluator::ResultArrays>> arrays =
      std::vector<FunctionEvaluator::ResultArrays>();
  if (isIntegration()) {
    OdeEvaluator::Integration integration = *problem->getIntegration();
    integration.end = scalar;
    integration.numThreads = threads;
    integration.recordedSteps.assign(recorded.begin(), recorded.end());
    if (maxSteps)
      integration.maxSteps = *maxSteps;
    arrays = problem->integrate(integration, time, step, states, parameters,
                                zones, results.integration);
  } else {
    OdeEvaluator::Options options;
    options.numThreads = threads;
    arrays = problem->evaluate(scalar, states, parameters, zones, options);
  }
  if (!arrays)
    return arrays.takeError();
  for (auto [description, numbers] :
       llvm::zip_equal(problem->getResults(), *arrays)) {
    SmallVector<int64_t, 4> shape =
        description.isVector() ? SmallVector<int64_t, 4>{zones}
                               : problem->getShape(description.rows, zones);
    results.arrays[description.name] =
        description.isInteger()
            ? makeArray<int32_t>(ElementType::I32, shape, numbers.integers)
            : makeArray<double>(ElementType::F64, shape, numbers.numbers);
    if (description.isSum())
      results.magnitudes[description.name] = std::move(numbers.magnitudes);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// Compiles a copy of the module.
static llvm::Expected<Stage> compileStage(ModuleOp module, StringRef function,
                                          ArrayRef<OptionalPass> passes,
                                          const CompileOptions &options,
                                          bool &gaveUp) {
  Stage stage;
  ErrorCollector collector(module.getContext());
  OwningOpRef<ModuleOp> copy = module.clone();
  PipelineHooks hooks;
  hooks.optionalPasses.emplace(passes.begin(), passes.end());
  hooks.observer = [&](ModuleOp module, PipelineStage point) {
    if (point != PipelineStage::Workgroup)
      return success();
    auto code = module.lookupSymbol<func::FuncOp>(function);
    if (!code)
      return success();
    stage.annotations = Annotations::get(code);
    bool hasThreads = false;
    code.walk([&](WorkgroupOp op) {
      hasThreads |= op.getThreadsPerZone().has_value();
    });
    if (!hasThreads) {
      stage.noEvaluator = "one zone a thread";
      return success();
    }
    if (llvm::Error error =
            makeEvaluators(code, stage.evaluator, stage.errors, stage.noErrors))
      stage.noEvaluator = llvm::toString(std::move(error));
    return success();
  };
  FailureOr<CompileResult> code = compile(*copy, options, {}, &gaveUp, hooks);
  if (gaveUp)
    copy.release();
  if (failed(code))
    return collector.take();
  llvm::Expected<CodeObjectDescription> description =
      CodeObjectDescription::parse(
          llvm::formatv("{0}", code->description).str());
  if (!description)
    return description.takeError();
  stage.code = std::move(*code);
  stage.description = std::move(*description);
  return stage;
}

/// Opens the device: a simulator checks.
static llvm::Expected<std::unique_ptr<Device>>
openDevice(const CompileOptions &compile, const ValidationOptions &options) {
  DeviceOptions plain;
  plain.chip = compile.chip;
  plain.threads = options.threads;
  DeviceOptions simulator = plain;
  simulator.check = true;
  simulator.modelTime = options.modelTime;
  if (options.device == DeviceKind::Simulator)
    return createDevice(DeviceKind::Simulator, compile.architecture, simulator);
  auto device = createDevice(DeviceKind::HIP, compile.architecture, plain);
  if (device || options.device == DeviceKind::HIP)
    return device;
  llvm::Error error = device.takeError();
  if (!error.isA<NoDeviceError>())
    return std::move(error);
  llvm::consumeError(std::move(error));
  return createDevice(DeviceKind::Simulator, compile.architecture, simulator);
}

/// Runs a stage's kernel.
static llvm::Expected<RunResult> run(const Stage &stage, StringRef function,
                                     const Arrays &values, int64_t zones,
                                     const CompileOptions &compile,
                                     const ValidationOptions &options) {
  // Each run has a device of its own: after an error, a device's memory is
  // unspecified.
  auto device = openDevice(compile, options);
  if (!device)
    return device.takeError();
  RunRequest request;
  request.codeObject =
      ArrayRef(reinterpret_cast<const uint8_t *>(stage.code.codeObject.data()),
               stage.code.codeObject.size());
  request.description = &stage.description;
  request.kernel = function;
  for (const auto &entry : values)
    request.values.try_emplace(entry.first(), entry.second.view());
  request.zones = zones;
  return runKernel(**device, request);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {

class Validator {
public:
  Validator(ModuleOp module, const CompileOptions &compile,
            const ValidationOptions &options, bool &gaveUp)
      : module(module), compile(compile), options(options), gaveUp(gaveUp) {}

  llvm::Expected<ValidationReport> run();

private:
  /// Makes the row of the first `count` passes.
  ValidationRow makeRow(size_t count);
  void fillRow(ValidationRow &row, llvm::Expected<Stage> stage, size_t count);
  /// Compares the device's results with the meaning's.
  void compareWithMeaning(ValidationRow &row, const Stage &stage,
                          const Arrays &got, size_t count);
  llvm::Expected<StepComparison> compareSteps(size_t count);
  /// Bounds from both codes' rounding errors; an error where there are none.
  llvm::Expected<Numbers> getErrorBounds(const Stage &stage);
  bool isAnnounced(size_t count) const {
    return llvm::any_of(
        ArrayRef(options.passes).take_front(count),
        [](const OptionalPass &pass) { return pass.changesAnnotations; });
  }

  ModuleOp module;
  const CompileOptions &compile;
  const ValidationOptions &options;
  bool &gaveUp;
  std::string name;
  std::optional<Meaning> meaning;
  Inputs inputs;
  std::optional<Meaning::Results> wanted;
  /// Of the stage before; absent where it did not come so far.
  std::optional<Annotations> annotationsBefore;
  /// Of the mandatory passes alone.
  std::optional<Annotations> firstAnnotations;
  std::optional<Arrays> resultsBefore, evaluatedBefore;
};

} // namespace

/// The name in the report of an array of rounding errors.
static std::string getErrorName(StringRef name) {
  return (name + ".error").str();
}

llvm::Expected<Numbers> Validator::getErrorBounds(const Stage &stage) {
  if (!meaning->errors)
    return llvm::createStringError(meaning->noErrors);
  if (!stage.errors)
    return llvm::createStringError(stage.noErrors.empty() ? stage.noEvaluator
                                                          : stage.noErrors);
  auto before =
      evaluate(*meaning->errors, inputs.values, inputs.zones, options.threads);
  if (!before)
    return before.takeError();
  auto after =
      evaluate(*stage.errors, inputs.values, inputs.zones, options.threads);
  if (!after)
    return after.takeError();
  Numbers bounds;
  for (const auto &entry : wanted->arrays) {
    auto first = before->find(getErrorName(entry.first())),
         second = after->find(getErrorName(entry.first()));
    if (first == before->end() || second == after->end())
      continue;
    std::vector<double> a = getDoubles(first->second),
                        b = getDoubles(second->second);
    // A little more than the sum, for what is not of first order.
    for (auto [x, y] : llvm::zip_equal(a, b))
      x = 1.001 * (x + y);
    bounds[entry.first()] = std::move(a);
  }
  return bounds;
}

llvm::Expected<StepComparison> Validator::compareSteps(size_t count) {
  StepComparison result;
  // States from all over the integrations.
  int64_t most = 0;
  for (int32_t steps : wanted->integration.numSteps)
    most = std::max<int64_t>(most, steps);
  std::vector<int64_t> numbers;
  for (unsigned i = 0; i != options.restarts; ++i)
    numbers.push_back(most * i / options.restarts);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  auto all =
      meaning->evaluate(inputs.values, inputs.zones, options.threads, numbers);
  if (!all)
    return all.takeError();
  ArrayRef<OdeEvaluator::Record> records = all->integration.records;
  if (records.empty())
    return result;

  // The records as zones of their own.
  using Kind = FunctionEvaluator::ArgumentKind;
  const FunctionEvaluator &problem = *meaning->problem;
  auto numRecords = static_cast<int64_t>(records.size());
  bool zonesFirst = problem.getLayout() == ZoneLayout::ArrayOfStructures;
  Arrays values;
  std::vector<std::vector<double>> parametersOf(records.size());
  for (const FunctionEvaluator::Argument &argument : problem.getArguments()) {
    auto known = inputs.values.find(argument.name);
    if (known == inputs.values.end())
      continue;
    if (argument.kind == Kind::Unused)
      return llvm::createStringError("argument '" + argument.name +
                                     "' is not used: single steps cannot be "
                                     "started");
    if (argument.isScalar()) {
      values[argument.name] = known->second;
      continue;
    }
    std::vector<double> old = getDoubles(known->second),
                        numbers(argument.rows * records.size());
    for (auto [index, record] : llvm::enumerate(records))
      for (unsigned row = 0; row != argument.rows; ++row) {
        double &number = numbers[zonesFirst ? index * argument.rows + row
                                            : row * records.size() + index];
        switch (argument.kind) {
        case Kind::ZoneTime:
          number = record.time;
          break;
        case Kind::ZoneStep:
          number = record.step;
          break;
        case Kind::States:
          number = record.states[row];
          break;
        default:
          number = old[zonesFirst ? record.zone * argument.rows + row
                                  : row * inputs.zones + record.zone];
          parametersOf[index].push_back(number);
          break;
        }
      }
    SmallVector<int64_t, 4> shape =
        argument.isVector() ? SmallVector<int64_t, 4>{numRecords}
                            : problem.getShape(argument.rows, numRecords);
    values[argument.name] = makeArray<double>(ElementType::F64, shape, numbers);
  }

  OwningOpRef<ModuleOp> single = module.clone();
  single->walk([](OdeIntegrateOp op) { op.setMaxSteps(1); });
  auto stage =
      compileStage(*single, name, ArrayRef(options.passes).take_front(count),
                   compile, gaveUp);
  if (!stage) {
    if (gaveUp)
      single.release();
    return stage.takeError();
  }
  auto got = ::run(*stage, name, values, numRecords, compile, options);
  if (!got)
    return got.takeError();
  auto expected = meaning->evaluate(values, numRecords, options.threads, {},
                                    /*maxSteps=*/1);
  if (!expected)
    return expected.takeError();
  const OdeEvaluator::IntegrationResults &after = expected->integration;

  // The device's numbers in the evaluator's layout.
  std::vector<double> states, time, step;
  std::vector<int32_t> status;
  unsigned numStates = meaning->system->getNumStates();
  for (const FunctionEvaluator::Result &description : problem.getResults()) {
    using Quantity = FunctionEvaluator::Quantity;
    const HostArray *array = nullptr;
    for (const auto &[name, output] : got->outputs)
      if (name == description.name)
        array = &output;
    if (!array)
      continue;
    if (description.quantity == Quantity::Status) {
      for (size_t i = 0; i != records.size(); ++i)
        status.push_back(getElement<int32_t>(*array, i));
      continue;
    }
    if (description.isInteger())
      continue;
    std::vector<double> numbers = getDoubles(*array);
    if (description.quantity == Quantity::FinalTime) {
      time = std::move(numbers);
    } else if (description.quantity == Quantity::FinalStep) {
      step = std::move(numbers);
    } else {
      states.resize(numbers.size());
      for (size_t i = 0; i != records.size(); ++i)
        for (unsigned row = 0; row != numStates; ++row)
          states[row * records.size() + i] =
              numbers[zonesFirst ? i * numStates + row
                                 : row * records.size() + i];
    }
  }

  OdeEvaluator::Options ode;
  for (auto [index, record] : llvm::enumerate(records)) {
    ++result.steps;
    auto differs = [&](double got, double wanted) {
      if (got != got || wanted != wanted)
        return (got != got) != (wanted != wanted);
      return std::abs(got - wanted) > 1e-12 * std::abs(wanted);
    };
    // The size of a step as what it leads to: the time, or, where that does
    // not change, the size to go on with.
    double wantedStep = after.time[index] - record.time;
    bool changed = !time.empty() &&
                   differs(time[index] - record.time, wantedStep) &&
                   std::abs(time[index] - after.time[index]) >
                       1e-12 * std::abs(wantedStep) +
                           0x1p-52 * std::abs(after.time[index]);
    changed |= !step.empty() && differs(step[index], after.step[index]);
    changed |= !status.empty() && status[index] != after.status[index];
    result.changedSteps += changed;
    OdeEvaluator::Results rates;
    if (llvm::Error error = meaning->system->evaluate(
            record.time, record.states, parametersOf[index], 1, ode, rates))
      return std::move(error);
    for (unsigned row = 0; row != numStates && !states.empty(); ++row) {
      double a = states[row * records.size() + index],
             b = after.states[row * records.size() + index];
      if (a == b || (a != a && b != b))
        continue;
      double scale = std::abs(record.states[row]) +
                     wantedStep * (rates.production[row] + rates.loss[row]);
      double error = std::abs(a - b) / scale;
      result.maxError =
          std::max(result.maxError, error == error ? error : infinity);
    }
  }
  return result;
}

void Validator::compareWithMeaning(ValidationRow &row, const Stage &stage,
                                   const Arrays &got, size_t count) {
  auto fail = [&](const Twine &message) {
    row.failures.push_back(message.str());
  };
  bool announced = isAnnounced(count);
  Numbers bounds;
  if (!announced) {
    row.bound = "exact";
  } else if (options.maxError) {
    row.bound = "given";
  } else if (meaning->isIntegration()) {
    row.bound = "one step";
  } else if (meaning->isProblem()) {
    // Two sums of n terms in any two orders: each is off by at most n u times
    // the sum of the absolute values.
    row.bound = "terms";
    for (auto &entry : wanted->magnitudes) {
      std::vector<double> bound = entry.second;
      for (double &number : bound)
        number *= 2.0 * meaning->getMaxTerms() * 0x1p-53;
      bounds[entry.first()] = std::move(bound);
    }
  } else if (auto errors = getErrorBounds(stage)) {
    row.bound = "rounding errors";
    bounds = std::move(*errors);
  } else {
    row.bound = "none";
    fail("no bound is known for the annotations that were changed (" +
         llvm::toString(errors.takeError()) + "): give --max-error");
  }

  SmallVector<StringRef> names(got.keys());
  llvm::sort(names);
  for (StringRef result : names) {
    const HostArray &array = got.find(result)->second;
    auto reference = wanted->arrays.find(result);
    if (reference == wanted->arrays.end()) {
      fail("the evaluator has no result '" + result + "'");
      continue;
    }
    auto magnitude = wanted->magnitudes.find(result);
    auto bound = bounds.find(result);
    row.results.push_back(compare(result, array, reference->second,
                                  magnitude == wanted->magnitudes.end()
                                      ? ArrayRef<double>()
                                      : ArrayRef<double>(magnitude->second),
                                  bound == bounds.end()
                                      ? ArrayRef<double>()
                                      : ArrayRef<double>(bound->second)));
    const ResultComparison &comparison = row.results.back();
    double over = 0;
    if (row.bound == "given")
      over = comparison.maxRelativeError / *options.maxError;
    else if (comparison.maxOverBound >= 0)
      over = comparison.maxOverBound;
    else if (row.bound != "one step" && row.bound != "none")
      over = comparison.differing ? infinity : 0;
    row.overBound = std::max(row.overBound, over);
  }
  if (row.bound == "exact" && row.overBound > 0)
    fail("no change of annotations is announced, and the results differ from "
         "the meaning");
  else if (row.overBound > 1)
    fail(llvm::formatv("the error is {0:e2} times its bound ({1})",
                       row.overBound, row.bound)
             .str());

  if (!meaning->isIntegration())
    return;
  uint64_t zones = 0;
  for (int64_t zone = 0; zone != inputs.zones; ++zone) {
    bool differs = false;
    for (const FunctionEvaluator::Result &description :
         meaning->problem->getResults()) {
      auto array = got.find(description.name);
      if (description.isInteger() && array != got.end())
        differs |= getElement<int32_t>(array->second, zone) !=
                   getElement<int32_t>(
                       wanted->arrays.find(description.name)->second, zone);
    }
    zones += differs;
  }
  row.zonesWithOtherSteps = zones;
  if (row.bound != "one step")
    return;
  auto steps = compareSteps(count);
  if (!steps)
    return fail("single steps: " + llvm::toString(steps.takeError()));
  row.steps = *steps;
  row.overBound = steps->maxError / 1e-12;
  if (row.overBound > 1)
    fail(llvm::formatv("a single step differs by {0:e2} of |Y0| + dt (P + L), "
                       "and 1e-12 is the bound",
                       steps->maxError)
             .str());
}

void Validator::fillRow(ValidationRow &row, llvm::Expected<Stage> compiled,
                        size_t count) {
  auto fail = [&](const Twine &message) {
    row.failures.push_back(message.str());
  };
  std::optional<Annotations> annotationsOfBefore = std::move(annotationsBefore);
  std::optional<Arrays> gotBefore = std::move(resultsBefore),
                        valuesBefore = std::move(evaluatedBefore);
  annotationsBefore.reset();
  resultsBefore.reset();
  evaluatedBefore.reset();
  if (!compiled)
    return fail(llvm::toString(compiled.takeError()));
  const Stage &stage = *compiled;

  if (annotationsOfBefore) {
    row.annotationChanges =
        describeAnnotationChanges(*annotationsOfBefore, stage.annotations);
    row.otherChanges =
        describeOtherChanges(*annotationsOfBefore, stage.annotations);
    if (!row.announcesChange && !row.annotationChanges.empty())
      fail("annotations changed, which the pass does not announce");
  }
  annotationsBefore = stage.annotations;
  if (!firstAnnotations)
    firstAnnotations = stage.annotations;

  std::optional<Arrays> evaluated;
  if (stage.evaluator) {
    auto values = evaluate(*stage.evaluator, inputs.values, inputs.zones,
                           options.threads);
    if (!values)
      return fail("the evaluator of the stage's code: " +
                  llvm::toString(values.takeError()));
    evaluated = std::move(*values);
  } else if (meaning->isProblem() &&
             (!firstAnnotations ||
              describeAnnotationChanges(*firstAnnotations, stage.annotations)
                  .empty())) {
    // Code of one zone a thread whose annotations nothing has changed has the
    // meaning of its description.
    evaluated.emplace();
    for (const auto &entry : wanted->arrays)
      (*evaluated)[entry.first()] = entry.second;
  } else {
    fail("the stage's code cannot be evaluated: " + stage.noEvaluator);
  }

  auto result =
      ::run(stage, name, inputs.values, inputs.zones, compile, options);
  if (!result)
    return fail("the run: " + llvm::toString(result.takeError()));
  Arrays got;
  for (auto &[output, array] : result->outputs)
    got[output] = std::move(array);
  row.launch = std::move(result->report);
  if (row.launch->findings && !row.launch->findings->empty())
    fail("the checker: " + row.launch->findings->front().text());

  if (evaluated) {
    row.differFromEvaluator = countDiffering(got, *evaluated);
    if (*row.differFromEvaluator)
      fail(Twine(*row.differFromEvaluator) +
           " elements differ from the evaluator of the stage's code");
  }
  if (gotBefore) {
    row.differFromBefore = countDiffering(got, *gotBefore);
    if (*row.differFromBefore && !row.announcesChange)
      fail(Twine(*row.differFromBefore) +
           " elements differ from the stage before, and the pass announces no "
           "change of annotations");
  }
  if (evaluated && valuesBefore) {
    uint64_t differing = 0;
    for (const auto &entry : got)
      differing +=
          compare(entry.first(), evaluated->find(entry.first())->second,
                  valuesBefore->find(entry.first())->second)
              .differing;
    row.meaningChanges = differing;
    if (differing && !row.announcesChange)
      fail("the pass changes what its code means (" + Twine(differing) +
           " elements), and announces no change of annotations");
  }
  compareWithMeaning(row, stage, got, count);
  resultsBefore = std::move(got);
  evaluatedBefore = std::move(evaluated);
}

ValidationRow Validator::makeRow(size_t count) {
  ValidationRow row;
  if (count) {
    row.pass = options.passes[count - 1].name;
    row.announcesChange = options.passes[count - 1].changesAnnotations;
  }
  fillRow(row,
          compileStage(module, name, ArrayRef(options.passes).take_front(count),
                       compile, gaveUp),
          count);
  return row;
}

llvm::Expected<ValidationReport> Validator::run() {
  if (auto target = lookupTarget(compile.architecture, compile.chip); !target)
    return target.takeError();
  for (size_t i = 1; i < options.passes.size(); ++i)
    if (options.passes[i - 1].level == OptionalPass::Level::Kernel &&
        options.passes[i].level == OptionalPass::Level::Workgroup)
      return llvm::createStringError("pass '" + options.passes[i].name +
                                     "' runs before '" +
                                     options.passes[i - 1].name + "'");
  llvm::Expected<func::FuncOp> function =
      findFunction(module, options.function);
  if (!function)
    return function.takeError();
  name = function->getSymName().str();
  llvm::Expected<Meaning> made = Meaning::create(*function);
  if (!made)
    return made.takeError();
  meaning = std::move(*made);

  // One kernel alone is compiled.
  OwningOpRef<ModuleOp> own = module.clone();
  for (func::FuncOp other : llvm::to_vector(own->getOps<func::FuncOp>()))
    if (other.getSymName() != name)
      other.erase();
  module = *own;

  llvm::Expected<Stage> first = compileStage(module, name, {}, compile, gaveUp);
  if (!first) {
    if (gaveUp)
      own.release();
    return first.takeError();
  }
  llvm::Expected<const KernelDescription &> kernel =
      first->description.findKernel(name);
  if (!kernel)
    return kernel.takeError();
  if (llvm::none_of(kernel->arguments, [](const ArgumentDescription &argument) {
        return argument.kind == ArgumentKind::Output;
      }))
    return llvm::createStringError("function @" + name +
                                   " has no argument marked wavesmith.output: "
                                   "there is nothing to compare");
  llvm::Expected<Inputs> values =
      makeInputs(*kernel, module.lookupSymbol<func::FuncOp>(name), options);
  if (!values)
    return values.takeError();
  inputs = std::move(*values);

  // What does not fit is said once, before anything runs.
  RunRequest request;
  request.codeObject =
      ArrayRef(reinterpret_cast<const uint8_t *>(first->code.codeObject.data()),
               first->code.codeObject.size());
  request.description = &first->description;
  request.kernel = name;
  for (const auto &entry : inputs.values)
    request.values.try_emplace(entry.first(), entry.second.view());
  request.zones = inputs.zones;
  auto metadata = sim::CodeObject::load(request.codeObject);
  if (!metadata)
    return metadata.takeError();
  if (llvm::Expected<RunPlan> plan = planRun(request, **metadata); !plan)
    return plan.takeError();
  auto results =
      meaning->evaluate(inputs.values, inputs.zones, options.threads);
  if (!results)
    return results.takeError();
  wanted = std::move(*results);

  ValidationReport report;
  report.function = name;
  report.target = compile.architecture;
  report.meaning = meaning->isProblem() ? "problem level" : "workgroup level";
  auto device = openDevice(compile, options);
  if (!device)
    return device.takeError();
  report.device = (*device)->info();
  report.zones = inputs.zones;
  report.seed = options.seed;
  report.inputs = inputs.sources;
  ValidationRow row;
  fillRow(row, std::move(first), 0);
  report.rows.push_back(std::move(row));
  for (size_t count = 1; count <= options.passes.size() && !gaveUp; ++count)
    report.rows.push_back(makeRow(count));
  if (gaveUp)
    own.release();
  return report;
}

llvm::Expected<ValidationReport>
wavesmith::validate(ModuleOp module, const CompileOptions &compile,
                    const ValidationOptions &options, bool *gaveUp) {
  bool ownGaveUp = false;
  bool &gave = gaveUp ? *gaveUp : ownGaveUp;
  gave = false;
  return Validator(module, compile, options, gave).run();
}
