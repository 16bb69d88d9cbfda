//===- OdeOps.cpp - Systems, terms and their quantities -------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SystemVerification.h"
#include "wavesmith/Dialect/Wavesmith/IR/Units.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace wavesmith;
using llvm::cantFail;
using llvm::toString;

//===----------------------------------------------------------------------===//
// Helpers shared with the rate operations
//===----------------------------------------------------------------------===//

SmallVector<WeightedState>
wavesmith::getWeightedStates(OdeSystemOp system, ArrayAttr states,
                             ArrayRef<double> weights) {
  SmallVector<WeightedState> list;
  for (auto [name, weight] : llvm::zip_equal(states, weights))
    list.push_back({*system.findState(cast<StringAttr>(name)), weight});
  llvm::sort(list, [](const WeightedState &a, const WeightedState &b) {
    return a.state < b.state;
  });
  return list;
}

LogicalResult wavesmith::verifyStateList(Operation *op, StringRef what,
                                         ArrayAttr states,
                                         ArrayRef<double> weights) {
  auto system = op->getParentOfType<OdeSystemOp>();
  if (states.size() != weights.size())
    return op->emitOpError("expected as many numbers as states in ")
           << what << ", got " << weights.size() << " numbers and "
           << states.size() << " states";
  llvm::StringSet<> seen;
  for (auto [name, weight] : llvm::zip_equal(states, weights)) {
    StringRef state = cast<StringAttr>(name).getValue();
    if (!system.findState(state))
      return op->emitOpError("unknown state '")
             << state << "' in " << what << ": system @" << system.getSymName()
             << " does not declare it";
    if (!seen.insert(state).second)
      return op->emitOpError("state '")
             << state << "' stands twice in " << what;
    if (!std::isfinite(weight))
      return op->emitOpError("expected a finite number for state '")
             << state << "' in " << what << ", got " << weight;
  }
  return success();
}

Unit wavesmith::getStateUnit(OdeSystemOp system, unsigned index) {
  return cantFail(
      Unit::parse(cast<StringAttr>(system.getStateUnits()[index]).getValue()));
}

//===----------------------------------------------------------------------===//
// OdeSystemOp
//===----------------------------------------------------------------------===//

static std::optional<unsigned> findName(ArrayAttr names, StringRef name) {
  for (auto [index, candidate] : llvm::enumerate(names))
    if (cast<StringAttr>(candidate).getValue() == name)
      return index;
  return std::nullopt;
}

std::optional<unsigned> OdeSystemOp::findState(StringRef name) {
  return findName(getStates(), name);
}

std::optional<unsigned> OdeSystemOp::findParameter(StringRef name) {
  return findName(getParameters(), name);
}

SmallVector<TermOp> wavesmith::getTerms(OdeSystemOp system) {
  return llvm::to_vector(system.getBody().front().getOps<TermOp>());
}

static LogicalResult verifyNamedUnits(OdeSystemOp op, StringRef kind,
                                      ArrayAttr names, ArrayAttr units) {
  if (names.size() != units.size())
    return op.emitOpError("expected one unit a ")
           << kind << ", got " << units.size() << " units and " << names.size()
           << " names";
  llvm::StringSet<> seen;
  for (auto [nameAttr, unitAttr] : llvm::zip_equal(names, units)) {
    StringRef name = cast<StringAttr>(nameAttr).getValue();
    if (name.empty())
      return op.emitOpError("expected a name for each ")
             << kind << ", got an empty one";
    if (!seen.insert(name).second)
      return op.emitOpError() << kind << " '" << name << "' is declared twice";
    llvm::Expected<Unit> unit =
        Unit::parse(cast<StringAttr>(unitAttr).getValue());
    if (!unit)
      return op.emitOpError()
             << kind << " '" << name << "': " << toString(unit.takeError());
  }
  return success();
}

LogicalResult OdeSystemOp::verify() {
  if (getStates().empty())
    return emitOpError("expected at least one state, got none");
  if (failed(verifyNamedUnits(*this, "state", getStates(), getStateUnits())) ||
      failed(verifyNamedUnits(*this, "parameter", getParameters(),
                              getParameterUnits())))
    return failure();
  llvm::Expected<Unit> time = Unit::parse(getTimeUnit());
  if (!time)
    return emitOpError("time: ") << toString(time.takeError());
  if (!time->hasSameDimension(cantFail(Unit::parse("s"))))
    return emitOpError("expected a unit of time, got '")
           << getTimeUnit() << "'";
  return success();
}

LogicalResult OdeSystemOp::verifyRegions() {
  if (getBody().getNumArguments() != 0)
    return emitOpError("expected a body without arguments, got ")
           << getBody().getNumArguments();
  for (Operation &op : getBody().front()) {
    if (op.getNumRegions() != 0)
      return op.emitError("'")
             << op.getName()
             << "' has a region: a system holds straight-line expressions";
    // An operation that is not registered has no dialect.
    StringRef dialect =
        op.getDialect() ? op.getDialect()->getNamespace() : StringRef();
    if (dialect != (*this)->getDialect()->getNamespace() &&
        dialect != "arith" && dialect != "math")
      return op.emitError("expected operations of wavesmith, arith and math "
                          "in a system, got '")
             << op.getName() << "'";
    for (Type type : op.getResultTypes())
      if (!type.isIntOrIndexOrFloat())
        return op.emitError("expected scalars in a system, got a result of "
                            "type ")
               << type;
    auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
    if (flags && flags.getFastMathFlagsAttr() &&
        flags.getFastMathFlagsAttr().getValue() != arith::FastMathFlags::none)
      return op.emitError("fastmath flags are not allowed in a system: they "
                          "would leave the bits of the result open");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// StateOp, ParameterOp, TermOp
//===----------------------------------------------------------------------===//

LogicalResult StateOp::verify() {
  auto system = (*this)->getParentOfType<OdeSystemOp>();
  if (!system.findState(getName()))
    return emitOpError("unknown state '")
           << getName() << "': system @" << system.getSymName()
           << " does not declare it";
  return success();
}

LogicalResult ParameterOp::verify() {
  auto system = (*this)->getParentOfType<OdeSystemOp>();
  if (!system.findParameter(getName()))
    return emitOpError("unknown parameter '")
           << getName() << "': system @" << system.getSymName()
           << " does not declare it";
  return success();
}

LogicalResult TermOp::verify() {
  auto system = (*this)->getParentOfType<OdeSystemOp>();
  if (failed(verifyStateList(*this, "orders", getOrderStates(), getOrders())) ||
      failed(verifyStateList(*this, "loss", getLossStates(), getLosses())) ||
      failed(verifyStateList(*this, "gain", getGainStates(), getGains())))
    return failure();
  for (auto [name, order] : llvm::zip_equal(getOrderStates(), getOrders()))
    if (order == 0)
      return emitOpError("expected an order that is not zero for state ")
             << name << ", got 0";
  for (auto [names, weights, what] :
       {std::tuple(getLossStates(), getLosses(), "loss"),
        std::tuple(getGainStates(), getGains(), "gain")})
    for (auto [name, weight] : llvm::zip_equal(names, weights))
      if (!(weight > 0))
        return emitOpError("expected a positive weight for state ")
               << name << " in " << what << ", got " << weight;

  llvm::Expected<Unit> unit = Unit::parse(getUnit());
  if (!unit)
    return emitOpError("coefficient: ") << toString(unit.takeError());
  Unit value = *unit;
  for (const WeightedState &factor :
       getWeightedStates(system, getOrderStates(), getOrders()))
    value = value * getStateUnit(system, factor.state).power(factor.weight);
  Unit time = cantFail(Unit::parse(system.getTimeUnit()));
  for (auto [names, weights] : {std::pair(getLossStates(), getLosses()),
                                std::pair(getGainStates(), getGains())})
    for (const WeightedState &target :
         getWeightedStates(system, names, weights)) {
      Unit wanted = getStateUnit(system, target.state) / time;
      if (value != wanted)
        return emitOpError("inconsistent units: coefficient times factors is ")
               << value.str() << ", but the change of state "
               << system.getStates()[target.state] << " is " << wanted.str();
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Quantities
//===----------------------------------------------------------------------===//

/// Checks that `type` is a batch of `rows` values a zone.
static LogicalResult verifyBatch(Operation *op, const Twine &what,
                                 RankedTensorType type, int64_t rows,
                                 ZoneLayout layout) {
  bool zonesFirst = layout == ZoneLayout::ArrayOfStructures;
  if (type.isDynamicDim(zonesFirst ? 0 : 1) &&
      type.getDimSize(zonesFirst ? 1 : 0) == rows)
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError("expected ");
  diagnostic << what << " to be tensor<";
  if (zonesFirst)
    diagnostic << "?x" << rows;
  else
    diagnostic << rows << "x?";
  return diagnostic << "xf64>, got " << type;
}

/// Checks the operands that all operations on a system share.
template <typename Op>
static FailureOr<OdeSystemOp>
verifySystemOperands(Op op, SymbolTableCollection &symbols) {
  auto system =
      symbols.lookupNearestSymbolFrom<OdeSystemOp>(op, op.getSystemAttr());
  if (!system)
    return op.emitOpError("unknown system ") << op.getSystemAttr();
  if (failed(verifyBatch(op, "states",
                         cast<RankedTensorType>(op.getStates().getType()),
                         system.getNumStates(), op.getLayout())))
    return failure();
  if (!op.getParameters() && system.getNumParameters() != 0)
    return op.emitOpError("expected parameters: system ")
           << op.getSystemAttr() << " has " << system.getNumParameters()
           << ", got none";
  if (op.getParameters() && system.getNumParameters() == 0)
    return op.emitOpError("expected no parameters: system ")
           << op.getSystemAttr() << " has none";
  if (op.getParameters() &&
      failed(verifyBatch(op, "parameters",
                         cast<RankedTensorType>(op.getParameters().getType()),
                         system.getNumParameters(), op.getLayout())))
    return failure();
  return system;
}

template <typename Op>
static LogicalResult verifyQuantity(Op op, SymbolTableCollection &symbols,
                                    bool rowsAreTerms) {
  FailureOr<OdeSystemOp> found = verifySystemOperands(op, symbols);
  if (failed(found))
    return failure();
  OdeSystemOp system = *found;
  int64_t rows = rowsAreTerms ? getTerms(system).size() : system.getNumStates();
  if (rows == 0)
    return op.emitOpError("system ")
           << op.getSystemAttr() << " has no terms, so there is no result";
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    if (failed(verifyBatch(op, "result #" + Twine(index),
                           cast<RankedTensorType>(result.getType()), rows,
                           op.getLayout())))
      return failure();
  return success();
}

LogicalResult OdeRhsOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyQuantity(*this, symbols, /*rowsAreTerms=*/false);
}

LogicalResult
OdeProductionLossOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyQuantity(*this, symbols, /*rowsAreTerms=*/false);
}

LogicalResult
OdeTermValuesOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyQuantity(*this, symbols, /*rowsAreTerms=*/true);
}

LogicalResult OdeIntegrateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<OdeSystemOp> found = verifySystemOperands(*this, symbols);
  if (failed(found))
    return failure();
  OdeSystemOp system = *found;
  if (getFinalStates().getType() != getStates().getType())
    return emitOpError("expected final states of the type of the states ")
           << getStates().getType() << ", got " << getFinalStates().getType();
  for (auto [name, value] : {std::pair("time", Value(getTime())),
                             std::pair("step", Value(getStep())),
                             std::pair("final time", Value(getFinalTime())),
                             std::pair("final step", Value(getFinalStep())),
                             std::pair("number of steps", Value(getNumSteps())),
                             std::pair("status", Value(getStatus()))})
    if (!cast<RankedTensorType>(value.getType()).isDynamicDim(0))
      return emitOpError("expected ")
             << name << " to be one number a zone, tensor<?x...>, got "
             << value.getType();
  if (int64_t(getMaxSteps()) < 1 ||
      int64_t(getMaxSteps()) > std::numeric_limits<int32_t>::max())
    return emitOpError("expected max_steps from 1 to ")
           << std::numeric_limits<int32_t>::max() << ", got "
           << int64_t(getMaxSteps());
  if (auto tsit5 = dyn_cast<Tsit5Attr>(getMethod())) {
    for (auto [name, tolerance] :
         {std::pair("absolute_tolerance", tsit5.getAbsoluteTolerance()),
          std::pair("relative_tolerance", tsit5.getRelativeTolerance())})
      if (auto list = dyn_cast<DenseF64ArrayAttr>(tolerance);
          list && list.size() != int64_t(system.getNumStates()))
        return emitOpError("expected ")
               << name << " to be one number or " << system.getNumStates()
               << ", one a state of system " << getSystemAttr() << ", got "
               << list.size();
    if (!getConservedStates().empty() || getTotal())
      return emitOpError("conserved: the method tsit5 looks at no conserved "
                         "total; leave it out");
  }
  if (getConservedStates().size() != getConservedWeights().size())
    return emitOpError("conserved: expected as many numbers as states, got ")
           << getConservedWeights().size() << " numbers and "
           << getConservedStates().size() << " states";
  SmallPtrSet<Attribute, 8> seen;
  for (auto [name, weight] :
       llvm::zip_equal(getConservedStates(), getConservedWeights())) {
    if (!system.findState(cast<StringAttr>(name).getValue()))
      return emitOpError("conserved: unknown state ")
             << name << ": system " << getSystemAttr()
             << " does not declare it";
    if (!seen.insert(name).second)
      return emitOpError("conserved: state ") << name << " stands twice";
    if (!std::isfinite(weight) || weight == 0)
      return emitOpError("conserved: expected a weight for state ")
             << name << " that is finite and not zero, got " << weight;
  }
  if (getTotal() && (getConservedStates().empty() || !getTotal()->isFinite() ||
                     getTotal()->isZero()))
    return emitOpError("expected a total that is finite and not zero, of "
                       "states that are conserved");
  return success();
}
