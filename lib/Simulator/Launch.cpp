//===- Launch.cpp - Dispatch, workgroups and counters -------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "wavesmith/Support/FatalErrors.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/AMDHSAKernelDescriptor.h"
#include "llvm/Support/MathExtras.h"
#include <atomic>
#include <cfenv>
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
/// Wavefronts of a workgroup take turns after so many instructions, so that
/// one that waits for another through memory does not wait for ever.
static constexpr uint64_t turn = 1 << 20;

//===----------------------------------------------------------------------===//
// Tables and counters
//===----------------------------------------------------------------------===//

const OpcodeTable &wavesmith::sim::opcodeTable() {
  static const OpcodeTable *table = [] {
    auto *result = new OpcodeTable();
#ifdef WAVESMITH_SIMULATOR_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
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
    uint64_t value = 0; // offsets, remainders (groups are whole), pointers
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

/// What all workgroups of a launch share.
struct Dispatch {
  Dispatch(const CodeObject &object,
           const wavesmith::sim::detail::CodeObjectImage &image,
           const KernelInfo &kernel, const KernelCode &code,
           const LaunchParameters &parameters)
      : object(object), image(image), kernel(kernel), code(code),
        parameters(parameters) {}

  const CodeObject &object;
  const wavesmith::sim::detail::CodeObjectImage &image;
  const KernelInfo &kernel;
  const KernelCode &code;
  const LaunchParameters &parameters;
  MemoryView view;
  uint64_t imageBase = 0;
  uint64_t kernargAddress = 0;
  uint64_t packetAddress = 0;
  std::vector<uint8_t> kernarg;
  uint32_t entry = 0;
  uint32_t ldsBytes = 0;
  uint32_t scratchPerLane = 0;
  uint32_t threads = 0;
  uint32_t waves = 0;
};

using Registers = uint32_t[vectorRegisters][lanesPerWave];

/// The state that one host thread reuses for workgroup after workgroup.
class Worker {
public:
  explicit Worker(const Dispatch &dispatch)
      : dispatch(dispatch), waves(dispatch.waves), registers(dispatch.waves),
        hits(dispatch.image.instructions.size(), 0) {
    for (auto &file : registers)
      file.reset(new Registers[1]);
    scratch.resize(size_t(dispatch.waves) * dispatch.scratchPerLane *
                   lanesPerWave);
  }

  Error runWorkgroup(uint64_t number);
  Counters counters;
  const std::vector<uint64_t> &instructionHits() const { return hits; }

private:
  void setUp(Wave &wave, uint32_t index, std::array<uint32_t, 3> id);

  const Dispatch &dispatch;
  Workgroup group;
  std::vector<Wave> waves;
  std::vector<std::unique_ptr<Registers[]>> registers;
  std::vector<uint8_t> scratch;
  std::vector<uint64_t> hits;
};

void Worker::setUp(Wave &w, uint32_t index, std::array<uint32_t, 3> id) {
  const KernelCode &code = dispatch.code;
  const auto &p = dispatch.parameters;
  bool gfx942 = dispatch.image.isGfx942();
  w = Wave();
  w.vgpr = registers[index][0];
  std::fill(&w.vgpr[0][0], &w.vgpr[0][0] + vectorRegisters * lanesPerWave,
            poisonWord);
  std::fill(std::begin(w.sgpr), std::end(w.sgpr), poisonWord);
  w.group = &group;
  w.numberInGroup = index;
  w.pc = dispatch.entry;
  w.remaining = p.maxInstructions ? p.maxInstructions : ~uint64_t(0);
  w.scratchPerLane = dispatch.scratchPerLane;
  uint64_t waveScratch = uint64_t(dispatch.scratchPerLane) * lanesPerWave;
  w.scratch = scratch.data() + index * waveScratch;
  w.scratchOffset = index * waveScratch;

  // MODE: round [3:0], denormals [7:4], DX10 clamp 8, IEEE 9.
  w.modeRegister = ((code.rsrc1 >> 12) & 0xff) |
                   (((code.rsrc1 >> 21) & 1) << 8) |
                   (((code.rsrc1 >> 23) & 1) << 9);
  w.flushF32 = ((w.modeRegister >> 4) & 3) == 0;
  w.dx10Clamp = (w.modeRegister >> 8) & 1;
  w.ieeeMode = (w.modeRegister >> 9) & 1;
  w.slow = w.flushF32;

  // User SGPRs in their order.
  unsigned next = 0;
  auto add64 = [&](uint64_t value) {
    w.write64(next, value);
    next += 2;
  };
  auto enabled = [&](unsigned bit) { return (code.properties >> bit) & 1; };
  if (enabled(
          amdhsa::
              KERNEL_CODE_PROPERTY_ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER_SHIFT)) {
    // A swizzled descriptor that adds the lane: 64 lanes of 4 bytes.
    add64(scratchBase | (uint64_t(1) << 63));
    add64(0xffffffffu | (uint64_t((1u << 23) | (3u << 21) | (4u << 15)) << 32));
  }
  if (enabled(amdhsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_DISPATCH_PTR_SHIFT))
    add64(dispatch.packetAddress);
  if (enabled(amdhsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_QUEUE_PTR_SHIFT))
    add64(0); // there is no queue: an access is reported
  if (enabled(
          amdhsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_KERNARG_SEGMENT_PTR_SHIFT))
    add64(dispatch.kernargAddress);
  if (enabled(amdhsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_DISPATCH_ID_SHIFT))
    add64(0);
  if (enabled(amdhsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_FLAT_SCRATCH_INIT_SHIFT))
    add64(scratchBase);
  if (enabled(
          amdhsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_PRIVATE_SEGMENT_SIZE_SHIFT))
    w.sgpr[next++] = dispatch.scratchPerLane;
  // Preloaded kernel arguments: length and offset in dwords.
  unsigned preloadLength = code.kernargPreload & 0x7f;
  unsigned preloadOffset = code.kernargPreload >> 7;
  for (unsigned i = 0; i < preloadLength; ++i) {
    size_t at = 4 * size_t(preloadOffset + i);
    if (at + 4 <= dispatch.kernarg.size())
      std::memcpy(&w.sgpr[next], &dispatch.kernarg[at], 4);
    ++next;
  }
  next = (code.rsrc2 >> 1) & 31;
  for (unsigned d = 0; d < 3; ++d)
    if ((code.rsrc2 >> (7 + d)) & 1)
      w.sgpr[next++] = id[d];
  if ((code.rsrc2 >> 10) & 1)
    w.sgpr[next++] = 0;
  if (!gfx942 && (code.rsrc2 & 1))
    w.sgpr[next++] = static_cast<uint32_t>(w.scratchOffset);
  if (gfx942)
    w.write64(sgprFlatScratch, scratchBase + w.scratchOffset);
  w.write64(sgprVCC, 0);
  w.sgpr[sgprM0] = 0;

  // v0 holds x, y and z in 10 bits each.
  uint32_t active =
      std::min(lanesPerWave, dispatch.threads - index * lanesPerWave);
  uint64_t exec =
      active == lanesPerWave ? ~uint64_t(0) : (uint64_t(1) << active) - 1;
  w.write64(sgprEXEC, exec);
  w.exec = ~exec; // makes the first use unpack it
  for (uint32_t l = 0; l < active; ++l) {
    uint32_t flat = index * lanesPerWave + l;
    uint32_t x = flat % p.workgroup[0];
    uint32_t y = flat / p.workgroup[0] % p.workgroup[1];
    uint32_t z = flat / p.workgroup[0] / p.workgroup[1];
    w.vgpr[0][l] = x | (y << 10) | (z << 20);
  }
}

Error Worker::runWorkgroup(uint64_t number) {
  const auto &p = dispatch.parameters;
  std::array<uint32_t, 3> id = {
      static_cast<uint32_t>(number % p.grid[0]),
      static_cast<uint32_t>(number / p.grid[0] % p.grid[1]),
      static_cast<uint32_t>(number / p.grid[0] / p.grid[1])};
  auto poison = [](std::vector<uint8_t> &bytes) {
    for (size_t i = 0; i + 4 <= bytes.size(); i += 4)
      std::memcpy(&bytes[i], &poisonWord, 4);
  };
  group.lds.resize(dispatch.ldsBytes);
  poison(group.lds);
  poison(scratch);
  group.object = &dispatch.image;
  group.memory = &dispatch.view;
  group.imageBase = dispatch.imageBase;
  group.hits = hits.data();
  for (uint32_t i = 0; i < dispatch.waves; ++i)
    setUp(waves[i], i, id);

  RunFunction run = opcodeTable().run;
  const Wave *failed = nullptr;
  while (!failed) {
    bool running = false;
    for (Wave &wave : waves) {
      if (wave.status != WaveStatus::Running)
        continue;
      run(wave, turn);
      if (wave.status == WaveStatus::Running && wave.remaining == 0)
        fail(wave, "the wavefront has issued " + Twine(p.maxInstructions) +
                       " instructions, the limit of this launch, and has not "
                       "ended");
      if (wave.status == WaveStatus::Failed) {
        failed = &wave;
        break;
      }
      running |= wave.status == WaveStatus::Running;
    }
    if (failed || running)
      continue;
    // All have ended or wait: those that have ended do not hold up a barrier.
    bool waiting = false;
    for (Wave &wave : waves)
      if (wave.status == WaveStatus::AtBarrier) {
        wave.status = WaveStatus::Running;
        waiting = true;
      }
    if (!waiting)
      break;
  }
  ++counters.workgroups;
  counters.waves += waves.size();
  for (const Wave &wave : waves) {
    counters.activeLanesVALU += wave.activeLanesVALU;
    counters.globalBytesRead += wave.globalBytesRead;
    counters.globalBytesWritten += wave.globalBytesWritten;
    counters.scratchBytesRead += wave.scratchBytesRead;
    counters.scratchBytesWritten += wave.scratchBytesWritten;
  }
  if (!failed)
    return Error::success();
  uint64_t address = dispatch.image.addressOf(failed->current);
  return createStringError(
      "kernel '" + dispatch.kernel.name + "', instruction at 0x" +
      Twine::utohexstr(address) + " '" +
      dispatch.image.textOfInstruction(failed->current) + "', workgroup (" +
      Twine(id[0]) + ", " + Twine(id[1]) + ", " + Twine(id[2]) +
      "), wavefront " + Twine(failed->numberInGroup) + ": " + failed->error);
}

/// The host's floating-point environment for the time of a launch: round to
/// nearest, denormals kept, nothing trapped.
class PinnedEnvironment {
public:
  PinnedEnvironment() {
    std::fegetenv(&saved);
    std::fesetenv(FE_DFL_ENV);
  }
  ~PinnedEnvironment() { std::fesetenv(&saved); }

private:
  std::fenv_t saved;
};

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
  if ((code.rsrc1 >> 12) & 0xf)
    return createStringError(
        where + "the rounding mode is not round to nearest even (float mode " +
        Twine((code.rsrc1 >> 12) & 0xff) + "), which is not modelled");
  unsigned denormal32 = (code.rsrc1 >> 16) & 3;
  unsigned denormal64 = (code.rsrc1 >> 18) & 3;
  if (denormal64 != 3)
    return createStringError(where +
                             "f64 and f16 denormals are flushed "
                             "(denormal mode " +
                             Twine(denormal64) + "), which is not modelled");
  if (denormal32 != 3 && denormal32 != 0)
    return createStringError(where +
                             "f32 denormals are flushed for sources or "
                             "results only (denormal mode " +
                             Twine(denormal32) + "), which is not modelled");
  if ((code.rsrc1 >> 26) & 1)
    return createStringError(where + "FP16_OVFL is set, which is not modelled");
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
    return createStringError(where + "needs " + Twine(dispatch.ldsBytes) +
                             " bytes of LDS, a workgroup has at most " +
                             Twine(maximumLDSBytes));
  if (dispatch.scratchPerLane > maximumScratchPerLane)
    return createStringError(where + "needs " + Twine(dispatch.scratchPerLane) +
                             " bytes of scratch, a work-item has at most " +
                             Twine(maximumScratchPerLane));
  return Error::success();
}

} // namespace

Expected<Counters> wavesmith::sim::launch(const CodeObject &object,
                                          Memory &memory,
                                          const LaunchParameters &parameters,
                                          unsigned threads) {
  const KernelInfo *kernel = object.findKernel(parameters.kernel);
  if (Error error = checkParameters(object, parameters, kernel))
    return std::move(error);
  const wavesmith::sim::detail::CodeObjectImage &image = object.image();
  const KernelCode &code = image.codes[kernel - image.kernels.data()];
  Dispatch dispatch(object, image, *kernel, code, parameters);
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
    if (!allocation.released)
      dispatch.view.regions.push_back({base, allocation.size,
                                       allocation.bytes.get(), true,
                                       allocation.name});
  for (size_t s = 0; s < image.segments.size(); ++s) {
    const Segment &segment = image.segments[s];
    auto &contents = const_cast<std::vector<uint8_t> &>(loaded.contents[s]);
    dispatch.view.regions.push_back(
        {loaded.base + segment.address, segment.size, contents.data(),
         segment.writable && !segment.executable,
         segment.executable ? "the kernel's code"
         : segment.writable ? "the code object's variables"
                            : "the code object's constants"});
  }
  dispatch.kernarg.assign(alignTo(std::max(kernel->kernargSize, 4u), 64), 0);
  std::memcpy(
      dispatch.kernarg.data(), parameters.kernarg.data(),
      std::min<size_t>(parameters.kernarg.size(), dispatch.kernarg.size()));
  fillHiddenArguments(*kernel, parameters, dispatch.kernarg);
  dispatch.kernargAddress = 0x280000000000ull;
  dispatch.packetAddress = 0x290000000000ull;
  std::array<uint8_t, 64> packet =
      dispatchPacket(code, parameters, dispatch.kernargAddress);
  dispatch.view.regions.push_back(
      {dispatch.kernargAddress, dispatch.kernarg.size(),
       dispatch.kernarg.data(), false, "the kernarg segment"});
  dispatch.view.regions.push_back({dispatch.packetAddress, packet.size(),
                                   packet.data(), false,
                                   "the dispatch packet"});
  std::sort(dispatch.view.regions.begin(), dispatch.view.regions.end(),
            [](const Region &a, const Region &b) { return a.base < b.base; });

  uint64_t total = uint64_t(parameters.grid[0]) * parameters.grid[1];
  // Each factor is below 2^32; the product of three may not fit.
  if (total > (~uint64_t(0)) / parameters.grid[2])
    return createStringError("launch of kernel '" + kernel->name +
                             "': too many workgroups");
  total *= parameters.grid[2];
  uint64_t workers = threads ? threads : 1;
  // The order of atomics must not depend on the number of host threads.
  if (image.hasGlobalAtomics)
    workers = 1;
  workers = std::min<uint64_t>(workers, total);

  std::atomic<uint64_t> next{0}, firstFailed{total};
  std::mutex mutex;
  std::string message;
  std::vector<std::unique_ptr<Worker>> states(workers);
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
    states[index] = std::make_unique<Worker>(dispatch);
    uint64_t number = 0;
    // Of the thread that runs workgroups, whichever it is.
    Error fatal = containFatalErrors([&] {
      for (;;) {
        number = next++;
        // Workgroups before a failed one are still run: the report is always
        // that of the first failure.
        if (number >= total || number > firstFailed)
          return;
        if (Error error = states[index]->runWorkgroup(number))
          return fail(number, std::move(error));
      }
    });
    if (fatal) {
      (void)states[index].release(); // In no state to be taken apart.
      fail(number, createStringError("launch of kernel '" + kernel->name +
                                     "': the simulator gave up: " +
                                     toString(std::move(fatal))));
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

  Counters counters;
  std::vector<uint64_t> hits(image.instructions.size(), 0);
  for (const auto &state : states) {
    counters += state->counters;
    for (size_t i = 0; i < hits.size(); ++i)
      hits[i] += state->instructionHits()[i];
  }
  countInstructions(image, hits, counters);
  return counters;
}
