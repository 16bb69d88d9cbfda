//===- Wavesmith.cpp - The C API of libwavesmith --------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith-c/Wavesmith.h"
#include "Support.h"
#include "wavesmith/Device/RunKernel.h"
#include "wavesmith/Pipelines/Pipelines.h"
#include "wavesmith/Target/Target.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

using namespace wavesmith;

const char *wavesmith_version(void) { return WAVESMITH_VERSION; }

void wavesmith_string_free(char *text) { std::free(text); }

//===----------------------------------------------------------------------===//
// Compile
//===----------------------------------------------------------------------===//

namespace {
/// Copies of a caller's options.
struct OwnedOptions {
  std::string sourceName, target, chip, form;
  int64_t workgroupSize, straightLineLimit, threadsPerZone;
  int codeObjectVersion, optimizationLevel;
};
} // namespace

struct wavesmith_code_object {
  // The text and options of a code object that was compiled here; stages are
  // compiled from them when asked for.
  bool hasText = false;
  std::string text;
  OwnedOptions options;

  llvm::SmallVector<char, 0> bytes;
  std::string descriptionText;
  CodeObjectDescription description;

  // Made when first needed.
  mutable std::mutex mutex;
  mutable std::shared_ptr<const sim::CodeObject> metadata;
  std::array<std::unique_ptr<std::string>, 3> stages;

  llvm::ArrayRef<uint8_t> elf() const {
    return {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()};
  }
};

/// The code object's own metadata, read once.
static llvm::Expected<std::shared_ptr<const sim::CodeObject>>
getMetadata(const wavesmith_code_object &object) {
  std::lock_guard<std::mutex> lock(object.mutex);
  if (!object.metadata) {
    auto metadata = sim::CodeObject::load(object.elf());
    if (!metadata)
      return metadata.takeError();
    object.metadata = std::move(*metadata);
  }
  return object.metadata;
}

void wavesmith_compile_options_init(wavesmith_compile_options *options) {
  if (!options)
    return;
  *options = {};
  options->struct_size = sizeof(*options);
  options->source_name = "<text>";
  options->target = "gfx942";
  options->form = "auto";
  options->straight_line_limit = CompileOptions().straightLineLimit;
  options->code_object_version = 5;
  options->optimization_level = 3;
}

/// Compiles text in a context of its own. Diagnostics become the message.
static Outcome compileText(llvm::StringRef text, const OwnedOptions &owned,
                           const CompileStages &stages, CompileResult &result) {
  // Making options, like all that is made of LLVM's command line library,
  // touches a registry of the process that lld walks over.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);

  CompileOptions options;
  options.architecture = owned.target;
  options.chip = owned.chip;
  options.form = owned.form;
  options.workgroupSize = owned.workgroupSize;
  options.straightLineLimit = owned.straightLineLimit;
  options.threadsPerZone = owned.threadsPerZone;
  options.codeObjectVersion = owned.codeObjectVersion;
  options.optimizationLevel = owned.optimizationLevel;
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  auto compiled = wavesmith::compileText(
      llvm::MemoryBuffer::getMemBufferCopy(text, owned.sourceName), options,
      stages, stream);
  if (llvm::succeeded(compiled)) {
    result = std::move(*compiled);
    return {};
  }
  llvm::StringRef trimmed = llvm::StringRef(messages).rtrim();
  return {WAVESMITH_COMPILE_ERROR,
          trimmed.empty() ? "the text does not compile" : trimmed.str()};
}

wavesmith_status wavesmith_compile(const char *text, size_t length,
                                   const wavesmith_compile_options *options,
                                   wavesmith_code_object **code_object,
                                   char **message) {
  if (code_object)
    *code_object = nullptr;
  return guard(message, [&]() -> Outcome {
    if (!code_object)
      return invalid("no place given for the code object");
    if (!text && length)
      return invalid("no text given");
    wavesmith_compile_options defaults;
    wavesmith_compile_options_init(&defaults);
    if (options && options->struct_size != sizeof(wavesmith_compile_options))
      return invalid("the compile options are " +
                     llvm::Twine(options->struct_size) + " bytes, expected " +
                     llvm::Twine(sizeof(wavesmith_compile_options)) +
                     "; set them up by wavesmith_compile_options_init");
    const wavesmith_compile_options &given = options ? *options : defaults;
    auto pick = [](const char *value, const char *fallback) {
      return std::string(value && *value ? value : fallback);
    };
    auto object = std::make_unique<wavesmith_code_object>();
    object->hasText = true;
    object->text.assign(text ? text : "", length);
    object->options = {pick(given.source_name, defaults.source_name),
                       pick(given.target, defaults.target),
                       orEmpty(given.chip).str(),
                       pick(given.form, defaults.form),
                       given.workgroup_size,
                       given.straight_line_limit,
                       given.threads_per_zone,
                       given.code_object_version,
                       given.optimization_level};
    // Errors in options are not errors of the text.
    const OwnedOptions &owned = object->options;
    if (auto target = lookupTarget(owned.target, owned.chip); !target)
      return failed(WAVESMITH_INVALID_ARGUMENT, target.takeError());
    if (owned.form != "auto" && owned.form != "straight_line" &&
        owned.form != "table")
      return invalid("unknown form '" + owned.form +
                     "', expected auto, straight_line or table");
    if (owned.workgroupSize < 0 || owned.straightLineLimit < 0 ||
        owned.threadsPerZone < 0)
      return invalid("workgroup size, straight-line limit and threads per zone "
                     "must not be negative, got " +
                     llvm::Twine(owned.workgroupSize) + ", " +
                     llvm::Twine(owned.straightLineLimit) + " and " +
                     llvm::Twine(owned.threadsPerZone));
    if (owned.codeObjectVersion != 4 && owned.codeObjectVersion != 5)
      return invalid("unknown code object version " +
                     llvm::Twine(owned.codeObjectVersion) +
                     ", expected 4 or 5");
    if (owned.optimizationLevel < 0 || owned.optimizationLevel > 3)
      return invalid("unknown optimisation level " +
                     llvm::Twine(owned.optimizationLevel) +
                     ", expected 0 to 3");

    CompileResult result;
    Outcome outcome = compileText(object->text, owned, {}, result);
    if (outcome.status != WAVESMITH_SUCCESS)
      return outcome;
    object->bytes = std::move(result.codeObject);
    object->descriptionText = llvm::formatv("{0:2}", result.description).str();
    auto description = CodeObjectDescription::parse(object->descriptionText);
    if (!description)
      return failed(WAVESMITH_INTERNAL_ERROR, description.takeError());
    object->description = std::move(*description);
    *code_object = object.release();
    return {};
  });
}

wavesmith_status
wavesmith_compile_file(const char *path,
                       const wavesmith_compile_options *options,
                       wavesmith_code_object **code_object, char **message) {
  if (code_object)
    *code_object = nullptr;
  std::unique_ptr<llvm::MemoryBuffer> text;
  wavesmith_status status = guard(message, [&]() -> Outcome {
    if (!path)
      return invalid("no path given");
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return invalid("cannot read " + llvm::Twine(path) + ": " +
                     buffer.getError().message());
    text = std::move(*buffer);
    return {};
  });
  if (status != WAVESMITH_SUCCESS)
    return status;
  wavesmith_compile_options named;
  wavesmith_compile_options_init(&named);
  // Options of another size are left to be refused.
  if (!options || options->struct_size == sizeof(named)) {
    if (options)
      named = *options;
    named.source_name = path;
    options = &named;
  }
  return wavesmith_compile(text->getBufferStart(), text->getBufferSize(),
                           options, code_object, message);
}

wavesmith_status wavesmith_code_object_load(const void *bytes, size_t size,
                                            const char *description,
                                            size_t length,
                                            wavesmith_code_object **code_object,
                                            char **message) {
  if (code_object)
    *code_object = nullptr;
  return guard(message, [&]() -> Outcome {
    if (!code_object)
      return invalid("no place given for the code object");
    if (!bytes || !description)
      return invalid("expected a code object and its description");
    auto object = std::make_unique<wavesmith_code_object>();
    const char *begin = static_cast<const char *>(bytes);
    object->bytes.assign(begin, begin + size);
    object->descriptionText.assign(description, length);
    auto parsed = CodeObjectDescription::parse(object->descriptionText);
    if (!parsed)
      return failed(WAVESMITH_INVALID_ARGUMENT, parsed.takeError());
    object->description = std::move(*parsed);
    if (auto metadata = getMetadata(*object); !metadata)
      return failed(WAVESMITH_INVALID_ARGUMENT, metadata.takeError());
    *code_object = object.release();
    return {};
  });
}

const void *
wavesmith_code_object_bytes(const wavesmith_code_object *code_object,
                            size_t *size) {
  if (size)
    *size = code_object ? code_object->bytes.size() : 0;
  return code_object ? code_object->bytes.data() : nullptr;
}

const char *
wavesmith_code_object_description(const wavesmith_code_object *code_object) {
  return code_object ? code_object->descriptionText.c_str() : nullptr;
}

wavesmith_status wavesmith_code_object_stage(wavesmith_code_object *code_object,
                                             wavesmith_stage stage,
                                             const char **text,
                                             char **message) {
  if (text)
    *text = nullptr;
  return guard(message, [&]() -> Outcome {
    if (!code_object || !text)
      return invalid("expected a code object and a place for the text");
    if (unsigned(stage) > WAVESMITH_STAGE_ISA)
      return invalid("unknown stage " + llvm::Twine(int(stage)));
    if (!code_object->hasText)
      return invalid("a code object that was loaded has no stages; compile it "
                     "from MLIR text");
    std::lock_guard<std::mutex> lock(code_object->mutex);
    std::unique_ptr<std::string> &cached = code_object->stages[stage];
    if (!cached) {
      CompileStages stages;
      stages.rocdl = stage == WAVESMITH_STAGE_ROCDL;
      stages.llvmIR = stage == WAVESMITH_STAGE_LLVM;
      stages.isa = stage == WAVESMITH_STAGE_ISA;
      CompileResult result;
      Outcome outcome =
          compileText(code_object->text, code_object->options, stages, result);
      if (outcome.status != WAVESMITH_SUCCESS)
        return outcome;
      cached = std::make_unique<std::string>(stages.rocdl    ? result.rocdl
                                             : stages.llvmIR ? result.llvmIR
                                                             : result.isa);
    }
    *text = cached->c_str();
    return {};
  });
}

void wavesmith_code_object_free(wavesmith_code_object *code_object) {
  delete code_object;
}

//===----------------------------------------------------------------------===//
// Run
//===----------------------------------------------------------------------===//

struct wavesmith_device {
  std::mutex mutex;
  std::unique_ptr<Device> device;
};

void wavesmith_device_options_init(wavesmith_device_options *options) {
  if (!options)
    return;
  *options = {};
  options->struct_size = sizeof(*options);
  options->ordinal = -1;
  options->threads = 1;
}

wavesmith_status wavesmith_device_open(const char *kind,
                                       const char *architecture,
                                       const wavesmith_device_options *options,
                                       wavesmith_device **device,
                                       char **message) {
  if (device)
    *device = nullptr;
  return guard(message, [&]() -> Outcome {
    if (!device)
      return invalid("no place given for the device");
    auto parsed = parseDeviceKind(orEmpty(kind));
    if (!parsed)
      return failed(WAVESMITH_INVALID_ARGUMENT, parsed.takeError());
    DeviceOptions chosen;
    if (options) {
      if (options->struct_size != sizeof(wavesmith_device_options))
        return invalid("the device options are " +
                       llvm::Twine(options->struct_size) + " bytes, expected " +
                       llvm::Twine(sizeof(wavesmith_device_options)) +
                       "; set them up by wavesmith_device_options_init");
      if (options->ordinal < -1)
        return invalid("the number of a GPU must not be negative, got " +
                       llvm::Twine(options->ordinal));
      if (options->threads < 1 || options->threads > 1024)
        return invalid("a simulator has from 1 to 1024 threads, got " +
                       llvm::Twine(options->threads));
      if (options->ordinal >= 0)
        chosen.ordinal = options->ordinal;
      chosen.chip = orEmpty(options->chip).str();
      chosen.threads = options->threads;
    }
    if (*parsed == DeviceKind::Simulator || architecture)
      if (auto target = lookupTarget(orEmpty(architecture), chosen.chip);
          !target)
        return failed(WAVESMITH_INVALID_ARGUMENT, target.takeError());
    auto opened = createDevice(*parsed, orEmpty(architecture), chosen);
    if (!opened) {
      llvm::Error error = opened.takeError();
      wavesmith_status status = error.isA<NoDeviceError>()
                                    ? WAVESMITH_NO_DEVICE
                                    : WAVESMITH_DEVICE_ERROR;
      return failed(status, std::move(error));
    }
    auto result = std::make_unique<wavesmith_device>();
    result->device = std::move(*opened);
    *device = result.release();
    return {};
  });
}

void wavesmith_device_free(wavesmith_device *device) { delete device; }

static std::optional<ElementType> getType(wavesmith_type type) {
  switch (type) {
  case WAVESMITH_F64:
    return ElementType::F64;
  case WAVESMITH_F32:
    return ElementType::F32;
  case WAVESMITH_I64:
    return ElementType::I64;
  case WAVESMITH_I32:
    return ElementType::I32;
  case WAVESMITH_F16:
    return ElementType::F16;
  case WAVESMITH_BF16:
    return ElementType::BF16;
  case WAVESMITH_F8E4M3FNUZ:
    return ElementType::F8E4M3FNUZ;
  }
  return std::nullopt;
}

/// A caller's array as a view; the outcome says what is wrong with it.
static Outcome viewArray(const wavesmith_array &array, HostArrayView &view) {
  auto wrong = [&](const llvm::Twine &what) {
    return invalid("array '" + llvm::Twine(array.name) + "': " + what);
  };
  std::optional<ElementType> type = getType(array.type);
  if (!type)
    return wrong("unknown type " + llvm::Twine(int(array.type)));
  if (array.rank < 0 || array.rank > 16)
    return wrong("expected 0 to 16 dimensions, got " + llvm::Twine(array.rank));
  if (array.rank > 0 && !array.shape)
    return wrong("no shape given");
  view.type = *type;
  view.shape.assign(array.shape, array.shape + (array.rank ? array.rank : 0));
  std::optional<uint64_t> bytes = getArrayBytes(view.type, view.shape);
  if (!bytes)
    return wrong("the shape " + formatShape(view.shape) +
                 " is not one of an array in memory");
  if (!array.data && *bytes > 0)
    return wrong("no data given");
  view.bytes = {static_cast<const uint8_t *>(array.data), size_t(*bytes)};
  return {};
}

namespace {
/// What a run or a launch is asked for, checked.
struct PreparedRun {
  RunRequest request;
  RunPlan plan;
  /// Outputs, and where they go; of a launch on arrays of a GPU the workspaces,
  /// too.
  std::vector<std::pair<const ArgumentDescription *, HostArrayView>> wanted;
  std::vector<void *> destinations;
};
} // namespace

static Outcome prepareRun(const wavesmith_device *device,
                          const wavesmith_code_object *code_object,
                          const char *kernel, const wavesmith_array *arrays,
                          size_t num_arrays, int64_t zones, bool isOnGPU,
                          PreparedRun &prepared) {
  if (!device || !code_object)
    return invalid("expected a device and a code object");
  if (!arrays && num_arrays)
    return invalid("no arrays given");
  if (zones < 0)
    return invalid("number of zones must be positive, or 0 where an input "
                   "has them, got " +
                   llvm::Twine(zones));
  RunRequest &request = prepared.request;
  request.codeObject = code_object->elf();
  request.description = &code_object->description;
  request.kernel = orEmpty(kernel);
  if (zones)
    request.zones = zones;
  auto described = request.description->findKernel(request.kernel);
  if (!described)
    return failed(WAVESMITH_INVALID_ARGUMENT, described.takeError());

  llvm::StringSet<> seen;
  for (const wavesmith_array &array :
       llvm::ArrayRef<wavesmith_array>(arrays, num_arrays)) {
    if (!array.name)
      return invalid("an array has no name");
    if (!seen.insert(array.name).second)
      return invalid("array '" + llvm::Twine(array.name) + "' is given twice");
    HostArrayView view;
    Outcome outcome = viewArray(array, view);
    if (outcome.status != WAVESMITH_SUCCESS)
      return outcome;
    const ArgumentDescription *argument = described->findArgument(array.name);
    if (argument && (argument->kind == ArgumentKind::Output ||
                     (isOnGPU && argument->kind == ArgumentKind::Workspace))) {
      prepared.wanted.emplace_back(argument, view);
      prepared.destinations.push_back(array.data);
    } else {
      request.values.try_emplace(array.name, view);
    }
  }

  auto metadata = getMetadata(*code_object);
  if (!metadata)
    return failed(WAVESMITH_INVALID_ARGUMENT, metadata.takeError());
  auto plan = planRun(request, **metadata);
  if (!plan)
    return failed(WAVESMITH_INVALID_ARGUMENT, plan.takeError());
  llvm::StringMap<int64_t> paddedSizes = plan->getPaddedSizes();
  for (const auto &[argument, view] : prepared.wanted) {
    bool isWorkspace = argument->kind == ArgumentKind::Workspace;
    llvm::SmallVector<int64_t, 4> shape =
        argument->getShape(isWorkspace ? paddedSizes : plan->sizes);
    std::string what =
        (stringify(argument->kind) + " '" + argument->name + "': expected ")
            .str();
    if (view.type != argument->type)
      return invalid(what + "type " + stringify(argument->type) + ", got " +
                     stringify(view.type));
    if (llvm::ArrayRef<int64_t>(view.shape) != llvm::ArrayRef<int64_t>(shape))
      return invalid(what + "shape " + argument->formatShape() +
                     (plan->zones && !isWorkspace
                          ? " with " + std::to_string(plan->zones) + " zones"
                          : ", which is " + formatShape(shape)) +
                     ", got " + formatShape(view.shape));
  }
  prepared.plan = std::move(*plan);
  return {};
}

struct wavesmith_report {
  LaunchReport report;
};

wavesmith_status wavesmith_run_with_report(
    wavesmith_device *device, const wavesmith_code_object *code_object,
    const char *kernel, const wavesmith_array *arrays, size_t num_arrays,
    int64_t zones, wavesmith_report **report, char **message) {
  if (report)
    *report = nullptr;
  return guard(message, [&]() -> Outcome {
    PreparedRun prepared;
    Outcome outcome =
        prepareRun(device, code_object, kernel, arrays, num_arrays, zones,
                   /*isOnGPU=*/false, prepared);
    if (outcome.status != WAVESMITH_SUCCESS)
      return outcome;
    auto kept = report ? std::make_unique<wavesmith_report>() : nullptr;
    std::lock_guard<std::mutex> lock(device->mutex);
    auto result = runKernel(*device->device, prepared.request, prepared.plan);
    if (!result)
      return failed(WAVESMITH_DEVICE_ERROR, result.takeError());
    for (size_t i = 0; i < prepared.wanted.size(); ++i)
      for (const auto &[name, array] : result->outputs)
        if (name == prepared.wanted[i].first->name)
          std::memcpy(prepared.destinations[i], array.bytes.data(),
                      array.bytes.size());
    if (report) {
      kept->report = std::move(result->report);
      *report = kept.release();
    }
    return {};
  });
}

wavesmith_status wavesmith_launch(wavesmith_device *device,
                                  const wavesmith_code_object *code_object,
                                  const char *kernel,
                                  const wavesmith_array *arrays,
                                  size_t num_arrays, int64_t zones,
                                  void *stream, char **message) {
  return guard(message, [&]() -> Outcome {
    PreparedRun prepared;
    Outcome outcome = prepareRun(device, code_object, kernel, arrays,
                                 num_arrays, zones, /*isOnGPU=*/true, prepared);
    if (outcome.status != WAVESMITH_SUCCESS)
      return outcome;
    llvm::StringMap<uint64_t> addresses;
    for (size_t i = 0; i < prepared.wanted.size(); ++i)
      addresses[prepared.wanted[i].first->name] =
          reinterpret_cast<uint64_t>(prepared.destinations[i]);
    std::lock_guard<std::mutex> lock(device->mutex);
    if (llvm::Error error = startKernel(*device->device, prepared.request,
                                        prepared.plan, addresses, stream))
      return failed(WAVESMITH_DEVICE_ERROR, std::move(error));
    return {};
  });
}

wavesmith_status wavesmith_report_json(const wavesmith_report *report,
                                       char **json, char **message) {
  if (json)
    *json = nullptr;
  return guard(message, [&]() -> Outcome {
    if (!report || !json)
      return invalid("expected a report and a place for its text");
    *json = copyText(llvm::formatv("{0:2}", report->report.toJSON()).str());
    if (!*json)
      return {WAVESMITH_OUT_OF_MEMORY, "out of memory"};
    return {};
  });
}

double wavesmith_report_host_seconds(const wavesmith_report *report) {
  return report ? report->report.hostSeconds : 0.0;
}

void wavesmith_report_free(wavesmith_report *report) { delete report; }

wavesmith_status wavesmith_run(wavesmith_device *device,
                               const wavesmith_code_object *code_object,
                               const char *kernel,
                               const wavesmith_array *arrays, size_t num_arrays,
                               int64_t zones, char **report, char **message) {
  if (report)
    *report = nullptr;
  wavesmith_report *kept = nullptr;
  wavesmith_status status =
      wavesmith_run_with_report(device, code_object, kernel, arrays, num_arrays,
                                zones, report ? &kept : nullptr, message);
  if (status == WAVESMITH_SUCCESS && report)
    status = wavesmith_report_json(kept, report, message);
  wavesmith_report_free(kept);
  return status;
}

static wavesmith_type toType(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return WAVESMITH_F64;
  case ElementType::F32:
    return WAVESMITH_F32;
  case ElementType::I64:
    return WAVESMITH_I64;
  case ElementType::I32:
    return WAVESMITH_I32;
  case ElementType::F16:
    return WAVESMITH_F16;
  case ElementType::BF16:
    return WAVESMITH_BF16;
  case ElementType::F8E4M3FNUZ:
    return WAVESMITH_F8E4M3FNUZ;
  }
  llvm_unreachable("all types are handled");
}

wavesmith_status wavesmith_call(const wavesmith_code_object *code_object,
                                const char *kernel, const char *device_kind,
                                const wavesmith_argument *arguments,
                                size_t num_arguments, int64_t zones,
                                char **report, char **message) {
  if (report)
    *report = nullptr;
  std::vector<wavesmith_array> arrays;
  std::vector<llvm::SmallVector<int64_t, 4>> shapes;
  wavesmith_status status = guard(message, [&]() -> Outcome {
    if (!code_object)
      return invalid("expected a code object");
    if (!arguments && num_arguments)
      return invalid("no arguments given");
    if (zones <= 0)
      return invalid("number of zones must be positive, got " +
                     llvm::Twine(zones));
    auto described = code_object->description.findKernel(orEmpty(kernel));
    if (!described)
      return failed(WAVESMITH_INVALID_ARGUMENT, described.takeError());
    if (described->isGrid())
      return invalid("kernel '" + described->name +
                     "' has no zones; run it by wavesmith_run");
    shapes.reserve(num_arguments);
    for (const wavesmith_argument &given :
         llvm::ArrayRef<wavesmith_argument>(arguments, num_arguments)) {
      wavesmith_array array = {given.name, given.data, WAVESMITH_F64, 0,
                               nullptr};
      // A name that is wrong is left to be refused.
      if (const ArgumentDescription *argument =
              described->findArgument(orEmpty(given.name))) {
        array.type = toType(argument->type);
        shapes.push_back(argument->getShape(zones));
        array.rank = shapes.back().size();
        array.shape = shapes.back().data();
      }
      arrays.push_back(array);
    }
    return {};
  });
  if (status != WAVESMITH_SUCCESS)
    return status;
  wavesmith_device *device = nullptr;
  status = wavesmith_device_open(device_kind,
                                 code_object->description.target.c_str(),
                                 nullptr, &device, message);
  if (status != WAVESMITH_SUCCESS)
    return status;
  status = wavesmith_run(device, code_object, kernel, arrays.data(),
                         arrays.size(), zones, report, message);
  wavesmith_device_free(device);
  return status;
}
