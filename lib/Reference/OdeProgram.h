//===- OdeProgram.h - A system as a list of steps ---------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_REFERENCE_ODEPROGRAM_H
#define WAVESMITH_LIB_REFERENCE_ODEPROGRAM_H

#include "Numbers.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <functional>

namespace wavesmith {

/// The numbers of one zone while it is computed.
template <typename Real> struct Frame {
  Real time;
  std::vector<Real> states, parameters;
  /// The results of the steps; a truth value is 1 or 0.
  std::vector<Real> slots;

  const Real &operator[](unsigned slot) const { return slots[slot]; }
};

/// Makes numbers of one precision from f64.
template <typename Real> struct Precision {
  using Number = Real;
  Real operator()(double value) const { return Real(value); }
};

/// One operation; step number s computes slot s.
struct Step {
  std::function<double(const Frame<double> &)> f64;
  std::function<BigFloat(const Frame<BigFloat> &)> high;
  /// Whether it changes with the states or the time: it reads them, or the
  /// result of a step that does. The others are computed once a zone.
  bool varies = true;
};

/// A term.
struct TermData {
  unsigned coefficientSlot, valueSlot;
  /// States and their orders, in ascending order of the states.
  std::vector<WeightedState> factors;
};

/// The value of a term with coefficient `k`.
template <typename Real>
Real getTermValue(Real k, llvm::ArrayRef<WeightedState> factors,
                  llvm::ArrayRef<Real> states) {
  Real v = k;
  for (const WeightedState &factor : factors) {
    const Real &y = states[factor.state];
    double o = factor.weight;
    if (o == 1)
      v = v * y;
    else if (o == 2)
      v = v * (y * y);
    else if (o == 3)
      v = v * ((y * y) * y);
    else if (o == 4)
      v = v * ((y * y) * (y * y));
    else
      v = v * (y > Real(0.0) ? Fn::exp(Real(o) * Fn::log(y)) : Real(0.0));
  }
  return v;
}

/// One summand of a state's sums: the term's number and its weight.
struct Summand {
  unsigned term;
  double gain, loss;
};

struct OdeProgram {
  unsigned numStates = 0, numParameters = 0;
  std::vector<Step> steps;
  std::vector<TermData> terms;
  /// For each state, in ascending order of the terms.
  std::vector<std::vector<Summand>> sums;
};

/// Fills a program from the operations of a system.
class ProgramBuilder {
public:
  ProgramBuilder(OdeSystemOp system, OdeProgram &program)
      : system(system), program(program) {}

  /// Adds the step of an operation; unknown ones are an error.
  llvm::LogicalResult add(mlir::Operation *op);

private:
  llvm::LogicalResult addOperation(mlir::Operation *op);
  /// Each returns std::nullopt if the operation is of another kind.
  std::optional<llvm::LogicalResult> addExpression(mlir::Operation *op);
  std::optional<llvm::LogicalResult> addRate(mlir::Operation *op);
  void addTerm(TermOp op);

  /// `make` is called once for each precision, computes the constants that the
  /// formula derives from attributes and returns the formula as a function of
  /// a frame.
  template <typename Make> void emit(mlir::Value result, Make make) {
    slots[result] = program.steps.size();
    program.steps.push_back(
        {make(Precision<double>()), make(Precision<BigFloat>())});
  }

  unsigned slotOf(mlir::Value value) const { return slots.at(value); }

  OdeSystemOp system;
  OdeProgram &program;
  llvm::DenseMap<mlir::Value, unsigned> slots;
};

/// "expected N WHAT in Z zones" unless `got` numbers are that many.
llvm::Error checkSize(llvm::StringRef what, size_t got, size_t rows,
                      size_t numZones);

/// Calls `function(begin, end)` for parts of the zones on `numThreads` threads
/// (OdeEvaluator::Options), with the floating-point environment that the
/// formulas expect.
void forEachPart(size_t numZones, unsigned numThreads,
                 llvm::function_ref<void(size_t, size_t)> function);

} // namespace wavesmith

#endif // WAVESMITH_LIB_REFERENCE_ODEPROGRAM_H
