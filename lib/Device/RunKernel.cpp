//===- RunKernel.cpp - Run a described kernel on host arrays --------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Device/RunKernel.h"
#include "DeviceImplementations.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>

using namespace wavesmith;

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

KernelResources wavesmith::getResources(const sim::KernelInfo &kernel) {
  KernelResources resources;
  resources.unifiedVGPRs = kernel.vgprCount;
  resources.agprs = kernel.agprCount;
  // `.vgpr_count` is align(VGPRs, 4) + AGPRs, so with AGPRs this is the number
  // of VGPRs rounded up to their offset.
  resources.vgprs = kernel.vgprCount - kernel.agprCount;
  resources.sgprs = kernel.sgprCount;
  resources.vgprSpills = kernel.vgprSpillCount;
  resources.sgprSpills = kernel.sgprSpillCount;
  resources.scratchBytes = kernel.privateSegmentFixedSize;
  resources.ldsBytes = kernel.groupSegmentFixedSize;
  return resources;
}

/// JSON integers are signed.
static int64_t toInteger(uint64_t value) {
  return int64_t(
      std::min<uint64_t>(value, std::numeric_limits<int64_t>::max()));
}

llvm::json::Array
wavesmith::findingsToJSON(llvm::ArrayRef<sim::Finding> findings) {
  llvm::json::Array list;
  for (const sim::Finding &finding : findings) {
    llvm::json::Object entry{
        {"kind", sim::spelling(finding.kind)},
        {"kernel", finding.kernel},
        {"workgroup", llvm::json::Array{int64_t(finding.workgroup[0]),
                                        int64_t(finding.workgroup[1]),
                                        int64_t(finding.workgroup[2])}},
        {"wave", int64_t(finding.wave)},
        {"pc", toInteger(finding.pc)},
        {"instruction", finding.disassembly},
        {"message", finding.message},
        {"count", toInteger(finding.count)}};
    if (finding.lane >= 0)
      entry["lane"] = finding.lane;
    if (!finding.source.empty())
      entry["source"] = finding.source;
    list.push_back(std::move(entry));
  }
  return list;
}

llvm::json::Object
wavesmith::semanticsToJSON(llvm::ArrayRef<sim::InstructionUse> instructionUse) {
  // Exact ones need no list: how often, and which are approximate.
  uint64_t exact = 0;
  llvm::json::Object approximate;
  for (const sim::InstructionUse &use : instructionUse) {
    if (use.exactness == sim::Exactness::Exact)
      exact += use.count;
    else
      approximate[use.opcode] = toInteger(use.count);
  }
  return llvm::json::Object{{"exact", toInteger(exact)},
                            {"approximate", std::move(approximate)}};
}

llvm::json::Object
wavesmith::rocprofCountersToJSON(llvm::ArrayRef<sim::RocprofCounter> counters) {
  llvm::json::Object values;
  for (const sim::RocprofCounter &counter : counters)
    values[counter.name] = counter.value;
  return values;
}

llvm::json::Object wavesmith::countersToJSON(const sim::Counters &counters) {
  // rocprof's names for what has the same meaning there; names of our own, in
  // lower case, for the rest.
  return llvm::json::Object{
      {"SQ_WAVES", toInteger(counters.waves)},
      {"SQ_INSTS_VALU", toInteger(counters.VALU)},
      {"SQ_INSTS_MFMA", toInteger(counters.MFMA)},
      {"SQ_INSTS_SALU", toInteger(counters.SALU)},
      {"SQ_INSTS_SMEM", toInteger(counters.SMEM)},
      {"SQ_INSTS_LDS", toInteger(counters.LDS)},
      {"SQ_INSTS_FLAT", toInteger(counters.flat)},
      {"SQ_INSTS_VMEM_RD", toInteger(counters.VMEMRead)},
      {"SQ_INSTS_VMEM_WR", toInteger(counters.VMEMWrite)},
      {"SQ_INSTS_VALU_ADD_F64", toInteger(counters.f64Add)},
      {"SQ_INSTS_VALU_MUL_F64", toInteger(counters.f64Mul)},
      {"SQ_INSTS_VALU_FMA_F64", toInteger(counters.f64FMA)},
      {"SQ_INSTS_VALU_TRANS_F64", toInteger(counters.f64Trans)},
      {"SQ_INSTS_VALU_ADD_F32", toInteger(counters.f32Add)},
      {"SQ_INSTS_VALU_MUL_F32", toInteger(counters.f32Mul)},
      {"SQ_INSTS_VALU_FMA_F32", toInteger(counters.f32FMA)},
      {"SQ_INSTS_VALU_TRANS_F32", toInteger(counters.f32Trans)},
      {"instructions", toInteger(counters.instructions)},
      {"vmem_atomic_instructions", toInteger(counters.VMEMAtomic)},
      {"branch_instructions", toInteger(counters.branch)},
      {"waitcnt_instructions", toInteger(counters.waitcnt)},
      {"barrier_instructions", toInteger(counters.barrier)},
      {"other_instructions", toInteger(counters.other)},
      {"active_lanes_valu", toInteger(counters.activeLanesVALU)},
      {"global_bytes_read", toInteger(counters.globalBytesRead)},
      {"global_bytes_written", toInteger(counters.globalBytesWritten)},
      {"scratch_bytes_read", toInteger(counters.scratchBytesRead)},
      {"scratch_bytes_written", toInteger(counters.scratchBytesWritten)}};
}

static llvm::json::Array toArray(const std::array<uint32_t, 3> &sizes) {
  return llvm::json::Array{int64_t(sizes[0]), int64_t(sizes[1]),
                           int64_t(sizes[2])};
}

std::vector<sim::RocprofCounter> LaunchReport::getRocprofCounters() const {
  if (!counters)
    return {};
  return sim::rocprofCounters(*counters, instructionUse,
                              modelledTime ? &*modelledTime : nullptr);
}

llvm::json::Value LaunchReport::toJSON() const {
  llvm::json::Object deviceObject{
      {"kind", stringify(device.kind)},
      {"name", device.name},
      {"architecture", device.architecture},
      {"full_architecture", device.fullArchitecture},
      {"compute_units", device.computeUnits},
      {"chip", target.chip}};
  if (device.kind == DeviceKind::HIP) {
    deviceObject["ordinal"] = device.ordinal;
    deviceObject["runtime"] = device.runtime;
  }
  if (!device.note.empty())
    deviceObject["note"] = device.note;

  llvm::json::Object root{
      {"wavesmith_report", 1},
      {"device", std::move(deviceObject)},
      {"kernel", kernel},
      {"grid", toArray(grid)},
      {"workgroup_size", toArray(workgroup)},
      {"resources",
       llvm::json::Object{{"vgprs", resources.vgprs},
                          {"agprs", resources.agprs},
                          {"unified_vgprs", resources.unifiedVGPRs},
                          {"sgprs", resources.sgprs},
                          {"vgpr_spills", resources.vgprSpills},
                          {"sgpr_spills", resources.sgprSpills},
                          {"scratch_bytes", resources.scratchBytes},
                          {"lds_bytes", resources.ldsBytes}}},
      {"occupancy",
       llvm::json::Object{{"waves_per_simd", occupancy.wavesPerSIMD},
                          {"waves_per_cu", occupancy.wavesPerCU},
                          {"workgroups_per_cu", occupancy.workgroupsPerCU},
                          {"fraction", occupancy.fraction},
                          {"limit", stringify(occupancy.limit)}}}};
  if (zones)
    root["zones"] = zones;
  if (counters) {
    root["counters"] = countersToJSON(*counters);
    if (zones)
      root["instructions_per_zone"] =
          double(counters->instructions) / double(zones);
    if (counters->VALU)
      root["valu_utilization_percent"] = counters->activeVALULanesPercent();
  }
  if (!instructionUse.empty())
    root["semantics"] = semanticsToJSON(instructionUse);
  if (findings)
    root["findings"] = findingsToJSON(*findings);
  if (counters)
    root["rocprof_counters"] = rocprofCountersToJSON(getRocprofCounters());
  if (modelledTime)
    root["modelled_time"] = modelledTime->toJSON();
  if (measuredSeconds)
    root["time"] = llvm::json::Object{{"kind", "measured"},
                                      {"source", "HIP events"},
                                      {"seconds", *measuredSeconds}};
  if (schedule.kind() != llvm::json::Value::Null)
    root["schedule"] = schedule;
  return root;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// The explicit arguments of a kernel's metadata against those of its
/// description.
static llvm::Error checkArguments(const KernelDescription &kernel,
                                  const sim::KernelInfo &info) {
  llvm::SmallVector<const sim::KernelArgument *> explicitArguments;
  for (const sim::KernelArgument &argument : info.arguments)
    if (!isHiddenArgument(argument))
      explicitArguments.push_back(&argument);
  if (explicitArguments.size() != kernel.arguments.size())
    return llvm::createStringError("kernel '" + kernel.name + "' has " +
                                   llvm::Twine(explicitArguments.size()) +
                                   " arguments in the code object and " +
                                   llvm::Twine(kernel.arguments.size()) +
                                   " in the description");
  for (size_t i = 0; i < explicitArguments.size(); ++i) {
    const ArgumentDescription &wanted = kernel.arguments[i];
    const sim::KernelArgument &got = *explicitArguments[i];
    llvm::StringRef valueKind = wanted.isArray() ? "global_buffer" : "by_value";
    unsigned size =
        wanted.isArray() ? sizeof(uint64_t) : getElementBytes(wanted.type);
    if (valueKind != got.valueKind || size != got.size)
      return llvm::createStringError(
          "argument " + llvm::Twine(i) + " ('" + wanted.name +
          "') of kernel '" + kernel.name + "' is a " + got.valueKind + " of " +
          llvm::Twine(got.size) +
          " bytes in the code object; the description "
          "makes it a " +
          valueKind + " of " + llvm::Twine(size) + " bytes");
    if (uint64_t(got.offset) + got.size > info.kernargSize)
      return llvm::createStringError(
          "argument " + llvm::Twine(i) + " of kernel '" + kernel.name +
          "' ends at byte " + llvm::Twine(uint64_t(got.offset) + got.size) +
          " of a kernarg segment of " + llvm::Twine(info.kernargSize));
  }
  return llvm::Error::success();
}

static bool takesValue(const ArgumentDescription &argument) {
  return argument.kind == ArgumentKind::Input ||
         argument.kind == ArgumentKind::Scalar;
}

namespace {
/// A size that has a name, and where it came from.
struct NamedSize {
  int64_t size;
  std::string from;
};
} // namespace

/// Whether \p value has the type and shape of \p argument. Enters the sizes
/// that have names into \p sizes and compares later ones with them.
static llvm::Error checkValue(const ArgumentDescription &argument,
                              const HostArrayView &value,
                              llvm::StringMap<NamedSize> &sizes) {
  std::string what =
      (stringify(argument.kind) + " '" + argument.name + "'").str();
  if (value.type != argument.type)
    return llvm::createStringError(what + ": expected elements of type " +
                                   stringify(argument.type) + ", got " +
                                   stringify(value.type));
  std::optional<uint64_t> bytes = getArrayBytes(value.type, value.shape);
  if (!bytes || *bytes != value.bytes.size())
    return llvm::createStringError(
        what + ": shape " + formatShape(value.shape) + " of " +
        stringify(value.type) + " does not take the " +
        llvm::Twine(value.bytes.size()) + " bytes given");
  auto failShape = [&]() {
    std::string wanted =
        argument.isArray() ? argument.formatShape() : "[] (a scalar)";
    return llvm::createStringError(what + ": expected shape " + wanted +
                                   ", got " + formatShape(value.shape));
  };
  if (value.shape.size() != argument.shape.size())
    return failShape();
  for (size_t i = 0; i < value.shape.size(); ++i) {
    int64_t size = value.shape[i];
    const ArgumentDimension &dimension = argument.shape[i];
    if (dimension.isFixed()) {
      if (size != dimension.size)
        return failShape();
      continue;
    }
    if (size == 0 && dimension.isZones())
      return llvm::createStringError(what + " has zero zones: shape " +
                                     formatShape(value.shape));
    auto [known, isNew] =
        sizes.try_emplace(dimension.name, NamedSize{size, what});
    if (!isNew && known->second.size != size)
      return llvm::createStringError(
          what + " has " + llvm::Twine(size) + " " + dimension.name + ", " +
          known->second.from + " has " + llvm::Twine(known->second.size));
  }
  return llvm::Error::success();
}

/// The value of a scalar that is the size of a dimension.
static llvm::Expected<int64_t> readSize(const ArgumentDescription &argument,
                                        const HostArrayView &value) {
  llvm::StringMap<NamedSize> none;
  if (llvm::Error error = checkValue(argument, value, none))
    return error;
  int64_t size = 0;
  if (argument.type == ElementType::I32) {
    int32_t narrow;
    std::memcpy(&narrow, value.bytes.data(), sizeof(narrow));
    size = narrow;
  } else {
    std::memcpy(&size, value.bytes.data(), sizeof(size));
  }
  if (size < 0)
    return llvm::createStringError("dimension '" + argument.name +
                                   "' is negative: " + llvm::Twine(size));
  return size;
}

/// The grid of a kernel whose description has one.
static llvm::Error planGrid(const KernelDescription &kernel, RunPlan &plan) {
  std::string what = "kernel '" + kernel.name + "'";
  for (const ArgumentDescription &argument : kernel.arguments) {
    if (argument.isArray() && argument.shape.empty())
      return llvm::createStringError(
          what + ": the description has no shape of array '" + argument.name +
          "'; launch the kernel by itself");
    bool isSize = argument.kind == ArgumentKind::Dimension;
    if (isSize && !plan.sizes.count(argument.name))
      return llvm::createStringError(what + " needs dimension '" +
                                     argument.name +
                                     "', which no input's shape has");
    if (isSize && argument.type == ElementType::I32 &&
        plan.sizes.lookup(argument.name) > std::numeric_limits<int32_t>::max())
      return llvm::createStringError(
          what + " takes '" + argument.name + "' as i32; " +
          llvm::Twine(plan.sizes.lookup(argument.name)) + " does not fit");
    for (const ArgumentDimension &dimension : argument.shape)
      if (!dimension.isFixed() && !plan.sizes.count(dimension.name))
        return llvm::createStringError(what + ": no input has the size '" +
                                       dimension.name + "' of array '" +
                                       argument.name + "'");
    if (argument.isArray() &&
        !getArrayBytes(argument.type, argument.getShape(plan.sizes)))
      return llvm::createStringError(
          stringify(argument.kind) + " '" + argument.name + "' of shape " +
          formatShape(argument.getShape(plan.sizes)) + " is too large");
  }
  for (auto [i, size] : llvm::enumerate(kernel.grid)) {
    if (!size.isKnown() ||
        (!size.dimension.empty() && !plan.sizes.count(size.dimension)))
      return llvm::createStringError(what + ": the size of the grid '" +
                                     size.text +
                                     "' does not follow from the arguments");
    int64_t number = size.size;
    if (!size.dimension.empty())
      number =
          int64_t(llvm::divideCeil(uint64_t(plan.sizes.lookup(size.dimension)),
                                   uint64_t(size.divisor))) +
          size.addend;
    if (number == 0)
      return llvm::createStringError(what + " has nothing to do: '" +
                                     size.dimension + "' is 0");
    if (number > std::numeric_limits<uint32_t>::max())
      return llvm::createStringError(
          what + " needs " + llvm::Twine(number) + " workgroups; a launch " +
          "takes up to " + llvm::Twine(std::numeric_limits<uint32_t>::max()));
    plan.grid[i] = uint32_t(number);
  }
  return llvm::Error::success();
}

llvm::StringMap<int64_t> RunPlan::getPaddedSizes() const {
  llvm::StringMap<int64_t> padded = sizes;
  if (!kernel->isGrid())
    padded["zones"] = int64_t(grid[0]) * kernel->zonesPerWorkgroup;
  return padded;
}

llvm::Expected<RunPlan> wavesmith::planRun(const RunRequest &request,
                                           const sim::CodeObject &codeObject) {
  if (!request.description)
    return llvm::createStringError("no kernel description given");
  const CodeObjectDescription &description = *request.description;
  RunPlan plan;
  llvm::Expected<const KernelDescription &> kernel =
      description.findKernel(request.kernel);
  if (!kernel)
    return kernel.takeError();
  plan.kernel = &*kernel;

  llvm::StringRef architecture = getArchitecture(codeObject.target());
  if (architecture != description.target)
    return llvm::createStringError("code object is for " + architecture +
                                   ", its description for " +
                                   description.target);
  plan.info = codeObject.findKernel(kernel->name);
  if (!plan.info) {
    std::string names;
    for (const sim::KernelInfo &info : codeObject.kernels())
      names += (names.empty() ? "" : ", ") + info.name;
    return llvm::createStringError(
        "code object has no kernel '" + kernel->name + "'; it has " +
        (names.empty() ? std::string("none") : names));
  }
  if (llvm::Error error = checkArguments(*kernel, *plan.info))
    return error;

  // Names first: a misspelt one is both unknown and missing. In sorted order,
  // so that the message does not depend on hashing.
  llvm::SmallVector<llvm::StringRef> given(request.values.keys());
  llvm::sort(given);
  std::string known;
  for (const ArgumentDescription &argument : kernel->arguments)
    if (takesValue(argument) || argument.kind == ArgumentKind::Dimension)
      known += (known.empty() ? "" : ", ") + argument.name;
  for (llvm::StringRef name : given) {
    const ArgumentDescription *argument = kernel->findArgument(name);
    if (!argument ||
        (!takesValue(*argument) && argument->kind != ArgumentKind::Dimension))
      return llvm::createStringError(
          "kernel '" + kernel->name + "' has no input or scalar '" + name +
          "'; it has " + (known.empty() ? std::string("none") : known));
  }

  llvm::StringMap<NamedSize> sizes;
  if (request.zones) {
    if (kernel->isGrid())
      return llvm::createStringError("kernel '" + kernel->name +
                                     "' has no zones; its sizes are those of "
                                     "the arrays");
    if (*request.zones <= 0)
      return llvm::createStringError("number of zones must be positive, got " +
                                     llvm::Twine(*request.zones));
    sizes["zones"] = {*request.zones, "the call"};
  }
  for (const ArgumentDescription &argument : kernel->arguments) {
    auto value = request.values.find(argument.name);
    if (argument.kind != ArgumentKind::Dimension ||
        value == request.values.end())
      continue;
    llvm::Expected<int64_t> size = readSize(argument, value->second);
    if (!size)
      return size.takeError();
    sizes[argument.name] = {*size, "the call"};
  }
  for (const ArgumentDescription &argument : kernel->arguments) {
    if (!takesValue(argument))
      continue;
    auto value = request.values.find(argument.name);
    if (value == request.values.end())
      return llvm::createStringError(
          "kernel '" + kernel->name + "' needs " + stringify(argument.kind) +
          " '" + argument.name + "' of type " + stringify(argument.type) +
          (argument.isArray() ? " and shape " + argument.formatShape()
                              : std::string()));
    if (llvm::Error error = checkValue(argument, value->second, sizes))
      return error;
  }
  for (const auto &size : sizes)
    plan.sizes[size.getKey()] = size.getValue().size;
  if (kernel->isGrid()) {
    if (llvm::Error error = planGrid(*kernel, plan))
      return error;
    return plan;
  }
  auto zones = plan.sizes.find("zones");
  if (zones == plan.sizes.end())
    return llvm::createStringError(
        "no input of kernel '" + kernel->name +
        "' has a zones dimension, so the number of zones has to be given");
  plan.zones = zones->second;

  uint64_t workgroups = llvm::divideCeil(uint64_t(plan.zones),
                                         uint64_t(kernel->zonesPerWorkgroup));
  if (workgroups > std::numeric_limits<uint32_t>::max())
    return llvm::createStringError(
        llvm::Twine(plan.zones) + " zones need " + llvm::Twine(workgroups) +
        " workgroups of kernel '" + kernel->name + "'; a launch takes up to " +
        llvm::Twine(std::numeric_limits<uint32_t>::max()));
  plan.grid = {uint32_t(workgroups), 1, 1};

  for (const ArgumentDescription &argument : kernel->arguments) {
    if (argument.kind == ArgumentKind::Zones &&
        argument.type == ElementType::I32 &&
        plan.zones > std::numeric_limits<int32_t>::max())
      return llvm::createStringError("kernel '" + kernel->name +
                                     "' takes the number of zones as i32; " +
                                     llvm::Twine(plan.zones) + " does not fit");
    int64_t padded = workgroups * kernel->zonesPerWorkgroup;
    if (argument.isArray() &&
        !getArrayBytes(argument.type, argument.getShape(padded)))
      return llvm::createStringError(
          stringify(argument.kind) + " '" + argument.name + "' of shape " +
          argument.formatShape() + " is too large for " +
          llvm::Twine(plan.zones) + " zones");
  }
  return plan;
}

//===----------------------------------------------------------------------===//
// Run
//===----------------------------------------------------------------------===//

namespace {

/// Device memory of one run.
class Allocations {
public:
  explicit Allocations(Device &device) : device(device) {}

  /// After an error its own message is the one that counts.
  ~Allocations() { llvm::consumeError(releaseAll()); }

  llvm::Expected<uint64_t> allocate(uint64_t bytes, llvm::StringRef name) {
    llvm::Expected<uint64_t> address = device.allocate(bytes, name);
    if (address)
      addresses.push_back(*address);
    return address;
  }

  llvm::Error releaseAll() {
    llvm::Error error = llvm::Error::success();
    for (uint64_t address : addresses)
      error = llvm::joinErrors(std::move(error), device.release(address));
    addresses.clear();
    return error;
  }

private:
  Device &device;
  llvm::SmallVector<uint64_t> addresses;
};

} // namespace

/// Without exceptions, a container that cannot grow ends the process; so a
/// large one is tried first.
static bool hasHostMemory(uint64_t bytes) {
  // Volatile, or the compiler removes the pair and assumes success.
  void *volatile probe = std::malloc(bytes);
  std::free(probe);
  return probe != nullptr;
}

/// The explicit arguments at their places; \p addresses has one for each array.
static std::vector<uint8_t> packArguments(const RunRequest &request,
                                          const RunPlan &plan,
                                          llvm::ArrayRef<uint64_t> addresses) {
  // Arguments stand in kernarg order in both lists; planRun compared them.
  llvm::SmallVector<const sim::KernelArgument *> slots;
  uint64_t bytes = 0;
  for (const sim::KernelArgument &argument : plan.info->arguments) {
    if (isHiddenArgument(argument))
      continue;
    slots.push_back(&argument);
    bytes =
        std::max<uint64_t>(bytes, uint64_t(argument.offset) + argument.size);
  }
  std::vector<uint8_t> kernarg(bytes, 0);
  for (auto [i, argument] : llvm::enumerate(plan.kernel->arguments)) {
    int64_t size = 0;
    const void *value = &addresses[i];
    if (argument.kind == ArgumentKind::Zones) {
      // Little endian, as is every host that HIP runs on.
      value = &plan.zones;
    } else if (argument.kind == ArgumentKind::Dimension) {
      size = plan.sizes.lookup(argument.name);
      value = &size;
    } else if (argument.kind == ArgumentKind::Scalar) {
      value = request.values.find(argument.name)->second.bytes.data();
    }
    std::memcpy(kernarg.data() + slots[i]->offset, value, slots[i]->size);
  }
  return kernarg;
}

/// What \p plan launches, without its arguments.
static KernelLaunch launchOf(const RunPlan &plan) {
  KernelLaunch launch;
  launch.kernel = plan.kernel->name;
  launch.grid = plan.grid;
  launch.workgroup = plan.kernel->workgroupSize;
  return launch;
}

/// Runs a kernel of a code object that \p device has loaded.
static llvm::Expected<RunResult> runLoaded(Device &device,
                                           const LoadedCodeObject &object,
                                           const RunRequest &request,
                                           const RunPlan &plan) {
  const KernelDescription &kernel = *plan.kernel;
  const DeviceInfo &deviceInfo = device.info();
  llvm::Expected<const TargetInfo &> target =
      lookupTargetOfGPU(deviceInfo.architecture, deviceInfo.computeUnits);
  if (!target)
    return target.takeError();

  RunResult result;
  LaunchReport &report = result.report;
  report.device = deviceInfo;
  report.target = *target;
  report.kernel = kernel.name;
  report.zones = plan.zones;
  report.grid = plan.grid;
  report.workgroup = kernel.workgroupSize;
  report.resources = getResources(*plan.info);
  report.schedule = kernel.schedule;
  llvm::Expected<Occupancy> occupancy =
      computeOccupancy(*target, report.resources.vgprs, report.resources.agprs,
                       report.resources.sgprs, report.resources.ldsBytes,
                       uint64_t(kernel.workgroupSize[0]) *
                           kernel.workgroupSize[1] * kernel.workgroupSize[2]);
  if (!occupancy)
    return occupancy.takeError();
  report.occupancy = *occupancy;

  llvm::StringMap<int64_t> paddedSizes = plan.getPaddedSizes();
  Allocations allocations(device);
  llvm::SmallVector<uint64_t> outputAddresses;
  llvm::SmallVector<uint64_t> addresses(kernel.arguments.size());
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const ArgumentDescription &argument = kernel.arguments[i];
    if (!argument.isArray())
      continue;
    bool isWorkspace = argument.kind == ArgumentKind::Workspace;
    llvm::SmallVector<int64_t, 4> shape =
        argument.getShape(isWorkspace ? paddedSizes : plan.sizes);
    uint64_t bytes = *getArrayBytes(argument.type, shape);
    // An array without elements has a place, too.
    llvm::Expected<uint64_t> address = allocations.allocate(
        std::max<uint64_t>(bytes, getElementBytes(argument.type)),
        argument.name);
    if (!address)
      return address.takeError();
    addresses[i] = *address;
    if (argument.kind == ArgumentKind::Input) {
      if (llvm::Error error = device.copyToDevice(
              *address, request.values.find(argument.name)->second.bytes))
        return error;
    } else if (argument.kind == ArgumentKind::Output) {
      // All bits set is a NaN, and -1 for integers: an element that the kernel
      // forgets shows, and no run sees memory of an earlier one.
      if (!hasHostMemory(bytes))
        return llvm::createStringError("not enough host memory for output '" +
                                       argument.name +
                                       "': " + llvm::Twine(bytes) + " bytes");
      HostArray output;
      output.type = argument.type;
      output.shape = shape;
      output.bytes.assign(bytes, 0xff);
      if (llvm::Error error = device.copyToDevice(*address, output.bytes))
        return error;
      result.outputs.emplace_back(argument.name, std::move(output));
      outputAddresses.push_back(*address);
    }
  }

  std::vector<uint8_t> kernarg = packArguments(request, plan, addresses);
  KernelLaunch launch = launchOf(plan);
  launch.kernarg = kernarg;
  auto start = std::chrono::steady_clock::now();
  if (llvm::Error error = device.launch(object, launch))
    return error;
  if (llvm::Error error = device.wait())
    return error;
  report.hostSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  report.counters = device.counters();
  report.instructionUse = device.instructionUse().vec();
  if (const std::vector<sim::Finding> *findings = device.findings())
    report.findings = *findings;
  if (const sim::TimingReport *timing = device.modelledTime())
    report.modelledTime = *timing;
  report.measuredSeconds = device.measuredSeconds();

  for (size_t i = 0; i < outputAddresses.size(); ++i)
    if (llvm::Error error = device.copyFromDevice(
            result.outputs[i].second.bytes, outputAddresses[i]))
      return error;
  if (llvm::Error error = allocations.releaseAll())
    return error;
  return result;
}

llvm::Expected<RunResult> wavesmith::runKernel(Device &device,
                                               const RunRequest &request) {
  llvm::Expected<std::unique_ptr<LoadedCodeObject>> object =
      device.loadCodeObject(request.codeObject);
  if (!object)
    return object.takeError();
  llvm::Expected<RunPlan> plan = planRun(request, (*object)->metadata());
  if (!plan)
    return plan.takeError();
  return runLoaded(device, **object, request, *plan);
}

llvm::Expected<RunResult> wavesmith::runKernel(Device &device,
                                               const RunRequest &request,
                                               const RunPlan &plan) {
  llvm::Expected<std::unique_ptr<LoadedCodeObject>> object =
      device.loadCodeObject(request.codeObject);
  if (!object)
    return object.takeError();
  return runLoaded(device, **object, request, plan);
}

llvm::Error wavesmith::startKernel(Device &device, const RunRequest &request,
                                   const RunPlan &plan,
                                   const llvm::StringMap<uint64_t> &others,
                                   void *stream) {
  if (device.info().kind != DeviceKind::HIP)
    return llvm::createStringError(
        "arrays on a GPU need a GPU to launch kernel '" + plan.kernel->name +
        "', the device is a " + stringify(device.info().kind));
  llvm::Expected<std::unique_ptr<LoadedCodeObject>> object =
      device.loadCodeObject(request.codeObject);
  if (!object)
    return object.takeError();
  llvm::SmallVector<uint64_t> addresses;
  for (const ArgumentDescription &argument : plan.kernel->arguments) {
    auto other = others.find(argument.name);
    if (argument.kind == ArgumentKind::Input)
      addresses.push_back(reinterpret_cast<uint64_t>(
          request.values.find(argument.name)->second.bytes.data()));
    else if (!argument.isArray())
      addresses.push_back(0);
    else if (other == others.end())
      return llvm::createStringError("kernel '" + plan.kernel->name +
                                     "' needs " + stringify(argument.kind) +
                                     " '" + argument.name + "' on the GPU");
    else
      addresses.push_back(other->second);
  }
  std::vector<uint8_t> kernarg = packArguments(request, plan, addresses);
  KernelLaunch launch = launchOf(plan);
  launch.kernarg = kernarg;
  launch.stream = stream;
  return device.launch(**object, launch);
}
