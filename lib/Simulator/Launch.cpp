//===- Launch.cpp - Dispatch, workgroups and counters -------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checker.h"
#include "WorkgroupExecution.h"
#include "wavesmith/Support/FatalErrors.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/AMDHSAKernelDescriptor.h"
#include "llvm/Support/MathExtras.h"
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

using namespace llvm;
using namespace wavesmith::sim;

/// Limits of both targets.
static constexpr uint32_t maximumWorkgroupSize = 1024;
static constexpr uint32_t maximumLDSBytes = 65536;
/// A wavefront's scratch is at most 8 MiB on these chips.
static constexpr uint32_t maximumScratchPerLane = (8u << 20) / lanesPerWave;
/// What a kernel whose stack has no static bound gets on top.
static constexpr uint32_t dynamicStackBytes = 16384;

//===----------------------------------------------------------------------===//
// Tables and counters
//===----------------------------------------------------------------------===//

const OpcodeTable &wavesmith::sim::opcodeTable() {
  static const OpcodeTable *table = [] {
    auto *result = new OpcodeTable();
#ifdef WAVESMITH_SIMULATOR_AVX2
    // For tests of the portable code on a host that would not take it.
    const char *portableOnly = std::getenv("WAVESMITH_SIMULATOR_PORTABLE");
    if (!portableOnly && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c")) {
      avx2::fillTable(*result);
      return result;
    }
#endif
    portable::fillTable(*result);
    return result;
  }();
  return *table;
}

double Counters::activeVALULanesPercent() const {
  return VALU ? 100.0 * static_cast<double>(activeLanesVALU) /
                    (static_cast<double>(VALU) * lanesPerWave)
              : 0.0;
}

Counters &Counters::operator+=(const Counters &other) {
  static_assert(sizeof(Counters) % sizeof(uint64_t) == 0);
  // All members are uint64_t.
  auto *to = reinterpret_cast<uint64_t *>(this);
  auto *from = reinterpret_cast<const uint64_t *>(&other);
  for (size_t i = 0; i < sizeof(Counters) / sizeof(uint64_t); ++i)
    to[i] += from[i];
  return *this;
}

static void
countInstructions(const wavesmith::sim::detail::CodeObjectImage &object,
                  ArrayRef<uint64_t> hits, Counters &counters) {
  for (size_t i = 0; i < hits.size(); ++i) {
    uint64_t n = hits[i];
    if (!n)
      continue;
    const Instruction &instruction = object.instructions[i];
    counters.instructions += n;
    switch (instruction.category) {
    case Category::MFMA:
      counters.MFMA += n;
      LLVM_FALLTHROUGH;
    case Category::VALU:
      counters.VALU += n;
      break;
    case Category::SALU:
      counters.SALU += n;
      break;
    case Category::SMEM:
      counters.SMEM += n;
      break;
    case Category::LDS:
      counters.LDS += n;
      break;
    case Category::VMEMRead:
      counters.VMEMRead += n;
      break;
    case Category::VMEMWrite:
      counters.VMEMWrite += n;
      break;
    case Category::VMEMAtomic:
      counters.VMEMAtomic += n;
      break;
    case Category::Branch:
      counters.branch += n;
      break;
    case Category::Waitcnt:
      counters.waitcnt += n;
      break;
    case Category::Barrier:
      counters.barrier += n;
      break;
    case Category::Other:
      counters.other += n;
      break;
    }
    if (instruction.isFlat)
      counters.flat += n;
    switch (instruction.arithmetic) {
    case Arithmetic::None:
      break;
    case Arithmetic::F64Add:
      counters.f64Add += n;
      break;
    case Arithmetic::F64Mul:
      counters.f64Mul += n;
      break;
    case Arithmetic::F64FMA:
      counters.f64FMA += n;
      break;
    case Arithmetic::F64Trans:
      counters.f64Trans += n;
      break;
    case Arithmetic::F32Add:
      counters.f32Add += n;
      break;
    case Arithmetic::F32Mul:
      counters.f32Mul += n;
      break;
    case Arithmetic::F32FMA:
      counters.f32FMA += n;
      break;
    case Arithmetic::F32Trans:
      counters.f32Trans += n;
      break;
    }
  }
}

/// Which opcodes were executed, and how well the simulator knows them.
static std::vector<InstructionUse>
instructionUse(const wavesmith::sim::detail::CodeObjectImage &object,
               ArrayRef<uint64_t> hits) {
  std::vector<uint64_t> counts(object.opcodeNames.size(), 0);
  for (size_t i = 0; i < hits.size(); ++i)
    counts[object.instructions[i].opcodeName] += hits[i];
  std::map<std::string, InstructionUse> uses;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (!counts[i])
      continue;
    InstructionUse &use = uses[object.opcodeNames[i]];
    use.opcode = object.opcodeNames[i];
    use.count += counts[i];
    auto entry = opcodeTable().entries.find(use.opcode);
    if (entry != opcodeTable().entries.end())
      use.exactness = entry->second.exactness;
  }
  std::vector<InstructionUse> result;
  for (auto &[name, use] : uses)
    result.push_back(std::move(use));
  return result;
}

//===----------------------------------------------------------------------===//
// Kernarg segment
//===----------------------------------------------------------------------===//

/// Writes the hidden arguments that the metadata lists.
static void fillHiddenArguments(const KernelInfo &kernel,
                                const LaunchParameters &p,
                                MutableArrayRef<uint8_t> kernarg) {
  unsigned dimensions = p.grid[2] > 1 || p.workgroup[2] > 1   ? 3
                        : p.grid[1] > 1 || p.workgroup[1] > 1 ? 2
                                                              : 1;
  for (const KernelArgument &argument : kernel.arguments) {
    StringRef kind = argument.valueKind;
    if (!kind.consume_front("hidden_"))
      continue;
    // Offsets, remainders (groups are whole), what a plain launch has not.
    uint64_t value = 0;
    auto dimension = [&](StringRef prefix) -> int {
      if (!kind.starts_with(prefix) || kind.size() != prefix.size() + 1)
        return -1;
      int d = kind.back() - 'x';
      return d >= 0 && d < 3 ? d : -1;
    };
    int d;
    if ((d = dimension("block_count_")) >= 0)
      value = p.grid[d];
    else if ((d = dimension("group_size_")) >= 0)
      value = p.workgroup[d];
    else if (kind == "grid_dims")
      value = dimensions;
    else if (kind == "dynamic_lds_size")
      value = p.dynamicLDSBytes;
    else if (kind == "private_base")
      value = privateApertureHigh;
    else if (kind == "shared_base")
      value = sharedApertureHigh;
    else if (kind == "hostcall_buffer")
      value = addressOfHostService(HostService::Hostcall);
    else if (kind == "printf_buffer")
      value = addressOfHostService(HostService::Printf);
    else if (kind == "heap_v1")
      value = addressOfHostService(HostService::Heap);
    else if (kind == "default_queue" || kind == "completion_action")
      value = addressOfHostService(HostService::DefaultQueue);
    else if (kind == "queue_ptr")
      value = addressOfHostService(HostService::Queue);
    uint32_t size = std::min<uint32_t>(argument.size, 8);
    std::memset(&kernarg[argument.offset], 0, argument.size);
    std::memcpy(&kernarg[argument.offset], &value, size);
  }
}

/// hsa_kernel_dispatch_packet_t: header, setup, sizes, then pointers.
static std::array<uint8_t, 64> dispatchPacket(const KernelCode &code,
                                              const LaunchParameters &p,
                                              uint64_t kernargAddress) {
  std::array<uint8_t, 64> packet = {};
  auto put16 = [&](unsigned at, uint32_t value) {
    uint16_t v = static_cast<uint16_t>(value);
    std::memcpy(&packet[at], &v, 2);
  };
  auto put32 = [&](unsigned at, uint32_t v) {
    std::memcpy(&packet[at], &v, 4);
  };
  put16(0, 2); // a kernel dispatch
  put16(2, 3);
  for (unsigned d = 0; d < 3; ++d) {
    put16(4 + 2 * d, p.workgroup[d]);
    put32(12 + 4 * d, p.grid[d] * p.workgroup[d]);
  }
  put32(24, code.privateSegmentSize);
  put32(28, code.groupSegmentSize + p.dynamicLDSBytes);
  std::memcpy(&packet[40], &kernargAddress, 8);
  return packet;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

namespace {

Error checkParameters(const CodeObject &object, const LaunchParameters &p,
                      const KernelInfo *kernel) {
  if (!kernel) {
    std::string known;
    for (const KernelInfo &k : object.kernels())
      known += (known.empty() ? "'" : ", '") + k.name + "'";
    return createStringError("no kernel '" + p.kernel +
                             "' in the code object, which has " +
                             (known.empty() ? "none" : known));
  }
  std::string where = "launch of kernel '" + kernel->name + "': ";
  auto shape = [](std::array<uint32_t, 3> a) {
    return "(" + std::to_string(a[0]) + ", " + std::to_string(a[1]) + ", " +
           std::to_string(a[2]) + ")";
  };
  for (unsigned d = 0; d < 3; ++d) {
    if (p.grid[d] == 0)
      return createStringError(where + "the grid " + shape(p.grid) +
                               " has a zero");
    if (p.workgroup[d] == 0)
      return createStringError(where + "the workgroup size " +
                               shape(p.workgroup) + " has a zero");
    if (uint64_t(p.grid[d]) * p.workgroup[d] > UINT32_MAX)
      return createStringError(where + "grid " + shape(p.grid) +
                               " times workgroup size " + shape(p.workgroup) +
                               " does not fit in 32 bits");
  }
  uint64_t threads = uint64_t(p.workgroup[0]) * p.workgroup[1];
  threads = threads > maximumWorkgroupSize ? threads : threads * p.workgroup[2];
  uint32_t limit = std::min(maximumWorkgroupSize, kernel->maxFlatWorkgroupSize);
  if (threads > limit)
    return createStringError(
        where + "the workgroup size " + shape(p.workgroup) +
        " has more work-items than the kernel's maximum " + Twine(limit));
  std::array<uint32_t, 3> required = kernel->requiredWorkgroupSize;
  if (required[0] && required != p.workgroup)
    return createStringError(where + "the workgroup size is " +
                             shape(p.workgroup) + ", the kernel requires " +
                             shape(required));
  uint32_t explicitSize = kernel->explicitArgumentSize();
  if (p.kernarg.size() < explicitSize)
    return createStringError(where + "got " + Twine(p.kernarg.size()) +
                             " bytes of arguments, the kernel takes " +
                             Twine(explicitSize));
  uint64_t most = alignTo(kernel->kernargSize, 16);
  if (p.kernarg.size() > most)
    return createStringError(where + "got " + Twine(p.kernarg.size()) +
                             " bytes of arguments, the kernarg segment has " +
                             Twine(kernel->kernargSize));
  return Error::success();
}

Error checkCode(const Dispatch &dispatch) {
  const KernelCode &code = dispatch.code;
  std::string where = "kernel '" + dispatch.kernel.name + "': ";
  if ((code.rsrc2 >> 24) & 0x7f)
    return createStringError(
        where + "floating-point exceptions are enabled, which is not modelled");
  if (code.properties & amdhsa::KERNEL_CODE_PROPERTY_ENABLE_WAVEFRONT_SIZE32)
    return createStringError(where + "wavefronts of 32 lanes on " +
                             dispatch.image.target);
  // The user SGPRs that are described must fit those that are declared.
  unsigned needed = 0;
  const unsigned sizes[] = {4, 2, 2, 2, 2, 2, 1};
  for (unsigned bit = 0; bit < 7; ++bit)
    if ((code.properties >> bit) & 1)
      needed += sizes[bit];
  needed += code.kernargPreload & 0x7f;
  unsigned declared = (code.rsrc2 >> 1) & 31;
  if (needed > declared || (code.kernargPreload & 0x7f) > 16)
    return createStringError(where + "the descriptor declares " +
                             Twine(declared) + " user SGPRs and describes " +
                             Twine(needed));
  if (dispatch.ldsBytes > maximumLDSBytes)
    return createStringError(where + "needs " +
                             Twine(uint64_t(code.groupSegmentSize) +
                                   dispatch.parameters.dynamicLDSBytes) +
                             " bytes of LDS, a workgroup has at most " +
                             Twine(maximumLDSBytes));
  if (dispatch.scratchPerLane > maximumScratchPerLane)
    return createStringError(where + "needs " + Twine(dispatch.scratchPerLane) +
                             " bytes of scratch, a work-item has at most " +
                             Twine(maximumScratchPerLane));
  return Error::success();
}

} // namespace

Expected<std::unique_ptr<Dispatch>>
wavesmith::sim::prepareLaunch(const CodeObject &object, Memory &memory,
                              const LaunchParameters &parameters) {
  const KernelInfo *kernel = object.findKernel(parameters.kernel);
  if (Error error = checkParameters(object, parameters, kernel))
    return std::move(error);
  const wavesmith::sim::detail::CodeObjectImage &image = object.image();
  const KernelCode &code = image.codes[kernel - image.kernels.data()];
  auto result =
      std::make_unique<Dispatch>(object, image, *kernel, code, parameters);
  Dispatch &dispatch = *result;
  uint64_t ldsBytes =
      uint64_t(code.groupSegmentSize) + parameters.dynamicLDSBytes;
  dispatch.ldsBytes =
      static_cast<uint32_t>(std::min<uint64_t>(ldsBytes, maximumLDSBytes + 1));
  uint64_t scratchBytes = uint64_t(code.privateSegmentSize) +
                          (kernel->usesDynamicStack ? dynamicStackBytes : 0);
  dispatch.scratchPerLane = static_cast<uint32_t>(
      std::min<uint64_t>(alignTo(scratchBytes, 4), maximumScratchPerLane + 1));
  if (Error error = checkCode(dispatch))
    return std::move(error);
  dispatch.threads = parameters.workgroup[0] * parameters.workgroup[1] *
                     parameters.workgroup[2];
  dispatch.waves =
      static_cast<uint32_t>(divideCeil(dispatch.threads, lanesPerWave));
  uint64_t entryAddress = code.entryAddress;
  // With preloaded arguments the firmware enters behind a loader of 256 bytes.
  if (code.kernargPreload & 0x7f)
    entryAddress += 256;
  int32_t entry = image.indexAt(entryAddress);
  if (entry < 0)
    return createStringError("kernel '" + kernel->name + "' starts at 0x" +
                             Twine::utohexstr(entryAddress) +
                             ", where there is no instruction");
  dispatch.entry = static_cast<uint32_t>(entry);

  // Memory as the kernel sees it.
  wavesmith::sim::detail::MemoryImage &m = memory.image();
  const wavesmith::sim::detail::LoadedImage &loaded = m.load(image);
  dispatch.imageBase = loaded.base;
  dispatch.view.image = &m;
  for (auto &[base, allocation] : m.allocations)
    if (!allocation.released) {
      // What a kernel writes is only known in a checked launch.
      if (!parameters.check)
        allocation.defined.setAll();
      dispatch.view.regions.push_back({base, allocation.size,
                                       allocation.bytes.get(), true,
                                       allocation.name, &allocation.defined});
    }
  for (size_t s = 0; s < image.segments.size(); ++s) {
    const Segment &segment = image.segments[s];
    auto &contents = const_cast<std::vector<uint8_t> &>(loaded.contents[s]);
    dispatch.view.regions.push_back(
        {loaded.base + segment.address, segment.size, contents.data(),
         segment.writable && !segment.executable,
         segment.executable ? "the kernel's code"
         : segment.writable ? "the code object's variables"
                            : "the code object's constants",
         nullptr});
  }
  dispatch.kernarg.assign(alignTo(std::max(kernel->kernargSize, 4u), 64), 0);
  std::memcpy(
      dispatch.kernarg.data(), parameters.kernarg.data(),
      std::min<size_t>(parameters.kernarg.size(), dispatch.kernarg.size()));
  fillHiddenArguments(*kernel, parameters, dispatch.kernarg);
  dispatch.kernargAddress = 0x280000000000ull;
  dispatch.packetAddress = 0x290000000000ull;
  dispatch.packet = dispatchPacket(code, parameters, dispatch.kernargAddress);
  dispatch.view.regions.push_back(
      {dispatch.kernargAddress, dispatch.kernarg.size(),
       dispatch.kernarg.data(), false, "the kernarg segment", nullptr});
  dispatch.view.regions.push_back(
      {dispatch.packetAddress, dispatch.packet.size(), dispatch.packet.data(),
       false, "the dispatch packet", nullptr});
  std::sort(dispatch.view.regions.begin(), dispatch.view.regions.end(),
            [](const Region &a, const Region &b) { return a.base < b.base; });

  uint64_t total = uint64_t(parameters.grid[0]) * parameters.grid[1];
  // Each factor is below 2^32; the product of three may not fit.
  if (total > (~uint64_t(0)) / parameters.grid[2])
    return createStringError("launch of kernel '" + dispatch.kernel.name +
                             "': too many workgroups");
  dispatch.workgroups = total * parameters.grid[2];
  return std::move(result);
}

void wavesmith::sim::countLaunch(const Dispatch &dispatch,
                                 ArrayRef<uint64_t> hits, Counters &counters) {
  countInstructions(dispatch.image, hits, counters);
  if (dispatch.parameters.instructionUse)
    *dispatch.parameters.instructionUse = instructionUse(dispatch.image, hits);
}

Error wavesmith::sim::runWorkgroups(const Dispatch &dispatch,
                                    const DenseSet<uint64_t> &done,
                                    unsigned threads, Counters &counters,
                                    std::vector<uint64_t> &hits,
                                    Observer *observer) {
  uint64_t total = dispatch.workgroups;
  uint64_t workers = threads ? threads : 1;
  // The order of atomics must not depend on the number of host threads.
  if (dispatch.image.hasGlobalAtomics || observer)
    workers = 1;
  workers = std::min<uint64_t>(workers, total);

  std::atomic<uint64_t> next{0}, firstFailed{total};
  std::mutex mutex;
  std::string message;
  std::vector<std::unique_ptr<WorkgroupExecution>> states(workers);
  auto fail = [&](uint64_t number, Error error) {
    std::string text = toString(std::move(error));
    std::lock_guard<std::mutex> lock(mutex);
    if (number < firstFailed) {
      firstFailed = number;
      message = std::move(text);
    }
  };
  auto work = [&](size_t index) {
    PinnedEnvironment environment;
    states[index] = std::make_unique<WorkgroupExecution>(dispatch, observer);
    states[index]->setAlone(workers == 1);
    uint64_t number = 0;
    // Of the thread that runs workgroups, whichever it is.
    Error fatal = containFatalErrors([&] {
      for (;;) {
        number = next++;
        // Workgroups before a failed one are still run: the report is always
        // that of the first failure.
        if (number >= total || number > firstFailed)
          return;
        if (done.contains(number))
          continue;
        if (Error error = states[index]->run(number))
          return fail(number, std::move(error));
      }
    });
    if (fatal) {
      (void)states[index].release(); // In no state to be taken apart.
      fail(number,
           createStringError(
               "launch of kernel '" + dispatch.kernel.name +
               "': the simulator gave up: " + toString(std::move(fatal))));
    }
  };
  std::vector<std::thread> pool;
  for (size_t i = 1; i < workers; ++i)
    pool.emplace_back(work, i);
  work(0);
  for (std::thread &thread : pool)
    thread.join();
  if (firstFailed < total)
    return createStringError(message);
  for (const auto &state : states) {
    counters += state->counters;
    for (size_t i = 0; i < hits.size(); ++i)
      hits[i] += state->instructionHits()[i];
  }
  return Error::success();
}

Expected<LaunchParameters>
wavesmith::sim::parametersOfCheck(const LaunchParameters &parameters) {
  LaunchParameters adjusted = parameters;
  if (parameters.check) {
    if (!parameters.findings)
      return createStringError("launch of kernel '" + parameters.kernel +
                               "': a checked launch needs a list for its "
                               "findings");
    uint64_t budget = parameters.check->instructionBudget;
    if (budget &&
        (!parameters.maxInstructions || budget < parameters.maxInstructions))
      adjusted.maxInstructions = budget;
  }
  return adjusted;
}

Expected<Counters> wavesmith::sim::launch(const CodeObject &object,
                                          Memory &memory,
                                          const LaunchParameters &parameters,
                                          unsigned threads) {
  auto adjusted = parametersOfCheck(parameters);
  if (!adjusted)
    return adjusted.takeError();
  auto prepared = prepareLaunch(object, memory, *adjusted);
  if (!prepared)
    return prepared.takeError();
  const Dispatch &dispatch = **prepared;
  Counters counters;
  std::vector<uint64_t> hits(dispatch.image.instructions.size(), 0);
  std::unique_ptr<Checker> checker;
  if (parameters.check)
    checker = std::make_unique<Checker>(dispatch, *parameters.check,
                                        *parameters.findings);
  if (Error error =
          runWorkgroups(dispatch, {}, threads, counters, hits, checker.get()))
    return std::move(error);
  countLaunch(dispatch, hits, counters);
  return counters;
}
