//===- RateFormulas.cpp - The formulas of rate coefficients ---------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RateFormulas.h"
#include "wavesmith/Math/DeviceMath.h"

using namespace mlir;
using namespace wavesmith;
using arith::CmpFPredicate;

SmallVector<double> wavesmith::deriveNasa7Constants(ThermoQuantity quantity,
                                                    ArrayRef<double> a) {
  switch (quantity) {
  case ThermoQuantity::Gibbs:
    return {-a[4] / 20, -a[3] / 12, -a[2] / 6, -a[1] / 2, a[0], a[5], -a[6]};
  case ThermoQuantity::Enthalpy:
    return {a[4] / 5, a[3] / 4, a[2] / 3, a[1] / 2, a[0], a[5]};
  case ThermoQuantity::HeatCapacity:
    return {a[4], a[3], a[2], a[1], a[0]};
  }
  llvm_unreachable("all quantities are handled");
}

PlogTable wavesmith::derivePlogTable(ArrayRef<double> rates) {
  devicemath::FloatingPointEnvironment environment;
  PlogTable table;
  for (size_t i = 0; i < rates.size(); i += 4) {
    double p = rates[i], A = rates[i + 1], b = rates[i + 2], E = rates[i + 3];
    if (i == 0 || p != rates[i - 4]) {
      double logP = devicemath::log(p);
      double inverse =
          i == 0 ? 0 : 1 / (logP - table.pressures.back().logPressure);
      table.pressures.push_back({logP, inverse, {}});
    }
    table.pressures.back().rows.push_back({A, devicemath::log(A), b, -E});
  }
  return table;
}

ChebyshevRange wavesmith::deriveChebyshevRange(ChebyshevOp op) {
  devicemath::FloatingPointEnvironment environment;
  double inverseMin = 1 / op.getTRange()[0], inverseMax = 1 / op.getTRange()[1];
  double logMin = devicemath::log10(op.getPRange()[0]);
  double logMax = devicemath::log10(op.getPRange()[1]);
  return {-inverseMin - inverseMax, 1 / (inverseMax - inverseMin),
          -logMin - logMax, 1 / (logMax - logMin)};
}

Value RateFormulas::atLeast(Value a, double bound) {
  Value limit = b.constant(bound);
  return b.select(b.compare(CmpFPredicate::OLT, a, limit), limit, a);
}

Value RateFormulas::arrhenius(Value T, Value A, Value exponent, Value minusE) {
  if (!exponent && !minusE)
    return A;
  Value x;
  if (!exponent)
    x = b.multiply(minusE, reciprocal(T));
  else if (!minusE)
    x = b.multiply(exponent, log(T));
  else
    x = b.fma(exponent, log(T), b.multiply(minusE, reciprocal(T)));
  return b.multiply(A, b.exp(x));
}

Value RateFormulas::arrheniusOfRow(Value T, Value A, Value exponent,
                                   Value minusE) {
  // -0.0 is what leaves any sum as it is; exp(-0.0) is 1, and A * 1 is A.
  Value zero = b.constant(0.0);
  auto isPart = [&](Value constant) {
    return b.compare(CmpFPredicate::UNE, constant, zero);
  };
  Value x = b.select(isPart(minusE), b.multiply(minusE, reciprocal(T)),
                     b.constant(-0.0));
  x = b.select(isPart(exponent), b.fma(exponent, log(T), x), x);
  return b.multiply(A, b.exp(x));
}

Value RateFormulas::logArrhenius(Value T, Value logA, Value exponent,
                                 Value minusE) {
  return b.fma(minusE, reciprocal(T), b.fma(exponent, log(T), logA));
}

Value RateFormulas::nasa7(ThermoQuantity quantity, Value T,
                          Value midTemperature, ArrayRef<Value> low,
                          ArrayRef<Value> high) {
  auto evaluate = [&](ArrayRef<Value> c) {
    Value p = b.fma(b.fma(b.fma(c[0], T, c[1]), T, c[2]), T, c[3]);
    switch (quantity) {
    case ThermoQuantity::Gibbs:
      return b.fma(p, T,
                   b.fma(c[4], b.subtract(b.constant(1.0), log(T)),
                         b.fma(c[5], reciprocal(T), c[6])));
    case ThermoQuantity::Enthalpy:
      return b.fma(p, T, b.fma(c[5], reciprocal(T), c[4]));
    case ThermoQuantity::HeatCapacity:
      return b.fma(p, T, c[4]);
    }
    llvm_unreachable("all quantities are handled");
  };
  // Both ranges are evaluated: zones of one wavefront differ in temperature.
  Value isLow = b.compare(CmpFPredicate::OLE, T, midTemperature);
  return b.select(isLow, evaluate(low), evaluate(high));
}

Value RateFormulas::reverseRate(Value forward, Value T, Value x, Value minusDn,
                                Value pressureOverR) {
  if (minusDn) {
    Value concentration = b.multiply(pressureOverR, reciprocal(T));
    x = b.fma(minusDn, b.log(concentration), x);
  }
  Value inverse = b.exp(x), limit = b.constant(1e300);
  Value isAbove = b.compare(CmpFPredicate::OGT, inverse, limit);
  return b.multiply(forward, b.select(isAbove, limit, inverse));
}

void RateFormulas::prepareReaclib(Value T) {
  std::array<Value, 6> &powers = reaclibPowers[T];
  if (powers[0])
    return;
  Value one = b.constant(1.0);
  Value T9 = b.divide(T, b.constant(1e9));
  Value c = b.cbrt(T9);
  powers = {T9,
            b.divide(one, T9),
            c,
            b.divide(one, c),
            b.multiply(T9, b.multiply(c, c)),
            b.log(T9)};
}

Value RateFormulas::reaclibSet(Value T, ArrayRef<Value> a) {
  prepareReaclib(T);
  auto [T9, inverseT9, c, inverseC, fiveThirds, logT9] = reaclibPowers[T];
  Value x = b.fma(a[1], inverseT9, a[0]);
  x = b.fma(a[2], inverseC, x);
  x = b.fma(a[3], c, x);
  x = b.fma(a[4], T9, x);
  x = b.fma(a[5], fiveThirds, x);
  return b.exp(b.fma(a[6], logT9, x));
}

Value RateFormulas::reducedPressure(Value low, Value high, Value thirdBody) {
  return b.divide(b.multiply(thirdBody, low), b.add(high, b.constant(1e-300)));
}

Value RateFormulas::blend(Value f, Value pr) {
  Value lf = b.log10(atLeast(f, 1e-300));
  Value a = b.add(b.log10(atLeast(pr, 1e-300)),
                  b.fma(b.constant(-0.67), lf, b.constant(-0.4)));
  Value width = b.fma(b.constant(-1.27), lf, b.constant(0.75));
  Value u = b.divide(a, b.fma(b.constant(-0.14), a, width));
  return powerOfTen(b.divide(lf, b.fma(u, u, b.constant(1.0))));
}

Value RateFormulas::troe(Value T, Value pr, Value oneMinusA, Value A,
                         Value minusOverT3, Value minusOverT1, Value minusT2) {
  Value f =
      b.multiply(oneMinusA, minusOverT3 ? b.exp(b.multiply(T, minusOverT3))
                                        : b.constant(0.0));
  f = b.fma(
      A, minusOverT1 ? b.exp(b.multiply(T, minusOverT1)) : b.constant(0.0), f);
  if (minusT2)
    f = b.add(f, b.exp(b.multiply(minusT2, reciprocal(T))));
  return blend(f, pr);
}

Value RateFormulas::sri(Value T, Value pr, Value a, Value minusB,
                        Value minusOverC, Value d, Value e) {
  Value w = b.multiply(a, b.exp(b.multiply(minusB, reciprocal(T))));
  if (minusOverC)
    w = b.add(w, b.exp(b.multiply(T, minusOverC)));
  Value l = b.log10(atLeast(pr, 1e-300));
  Value one = b.constant(1.0);
  Value F = b.exp(b.multiply(b.divide(one, b.fma(l, l, one)), b.log(w)));
  if (d)
    F = b.multiply(F, d);
  if (e)
    F = b.multiply(F, b.exp(b.multiply(e, log(T))));
  return F;
}

Value RateFormulas::tsang(Value T, Value pr, Value A, Value B) {
  return blend(b.fma(B, T, A), pr);
}

Value RateFormulas::falloff(Value high, Value pr, Value blending) {
  Value one = b.constant(1.0);
  Value weight = b.divide(blending ? blending : one, b.add(pr, one));
  return b.multiply(b.multiply(pr, weight), high);
}

Value RateFormulas::chemicallyActivated(Value low, Value pr, Value blending) {
  Value one = b.constant(1.0);
  Value weight = b.divide(blending ? blending : one, b.add(pr, one));
  return b.multiply(weight, low);
}

Value RateFormulas::plogInterval(Value logP, Value lowerLogP,
                                 Value inverseInterval, Value lower,
                                 Value upper, Value otherwise) {
  Value share = b.multiply(b.subtract(logP, lowerLogP), inverseInterval);
  Value inside = b.fma(b.subtract(upper, lower), share, lower);
  return b.select(b.compare(CmpFPredicate::OGE, logP, lowerLogP), inside,
                  otherwise);
}

Value RateFormulas::plogAbove(Value logP, Value lastLogP, Value last,
                              Value otherwise) {
  return b.select(b.compare(CmpFPredicate::OGE, logP, lastLogP), last,
                  otherwise);
}

Value RateFormulas::powerOfTen(Value x) {
  return b.exp(b.multiply(x, b.constant(2.302585092994046)));
}

Value RateFormulas::nextChebyshev(Value x, Value current, Value previous) {
  return b.fma(b.add(x, x), current, b.negate(previous));
}

Value RateFormulas::chebyshevTemperature(Value T, Value numerator,
                                         Value denominator) {
  return b.multiply(b.fma(b.constant(2.0), reciprocal(T), numerator),
                    denominator);
}

Value RateFormulas::chebyshevPressure(Value p, Value numerator,
                                      Value denominator) {
  return b.multiply(b.fma(b.constant(2.0), log10(p), numerator), denominator);
}

Value RateFormulas::realPower(Value y, Value order) {
  Value zero = b.constant(0.0);
  return b.select(b.compare(CmpFPredicate::OGT, y, zero),
                  b.exp(b.multiply(order, b.log(y))), zero);
}

Value RateFormulas::power(Value y, double order) {
  if (order == 1)
    return y;
  if (order == 2)
    return b.multiply(y, y);
  if (order == 3)
    return b.multiply(b.multiply(y, y), y);
  if (order == 4) {
    Value square = b.multiply(y, y);
    return b.multiply(square, square);
  }
  return realPower(y, b.constant(order));
}
