//===- Inputs.cpp - Given and seeded inputs -------------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "wavesmith/Dialect/Wavesmith/IR/Units.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace wavesmith;

Operation *wavesmith::findQuantity(func::FuncOp function) {
  Operation *quantity = nullptr;
  function.walk([&](Operation *op) {
    if (isa<OdeRhsOp, OdeProductionLossOp, OdeTermValuesOp, OdeIntegrateOp>(op))
      quantity = op;
  });
  return quantity;
}

OdeSystemOp wavesmith::findSystem(Operation *quantity) {
  if (!quantity)
    return {};
  return SymbolTable::lookupNearestSymbolFrom<OdeSystemOp>(
      quantity, quantity->getAttrOfType<FlatSymbolRefAttr>("system"));
}

namespace {

/// The numbers of an argument: each depends on the seed, the argument and the
/// element, and on nothing else.
class Numbers {
public:
  Numbers(uint64_t seed, uint64_t argument)
      : key(mix(mix(seed + 1) ^ (argument + 1))) {}

  /// 64 bits for an element; `part` tells several of one apart.
  uint64_t bits(uint64_t element, uint64_t part = 0) const {
    return mix(mix(key + element) + part);
  }
  /// From 0 to below 1.
  double fraction(uint64_t element, uint64_t part = 0) const {
    return std::ldexp(static_cast<double>(bits(element, part) >> 11), -53);
  }
  double uniform(uint64_t element, double low, double high) const {
    return low + (high - low) * fraction(element);
  }
  /// From 2^-octaves to below 1, each octave as often as the others.
  double octaves(uint64_t element, unsigned octaves) const {
    return std::ldexp(1.0 + fraction(element),
                      -1 - static_cast<int>(bits(element, 1) % octaves));
  }

private:
  /// The finaliser of SplitMix64.
  static uint64_t mix(uint64_t z) {
    z += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t key;
};

/// What an argument of a quantity is.
enum class Role { None, Time, ZoneTime, End, ZoneStep, States, Parameters };

/// How the rows of an argument are filled.
struct RowRule {
  enum Kind { Uniform, Octaves } kind = Octaves;
  double low = 0, high = 1;
};

} // namespace

static Role findRole(Operation *quantity, BlockArgument argument) {
  if (!quantity)
    return Role::None;
  SmallVector<Role, 5> roles;
  if (isa<OdeIntegrateOp>(quantity))
    roles = {Role::ZoneTime, Role::End, Role::ZoneStep};
  else
    roles = {Role::Time};
  roles.append({Role::States, Role::Parameters});
  for (auto [operand, role] : llvm::zip_first(quantity->getOperands(), roles))
    if (operand == argument)
      return role;
  return Role::None;
}

/// Temperatures and pressures in the range of combustion, or of nuclear burning
/// where REACLIB's rates are; everything else in ten octaves below 1.
static RowRule getRule(StringRef unitText, bool isNuclear) {
  llvm::Expected<Unit> unit = Unit::parse(unitText);
  if (!unit) {
    llvm::consumeError(unit.takeError());
    return {};
  }
  auto is = [&](StringRef text) { return *unit == *Unit::parse(text); };
  if (is("K"))
    return isNuclear ? RowRule{RowRule::Uniform, 1e9, 5e9}
                     : RowRule{RowRule::Uniform, 1000, 2500};
  for (auto [name, pascal] :
       {std::pair("Pa", 1.0), std::pair("kPa", 1e3), std::pair("MPa", 1e6),
        std::pair("bar", 1e5), std::pair("atm", 101325.0)})
    if (is(name))
      return {RowRule::Uniform, 1e4 / pascal, 1e6 / pascal};
  if (isNuclear && is("g/cm^3"))
    return {RowRule::Uniform, 1e5, 1e8};
  return {};
}

static double getNumber(const HostArray &array, size_t index) {
  double value;
  std::memcpy(&value, array.bytes.data() + index * sizeof(value),
              sizeof(value));
  return value;
}

static void setNumber(HostArray &array, size_t index, double value) {
  switch (array.type) {
  case ElementType::F64:
    std::memcpy(array.bytes.data() + index * sizeof(value), &value,
                sizeof(value));
    return;
  case ElementType::F32: {
    auto narrow = static_cast<float>(value);
    std::memcpy(array.bytes.data() + index * sizeof(narrow), &narrow,
                sizeof(narrow));
    return;
  }
  case ElementType::I64: {
    auto whole = static_cast<int64_t>(value);
    std::memcpy(array.bytes.data() + index * sizeof(whole), &whole,
                sizeof(whole));
    return;
  }
  case ElementType::I32: {
    auto whole = static_cast<int32_t>(value);
    std::memcpy(array.bytes.data() + index * sizeof(whole), &whole,
                sizeof(whole));
    return;
  }
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::F8E4M3FNUZ:
    llvm_unreachable("functions of zones have none of these");
  }
}

static llvm::Error checkFill(const ArgumentDescription &argument,
                             double value) {
  double limit = argument.type == ElementType::I32   ? 0x1p31
                 : argument.type == ElementType::I64 ? 0x1p63
                                                     : 0;
  bool fits = limit == 0 ||
              (value == std::trunc(value) && value >= -limit && value < limit);
  if (argument.type == ElementType::F32)
    fits = !std::isfinite(value) || std::isfinite(static_cast<float>(value));
  if (fits)
    return llvm::Error::success();
  return llvm::createStringError("argument '" + argument.name +
                                 "': expected a number of type " +
                                 stringify(argument.type));
}

/// Makes the states add up to what the integration conserves.
static void scaleToTotal(HostArray &states, OdeIntegrateOp op,
                         OdeSystemOp system, int64_t zones, bool zonesFirst) {
  if (!op.getTotal() || op.getConservedStates().empty())
    return;
  unsigned rows = system.getNumStates();
  auto weights = getWeightedStates(system, op.getConservedStates(),
                                   op.getConservedWeights());
  for (int64_t zone = 0; zone != zones; ++zone) {
    auto at = [&](unsigned row) {
      return zonesFirst ? zone * rows + row : row * zones + zone;
    };
    double sum = 0;
    for (const WeightedState &entry : weights)
      sum += entry.weight * getNumber(states, at(entry.state));
    double factor = op.getTotal()->convertToDouble() / sum;
    if (!std::isfinite(factor) || factor <= 0)
      continue;
    for (unsigned row = 0; row != rows; ++row)
      setNumber(states, at(row), getNumber(states, at(row)) * factor);
  }
}

llvm::Expected<Inputs> wavesmith::makeInputs(const KernelDescription &kernel,
                                             func::FuncOp function,
                                             const ValidationOptions &options) {
  auto isAsked = [](const ArgumentDescription &argument) {
    return argument.kind == ArgumentKind::Input ||
           argument.kind == ArgumentKind::Scalar;
  };
  std::string names;
  for (const ArgumentDescription &argument : kernel.arguments)
    if (isAsked(argument))
      names += (names.empty() ? "" : ", ") + argument.name;
  auto checkName = [&](StringRef name, bool isArray) -> llvm::Error {
    const ArgumentDescription *argument = kernel.findArgument(name);
    if (!argument || !isAsked(*argument))
      return llvm::createStringError("the function has no argument '" + name +
                                     "'; it has " +
                                     (names.empty() ? "none" : names));
    if (isArray && !argument->isArray())
      return llvm::createStringError("argument '" + name +
                                     "' is a scalar: give its value");
    return llvm::Error::success();
  };
  // In sorted order, so that the message does not depend on hashing.
  SmallVector<StringRef> given(options.inputs.keys());
  llvm::sort(given);
  for (StringRef name : given) {
    if (llvm::Error error = checkName(name, /*isArray=*/true))
      return error;
    if (options.values.count(name.str()))
      return llvm::createStringError("argument '" + name + "' is given twice");
  }
  for (const auto &entry : options.values)
    if (llvm::Error error = checkName(entry.first, /*isArray=*/false))
      return error;

  Inputs inputs;
  std::optional<int64_t> zones = options.zones;
  std::string zonesFrom = "the option";
  for (const ArgumentDescription &argument : kernel.arguments) {
    auto array = options.inputs.find(argument.name);
    int dimension = argument.getZonesDimension();
    if (array == options.inputs.end() || dimension < 0 ||
        array->second.shape.size() != argument.shape.size())
      continue;
    int64_t size = array->second.shape[dimension];
    if (zones && *zones != size)
      return llvm::createStringError("argument '" + argument.name + "' has " +
                                     Twine(size) + " zones, " + zonesFrom +
                                     " has " + Twine(*zones));
    zones = size;
    zonesFrom = "argument '" + argument.name + "'";
  }
  inputs.zones = zones.value_or(16);
  if (inputs.zones <= 0)
    return llvm::createStringError("number of zones must be positive, got " +
                                   Twine(inputs.zones));

  Operation *quantity = findQuantity(function);
  OdeSystemOp system = findSystem(quantity);
  bool isNuclear =
      system && system.walk([](ReaclibOp) { return WalkResult::interrupt(); })
                    .wasInterrupted();
  for (size_t index = 0; index != kernel.arguments.size(); ++index) {
    const ArgumentDescription &argument = kernel.arguments[index];
    if (!isAsked(argument))
      continue;
    auto add = [&](HostArray array, std::string source) {
      inputs.values[argument.name] = std::move(array);
      inputs.sources.emplace_back(argument.name, std::move(source));
    };
    if (auto array = options.inputs.find(argument.name);
        array != options.inputs.end()) {
      add(array->second, "given");
      continue;
    }
    HostArray array;
    array.type = argument.type;
    if (argument.isArray())
      array.shape = argument.getShape(inputs.zones);
    std::optional<uint64_t> bytes = getArrayBytes(array.type, array.shape);
    if (!bytes || *bytes > (uint64_t(1) << 36))
      return llvm::createStringError("argument '" + argument.name + "' of " +
                                     Twine(inputs.zones) +
                                     " zones is too large");
    array.bytes.resize(*bytes);
    size_t size = *bytes / getElementBytes(array.type);
    if (auto value = options.values.find(argument.name);
        value != options.values.end()) {
      if (llvm::Error error = checkFill(argument, value->second))
        return error;
      for (size_t i = 0; i != size; ++i)
        setNumber(array, i, value->second);
      add(std::move(array), "given");
      continue;
    }

    Numbers numbers(options.seed, index);
    Role role = index < function.getNumArguments()
                    ? findRole(quantity, function.getArgument(index))
                    : Role::None;
    switch (role) {
    case Role::Time:
      add(std::move(array), "0");
      continue;
    case Role::ZoneTime:
    case Role::End:
    case Role::ZoneStep: {
      StringRef what = role == Role::ZoneTime ? "the time to start at"
                       : role == Role::End    ? "the time to end at"
                                              : "the first step size";
      return llvm::createStringError(
          "argument '" + argument.name + "' is " + what +
          ", for which there is no rule: give it, --scalar=" + argument.name +
          "=number for all zones" +
          (argument.isArray() ? " or --input=" + argument.name + "=file.npy"
                              : ""));
    }
    case Role::States:
    case Role::Parameters: {
      ArrayAttr units = role == Role::States ? system.getStateUnits()
                                             : system.getParameterUnits();
      bool zonesFirst = argument.getZonesDimension() == 0;
      for (auto [row, unit] : llvm::enumerate(units.getAsRange<StringAttr>())) {
        RowRule rule = getRule(unit.getValue(), isNuclear);
        for (int64_t zone = 0; zone != inputs.zones; ++zone) {
          size_t at = zonesFirst ? zone * units.size() + row
                                 : row * inputs.zones + zone;
          setNumber(array, at,
                    rule.kind == RowRule::Uniform
                        ? numbers.uniform(at, rule.low, rule.high)
                        : numbers.octaves(at, 10));
        }
      }
      if (auto integrate = dyn_cast<OdeIntegrateOp>(quantity);
          integrate && role == Role::States)
        scaleToTotal(array, integrate, system, inputs.zones, zonesFirst);
      add(std::move(array),
          role == Role::States ? "seeded states" : "seeded parameters");
      continue;
    }
    case Role::None:
      break;
    }
    bool isInteger =
        array.type == ElementType::I32 || array.type == ElementType::I64;
    for (size_t i = 0; i != size; ++i)
      setNumber(array, i,
                isInteger ? static_cast<double>(1 + numbers.bits(i) % 8)
                          : numbers.octaves(i, 3));
    add(std::move(array), isInteger ? "seeded, 1 to 8" : "seeded, 1/8 to 1");
  }
  return inputs;
}
