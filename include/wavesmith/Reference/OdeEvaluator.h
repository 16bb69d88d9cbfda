//===- OdeEvaluator.h - The meaning of a system, in numbers -----*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Evaluates a `wavesmith.ode_system` on the host, straight from the formulas
/// in the descriptions of its operations (Wavesmith*Ops.td). It shares no code
/// with the compiler's lowering, which must agree with it bit for bit.
///
/// In f64 every operation is one IEEE rounding in the order that the
/// descriptions pin, and exp, log and the like are those of the device
/// (wavesmith/Math/DeviceMath.h). With high precision the same formulas run in
/// MPFR and are rounded to f64 at the end only: the truth against which the
/// errors of both the compiled kernel and the f64 evaluation are measured.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_REFERENCE_ODEEVALUATOR_H
#define WAVESMITH_REFERENCE_ODEEVALUATOR_H

#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>
#include <vector>

namespace wavesmith {

struct OdeProgram;

class OdeEvaluator {
public:
  struct Options { ///< What a caller may choose.
    /// Compute in MPFR with `highPrecisionBits` bits instead of f64. Numbers in
    /// attributes and in formulas are their f64 values; constants derived from
    /// them, which a kernel holds in f64, are computed in high precision too.
    bool highPrecision = false;
    /// The number of host threads that share the zones; results do not depend
    /// on it. 0, and more than there are, is one for each core.
    unsigned numThreads = 1;
  };
  static constexpr unsigned highPrecisionBits = 320;

  /// N states, R terms and Z zones: arrays of N x Z or R x Z numbers, the zones
  /// of one row side by side (`soa`).
  struct Results {
    /// dy_i/dt in the net form, as `wavesmith.ode_rhs`.
    std::vector<double> derivatives;
    /// P_i and L_i, as `wavesmith.ode_production_loss`.
    std::vector<double> production, loss;
    /// k_r and v_r, as `wavesmith.ode_term_values` (R x Z).
    std::vector<double> coefficients, values;
    /// sum_r |(nu+_ir - nu-_ir) v_r|, sum_r nu+_ir |v_r|, sum_r nu-_ir |v_r|:
    /// an error of a sum is measured against its magnitude, because terms
    /// cancel.
    std::vector<double> magnitude, productionMagnitude, lossMagnitude;
  };

  /// Reads a verified system. An operation that the evaluator does not know is
  /// an error at its location.
  static mlir::FailureOr<OdeEvaluator> create(OdeSystemOp system);

  /// Evaluates everything in every zone.
  /// \param time in the system's unit of time
  /// \param states N x Z (`soa`), in the units of the system
  /// \param parameters P x Z (`soa`), in the units of the system
  /// \param numZones Z, may be 0
  /// Arrays of another size are an error.
  llvm::Error evaluate(double time, llvm::ArrayRef<double> states,
                       llvm::ArrayRef<double> parameters, size_t numZones,
                       const Options &options, Results &results) const;

  /// Evaluates the sums alone, from values of the terms that are given (R x Z):
  /// with those of a kernel, its sums are checked apart from its rates. Leaves
  /// `coefficients` empty.
  llvm::Error evaluateSums(llvm::ArrayRef<double> values, size_t numZones,
                           const Options &options, Results &results) const;

  /// What a `wavesmith.ode_integrate` asks for, by the names of its
  /// description.
  struct Integration {
    /// The end, in the system's unit of time.
    double end = 0;
    /// The numbers of the asymptotic method.
    double fluxFraction = 0, timeFraction = 0, tolerance = 0;
    /// Those of Tsit5, with one tolerance a state; the method is asymptotic if
    /// there is none.
    struct Tsit5 {
      std::vector<double> absoluteTolerance, relativeTolerance;
      double safety, smallestFactor, largestFactor, smallestStep, largestStep;
    };
    std::optional<Tsit5> tsit5;
    /// The conserved states with their weights, in ascending order.
    std::vector<WeightedState> conserved;
    std::optional<double> total;
    int64_t maxSteps = 0;
    /// As in Options.
    unsigned numThreads = 1;
    /// The numbers of the steps before which a zone is recorded (0 is the
    /// start); in any order.
    std::vector<int64_t> recordedSteps;

    /// Reads a verified operation; the end is an operand and stays 0.
    static Integration get(OdeIntegrateOp op);
  };

  /// How often an integration took which way, in steps that did not fail.
  struct BranchCounts {
    /// What became of the step size in the check of what is conserved.
    uint64_t reduced = 0, stretched = 0, unchanged = 0;
    /// How the states were updated, one count a state and step.
    uint64_t asymptotic = 0, euler = 0;
    /// Tsit5: what became of the steps. The other counts stay 0.
    uint64_t accepted = 0, rejected = 0;
  };

  /// A zone before one of its steps. An integration that starts there, with
  /// `total` given, goes on with the same bits.
  struct Record {
    size_t zone;
    /// The steps that it has taken.
    int64_t numSteps;
    /// Time and step size.
    double time, step;
    std::vector<double> states;
  };

  /// Z zones: arrays of Z numbers, and N x Z (`soa`) for the states.
  struct IntegrationResults {
    std::vector<double> states, time, step;
    /// The steps taken; one that failed is not among them.
    std::vector<int32_t> numSteps, status;
    std::vector<BranchCounts> branches;
    /// In ascending order of the zones and of a zone's steps. The state that a
    /// zone ends in is not among them.
    std::vector<Record> records;
  };

  /// Integrates every zone as `wavesmith.ode_integrate` says, in f64.
  /// \param time Z, in the system's unit of time, as is `step`
  /// \param states N x Z (`soa`), in the units of the system
  /// \param parameters P x Z (`soa`), in the units of the system
  /// Arrays of another size, tolerances of another number than the states' and
  /// a conserved state that does not exist are errors.
  llvm::Error integrate(const Integration &integration,
                        llvm::ArrayRef<double> time,
                        llvm::ArrayRef<double> step,
                        llvm::ArrayRef<double> states,
                        llvm::ArrayRef<double> parameters, size_t numZones,
                        IntegrationResults &results) const;

  unsigned getNumStates() const;     ///< N, the rows of states.
  unsigned getNumParameters() const; ///< P, the rows of parameters.
  unsigned getNumTerms() const;      ///< R, the rows of term values.

private:
  explicit OdeEvaluator(std::shared_ptr<const OdeProgram> program)
      : program(std::move(program)) {}

  std::shared_ptr<const OdeProgram> program;
};

} // namespace wavesmith

#endif // WAVESMITH_REFERENCE_ODEEVALUATOR_H
