//===- RateFormulas.h - The formulas of rate coefficients -------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas of WavesmithRateOps.td as operations on blocks, operation by
// operation. Constants come as values, so that the straight-line form can pass
// literals and the table form what it looked up. A null constant is one that
// the formula leaves out.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_CONVERSION_ODETOWORKGROUP_RATEFORMULAS_H
#define WAVESMITH_LIB_CONVERSION_ODETOWORKGROUP_RATEFORMULAS_H

#include "BlockBuilder.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"

namespace wavesmith {

/// Constants of `nasa7` as its formula takes them, for one temperature range:
/// those of the powers 4, 3, 2, 1 of T first.
llvm::SmallVector<double> deriveNasa7Constants(ThermoQuantity quantity,
                                               llvm::ArrayRef<double> a);

/// Constants of `plog` as its formula takes them.
struct PlogTable {
  struct Row {
    double A, logA, b, minusE;
  };
  struct Pressure {
    double logPressure;
    /// 1 / (log P_j - log P_(j-1)); 0 for the first pressure.
    double inverseInterval;
    llvm::SmallVector<Row, 1> rows;
  };
  llvm::SmallVector<Pressure> pressures;
};
PlogTable derivePlogTable(llvm::ArrayRef<double> rates);

/// Constants of `chebyshev` that map its range to -1 .. 1.
struct ChebyshevRange {
  double temperatureNumerator, temperatureDenominator;
  double pressureNumerator, pressureDenominator;
};
ChebyshevRange deriveChebyshevRange(ChebyshevOp op);

/// The gas constant in J/kmol/K, exact in the SI of 2019.
inline constexpr double kGasConstant = 8314.46261815324;

class RateFormulas {
public:
  using Value = mlir::Value;

  explicit RateFormulas(BlockBuilder &b) : b(b) {}

  // Functions of one block that many formulas share; each is built where it is
  // first asked for, and must be asked for first where all others can use it.
  Value reciprocal(Value a) {
    return shared(reciprocals, a, [&] { return b.divide(b.constant(1.0), a); });
  }
  Value log(Value a) {
    return shared(logs, a, [&] { return b.log(a); });
  }
  Value log10(Value a) {
    return shared(log10s, a, [&] { return b.log10(a); });
  }

  /// sum = fma(weight, value, sum).
  Value accumulate(Value weight, Value value, Value sum) {
    return b.fma(weight, value, sum);
  }
  Value arrhenius(Value T, Value A, Value exponent, Value minusE);
  /// The same with constants that are read from a table: a part whose constant
  /// is zero is left out, whatever T is.
  Value arrheniusOfRow(Value T, Value A, Value exponent, Value minusE);
  /// The natural logarithm of an Arrhenius rate with A > 0.
  Value logArrhenius(Value T, Value logA, Value exponent, Value minusE);
  Value nasa7(ThermoQuantity quantity, Value T, Value midTemperature,
              llvm::ArrayRef<Value> low, llvm::ArrayRef<Value> high);
  /// `x` is the sum over the Gibbs energies; `minusDn` null if dn is zero.
  Value reverseRate(Value forward, Value T, Value x, Value minusDn,
                    Value pressureOverR);
  /// exp(x) of one REACLIB set.
  Value reaclibSet(Value T, llvm::ArrayRef<Value> a);
  /// Builds what all REACLIB sets share.
  void prepareReaclib(Value T);
  Value reducedPressure(Value low, Value high, Value thirdBody);
  Value troe(Value T, Value pr, Value oneMinusA, Value A, Value minusOverT3,
             Value minusOverT1, Value minusT2);
  Value sri(Value T, Value pr, Value a, Value minusB, Value minusOverC, Value d,
            Value e);
  Value tsang(Value T, Value pr, Value A, Value B);
  Value falloff(Value high, Value pr, Value blending);
  Value chemicallyActivated(Value low, Value pr, Value blending);
  /// One interval of `plog`: the interpolated value where log p is at or above
  /// the interval's lower end, else `otherwise`.
  Value plogInterval(Value logP, Value lowerLogP, Value inverseInterval,
                     Value lower, Value upper, Value otherwise);
  /// The last value of `plog` where log p is at or above the last pressure.
  Value plogAbove(Value logP, Value lastLogP, Value last, Value otherwise);
  /// 10^x as exp(x log 10).
  Value powerOfTen(Value x);
  /// fma(x + x, current, -previous).
  Value nextChebyshev(Value x, Value current, Value previous);
  Value chebyshevTemperature(Value T, Value numerator, Value denominator);
  Value chebyshevPressure(Value p, Value numerator, Value denominator);
  /// y^order for an order of a term.
  Value power(Value y, double order);
  /// y > 0 ? exp(order * log(y)) : 0.0.
  Value realPower(Value y, Value order);

private:
  Value shared(llvm::DenseMap<Value, Value> &cache, Value key,
               llvm::function_ref<Value()> build) {
    if (Value known = cache.lookup(key))
      return known;
    Value built = build();
    cache[key] = built;
    return built;
  }
  Value atLeast(Value a, double bound);
  Value blend(Value f, Value pr);

  BlockBuilder &b;
  llvm::DenseMap<Value, Value> reciprocals, logs, log10s;
  /// Per temperature: T9, 1/T9, cbrt(T9), 1/cbrt(T9), T9^(5/3), log(T9).
  llvm::DenseMap<Value, std::array<Value, 6>> reaclibPowers;
};

} // namespace wavesmith

#endif // WAVESMITH_LIB_CONVERSION_ODETOWORKGROUP_RATEFORMULAS_H
