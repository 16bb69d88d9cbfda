//===- SimulatorCAPI.cpp - The simulator, launch by launch ----------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "wavesmith-c/Simulator.h"
#include "wavesmith/Device/Device.h"
#include "wavesmith/Device/RunKernel.h"
#include "wavesmith/Simulator/Checker.h"
#include "wavesmith/Simulator/Simulator.h"
#include "wavesmith/Simulator/Timing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <mutex>
#include <optional>

using namespace wavesmith;

//===----------------------------------------------------------------------===//
// Code objects
//===----------------------------------------------------------------------===//

struct wavesmith_simulator_program {
  std::shared_ptr<const sim::CodeObject> object;
  std::string description;
};

static llvm::json::Value describe(const sim::CodeObject &object) {
  llvm::json::Array kernels;
  for (const sim::KernelInfo &kernel : object.kernels()) {
    llvm::json::Array arguments;
    for (const sim::KernelArgument &argument : kernel.arguments)
      if (!isHiddenArgument(argument))
        arguments.push_back(
            llvm::json::Object{{"name", argument.name},
                               {"kind", argument.valueKind},
                               {"offset", int64_t(argument.offset)},
                               {"size", int64_t(argument.size)}});
    llvm::json::Array required;
    for (uint32_t size : kernel.requiredWorkgroupSize)
      required.push_back(int64_t(size));
    kernels.push_back(llvm::json::Object{
        {"name", kernel.name},
        {"kernarg_size", int64_t(kernel.kernargSize)},
        {"lds_bytes", int64_t(kernel.groupSegmentFixedSize)},
        {"scratch_bytes", int64_t(kernel.privateSegmentFixedSize)},
        {"sgprs", int64_t(kernel.sgprCount)},
        {"vgprs", int64_t(kernel.vgprCount)},
        {"agprs", int64_t(kernel.agprCount)},
        {"sgpr_spills", int64_t(kernel.sgprSpillCount)},
        {"vgpr_spills", int64_t(kernel.vgprSpillCount)},
        {"max_workgroup_size", int64_t(kernel.maxFlatWorkgroupSize)},
        {"required_workgroup_size", std::move(required)},
        {"uses_dynamic_stack", kernel.usesDynamicStack},
        {"arguments", std::move(arguments)}});
  }
  return llvm::json::Object{{"target", object.target()},
                            {"code_object_version", int64_t(object.version())},
                            {"kernels", std::move(kernels)}};
}

/// The kernel of that name, or the only one where none is given.
static llvm::Expected<const sim::KernelInfo *>
chooseKernel(const sim::CodeObject &object, llvm::StringRef name) {
  if (name.empty()) {
    if (object.kernels().size() == 1)
      return &object.kernels().front();
    return llvm::createStringError(
        "expected the name of a kernel, as the code object has " +
        llvm::Twine(object.kernels().size()));
  }
  if (const sim::KernelInfo *kernel = object.findKernel(name))
    return kernel;
  std::string names;
  for (const sim::KernelInfo &kernel : object.kernels())
    names += (names.empty() ? "" : ", ") + kernel.name;
  return llvm::createStringError("no kernel '" + name +
                                 "' in the code object; it has " +
                                 (names.empty() ? "none" : names));
}

wavesmith_status
wavesmith_simulator_program_load(const void *bytes, size_t size,
                                 wavesmith_simulator_program **program,
                                 char **message) {
  if (program)
    *program = nullptr;
  return guard(message, [&]() -> Outcome {
    if (!program || (!bytes && size))
      return invalid("expected a code object and a place for the program");
    auto object =
        sim::CodeObject::load({static_cast<const uint8_t *>(bytes), size});
    if (!object)
      return failed(WAVESMITH_INVALID_ARGUMENT, object.takeError());
    auto result = std::make_unique<wavesmith_simulator_program>();
    result->object = std::move(*object);
    result->description = llvm::formatv("{0}", describe(*result->object)).str();
    *program = result.release();
    return {};
  });
}

void wavesmith_simulator_program_free(wavesmith_simulator_program *program) {
  delete program;
}

const char *wavesmith_simulator_program_description(
    const wavesmith_simulator_program *program) {
  return program ? program->description.c_str() : nullptr;
}

/// Sets \p text to a copy of the JSON.
static Outcome giveJSON(const llvm::json::Value &value, char **text) {
  *text = copyText(llvm::formatv("{0}", value).str());
  if (!*text)
    return {WAVESMITH_OUT_OF_MEMORY, "out of memory"};
  return {};
}

wavesmith_status wavesmith_simulator_program_disassemble(
    const wavesmith_simulator_program *program, const char *kernel,
    char **listing, char **message) {
  if (listing)
    *listing = nullptr;
  return guard(message, [&]() -> Outcome {
    if (!program || !listing)
      return invalid("expected a program and a place for the listing");
    auto chosen = chooseKernel(*program->object, orEmpty(kernel));
    if (!chosen)
      return failed(WAVESMITH_INVALID_ARGUMENT, chosen.takeError());
    auto decoded = program->object->disassemble((*chosen)->name);
    if (!decoded)
      return failed(WAVESMITH_INVALID_ARGUMENT, decoded.takeError());
    llvm::json::Array instructions;
    for (const sim::CodeObject::DecodedInstruction &instruction : *decoded)
      instructions.push_back(
          llvm::json::Object{{"address", instruction.address},
                             {"text", instruction.text},
                             {"opcode", instruction.opcode},
                             {"known", instruction.known}});
    return giveJSON(std::move(instructions), listing);
  });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

struct wavesmith_simulator_memory {
  std::mutex mutex;
  sim::Memory memory;
};

wavesmith_status
wavesmith_simulator_memory_create(wavesmith_simulator_memory **memory,
                                  char **message) {
  if (memory)
    *memory = nullptr;
  return guard(message, [&]() -> Outcome {
    if (!memory)
      return invalid("no place given for the memory");
    *memory = new wavesmith_simulator_memory;
    return {};
  });
}

void wavesmith_simulator_memory_free(wavesmith_simulator_memory *memory) {
  delete memory;
}

wavesmith_status
wavesmith_simulator_allocate(wavesmith_simulator_memory *memory, uint64_t bytes,
                             const char *name, uint64_t *address,
                             char **message) {
  if (address)
    *address = 0;
  return guard(message, [&]() -> Outcome {
    if (!memory || !address)
      return invalid("expected a memory and a place for the address");
    std::lock_guard<std::mutex> lock(memory->mutex);
    auto allocated = memory->memory.allocate(bytes, orEmpty(name));
    if (!allocated)
      return failed(WAVESMITH_INVALID_ARGUMENT, allocated.takeError());
    *address = *allocated;
    return {};
  });
}

wavesmith_status wavesmith_simulator_release(wavesmith_simulator_memory *memory,
                                             uint64_t address, char **message) {
  return guard(message, [&]() -> Outcome {
    if (!memory)
      return invalid("no memory given");
    std::lock_guard<std::mutex> lock(memory->mutex);
    if (llvm::Error error = memory->memory.release(address))
      return failed(WAVESMITH_INVALID_ARGUMENT, std::move(error));
    return {};
  });
}

wavesmith_status wavesmith_simulator_write(wavesmith_simulator_memory *memory,
                                           uint64_t address, const void *bytes,
                                           size_t size, char **message) {
  return guard(message, [&]() -> Outcome {
    if (!memory || (!bytes && size))
      return invalid("expected a memory and the bytes to write");
    std::lock_guard<std::mutex> lock(memory->mutex);
    if (llvm::Error error = memory->memory.write(
            address, {static_cast<const uint8_t *>(bytes), size}))
      return failed(WAVESMITH_INVALID_ARGUMENT, std::move(error));
    return {};
  });
}

wavesmith_status wavesmith_simulator_read(wavesmith_simulator_memory *memory,
                                          uint64_t address, void *bytes,
                                          size_t size, char **message) {
  return guard(message, [&]() -> Outcome {
    if (!memory || (!bytes && size))
      return invalid("expected a memory and a place for the bytes");
    std::lock_guard<std::mutex> lock(memory->mutex);
    if (llvm::Error error =
            memory->memory.read(address, {static_cast<uint8_t *>(bytes), size}))
      return failed(WAVESMITH_INVALID_ARGUMENT, std::move(error));
    return {};
  });
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

void wavesmith_simulator_launch_options_init(
    wavesmith_simulator_launch_options *options) {
  if (!options)
    return;
  *options = {};
  options->struct_size = sizeof(*options);
  for (int i = 0; i < 3; ++i)
    options->grid[i] = options->workgroup[i] = 1;
  options->threads = 1;
  options->max_instructions = sim::LaunchParameters().maxInstructions;
  options->fitted_scale = 1;
}

wavesmith_status
wavesmith_simulator_launch(const wavesmith_simulator_program *program,
                           wavesmith_simulator_memory *memory,
                           const wavesmith_simulator_launch_options *options,
                           char **report, char **message) {
  if (report)
    *report = nullptr;
  return guard(message, [&]() -> Outcome {
    if (!program || !memory || !options)
      return invalid("expected a program, a memory and launch options");
    if (options->struct_size != sizeof(wavesmith_simulator_launch_options))
      return invalid("the launch options are " +
                     llvm::Twine(options->struct_size) + " bytes, expected " +
                     llvm::Twine(sizeof(wavesmith_simulator_launch_options)) +
                     "; set them up by "
                     "wavesmith_simulator_launch_options_init");
    if (!options->kernarg && options->kernarg_size)
      return invalid("no arguments given");
    if (options->threads < 1 || options->threads > 1024)
      return invalid("a simulator has from 1 to 1024 threads, got " +
                     llvm::Twine(options->threads));
    auto chosen = chooseKernel(*program->object, orEmpty(options->kernel));
    if (!chosen)
      return failed(WAVESMITH_INVALID_ARGUMENT, chosen.takeError());
    sim::LaunchParameters parameters;
    parameters.kernel = (*chosen)->name;
    for (int i = 0; i < 3; ++i) {
      parameters.grid[i] = options->grid[i];
      parameters.workgroup[i] = options->workgroup[i];
    }
    parameters.kernarg = {static_cast<const uint8_t *>(options->kernarg),
                          options->kernarg_size};
    parameters.dynamicLDSBytes = options->dynamic_lds_bytes;
    parameters.maxInstructions = options->max_instructions;
    std::vector<sim::InstructionUse> used;
    parameters.instructionUse = &used;
    sim::CheckOptions checkOptions;
    std::vector<sim::Finding> findings;
    if (options->check) {
      parameters.check = &checkOptions;
      parameters.findings = &findings;
    }
    std::lock_guard<std::mutex> lock(memory->mutex);
    std::optional<sim::TimingReport> timing;
    auto run = [&]() -> llvm::Expected<sim::Counters> {
      if (!options->model_time)
        return sim::launch(*program->object, memory->memory, parameters,
                           options->threads);
      sim::TimingOptions timingOptions;
      timingOptions.chip = orEmpty(options->chip).str();
      timingOptions.fittedScale = options->fitted_scale;
      auto result =
          sim::launchTimed(*program->object, memory->memory, parameters,
                           timingOptions, options->threads);
      if (!result)
        return result.takeError();
      timing = std::move(result->second);
      return result->first;
    };
    auto counters = run();
    if (!counters) {
      Outcome outcome = failed(WAVESMITH_DEVICE_ERROR, counters.takeError());
      for (const sim::Finding &finding : findings)
        outcome.message += "\nfound before: " + finding.text();
      return outcome;
    }
    if (!report)
      return {};
    llvm::json::Object root{
        {"kernel", (*chosen)->name},
        {"counters", countersToJSON(*counters)},
        {"semantics", semanticsToJSON(used)},
        {"rocprof_counters",
         rocprofCountersToJSON(sim::rocprofCounters(
             *counters, used, timing ? &*timing : nullptr))}};
    if (options->check)
      root["findings"] = findingsToJSON(findings);
    if (timing)
      root["modelled_time"] = timing->toJSON();
    return giveJSON(std::move(root), report);
  });
}

wavesmith_status wavesmith_counters_csv(const char *report, char **csv,
                                        char **message) {
  if (csv)
    *csv = nullptr;
  return guard(message, [&]() -> Outcome {
    if (!report || !csv)
      return invalid("expected a report and a place for the counters");
    llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(report);
    if (!parsed)
      return failed(WAVESMITH_INVALID_ARGUMENT, parsed.takeError());
    const llvm::json::Object *root = parsed->getAsObject();
    std::optional<llvm::StringRef> kernel =
        root ? root->getString("kernel") : std::nullopt;
    const llvm::json::Object *values =
        root ? root->getObject("rocprof_counters") : nullptr;
    if (!kernel || !values)
      return invalid("the report has no kernel or no rocprof_counters, which "
                     "reports of the simulator have");
    std::vector<sim::RocprofCounter> counters;
    for (const auto &[name, value] : *values) {
      std::optional<double> number = value.getAsNumber();
      if (!number)
        return invalid("the counter " + llvm::StringRef(name) +
                       " of the report is no number");
      counters.push_back({llvm::StringRef(name).str(), *number});
    }
    llvm::sort(counters,
               [](const auto &a, const auto &b) { return a.name < b.name; });
    std::string text;
    llvm::raw_string_ostream os(text);
    sim::printCSV(os, *kernel, counters);
    *csv = copyText(text);
    if (!*csv)
      return {WAVESMITH_OUT_OF_MEMORY, "out of memory"};
    return {};
  });
}
