//===- FunctionEvaluator.cpp - Evaluates a function on batches ------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Reference/FunctionEvaluator.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace wavesmith;

static std::string getName(DictionaryAttr attributes, const Twine &otherwise) {
  if (attributes)
    if (auto name = attributes.getAs<StringAttr>(kNameAttrName))
      return name.str();
  return otherwise.str();
}

FailureOr<FunctionEvaluator> FunctionEvaluator::create(func::FuncOp function) {
  if (function.isDeclaration())
    return function.emitError("expected a function with a body, got a "
                              "declaration");
  if (!function.getBody().hasOneBlock())
    return function.emitError("expected a function of one block");

  // The operation that asks for a quantity, and the return.
  Operation *quantity = nullptr;
  func::ReturnOp returnOp;
  for (Operation &op : function.getBody().front()) {
    if (isa<OdeRhsOp, OdeProductionLossOp, OdeTermValuesOp, OdeIntegrateOp>(
            op)) {
      if (quantity)
        return op.emitError("expected one quantity of a system in function @")
               << function.getSymName() << ", got a second one";
      quantity = &op;
    } else if (auto candidate = dyn_cast<func::ReturnOp>(op)) {
      returnOp = candidate;
    } else {
      return op.emitError("unsupported operation '")
             << op.getName()
             << "': the reference evaluates a function of one quantity of a "
                "system and its return";
    }
  }
  if (!quantity)
    return function.emitError("expected wavesmith.ode_rhs, "
                              "wavesmith.ode_production_loss, "
                              "wavesmith.ode_term_values or "
                              "wavesmith.ode_integrate in function @")
           << function.getSymName() << ", got none";

  OdeSystemOp system = SymbolTable::lookupNearestSymbolFrom<OdeSystemOp>(
      quantity, quantity->getAttrOfType<FlatSymbolRefAttr>("system"));
  if (!system)
    return quantity->emitError("unknown system");
  FailureOr<OdeEvaluator> evaluator = OdeEvaluator::create(system);
  if (failed(evaluator))
    return failure();
  // Every operation has this attribute.
  auto layoutAttr = quantity->getAttrOfType<ZoneLayoutAttr>("layout");
  FunctionEvaluator result(std::move(*evaluator),
                           layoutAttr ? layoutAttr.getValue()
                                      : ZoneLayout::StructureOfArrays);

  llvm::StringSet<> names;
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    std::string name =
        getName(function.getArgAttrDict(index), "arg" + Twine(index));
    if (!names.insert(name).second)
      return function.emitError("two arguments or results have the name '")
             << name << "'";
    result.arguments.push_back({name, ArgumentKind::Unused, 0});
  }
  SmallVector<std::pair<ArgumentKind, unsigned>, 5> roles;
  if (auto integrate = dyn_cast<OdeIntegrateOp>(quantity)) {
    result.integration = OdeEvaluator::Integration::get(integrate);
    roles = {{ArgumentKind::ZoneTime, 1},
             {ArgumentKind::End, 0},
             {ArgumentKind::ZoneStep, 1}};
  } else {
    roles = {{ArgumentKind::Time, 0}};
  }
  roles.emplace_back(ArgumentKind::States, system.getNumStates());
  roles.emplace_back(ArgumentKind::Parameters, system.getNumParameters());
  for (auto [index, operand] : llvm::enumerate(quantity->getOperands())) {
    auto argument = dyn_cast<BlockArgument>(operand);
    if (!argument)
      return quantity->emitError("expected operand #")
             << index << " to be an argument of the function";
    Argument &description = result.arguments[argument.getArgNumber()];
    if (description.kind != ArgumentKind::Unused)
      return quantity->emitError("argument '")
             << description.name << "' is used twice";
    description.kind = roles[index].first;
    description.rows = roles[index].second;
  }

  SmallVector<Quantity, 5> quantities;
  if (isa<OdeRhsOp>(quantity))
    quantities = {Quantity::Derivatives};
  else if (isa<OdeProductionLossOp>(quantity))
    quantities = {Quantity::Production, Quantity::Loss};
  else if (isa<OdeTermValuesOp>(quantity))
    quantities = {Quantity::Coefficients, Quantity::Values};
  else
    quantities = {Quantity::FinalStates, Quantity::FinalTime,
                  Quantity::FinalStep, Quantity::NumSteps, Quantity::Status};
  for (auto [index, operand] : llvm::enumerate(returnOp.getOperands())) {
    auto value = dyn_cast<OpResult>(operand);
    if (!value || value.getOwner() != quantity)
      return returnOp.emitError("expected operand #")
             << index << " to be a result of '" << quantity->getName() << "'";
    Quantity kind = quantities[value.getResultNumber()];
    Result description{"", kind, system.getNumStates()};
    if (description.isVector())
      description.rows = 1;
    else if (kind == Quantity::Coefficients || kind == Quantity::Values)
      description.rows = result.evaluator.getNumTerms();
    description.name =
        getName(function.getResultAttrDict(index), "result" + Twine(index));
    if (!names.insert(description.name).second)
      return function.emitError("two arguments or results have the name '")
             << description.name << "'";
    result.results.push_back(std::move(description));
  }
  return result;
}

SmallVector<int64_t, 4> FunctionEvaluator::getShape(unsigned rows,
                                                    size_t numZones) const {
  auto zones = static_cast<int64_t>(numZones);
  if (layout == ZoneLayout::StructureOfArrays)
    return {rows, zones};
  return {zones, rows};
}

/// The transpose of a matrix of rows x columns.
static std::vector<double> transpose(ArrayRef<double> matrix, size_t rows,
                                     size_t columns) {
  std::vector<double> result(matrix.size());
  for (size_t i = 0; i != rows; ++i)
    for (size_t j = 0; j != columns; ++j)
      result[j * rows + i] = matrix[i * columns + j];
  return result;
}

/// An array in the evaluator's layout. One of another size is left alone, the
/// evaluator refuses it.
static std::vector<double> toStructureOfArrays(ArrayRef<double> numbers,
                                               ZoneLayout layout, size_t rows,
                                               size_t numZones) {
  if (layout == ZoneLayout::StructureOfArrays ||
      numbers.size() != rows * numZones)
    return numbers.vec();
  return transpose(numbers, numZones, rows);
}

std::vector<FunctionEvaluator::ResultArrays>
FunctionEvaluator::collect(OdeEvaluator::Results &all, size_t numZones) const {
  std::vector<ResultArrays> arrays;
  for (const Result &result : results) {
    ResultArrays &entry = arrays.emplace_back();
    switch (result.quantity) {
    case Quantity::Derivatives:
      entry = {all.derivatives, all.magnitude, {}};
      break;
    case Quantity::Production:
      entry = {all.production, all.productionMagnitude, {}};
      break;
    case Quantity::Loss:
      entry = {all.loss, all.lossMagnitude, {}};
      break;
    case Quantity::Coefficients:
      entry = {all.coefficients, {}, {}};
      break;
    case Quantity::Values:
      entry = {all.values, {}, {}};
      break;
    default:
      llvm_unreachable("a result of an integration");
    }
    if (layout == ZoneLayout::ArrayOfStructures) {
      entry.numbers = transpose(entry.numbers, result.rows, numZones);
      if (result.isSum())
        entry.magnitudes = transpose(entry.magnitudes, result.rows, numZones);
    }
  }
  return arrays;
}

llvm::Expected<std::vector<FunctionEvaluator::ResultArrays>>
FunctionEvaluator::integrate(const OdeEvaluator::Integration &integration,
                             ArrayRef<double> time, ArrayRef<double> step,
                             ArrayRef<double> states,
                             ArrayRef<double> parameters, size_t numZones,
                             OdeEvaluator::IntegrationResults &all) const {
  if (!this->integration)
    return llvm::createStringError("the function has no integration");
  if (llvm::Error error = evaluator.integrate(
          integration, time, step,
          toStructureOfArrays(states, layout, evaluator.getNumStates(),
                              numZones),
          toStructureOfArrays(parameters, layout, evaluator.getNumParameters(),
                              numZones),
          numZones, all))
    return error;
  std::vector<ResultArrays> arrays;
  for (const Result &result : results) {
    ResultArrays &entry = arrays.emplace_back();
    switch (result.quantity) {
    case Quantity::FinalStates:
      entry.numbers = layout == ZoneLayout::ArrayOfStructures
                          ? transpose(all.states, result.rows, numZones)
                          : all.states;
      break;
    case Quantity::FinalTime:
      entry.numbers = all.time;
      break;
    case Quantity::FinalStep:
      entry.numbers = all.step;
      break;
    case Quantity::NumSteps:
      entry.integers = all.numSteps;
      break;
    case Quantity::Status:
      entry.integers = all.status;
      break;
    default:
      llvm_unreachable("a result of a quantity");
    }
  }
  return arrays;
}

llvm::Expected<std::vector<FunctionEvaluator::ResultArrays>>
FunctionEvaluator::evaluate(double time, ArrayRef<double> states,
                            ArrayRef<double> parameters, size_t numZones,
                            const OdeEvaluator::Options &options) const {
  if (integration)
    return llvm::createStringError("the function has an integration, not a "
                                   "quantity");
  OdeEvaluator::Results all;
  if (llvm::Error error = evaluator.evaluate(
          time,
          toStructureOfArrays(states, layout, evaluator.getNumStates(),
                              numZones),
          toStructureOfArrays(parameters, layout, evaluator.getNumParameters(),
                              numZones),
          numZones, options, all))
    return error;
  return collect(all, numZones);
}

llvm::Expected<std::vector<FunctionEvaluator::ResultArrays>>
FunctionEvaluator::evaluateSums(ArrayRef<double> values, size_t numZones,
                                const OdeEvaluator::Options &options) const {
  if (integration)
    return llvm::createStringError(
        "an integration does not follow from values of the terms");
  for (const Result &result : results)
    if (result.quantity == Quantity::Coefficients)
      return llvm::createStringError(
          "result '" + result.name +
          "' is the coefficients of the terms, which do not follow from "
          "their values");
  OdeEvaluator::Results all;
  if (llvm::Error error = evaluator.evaluateSums(
          toStructureOfArrays(values, layout, evaluator.getNumTerms(),
                              numZones),
          numZones, options, all))
    return error;
  return collect(all, numZones);
}

llvm::Expected<func::FuncOp> wavesmith::findFunction(ModuleOp module,
                                                     StringRef wanted) {
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  std::string names;
  for (func::FuncOp function : functions) {
    if (function.getSymName() == wanted ||
        (wanted.empty() && functions.size() == 1))
      return function;
    names += (names.empty() ? "" : ", ") + function.getSymName().str();
  }
  if (names.empty())
    names = "none";
  if (wanted.empty())
    return llvm::createStringError(
        "pass --function=name; functions of the module are " + names);
  return llvm::createStringError("the module has no function '" + wanted +
                                 "'; it has " + names);
}
