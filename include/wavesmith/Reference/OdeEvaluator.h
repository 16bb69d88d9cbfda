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
#include <vector>

namespace wavesmith {

struct OdeProgram;

class OdeEvaluator {
public:
  struct Options {
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

  unsigned getNumStates() const;
  unsigned getNumParameters() const;
  unsigned getNumTerms() const;

private:
  explicit OdeEvaluator(std::shared_ptr<const OdeProgram> program)
      : program(std::move(program)) {}

  std::shared_ptr<const OdeProgram> program;
};

} // namespace wavesmith

#endif // WAVESMITH_REFERENCE_ODEEVALUATOR_H
