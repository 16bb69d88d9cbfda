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
    if (isa<OdeRhsOp, OdeProductionLossOp, OdeTermValuesOp>(op)) {
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
                              "wavesmith.ode_production_loss or "
                              "wavesmith.ode_term_values in function @")
           << function.getSymName() << ", got none";

  OdeSystemOp system = SymbolTable::lookupNearestSymbolFrom<OdeSystemOp>(
      quantity, quantity->getAttrOfType<FlatSymbolRefAttr>("system"));
  if (!system)
    return quantity->emitError("unknown system");
  FailureOr<OdeEvaluator> evaluator = OdeEvaluator::create(system);
  if (failed(evaluator))
    return failure();
  // Every quantity has the same operands and attributes.
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
  const std::pair<ArgumentKind, unsigned> roles[] = {
      {ArgumentKind::Time, 0},
      {ArgumentKind::States, system.getNumStates()},
      {ArgumentKind::Parameters, system.getNumParameters()}};
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

  SmallVector<Quantity, 2> quantities;
  if (isa<OdeRhsOp>(quantity))
    quantities = {Quantity::Derivatives};
  else if (isa<OdeProductionLossOp>(quantity))
    quantities = {Quantity::Production, Quantity::Loss};
  else
    quantities = {Quantity::Coefficients, Quantity::Values};
  for (auto [index, operand] : llvm::enumerate(returnOp.getOperands())) {
    auto value = dyn_cast<OpResult>(operand);
    if (!value || value.getOwner() != quantity)
      return returnOp.emitError("expected operand #")
             << index << " to be a result of '" << quantity->getName() << "'";
    Quantity kind = quantities[value.getResultNumber()];
    bool isSum = Result{"", kind, 0}.isSum();
    std::string name =
        getName(function.getResultAttrDict(index), "result" + Twine(index));
    if (!names.insert(name).second)
      return function.emitError("two arguments or results have the name '")
             << name << "'";
    result.results.push_back(
        {name, kind,
         isSum ? system.getNumStates() : result.evaluator.getNumTerms()});
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
      entry = {all.derivatives, all.magnitude};
      break;
    case Quantity::Production:
      entry = {all.production, all.productionMagnitude};
      break;
    case Quantity::Loss:
      entry = {all.loss, all.lossMagnitude};
      break;
    case Quantity::Coefficients:
      entry = {all.coefficients, {}};
      break;
    case Quantity::Values:
      entry = {all.values, {}};
      break;
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
FunctionEvaluator::evaluate(double time, ArrayRef<double> states,
                            ArrayRef<double> parameters, size_t numZones,
                            const OdeEvaluator::Options &options) const {
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
