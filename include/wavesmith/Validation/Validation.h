//===- Validation.h - Every pass against the meaning ------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Compiles a function after the first k optional passes and all mandatory
/// ones, for k = 0, 1, ..., runs each code object on a device and compares the
/// results with the reference evaluators: docs/validate.md.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_VALIDATION_VALIDATION_H
#define WAVESMITH_VALIDATION_VALIDATION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "wavesmith/Device/RunKernel.h"
#include "wavesmith/Pipelines/Pipelines.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace wavesmith {
/// What to validate, and how.
struct ValidationOptions {
  /// The function to validate; empty where the module has only one.
  std::string function;
  /// The passes to add one by one, in this order.
  llvm::SmallVector<OptionalPass> passes;

  DeviceKind device = DeviceKind::Auto;
  /// Threads of the host, for the simulator; at least 1.
  unsigned threads = 1;
  /// Model the time on the simulator.
  bool modelTime = true;

  /// Arrays for arguments, by name.
  llvm::StringMap<HostArray> inputs;
  /// Numbers for arguments, by name: the value of a scalar, or of every element
  /// of an array.
  std::map<std::string, double> values;
  /// The number of zones of seeded inputs; 16 if neither this nor an array
  /// gives it.
  std::optional<int64_t> zones;
  /// Of the inputs that are not given: docs/validate.md has the rule.
  uint64_t seed = 1;

  /// A bound of the relative error for what changes annotations, in place of
  /// that of docs/validate.md.
  std::optional<double> maxError;
  /// The steps of an integration, spread over all of it, from which it is
  /// started again for one step.
  unsigned restarts = 16;
};

/// One result of the device against one of an evaluator.
struct ResultComparison {
  std::string name;
  uint64_t size = 0;
  /// Elements whose bits differ; any NaN equals any NaN.
  uint64_t differing = 0;
  /// The largest |got - wanted| / scale, infinite where one of the two is NaN.
  /// The scale is the sum of the absolute values of the terms for a result
  /// that is a sum of them, else |wanted|.
  double maxRelativeError = 0;
  /// The largest number of representable numbers between the two.
  uint64_t maxUlps = 0;
  /// The largest |got - wanted| over the element's own bound; negative where
  /// there is no such bound.
  double maxOverBound = -1;
};

/// Single steps of an integration, from states all over it.
struct StepComparison {
  uint64_t steps = 0;
  /// The largest difference of a state after a step, over |Y0| + dt (P + L).
  double maxError = 0;
  /// Steps whose size, or the size to go on with, differs by more than the
  /// bound: a branch of the step control went the other way.
  uint64_t changedSteps = 0;
};
/// The stage after a pass.
struct ValidationRow {
  /// The last pass of the stage; empty for the mandatory passes alone.
  std::string pass;
  bool announcesChange = false;
  /// What the pass changed: numerical annotations, and the rest (where tables
  /// stand and of which type).
  std::vector<std::string> annotationChanges, otherChanges;
  /// Against the unannotated meaning.
  std::vector<ResultComparison> results;
  /// "exact", "rounding errors", "terms", "one step", "given" or "none".
  std::string bound;
  /// What the bound is applied to, over the bound: at most 1 is within.
  double overBound = 0;
  /// Elements that differ from the evaluator of the annotated code; empty where
  /// there is none.
  std::optional<uint64_t> differFromEvaluator;
  /// Elements that differ from the stage before.
  std::optional<uint64_t> differFromBefore;
  /// Elements to which the evaluator gives other bits than before the pass.
  std::optional<uint64_t> meaningChanges;
  /// Of an integration: zones whose number of steps or status differ from the
  /// unannotated meaning's, and single steps.
  std::optional<uint64_t> zonesWithOtherSteps;
  std::optional<StepComparison> steps;
  /// Absent where the stage did not compile or run.
  std::optional<LaunchReport> launch;
  /// Why the row fails; empty where it passes.
  std::vector<std::string> failures;

  bool passed() const { return failures.empty(); }
  double maxRelativeError() const; ///< Of all results.
  uint64_t maxUlps() const;        ///< Of all results.
};
/// All stages of a function.
struct ValidationReport {
  std::string function, target;
  /// What the results are compared with: "problem level" or "workgroup level".
  std::string meaning;
  DeviceInfo device;
  int64_t zones = 0;
  uint64_t seed = 0;
  /// Name of an argument and where its numbers come from.
  std::vector<std::pair<std::string, std::string>> inputs;
  std::vector<ValidationRow> rows;

  bool passed() const; ///< Every row has.
  llvm::json::Value toJSON() const;
  void print(llvm::raw_ostream &os) const; ///< The table of docs/validate.md.
};

/// Validates a function of a verified module, at the problem level or the
/// workgroup level. What cannot be validated at all is an error: an unknown
/// function or target, inputs that do not fit or are missing, a module that
/// does not compile without optional passes. What goes wrong after an optional
/// pass makes a row that fails. \p gaveUp as in compile().
llvm::Expected<ValidationReport> validate(mlir::ModuleOp module,
                                          const CompileOptions &compile,
                                          const ValidationOptions &options,
                                          bool *gaveUp = nullptr);

/// The function with what it writes, and beside each array of numbers that it
/// writes another one, marked `wavesmith.output` and named "<name>.error": a
/// bound of the rounding errors in each number, to first order, computed on the
/// way (running error analysis). The function must have a `wavesmith.workgroup`
/// with `threads_per_zone`; it is left alone, the new one stands in a module of
/// its own. An operation without a rule is an error that names it.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
buildRunningErrors(mlir::func::FuncOp function);

} // namespace wavesmith

#endif // WAVESMITH_VALIDATION_VALIDATION_H
