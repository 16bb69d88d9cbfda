//===- FunctionEvaluator.h - Evaluates a function on batches ----*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs the reference evaluator for a function that the compiler takes: one
/// `wavesmith.ode_rhs`, `ode_production_loss`, `ode_term_values` or
/// `ode_integrate` of the function's arguments, whose results are returned.
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
  /// The last three belong to an integration, where the time is that of each
  /// zone.
  enum class ArgumentKind {
    Time,
    States,
    Parameters,
    Unused,
    ZoneTime,
    End,
    ZoneStep
  };
  struct Argument { ///< What the function takes.
    /// `wavesmith.name`, else arg0, arg1, ...
    std::string name;
    ArgumentKind kind;
    /// The values that each zone has; 0 for a scalar.
    unsigned rows;
    bool isScalar() const {
      return kind == ArgumentKind::Time || kind == ArgumentKind::End;
    }
    /// Whether it has one number a zone and one dimension.
    bool isVector() const {
      return kind == ArgumentKind::ZoneTime || kind == ArgumentKind::ZoneStep;
    }
  };
  /// What a result holds.
  enum class Quantity {
    Derivatives,
    Production,
    Loss,
    Coefficients,
    Values,
    FinalStates,
    FinalTime,
    FinalStep,
    NumSteps,
    Status
  };
  struct Result { ///< What the function returns.
    /// `wavesmith.name`, else result0, result1, ...
    std::string name;
    Quantity quantity;
    unsigned rows;
    /// Whether it is a sum of terms and so has a magnitude.
    bool isSum() const {
      return quantity == Quantity::Derivatives ||
             quantity == Quantity::Production || quantity == Quantity::Loss;
    }
    /// Whether its numbers are i32.
    bool isInteger() const {
      return quantity == Quantity::NumSteps || quantity == Quantity::Status;
    }
    /// Whether it has one number a zone and one dimension.
    bool isVector() const {
      return quantity == Quantity::FinalTime ||
             quantity == Quantity::FinalStep || isInteger();
    }
  };

  /// A result's numbers, which for an integer are in `integers`, and, for a
  /// sum, their magnitudes; in the layout of the function.
  struct ResultArrays {
    std::vector<double> numbers, magnitudes;
    std::vector<int32_t> integers;
  };

  /// Reads a function of a verified module. One of another form, and an
  /// operation in its system that has no formula, are errors at their location.
  static mlir::FailureOr<FunctionEvaluator> create(mlir::func::FuncOp function);
  /// What was read: arguments and results in order, the arrays' layout.
  llvm::ArrayRef<Argument> getArguments() const { return arguments; }
  llvm::ArrayRef<Result> getResults() const { return results; }
  ZoneLayout getLayout() const { return layout; }
  unsigned getNumTerms() const { return evaluator.getNumTerms(); }

  /// The shape of an array of so many rows in the layout of the function.
  llvm::SmallVector<int64_t, 4> getShape(unsigned rows, size_t numZones) const;

  /// What the function's `wavesmith.ode_integrate` asks for, without the end,
  /// which is an argument; empty if the function computes a quantity.
  const std::optional<OdeEvaluator::Integration> &getIntegration() const {
    return integration;
  }

  /// Integrates every zone; `integration` is getIntegration() with the end and
  /// whatever the caller wants to be recorded. Arrays are in the layout of the
  /// function; those of another size are an error. Returns an entry for each of
  /// getResults(). `all` receives the same in the evaluator's layout.
  llvm::Expected<std::vector<ResultArrays>>
  integrate(const OdeEvaluator::Integration &integration,
            llvm::ArrayRef<double> time, llvm::ArrayRef<double> step,
            llvm::ArrayRef<double> states, llvm::ArrayRef<double> parameters,
            size_t numZones, OdeEvaluator::IntegrationResults &all) const;

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
  std::optional<OdeEvaluator::Integration> integration;
  std::vector<Argument> arguments;
  std::vector<Result> results;
};

/// The function of a name, or the only one of a module if the name is empty; an
/// error lists what there is.
llvm::Expected<mlir::func::FuncOp> findFunction(mlir::ModuleOp module,
                                                llvm::StringRef name);

} // namespace wavesmith

#endif // WAVESMITH_REFERENCE_FUNCTIONEVALUATOR_H
