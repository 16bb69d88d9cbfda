//===- Compile.cpp - From a module to a code object -----------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SerializeKernels.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVM/ROCDL/Utils.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "wavesmith/Support/FatalErrors.h"
#include "wavesmith/Support/PrintableText.h"
#include "wavesmith/Target/Target.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <mutex>

using namespace mlir;
using namespace wavesmith;
namespace json = llvm::json;

/// The arguments of a kernel for the description, in order; nullopt, with an
/// error, for one that a caller has no means to pass.
static std::optional<json::Array> describeArguments(gpu::GPUFuncOp kernel) {
  json::Array arguments;
  unsigned count = kernel.getFunctionType().getNumInputs();
  bool isGrid = kernel->hasAttr(kGridAttrName);
  for (BlockArgument argument :
       kernel.getBody().getArguments().take_front(count)) {
    unsigned i = argument.getArgNumber();
    auto known = kernel.getArgAttrOfType<StringAttr>(i, kNameAttrName);
    json::Object description;
    description["name"] = known ? known.str() : "arg" + std::to_string(i);
    Type type = argument.getType();
    auto batch = dyn_cast<MemRefType>(type);
    Type element = batch ? batch.getElementType() : type;
    if (element.isIndex())
      element = IntegerType::get(type.getContext(), 64);
    bool isLast = i + 1 == count;
    StringRef name = llvm::TypeSwitch<Type, StringRef>(element)
                         .Case([](Float64Type) { return "f64"; })
                         .Case([](Float32Type) { return "f32"; })
                         .Case([](Float16Type) { return "f16"; })
                         .Case([](BFloat16Type) { return "bf16"; })
                         .Case([](Float8E4M3FNUZType) { return "f8E4M3FNUZ"; })
                         .Case([](IntegerType type) {
                           return type.isInteger(64)   ? "i64"
                                  : type.isInteger(32) ? "i32"
                                                       : "";
                         })
                         .Default([](Type) { return ""; });
    if (name.empty()) {
      kernel.emitError("kernel argument ")
          << i << " has the type " << type
          << ", expected f64, f32, f16, bf16, f8E4M3FNUZ, i64, i32, index, or "
             "a batch of them";
      return std::nullopt;
    }
    description["type"] = name;
    if (batch) {
      description["kind"] = kernel.getArgAttr(i, kOutputAttrName) ? "output"
                            : kernel.getArgAttr(i, kWorkspaceAttrName)
                                ? "workspace"
                                : "input";
      // describeShapes has the shapes of those that it knows.
      if (isGrid) {
        arguments.push_back(std::move(description));
        continue;
      }
      json::Array shape;
      for (int64_t extent : batch.getShape())
        if (ShapedType::isDynamic(extent))
          shape.push_back("zones");
        else
          shape.push_back(extent);
      description["shape"] = std::move(shape);
    } else {
      description["kind"] =
          type.isIndex() && isLast && !isGrid ? "zones" : "scalar";
    }
    arguments.push_back(std::move(description));
  }
  return arguments;
}

/// What is known of the kernels before they are lowered.
static LogicalResult describeKernels(ModuleOp module, json::Array &kernels) {
  LogicalResult status = success();
  module.walk([&](gpu::GPUFuncOp kernel) {
    if (!kernel.isKernel())
      return;
    std::optional<json::Array> arguments = describeArguments(kernel);
    std::optional<ArrayRef<int32_t>> size = kernel.getKnownBlockSize();
    if (!arguments || !size) {
      if (!size)
        kernel.emitError("expected a kernel with a known block size");
      status = failure();
      return;
    }
    json::Object description;
    // The description outlives the context that owns the name.
    description["name"] = kernel.getName().str();
    description["workgroup_size"] = json::Array(*size);
    if (auto grid = kernel->getAttrOfType<ArrayAttr>(kGridAttrName)) {
      json::Array sizes;
      for (Attribute size : grid)
        sizes.push_back(cast<StringAttr>(size).str());
      description["grid"] = std::move(sizes);
    } else {
      auto zones =
          kernel->getAttrOfType<IntegerAttr>(kZonesPerWorkgroupAttrName);
      description["zones_per_workgroup"] = zones ? zones.getInt() : (*size)[0];
    }
    description["arguments"] = std::move(*arguments);
    kernels.push_back(std::move(description));
  });
  return status;
}

/// Adds each kernel's schedule, read while the problem level is still there.
static json::Object describeSchedules(ModuleOp module) {
  json::Object schedules;
  module.walk([&](Operation *op) {
    auto function = op->getParentOfType<SymbolOpInterface>();
    if (auto attention = dyn_cast<AttentionOp>(op);
        attention && attention.getScheduleAttr() && function) {
      std::string text;
      llvm::raw_string_ostream(text) << attention.getScheduleAttr();
      schedules[function.getName().str()] = json::Object{{"attribute", text}};
      return;
    }
    auto schedule = op->getAttrOfType<OdeScheduleAttr>("schedule");
    if (!schedule || !function)
      return;
    schedules[function.getName().str()] =
        json::Object{{"form", stringifyCodeForm(schedule.getForm())},
                     {"workgroup_size", schedule.getWorkgroupSize()},
                     {"threads_per_zone", schedule.getThreadsPerZone()}};
  });
  return schedules;
}

/// The shapes of the arrays of attention kernels: of each kernel two lists, of
/// what it reads and of what it writes, in the order of its arguments. Sizes
/// that are not static have the name of the argument that holds them, or one of
/// their own.
static json::Object describeShapes(ModuleOp module) {
  json::Object kernels;
  module.walk([&](AttentionOp op) {
    auto function = op->getParentOfType<SymbolOpInterface>();
    if (!function)
      return;
    unsigned batch = 0, sequence = op.getSequenceDimension();
    bool isPacked = op.isPacked();
    json::Array lists[2];
    auto add = [&](unsigned list, Value value,
                   function_ref<StringRef(unsigned)> nameOf) {
      std::string own =
          (list ? "output" : "input") + std::to_string(lists[list].size());
      json::Array shape;
      for (auto [i, extent] :
           llvm::enumerate(cast<RankedTensorType>(value.getType()).getShape()))
        if (!ShapedType::isDynamic(extent))
          shape.push_back(extent);
        else if (StringRef name = nameOf(i); !name.empty())
          shape.push_back(name.str());
        else
          shape.push_back(own + "_" + std::to_string(i));
      lists[list].push_back(std::move(shape));
    };
    auto ofSequence = [&](StringRef length) {
      return [=](unsigned i) -> StringRef {
        return i == sequence ? length : i == batch && !isPacked ? "batch" : "";
      };
    };
    for (Value operand : op->getOperands()) {
      if (operand == op.getQ())
        add(0, operand, ofSequence("queries"));
      else if (operand == op.getK() || operand == op.getV())
        add(0, operand, ofSequence("keys"));
      else if (operand == op.getBias() && !isPacked)
        add(0, operand, [](unsigned i) -> StringRef {
          constexpr StringRef names[] = {"batch", "", "queries", "keys"};
          return names[i];
        });
      else if (operand == op.getAlibi())
        add(0, operand,
            [](unsigned i) -> StringRef { return i == 0 ? "batch" : ""; });
      else
        add(0, operand, [](unsigned) -> StringRef { return ""; });
    }
    add(1, op.getO(), ofSequence("queries"));
    if (op.getLse())
      add(1, op.getLse(), [&](unsigned i) -> StringRef {
        return i == 0 && !isPacked ? "batch" : "queries";
      });
    kernels[function.getName().str()] =
        json::Array{std::move(lists[0]), std::move(lists[1])};
  });
  return kernels;
}

/// Gives a kernel's arrays their shapes, and the scalars that these name the
/// kind that says so. Where the numbers of arrays differ nothing is known.
static void addShapes(const json::Array &shapes, json::Object &kernel) {
  json::Array &arguments = *kernel.getArray("arguments");
  SmallVector<json::Object *> arrays[2];
  for (json::Value &value : arguments) {
    json::Object &argument = *value.getAsObject();
    StringRef kind = *argument.getString("kind");
    if (kind == "input" || kind == "output")
      arrays[kind == "output"].push_back(&argument);
  }
  for (unsigned list : {0, 1})
    if (arrays[list].size() != shapes[list].getAsArray()->size())
      return;
  for (unsigned list : {0, 1})
    for (auto [i, argument] : llvm::enumerate(arrays[list]))
      (*argument)["shape"] = (*shapes[list].getAsArray())[i];
  for (json::Value &value : arguments) {
    json::Object &argument = *value.getAsObject();
    StringRef name = *argument.getString("name");
    if (*argument.getString("kind") == "scalar" &&
        (name == "batch" || name == "queries" || name == "keys"))
      argument["kind"] = "dimension";
  }
}

/// Adds registers, spills, memory and occupancy, read from the code object.
static LogicalResult describeResources(ModuleOp module,
                                       const TargetInfo &target,
                                       ArrayRef<char> codeObject,
                                       json::Array &kernels) {
  Builder builder(module.getContext());
  auto metadata = ROCDL::getAMDHSAKernelsELFMetadata(builder, codeObject);
  if (!metadata)
    return module.emitError("cannot read the code object's metadata");
  for (json::Value &value : kernels) {
    json::Object &kernel = *value.getAsObject();
    auto name = builder.getStringAttr(*kernel.getString("name"));
    NamedAttrList attributes = metadata->lookup(name);
    auto number = [&](StringRef key) -> int64_t {
      auto attribute = dyn_cast_or_null<IntegerAttr>(attributes.get(key));
      return attribute ? attribute.getInt() : 0;
    };
    json::Object resources{
        {"vgprs", number("vgpr_count") - number("agpr_count")},
        {"agprs", number("agpr_count")},
        {"sgprs", number("sgpr_count")},
        {"vgpr_spills", number("vgpr_spill_count")},
        {"sgpr_spills", number("sgpr_spill_count")},
        {"scratch_bytes", number("private_segment_fixed_size")},
        {"lds_bytes", number("group_segment_fixed_size")}};
    int64_t size = *kernel.getArray("workgroup_size")->front().getAsInteger();
    auto occupancy = computeOccupancy(target, *resources.getInteger("vgprs"),
                                      *resources.getInteger("agprs"),
                                      *resources.getInteger("sgprs"),
                                      *resources.getInteger("lds_bytes"), size);
    if (!occupancy)
      return module.emitError(llvm::toString(occupancy.takeError()));
    resources["waves_per_simd"] = int64_t(occupancy->wavesPerSIMD);
    kernel["resources"] = std::move(resources);
  }
  return success();
}

static LogicalResult compileHere(ModuleOp module, const CompileOptions &options,
                                 const CompileStages &stages,
                                 const PipelineHooks &hooks,
                                 CompileResult &result) {
  if (options.codeObjectVersion != 4 && options.codeObjectVersion != 5)
    return module.emitError("unknown code object version ")
           << options.codeObjectVersion.getValue() << ", expected 4 or 5";
  if (options.optimizationLevel < 0 || options.optimizationLevel > 3)
    return module.emitError("unknown optimisation level ")
           << options.optimizationLevel.getValue() << ", expected 0 to 3";
  llvm::Expected<const TargetInfo &> target =
      lookupTarget(options.architecture, options.chip);
  if (!target)
    return module.emitError(llvm::toString(target.takeError()));

  // The kernels are described where their arguments still have types, the
  // schedules where they still stand on operations.
  json::Array kernels;
  json::Object schedules, shapes;
  PassManager manager(module.getContext());
  PipelineHooks ownHooks = hooks;
  ownHooks.observer = [&](ModuleOp module, PipelineStage stage) {
    if (stage == PipelineStage::Scheduled) {
      schedules = describeSchedules(module);
      shapes = describeShapes(module);
    } else if (stage == PipelineStage::Kernel &&
               failed(describeKernels(module, kernels))) {
      return failure();
    }
    return hooks.observer ? hooks.observer(module, stage) : success();
  };
  buildPipeline(manager, options, ownHooks);
  if (failed(manager.run(module)))
    return failure();
  if (stages.rocdl) {
    llvm::raw_string_ostream os(result.rocdl);
    module.print(os);
  }

  auto modules = llvm::to_vector(module.getOps<gpu::GPUModuleOp>());
  if (modules.empty())
    return module.emitError("nothing to compile: expected a function that asks "
                            "for a quantity of a system, or a workgroup");
  if (modules.size() > 1)
    return modules[1].emitError("expected one gpu.module, got ")
           << modules.size();
  if (failed(serializeKernels(modules.front(), options, stages, result)) ||
      failed(describeResources(module, *target, result.codeObject, kernels)))
    return failure();
  for (json::Value &value : kernels) {
    json::Object &kernel = *value.getAsObject();
    if (json::Value *schedule = schedules.get(*kernel.getString("name")))
      kernel["schedule"] = *schedule;
    if (json::Value *known = shapes.get(*kernel.getString("name")))
      addShapes(*known->getAsArray(), kernel);
  }
  result.description = json::Object{
      {"wavesmith", 1},
      {"target", target->architecture},
      {"chip", target->chip},
      {"code_object_version", options.codeObjectVersion.getValue()},
      {"kernels", std::move(kernels)}};
  return success();
}

/// lld has global state.
static std::mutex compilerMutex;

FailureOr<CompileResult> wavesmith::compile(ModuleOp module,
                                            const CompileOptions &options,
                                            const CompileStages &stages,
                                            bool *gaveUp,
                                            const PipelineHooks &hooks) {
  if (gaveUp)
    *gaveUp = false;
  std::lock_guard<std::mutex> lock(compilerMutex);
  CompileResult result;
  LogicalResult status = failure();
  Location loc = module.getLoc();
  llvm::Error error = containFatalErrors(
      [&] { status = compileHere(module, options, stages, hooks, result); });
  if (error) {
    if (gaveUp)
      *gaveUp = true;
    return emitError(loc, "the compiler's back end gave up: ")
           << llvm::toString(std::move(error));
  }
  if (failed(status))
    return failure();
  return result;
}

FailureOr<CompileResult>
wavesmith::compileText(std::unique_ptr<llvm::MemoryBuffer> text,
                       const CompileOptions &options,
                       const CompileStages &stages, llvm::raw_ostream &output) {
  std::lock_guard<std::mutex> lock(compilerMutex);
  std::string name = text->getBufferIdentifier().str();
  // Diagnostics quote the text.
  PrintableStream diagnostics(output);
  if (llvm::Error error = checkIsModule(text->getBuffer())) {
    diagnostics << name << ": error: " << llvm::toString(std::move(error))
                << "\n";
    return failure();
  }
  CompileResult result;
  LogicalResult status = failure();
  bool isParsed = false;
  // Context and module live inside, to be leaked where they cannot be taken
  // apart any more.
  llvm::Error error = containFatalErrors([&] {
    DialectRegistry registry;
    registerDialects(registry);
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    context.printOpOnDiagnostic(false);
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
    SourceMgrDiagnosticHandler printer(sources, &context, diagnostics);
    // What is wrong with the module as a whole has no line.
    ScopedDiagnosticHandler wholeModule(&context, [&](Diagnostic &diagnostic) {
      auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
      if (!place || place.getLine() != 0)
        return failure();
      diagnostics << place.getFilename().getValue() << ": "
                  << (diagnostic.getSeverity() == DiagnosticSeverity::Error
                          ? "error: "
                          : "warning: ")
                  << diagnostic.str() << "\n";
      return success();
    });
    auto module = parseSourceFile<ModuleOp>(sources, &context);
    isParsed = bool(module);
    if (module)
      status = compileHere(*module, options, stages, {}, result);
  });
  if (error) {
    diagnostics << name << ": error: "
                << (isParsed ? "the compiler's back end" : "the parser")
                << " gave up: " << llvm::toString(std::move(error)) << "\n";
    return failure();
  }
  if (failed(status))
    return failure();
  return result;
}
