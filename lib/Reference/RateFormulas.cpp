//===- RateFormulas.cpp - The formulas of the rate coefficients -----------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas of WavesmithRateOps.td, written down once more and evaluated in
// either precision. Names are those of the descriptions.
//
//===----------------------------------------------------------------------===//

#include "OdeProgram.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wavesmith;

namespace {

constexpr double ln10 = 2.302585092994046;
constexpr double gasConstant = 8314.46261815324;
/// Where Cantera keeps logarithms and divisions from zero.
constexpr double tiny = 1e-300;

/// A T^b exp(-E/T).
template <typename Real> struct Arrhenius {
  Arrhenius(double A, double b, double E)
      : A(A), b(b), minusE(-Real(E)), hasB(b != 0), hasE(E != 0) {}

  Real operator()(const Real &T) const {
    if (!hasB && !hasE)
      return A;
    return A * Fn::exp(getExponent(T));
  }

private:
  Real getExponent(const Real &T) const {
    if (!hasB)
      return minusE * (Real(1.0) / T);
    if (!hasE)
      return b * Fn::log(T);
    return Fn::fma(b, Fn::log(T), minusE * (Real(1.0) / T));
  }

  Real A, b, minusE;
  bool hasB, hasE;
};

/// log10 of a number that is kept from zero.
template <typename Real> Real safeLog10(const Real &x) {
  return Fn::log10(x < Real(tiny) ? Real(tiny) : x);
}

/// The blending function of Troe and Tsang.
template <typename Real> Real blend(const Real &f, const Real &pr) {
  Real lf = safeLog10(f);
  Real a = safeLog10(pr) + Fn::fma(Real(-0.67), lf, Real(-0.4));
  Real u = a / Fn::fma(Real(-0.14), a, Fn::fma(Real(-1.27), lf, Real(0.75)));
  return Fn::exp((lf / Fn::fma(u, u, Real(1.0))) * Real(ln10));
}

/// One of NASA's polynomials for one range of temperatures.
template <typename Real> struct Nasa7 {
  Nasa7(ThermoQuantity quantity, ArrayRef<double> numbers)
      : quantity(quantity) {
    std::vector<Real> a(numbers.begin(), numbers.end());
    switch (quantity) {
    case ThermoQuantity::HeatCapacity:
      c = {a[4], a[3], a[2], a[1], a[0]};
      break;
    case ThermoQuantity::Enthalpy:
      c = {a[4] / Real(5.0), a[3] / Real(4.0), a[2] / Real(3.0),
           a[1] / Real(2.0)};
      break;
    case ThermoQuantity::Gibbs:
      c = {-a[4] / Real(20.0), -a[3] / Real(12.0), -a[2] / Real(6.0),
           -a[1] / Real(2.0)};
      break;
    }
    a0 = a[0];
    a5 = a[5];
    minusA6 = -a[6];
  }

  Real operator()(const Real &T) const {
    Real last;
    switch (quantity) {
    case ThermoQuantity::HeatCapacity:
      last = c[4];
      break;
    case ThermoQuantity::Enthalpy:
      last = Fn::fma(a5, Real(1.0) / T, a0);
      break;
    case ThermoQuantity::Gibbs:
      last = Fn::fma(a0, Real(1.0) - Fn::log(T),
                     Fn::fma(a5, Real(1.0) / T, minusA6));
      break;
    }
    return Fn::fma(Fn::fma(Fn::fma(Fn::fma(c[0], T, c[1]), T, c[2]), T, c[3]),
                   T, last);
  }

private:
  ThermoQuantity quantity;
  std::vector<Real> c;
  Real a0, a5, minusA6;
};

/// The logarithm of the rate at one pressure of a P-log table.
template <typename Real> struct PlogPressure {
  explicit PlogPressure(double pressure) : logP(Fn::log(Real(pressure))) {}

  void addRow(double A, double b, double E) {
    rates.emplace_back(A, b, E);
    logA = Fn::log(Real(A));
    this->b = Real(b);
    minusE = -Real(E);
  }

  Real operator()(const Real &T) const {
    if (rates.size() == 1)
      return Fn::fma(minusE, Real(1.0) / T, Fn::fma(b, Fn::log(T), logA));
    Real s(tiny);
    for (const Arrhenius<Real> &rate : rates)
      s = s + rate(T);
    return Fn::log(s);
  }

  Real logP;

private:
  std::vector<Arrhenius<Real>> rates;
  // For a row that stands alone.
  Real logA, b, minusE;
};

} // namespace

std::optional<LogicalResult> ProgramBuilder::addRate(Operation *op) {
  auto number = [](const llvm::APFloat &value) {
    return value.convertToDouble();
  };
  // Operands: frames are indexed by slots.
  return llvm::TypeSwitch<Operation *, std::optional<LogicalResult>>(op)
      .Case([&](WeightedSumOp op) {
        auto list = getWeightedStates(system, op.getStates(), op.getWeights());
        emit(op.getResult(), [=](auto real) {
          return [=](const auto &frame) {
            auto sum = real(0.0);
            for (const WeightedState &entry : list)
              sum = Fn::fma(real(entry.weight), frame.states[entry.state], sum);
            return sum;
          };
        });
        return success();
      })
      .Case([&](ThirdBodyOp op) {
        auto list =
            getWeightedStates(system, op.getStates(), op.getEfficiencies());
        double standard = number(op.getDefaultEfficiency());
        unsigned total = slotOf(op.getTotal());
        emit(op.getResult(), [=](auto real) {
          return [=](const auto &frame) {
            auto sum = real(standard) * frame[total];
            for (const WeightedState &entry : list)
              sum = Fn::fma(real(entry.weight) - real(standard),
                            frame.states[entry.state], sum);
            return sum;
          };
        });
        return success();
      })
      .Case([&](ArrheniusOp op) {
        unsigned T = slotOf(op.getTemperature());
        double A = number(op.getA()), b = number(op.getB()),
               E = number(op.getE());
        emit(op.getResult(), [=](auto real) {
          using Real = typename decltype(real)::Number;
          Arrhenius<Real> rate(A, b, E);
          return [=](const auto &frame) { return rate(frame[T]); };
        });
        return success();
      })
      .Case([&](Nasa7Op op) {
        unsigned T = slotOf(op.getTemperature());
        double middle = number(op.getTMid());
        ThermoQuantity quantity = op.getQuantity();
        ArrayRef<double> lowNumbers = op.getLow(), highNumbers = op.getHigh();
        emit(op.getResult(), [=](auto real) {
          using Real = typename decltype(real)::Number;
          Nasa7<Real> low(quantity, lowNumbers), high(quantity, highNumbers);
          return [=](const auto &frame) {
            return frame[T] <= real(middle) ? low(frame[T]) : high(frame[T]);
          };
        });
        return success();
      })
      .Case([&](ReverseRateOp op) {
        unsigned forward = slotOf(op.getForward());
        unsigned T = slotOf(op.getTemperature());
        std::vector<std::pair<double, unsigned>> species;
        for (auto [coefficient, gibbs] :
             llvm::zip_equal(op.getCoefficients(), op.getGibbs()))
          species.emplace_back(coefficient, slotOf(gibbs));
        double p = number(op.getReferencePressure());
        emit(op.getResult(), [=](auto real) {
          auto dn = real(0.0);
          for (const auto &[coefficient, gibbs] : species)
            dn = dn + real(coefficient);
          auto pOverR = real(p) / real(gasConstant);
          return [=](const auto &frame) {
            auto x = real(0.0);
            for (const auto &[coefficient, gibbs] : species)
              x = Fn::fma(real(coefficient), frame[gibbs], x);
            if (dn != real(0.0))
              x = Fn::fma(-dn, Fn::log(pOverR * (real(1.0) / frame[T])), x);
            auto inverse = Fn::exp(x);
            return frame[forward] *
                   (inverse > real(1e300) ? real(1e300) : inverse);
          };
        });
        return success();
      })
      .Case([&](ReaclibOp op) {
        unsigned T = slotOf(op.getTemperature());
        std::vector<double> sets(op.getSets().begin(), op.getSets().end());
        emit(op.getResult(), [=](auto real) {
          return [=](const auto &frame) {
            auto T9 = frame[T] / real(1e9);
            auto c = Fn::cbrt(T9);
            auto logT9 = Fn::log(T9);
            auto sum = real(0.0);
            for (size_t i = 0; i < sets.size(); i += 7) {
              auto a = [&](unsigned j) { return real(sets[i + j]); };
              auto x = Fn::fma(a(1), real(1.0) / T9, a(0));
              x = Fn::fma(a(2), real(1.0) / c, x);
              x = Fn::fma(a(3), c, x);
              x = Fn::fma(a(4), T9, x);
              x = Fn::fma(a(5), T9 * (c * c), x);
              x = Fn::fma(a(6), logT9, x);
              sum = sum + Fn::exp(x);
            }
            return sum;
          };
        });
        return success();
      })
      .Case([&](ReducedPressureOp op) {
        unsigned low = slotOf(op.getLow()), high = slotOf(op.getHigh()),
                 M = slotOf(op.getThirdBody());
        emit(op.getResult(), [=](auto real) {
          return [=](const auto &frame) {
            return (frame[M] * frame[low]) / (frame[high] + real(tiny));
          };
        });
        return success();
      })
      .Case([&](TroeOp op) {
        unsigned T = slotOf(op.getTemperature()),
                 pr = slotOf(op.getReducedPressure());
        double A = number(op.getA()), T3 = number(op.getT3()),
               T1 = number(op.getT1());
        std::optional<double> T2;
        if (op.getT2())
          T2 = number(*op.getT2());
        emit(op.getResult(), [=](auto real) {
          bool hasT3 = !(std::fabs(T3) < tiny);
          bool hasT1 = !(std::fabs(T1) < tiny);
          auto rate3 = hasT3 ? real(-1.0) / real(T3) : real(0.0);
          auto rate1 = hasT1 ? real(-1.0) / real(T1) : real(0.0);
          auto weight3 = real(1.0) - real(A);
          return [=](const auto &frame) {
            auto zero = real(0.0);
            auto f = weight3 * (hasT3 ? Fn::exp(frame[T] * rate3) : zero);
            f = Fn::fma(real(A), hasT1 ? Fn::exp(frame[T] * rate1) : zero, f);
            if (T2)
              f = f + Fn::exp(real(-*T2) * (real(1.0) / frame[T]));
            return blend(f, frame[pr]);
          };
        });
        return success();
      })
      .Case([&](SriOp op) {
        unsigned T = slotOf(op.getTemperature()),
                 pr = slotOf(op.getReducedPressure());
        double a = number(op.getA()), b = number(op.getB()),
               c = number(op.getC()), d = number(op.getD()),
               e = number(op.getE());
        emit(op.getResult(), [=](auto real) {
          auto rateC = c != 0 ? real(-1.0) / real(c) : real(0.0);
          return [=](const auto &frame) {
            auto w = real(a) * Fn::exp(real(-b) * (real(1.0) / frame[T]));
            if (c != 0)
              w = w + Fn::exp(frame[T] * rateC);
            auto l = safeLog10(frame[pr]);
            auto F =
                Fn::exp((real(1.0) / Fn::fma(l, l, real(1.0))) * Fn::log(w));
            if (d != 1)
              F = F * real(d);
            if (e != 0)
              F = F * Fn::exp(real(e) * Fn::log(frame[T]));
            return F;
          };
        });
        return success();
      })
      .Case([&](TsangOp op) {
        unsigned T = slotOf(op.getTemperature()),
                 pr = slotOf(op.getReducedPressure());
        double A = number(op.getA()), B = number(op.getB());
        emit(op.getResult(), [=](auto real) {
          return [=](const auto &frame) {
            return blend(Fn::fma(real(B), frame[T], real(A)), frame[pr]);
          };
        });
        return success();
      })
      .Case([&](FalloffOp op) {
        unsigned high = slotOf(op.getHigh()),
                 pr = slotOf(op.getReducedPressure());
        std::optional<unsigned> F;
        if (op.getBlending())
          F = slotOf(op.getBlending());
        emit(op.getResult(), [=](auto real) {
          return [=](const auto &frame) {
            auto blending = F ? frame[*F] : real(1.0);
            return (frame[pr] * (blending / (frame[pr] + real(1.0)))) *
                   frame[high];
          };
        });
        return success();
      })
      .Case([&](ChemicallyActivatedOp op) {
        unsigned low = slotOf(op.getLow()),
                 pr = slotOf(op.getReducedPressure());
        std::optional<unsigned> F;
        if (op.getBlending())
          F = slotOf(op.getBlending());
        emit(op.getResult(), [=](auto real) {
          return [=](const auto &frame) {
            auto blending = F ? frame[*F] : real(1.0);
            return (blending / (frame[pr] + real(1.0))) * frame[low];
          };
        });
        return success();
      })
      .Case([&](PlogOp op) {
        unsigned T = slotOf(op.getTemperature()), p = slotOf(op.getPressure());
        ArrayRef<double> rates = op.getRates();
        emit(op.getResult(), [=](auto real) {
          using Real = typename decltype(real)::Number;
          std::vector<PlogPressure<Real>> table;
          for (size_t i = 0; i < rates.size(); i += 4) {
            if (i == 0 || rates[i] != rates[i - 4])
              table.emplace_back(rates[i]);
            table.back().addRow(rates[i + 1], rates[i + 2], rates[i + 3]);
          }
          std::vector<Real> inverseSteps;
          for (size_t j = 0; j + 1 < table.size(); ++j)
            inverseSteps.push_back(real(1.0) /
                                   (table[j + 1].logP - table[j].logP));
          return [=](const auto &frame) {
            auto lp = Fn::log(frame[p]);
            auto current = table[0](frame[T]);
            auto l = current;
            for (size_t j = 0; j + 1 < table.size(); ++j) {
              auto next = table[j + 1](frame[T]);
              if (lp >= table[j].logP)
                l = Fn::fma(next - current,
                            (lp - table[j].logP) * inverseSteps[j], current);
              current = next;
            }
            if (lp >= table.back().logP)
              l = current;
            return Fn::exp(l);
          };
        });
        return success();
      })
      .Case([&](ChebyshevOp op) {
        unsigned T = slotOf(op.getTemperature()), p = slotOf(op.getPressure());
        double Tmin = op.getTRange()[0], Tmax = op.getTRange()[1];
        double pmin = op.getPRange()[0], pmax = op.getPRange()[1];
        std::vector<double> a(op.getCoefficients().begin(),
                              op.getCoefficients().end());
        size_t columns = op.getColumns(), rows = a.size() / columns;
        emit(op.getResult(), [=](auto real) {
          using Real = typename decltype(real)::Number;
          Real one = real(1.0);
          Real tShift = -(one / real(Tmin)) - one / real(Tmax);
          Real tScale = one / (one / real(Tmax) - one / real(Tmin));
          Real low = Fn::log10(real(pmin)), high = Fn::log10(real(pmax));
          Real qShift = -low - high;
          Real qScale = one / (high - low);
          return [=](const auto &frame) {
            Real t = Fn::fma(real(2.0), one / frame[T], tShift) * tScale;
            Real q = Fn::fma(real(2.0), Fn::log10(frame[p]), qShift) * qScale;
            // C_0(x), C_1(x), ...
            auto polynomials = [&](const Real &x, size_t count) {
              std::vector<Real> C = {one, x};
              while (C.size() < count)
                C.push_back(Fn::fma(x + x, C[C.size() - 1], -C[C.size() - 2]));
              return C;
            };
            std::vector<Real> Ct = polynomials(t, rows);
            std::vector<Real> Cq = polynomials(q, columns);
            Real l;
            for (size_t i = 0; i < rows; ++i) {
              Real d = real(a[i * columns]);
              for (size_t j = 1; j < columns; ++j)
                d = Fn::fma(Cq[j], real(a[i * columns + j]), d);
              l = i == 0 ? d : Fn::fma(Ct[i], d, l);
            }
            return Fn::exp(l * real(ln10));
          };
        });
        return success();
      })
      .Default([](Operation *) { return std::nullopt; });
}
