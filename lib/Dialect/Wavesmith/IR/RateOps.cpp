//===- RateOps.cpp - Checks of the rate coefficients ----------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SystemVerification.h"
#include <cmath>

using namespace mlir;
using namespace wavesmith;
using llvm::cantFail;

/// Where an operand is a state or a parameter, checks its declared unit. The
/// units of other values are not known.
static LogicalResult verifyOperandUnit(Operation *op, StringRef what,
                                       Value operand, StringRef wanted) {
  auto system = op->getParentOfType<OdeSystemOp>();
  ArrayAttr units;
  std::optional<unsigned> index;
  if (auto state = operand.getDefiningOp<StateOp>()) {
    units = system.getStateUnits();
    index = system.findState(state.getName());
  } else if (auto parameter = operand.getDefiningOp<ParameterOp>()) {
    units = system.getParameterUnits();
    index = system.findParameter(parameter.getName());
  }
  if (!index)
    return success();
  StringRef got = cast<StringAttr>(units[*index]).getValue();
  if (cantFail(Unit::parse(got)) != cantFail(Unit::parse(wanted)))
    return op->emitOpError("expected ")
           << what << " in " << wanted << ", got a value in " << got;
  return success();
}

static LogicalResult verifyTemperature(Operation *op, Value temperature) {
  return verifyOperandUnit(op, "the temperature", temperature, "K");
}

static LogicalResult verifyFinite(Operation *op, StringRef what,
                                  ArrayRef<double> numbers) {
  for (double number : numbers)
    if (!std::isfinite(number))
      return op->emitOpError("expected finite numbers for ")
             << what << ", got " << number;
  return success();
}

static LogicalResult verifyFinite(Operation *op, StringRef what,
                                  FloatAttr number) {
  return verifyFinite(op, what, {number.getValueAsDouble()});
}

LogicalResult WeightedSumOp::verify() {
  if (failed(verifyStateList(*this, "the sum", getStates(), getWeights())))
    return failure();
  if (getStates().empty())
    return emitOpError("expected at least one state, got none");
  auto system = (*this)->getParentOfType<OdeSystemOp>();
  auto list = getWeightedStates(system, getStates(), getWeights());
  for (const WeightedState &other : list)
    if (wavesmith::getStateUnit(system, other.state) !=
        wavesmith::getStateUnit(system, list.front().state))
      return emitOpError("expected states of one unit, got ")
             << system.getStates()[list.front().state] << " in "
             << system.getStateUnits()[list.front().state] << " and "
             << system.getStates()[other.state] << " in "
             << system.getStateUnits()[other.state];
  return success();
}

LogicalResult ThirdBodyOp::verify() {
  return failure(failed(verifyFinite(*this, "the default efficiency",
                                     getDefaultEfficiencyAttr())) ||
                 failed(verifyStateList(*this, "efficiencies", getStates(),
                                        getEfficiencies())));
}

LogicalResult ArrheniusOp::verify() {
  return failure(failed(verifyTemperature(*this, getTemperature())) ||
                 failed(verifyFinite(*this, "A", getAAttr())) ||
                 failed(verifyFinite(*this, "b", getBAttr())) ||
                 failed(verifyFinite(*this, "E", getEAttr())));
}

LogicalResult Nasa7Op::verify() {
  for (auto [numbers, what] :
       {std::pair(getLow(), "low"), std::pair(getHigh(), "high")}) {
    if (numbers.size() != 7)
      return emitOpError("expected 7 coefficients in ")
             << what << ", got " << numbers.size();
    if (failed(verifyFinite(*this, what, numbers)))
      return failure();
  }
  return failure(failed(verifyTemperature(*this, getTemperature())) ||
                 failed(verifyFinite(*this, "T_mid", getTMidAttr())));
}

LogicalResult ReverseRateOp::verify() {
  if (getGibbs().size() != getCoefficients().size())
    return emitOpError("expected one stoichiometric coefficient for each of ")
           << getGibbs().size() << " Gibbs energies, got "
           << getCoefficients().size();
  double pressure = getReferencePressure().convertToDouble();
  if (!(pressure > 0) || !std::isfinite(pressure))
    return emitOpError("expected a positive reference pressure, got ")
           << pressure;
  return failure(failed(verifyTemperature(*this, getTemperature())) ||
                 failed(verifyFinite(*this, "stoichiometric coefficients",
                                     getCoefficients())));
}

LogicalResult ReaclibOp::verify() {
  if (getSets().empty() || getSets().size() % 7 != 0)
    return emitOpError("expected sets of 7 parameters, got ")
           << getSets().size() << " numbers";
  return failure(failed(verifyTemperature(*this, getTemperature())) ||
                 failed(verifyFinite(*this, "sets", getSets())));
}

LogicalResult TroeOp::verify() {
  return failure(
      failed(verifyTemperature(*this, getTemperature())) ||
      failed(verifyFinite(*this, "A", getAAttr())) ||
      failed(verifyFinite(*this, "T3", getT3Attr())) ||
      failed(verifyFinite(*this, "T1", getT1Attr())) ||
      (getT2Attr() && failed(verifyFinite(*this, "T2", getT2Attr()))));
}

LogicalResult SriOp::verify() {
  double c = getC().convertToDouble(), d = getD().convertToDouble();
  if (!(c >= 0))
    return emitOpError("expected c not to be negative, got ") << c;
  if (!(d >= 0))
    return emitOpError("expected d not to be negative, got ") << d;
  double numbers[] = {getA().convertToDouble(), getB().convertToDouble(), c, d,
                      getE().convertToDouble()};
  return failure(failed(verifyTemperature(*this, getTemperature())) ||
                 failed(verifyFinite(*this, "a, b, c, d, e", numbers)));
}

LogicalResult TsangOp::verify() {
  return failure(failed(verifyTemperature(*this, getTemperature())) ||
                 failed(verifyFinite(*this, "A", getAAttr())) ||
                 failed(verifyFinite(*this, "B", getBAttr())));
}

LogicalResult PlogOp::verify() {
  ArrayRef<double> rates = getRates();
  if (rates.empty() || rates.size() % 4 != 0)
    return emitOpError("expected rows of (p, A, b, E), got ")
           << rates.size() << " numbers";
  if (failed(verifyTemperature(*this, getTemperature())) ||
      failed(verifyOperandUnit(*this, "the pressure", getPressure(), "Pa")) ||
      failed(verifyFinite(*this, "rates", rates)))
    return failure();
  for (size_t i = 0; i < rates.size(); i += 4) {
    double pressure = rates[i];
    if (!(pressure > 0))
      return emitOpError("expected positive pressures, got ") << pressure;
    if (i > 0 && pressure < rates[i - 4])
      return emitOpError("expected ascending pressures, got ")
             << pressure << " after " << rates[i - 4];
    bool alone = (i == 0 || rates[i - 4] != pressure) &&
                 (i + 4 == rates.size() || rates[i + 4] != pressure);
    if (alone && !(rates[i + 1] > 0))
      return emitOpError("expected a positive A where one rate stands alone "
                         "at its pressure, got ")
             << rates[i + 1];
  }
  return success();
}

LogicalResult ChebyshevOp::verify() {
  for (auto [range, what] :
       {std::pair(getTRange(), "T_range"), std::pair(getPRange(), "p_range")})
    if (range.size() != 2 || !(range[0] > 0) || !(range[1] > range[0]) ||
        !std::isfinite(range[1]))
      return emitOpError("expected ")
             << what << " to be two positive, ascending numbers";
  int64_t columns = getColumns();
  size_t count = getCoefficients().size();
  if (columns <= 0 || count == 0 || count % columns != 0)
    return emitOpError("expected rows of ")
           << columns << " coefficients, got " << count << " numbers";
  return failure(
      failed(verifyTemperature(*this, getTemperature())) ||
      failed(verifyOperandUnit(*this, "the pressure", getPressure(), "Pa")) ||
      failed(verifyFinite(*this, "coefficients", getCoefficients())));
}
