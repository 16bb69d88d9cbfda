//===- Pipelines.h - From the problem to a code object ----------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tools, the C API and the Python binding all call.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_PIPELINES_PIPELINES_H
#define WAVESMITH_PIPELINES_PIPELINES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace llvm {
class MemoryBuffer;
class raw_ostream;
} // namespace llvm

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace wavesmith {

/// What a caller may choose.
struct CompileOptions : mlir::PassPipelineOptions<CompileOptions> {
  Option<std::string> architecture{
      *this, "target", llvm::cl::desc("The architecture: gfx90a or gfx942"),
      llvm::cl::init("gfx942")};
  Option<std::string> chip{
      *this, "chip",
      llvm::cl::desc("The chip, by default the architecture's first"),
      llvm::cl::init("")};
  Option<std::string> form{
      *this, "form",
      llvm::cl::desc("The code's form: auto, straight_line or table"),
      llvm::cl::init("auto")};
  Option<int64_t> workgroupSize{
      *this, "workgroup-size",
      llvm::cl::desc("Threads of a workgroup; 0 chooses"),
      llvm::cl::init(0)};
  Option<int64_t> threadsPerZone{
      *this, "threads-per-zone",
      llvm::cl::desc(
          "Threads that integrate one zone; 0 takes the whole workgroup"),
      llvm::cl::init(0)};
  Option<int64_t> straightLineLimit{
      *this, "straight-line-limit",
      llvm::cl::desc(
          "The most calls of exp, log and the like in unrolled code"),
      llvm::cl::init(SelectSchedulePassOptions().straightLineLimit)};
  Option<std::string> passes{
      *this, "passes",
      llvm::cl::desc("The optional passes to run: all, none, or names between "
                     "commas; they run in their own order"),
      llvm::cl::init("all")};
  Option<int> codeObjectVersion{
      *this, "code-object-version",
      llvm::cl::desc("The code object's version: 4 or 5"), llvm::cl::init(5)};
  Option<int> optimizationLevel{
      *this, "O", llvm::cl::desc("The back end's optimisation level: 0 to 3"),
      llvm::cl::init(3)};
};

/// Registers the dialects, and the interfaces and translations that the
/// pipeline needs.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers Wavesmith's passes and the pipeline `wavesmith-compile`.
void registerPasses();

/// A pass that the pipeline can do without: code is correct with any of them
/// left out.
struct OptionalPass {
  enum class Level {
    /// Between the conversion from the problem level and the distribution to
    /// threads.
    Workgroup,
    /// After the distribution to threads.
    Kernel,
  };
  /// The argument of wavesmith-opt that runs it alone.
  std::string name;
  std::function<std::unique_ptr<mlir::Pass>(const CompileOptions &)> create;
  /// Whether it announces a change of numerical annotations (the lanes of a
  /// sum, an element type). One that does not must not change a bit; one that
  /// does, at the workgroup level only, gives the bits of the code that it
  /// leaves there. wavesmith-validate holds passes to that: docs/validate.md.
  bool changesAnnotations = false;
  Level level = Level::Workgroup;
};

/// All optional passes in the order in which they run: those of the workgroup
/// level, then those of the kernel level. The only list of them.
llvm::ArrayRef<OptionalPass> getOptionalPasses();

/// Those of \p passes that \p names (CompileOptions::passes) asks for, in the
/// order of \p passes. A name that none has, or that is given twice, is an
/// error that lists them.
llvm::Expected<llvm::SmallVector<OptionalPass>>
selectOptionalPasses(llvm::StringRef names,
                     llvm::ArrayRef<OptionalPass> passes);

/// Points of the pipeline at which a caller may look at the module.
enum class PipelineStage {
  /// The problem level, every kernel with its schedule.
  Scheduled,
  /// The workgroup level, after the optional passes.
  Workgroup,
  /// The kernel level: gpu.func, arguments still with their types.
  Kernel,
};
using PipelineObserver =
    std::function<llvm::LogicalResult(mlir::ModuleOp, PipelineStage)>;

/// What a caller may hang into the pipeline.
struct PipelineHooks {
  PipelineObserver observer;
  /// The optional passes to run, in place of those that the options name.
  std::optional<llvm::SmallVector<OptionalPass>> optionalPasses;
};

/// Adds the passes from the problem level to the rocdl dialect, for a module.
/// Options that cannot be followed are an error when the pipeline runs.
void buildPipeline(mlir::OpPassManager &manager, const CompileOptions &options,
                   const PipelineHooks &hooks = {});

/// The stages to return beside the code object.
struct CompileStages {
  bool rocdl = false;
  bool llvmIR = false;
  bool isa = false;
};

struct CompileResult {
  /// The ELF file that a device loads.
  llvm::SmallVector<char, 0> codeObject;
  /// What a caller must know to launch it: docs/devices.md.
  llvm::json::Value description = nullptr;
  /// Stages that were asked for, as text.
  std::string rocdl, llvmIR, isa;
};

/// Compiles a module at the problem level, or at any level below, to a code
/// object. Errors go to the context's diagnostic handler. A fatal error inside
/// of LLVM is caught and reported as an error too; \p gaveUp, if not null, says
/// whether there was one, and then neither the module nor its context may be
/// used or destroyed any more. Compilations of one process run one after the
/// other.
llvm::FailureOr<CompileResult> compile(mlir::ModuleOp module,
                                       const CompileOptions &options,
                                       const CompileStages &stages = {},
                                       bool *gaveUp = nullptr,
                                       const PipelineHooks &hooks = {});

/// Parses a module in a context of its own and compiles it. Diagnostics are
/// printed as "name:line:column: error: ..." with the name of the buffer. A
/// fatal error or a crash, of the parser too, is printed as an error; what was
/// built by then is leaked.
llvm::FailureOr<CompileResult>
compileText(std::unique_ptr<llvm::MemoryBuffer> text,
            const CompileOptions &options, const CompileStages &stages,
            llvm::raw_ostream &diagnostics);

} // namespace wavesmith

#endif // WAVESMITH_PIPELINES_PIPELINES_H
