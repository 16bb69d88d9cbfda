//===- FunctionEvaluator.h - Evaluates a function on batches ----*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs the reference evaluator for a function that the compiler takes: one
/// `wavesmith.ode_rhs`, `ode_production_loss` or `ode_term_values` of the
/// function's arguments, whose results are returned.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_REFERENCE_FUNCTIONEVALUATOR_H
#define WAVESMITH_REFERENCE_FUNCTIONEVALUATOR_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "wavesmith/Reference/OdeEvaluator.h"
#include <string>

namespace wavesmith {

class FunctionEvaluator {
public:
  enum class ArgumentKind { Time, States, Parameters, Unused };
  struct Argument {
    /// `wavesmith.name`, else arg0, arg1, ...
    std::string name;
    ArgumentKind kind;
    /// The values that each zone has; 0 for the time.
    unsigned rows;
  };

  enum class Quantity { Derivatives, Production, Loss, Coefficients, Values };
  struct Result {
    /// `wavesmith.name`, else result0, result1, ...
    std::string name;
    Quantity quantity;
    unsigned rows;
    /// Whether it is a sum of terms and so has a magnitude.
    bool isSum() const {
      return quantity != Quantity::Coefficients && quantity != Quantity::Values;
    }
  };

  /// A result's numbers and, for a sum, their magnitudes, in the layout of the
  /// function.
  struct ResultArrays {
    std::vector<double> numbers, magnitudes;
  };

  /// Reads a function of a verified module. One of another form, and an
  /// operation in its system that has no formula, are errors at their location.
  static mlir::FailureOr<FunctionEvaluator> create(mlir::func::FuncOp function);

  llvm::ArrayRef<Argument> getArguments() const { return arguments; }
  llvm::ArrayRef<Result> getResults() const { return results; }
  ZoneLayout getLayout() const { return layout; }
  unsigned getNumTerms() const { return evaluator.getNumTerms(); }

  /// The shape of an array of so many rows in the layout of the function.
  llvm::SmallVector<int64_t, 4> getShape(unsigned rows, size_t numZones) const;

  /// Evaluates in every zone. Arrays are in the layout of the function; those
  /// of another size are an error. Returns an entry for each of getResults().
  llvm::Expected<std::vector<ResultArrays>>
  evaluate(double time, llvm::ArrayRef<double> states,
           llvm::ArrayRef<double> parameters, size_t numZones,
           const OdeEvaluator::Options &options) const;

  /// Computes the sums from given values of the terms: getNumTerms() rows. The
  /// results must all be sums, or be the values themselves.
  llvm::Expected<std::vector<ResultArrays>>
  evaluateSums(llvm::ArrayRef<double> values, size_t numZones,
               const OdeEvaluator::Options &options) const;

private:
  FunctionEvaluator(OdeEvaluator evaluator, ZoneLayout layout)
      : evaluator(std::move(evaluator)), layout(layout) {}

  std::vector<ResultArrays> collect(OdeEvaluator::Results &all,
                                    size_t numZones) const;

  OdeEvaluator evaluator;
  ZoneLayout layout;
  std::vector<Argument> arguments;
  std::vector<Result> results;
};

} // namespace wavesmith

#endif // WAVESMITH_REFERENCE_FUNCTIONEVALUATOR_H
