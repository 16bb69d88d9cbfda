//===- Fidelity.cpp - The timing model against published figures ----------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bench-fidelity [--json=FILE] [--kernels=FOLDER] [--only=NAME] [--vary-fitted]
//
// Two groups of rows. The first holds figures that the model is calibrated
// with: it has to reproduce them, and the program fails if it does not. The
// second holds figures that nothing was fitted to: their errors are printed,
// and only looked at. Everything here is modelled; nothing was measured on a
// GPU by this program.
//
// The kernels of the second group that other compilers make are read from a
// folder. Without --kernels, that is peer-kernels in the build folder, and
// bench/compile_peer_kernels.py makes them there where Triton is installed in
// venv-peers (scripts/bootstrap.sh does that). Rows without their kernel are
// listed as skipped, with what has to be done for them.
//
//===----------------------------------------------------------------------===//

#include "KernelSource.h"
#include "PeerKernel.h"
#include "wavesmith/Simulator/Timing.h"
#include "wavesmith/Target/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <cmath>
#include <functional>
#include <map>

using namespace llvm;
using namespace wavesmith;
using namespace wavesmith::sim;
using namespace wavesmith::bench;

static cl::OptionCategory category("bench-fidelity options");
static cl::opt<std::string> jsonFile("json", cl::desc("Write the rows as JSON"),
                                     cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string>
    only("only", cl::desc("Rows whose name contains this"), cl::cat(category));
static cl::opt<std::string>
    kernels("kernels",
            cl::desc("Folder with the kernels of other compilers, as "
                     "bench/compile_peer_kernels.py writes it (default: "
                     "peer-kernels in the build folder, made when missing)"),
            cl::value_desc("folder"), cl::cat(category));
static cl::opt<bool> verbose("verbose",
                             cl::desc("Every configuration that is tried"),
                             cl::cat(category));
static cl::opt<double> scaleOption("fitted-scale", cl::init(1.0),
                                   cl::desc("Multiplies the fitted parameters"),
                                   cl::cat(category));
static cl::opt<bool>
    varyFitted("vary-fitted",
               cl::desc("Model each row also with all fitted parameters at two "
                        "thirds and at four thirds of their values"),
               cl::cat(category));

namespace {

struct Row {
  std::string name, chip, unit, source;
  /// The first group, with the deviation that is allowed; negative for the
  /// second group.
  double tolerance;
  double published;
  /// The modelled figure; none where skipped says why.
  std::function<Expected<double>(const Row &)> model;
  /// What explains the deviation of a row of the second group.
  std::string remark;
  std::string skipped;
};

/// What a row's model found out that belongs to its remark.
std::string modelNote;

/// The clock that the device has under the load of the row, where others
/// measured that: for the second figure of a rate of matrix instructions.
std::optional<double> loadClockHz;

/// The scale of the fitted parameters that rows are modelled with.
double fittedScale = 1;

/// A device with a code object made from source.
class Run {
public:
  explicit Run(const Row &row) : row(row) {}

  Error load(StringRef file) {
    auto bytes = readFile(file);
    if (!bytes)
      return bytes.takeError();
    auto object = CodeObject::load(*bytes);
    if (!object)
      return object.takeError();
    code = *object;
    return Error::success();
  }
  Error build(StringRef source, StringRef language) {
    auto object = compileKernel(source, language, architecture());
    if (!object)
      return object.takeError();
    code = *object;
    return Error::success();
  }
  Expected<uint64_t> allocate(uint64_t bytes) {
    auto address = memory.allocate(bytes, "buffer");
    if (!address)
      return address.takeError();
    std::vector<uint8_t> zeros(bytes, 0);
    if (Error error = memory.write(*address, zeros))
      return std::move(error);
    return *address;
  }
  Error write(uint64_t address, ArrayRef<uint32_t> words) {
    return memory.write(
        address,
        ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(words.data()),
                          4 * words.size()));
  }
  Expected<TimingReport> time(uint32_t grid, uint32_t workgroup,
                              ArrayRef<uint64_t> arguments,
                              TimingOptions options = TimingOptions()) {
    std::vector<uint8_t> kernarg(8 * arguments.size());
    memcpy(kernarg.data(), arguments.data(), kernarg.size());
    LaunchParameters parameters;
    parameters.grid = {grid, 1, 1};
    parameters.workgroup = {workgroup, 1, 1};
    parameters.kernarg = kernarg;
    return time(parameters, std::move(options));
  }
  Expected<TimingReport> time(LaunchParameters parameters,
                              TimingOptions options) {
    parameters.kernel = code->kernels().front().name;
    options.chip = row.chip;
    options.fittedScale = fittedScale;
    options.executeRest = false;
    auto result = launchTimed(*code, memory, parameters, options, 2);
    if (!result)
      return result.takeError();
    return std::move(result->second);
  }
  StringRef architecture() const {
    for (const TargetInfo &target : knownTargets())
      if (target.chip == row.chip)
        return target.architecture;
    return "";
  }
  const TargetInfo &target() const {
    return cantFail(lookupTarget(architecture(), row.chip));
  }

  Memory memory;

private:
  const Row &row;
  std::shared_ptr<const CodeObject> code;
};

/// An assembler kernel: a loop of s2 rounds around a body.
std::string loopKernel(StringRef prologue, StringRef body, unsigned vgprs,
                       unsigned agprs, unsigned ldsBytes = 0) {
  std::string text;
  raw_string_ostream os(text);
  os << R"(
.text
.globl loop
.p2align 8
.type loop,@function
loop:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s2, s[0:1], 0x8
  s_waitcnt lgkmcnt(0)
)" << prologue
     << R"(
again:
)" << body
     << R"(
  s_sub_u32 s2, s2, 1
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 again
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel loop
  .amdhsa_group_segment_fixed_size )"
     << ldsBytes << R"(
  .amdhsa_user_sgpr_count 2
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_next_free_vgpr )"
     << vgprs + agprs << R"(
  .amdhsa_accum_offset )"
     << vgprs << R"(
  .amdhsa_next_free_sgpr 32
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: loop
    .symbol: loop.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: )"
     << ldsBytes << R"(
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: )"
     << vgprs + agprs << R"(
    .agpr_count: )"
     << agprs << R"(
    .max_flat_workgroup_size: 1024
    .args:
      - {.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}
      - {.size: 4, .offset: 8, .value_kind: by_value}
...
.end_amdgpu_metadata
)";
  return text;
}

std::string repeat(StringRef text, unsigned count) {
  std::string all;
  for (unsigned i = 0; i < count; ++i)
    all += text.str() + "\n";
  return all;
}

/// Cycles that one round of a loop takes, from two lengths of it.
Expected<double> cyclesOfRound(const Row &row, StringRef prologue,
                               StringRef body, unsigned vgprs, unsigned agprs,
                               unsigned waves = 1, unsigned ldsBytes = 0) {
  double cycles[2];
  uint64_t rounds[2] = {20, 220};
  for (unsigned i = 0; i < 2; ++i) {
    Run run(row);
    if (Error error = run.build(
            loopKernel(prologue, body, vgprs, agprs, ldsBytes), "assembler"))
      return std::move(error);
    auto buffer = run.allocate(1 << 16);
    if (!buffer)
      return buffer.takeError();
    auto report = run.time(1, 64 * waves, {*buffer, rounds[i]});
    if (!report)
      return report.takeError();
    cycles[i] = report->cycles;
  }
  return (cycles[1] - cycles[0]) / double(rounds[1] - rounds[0]);
}

/// Clocks of one instruction among many that do not depend on each other.
std::function<Expected<double>(const Row &)>
clocksOf(std::string instruction, unsigned vgprs, unsigned agprs,
         std::string prologue = "", unsigned waves = 1, unsigned ldsBytes = 0) {
  return [=](const Row &row) -> Expected<double> {
    constexpr unsigned count = 256;
    auto cycles = cyclesOfRound(row, prologue, repeat(instruction, count),
                                vgprs, agprs, waves, ldsBytes);
    if (!cycles)
      return cycles.takeError();
    return *cycles / count;
  };
}

/// Flop/s of the device for an instruction that does so many a wavefront.
std::function<Expected<double>(const Row &)>
flopsOf(std::string instruction, unsigned vgprs, unsigned agprs, double flops) {
  return [=](const Row &row) -> Expected<double> {
    constexpr unsigned count = 256, waves = 16, rounds = 20;
    Run run(row);
    if (Error error =
            run.build(loopKernel("", repeat(instruction, count), vgprs, agprs),
                      "assembler"))
      return std::move(error);
    auto buffer = run.allocate(256);
    if (!buffer)
      return buffer.takeError();
    uint32_t grid = run.target().computeUnits;
    // Nothing is read, so that neighbours have nothing to bring to the caches.
    TimingOptions options;
    options.neighbourInstructions = 0;
    auto report = run.time(grid, 64 * waves, {*buffer, rounds}, options);
    if (!report)
      return report.takeError();
    return flops * count * rounds * waves * grid / report->seconds;
  };
}

constexpr StringLiteral copySource = R"(
kernel void copy(global const float4 *from, global float4 *to, ulong n,
                 ulong threads) {
  size_t first = __builtin_amdgcn_workgroup_id_x() * 256 +
                 __builtin_amdgcn_workitem_id_x();
  for (size_t i = first; i < n; i += threads)
    to[i] = from[i];
})";
constexpr StringLiteral readSource = R"(
kernel void reduce(global const float4 *from, global float *to, ulong n,
                   ulong threads) {
  size_t first = __builtin_amdgcn_workgroup_id_x() * 256 +
                 __builtin_amdgcn_workitem_id_x();
  float4 sum = 0;
  for (size_t i = first; i < n; i += threads)
    sum += from[i];
  if (sum.x == 123.0f)
    to[0] = sum.y + sum.z + sum.w;
})";

/// Bytes a second of a stream. moves: bytes moved for each byte of the array.
std::function<Expected<double>(const Row &)> stream(StringRef source,
                                                    double moves) {
  return [=](const Row &row) -> Expected<double> {
    Run run(row);
    if (Error error = run.build(source, "cl"))
      return std::move(error);
    // Enough for several workgroups on each CU.
    uint32_t grid = run.target().computeUnits * 8;
    uint64_t n = uint64_t(grid) * 256 * 16;
    auto from = run.allocate(16 * n);
    if (!from)
      return from.takeError();
    auto to = run.allocate(16 * n);
    if (!to)
      return to.takeError();
    auto report = run.time(grid, 256, {*from, *to, n, uint64_t(grid) * 256});
    if (!report)
      return report.takeError();
    return moves * 16.0 * double(n) / report->seconds;
  };
}

/// Cycles of a load that the next load's address comes from.
std::function<Expected<double>(const Row &)>
chase(StringRef memoryKind, uint64_t bytes, uint64_t stride) {
  return [=](const Row &row) -> Expected<double> {
    Run run(row);
    std::string body, prologue;
    if (memoryKind == "lds") {
      prologue = "v_mov_b32 v1, 0\nds_write_b32 v1, v1\n"
                 "s_waitcnt lgkmcnt(0)\n";
      body = repeat("ds_read_b32 v1, v1\ns_waitcnt lgkmcnt(0)", 64);
    } else if (memoryKind == "scalar") {
      prologue = "s_mov_b32 s8, 0\n";
      body = repeat("s_load_dword s8, s[4:5], s8\ns_waitcnt lgkmcnt(0)", 64);
    } else {
      prologue = "v_mov_b32 v1, 0\n";
      body = repeat("global_load_dword v1, v1, s[4:5]\ns_waitcnt vmcnt(0)", 64);
    }
    if (Error error = run.build(
            loopKernel(prologue, body, 8, 0, memoryKind == "lds" ? 64 : 0),
            "assembler"))
      return std::move(error);
    auto buffer = run.allocate(bytes);
    if (!buffer)
      return buffer.takeError();
    // A ring through the whole array.
    std::vector<uint32_t> words(bytes / 4, 0);
    for (uint64_t at = 0; at < bytes; at += stride)
      words[at / 4] = static_cast<uint32_t>((at + stride) % bytes);
    if (Error error = run.write(*buffer, words))
      return std::move(error);
    uint64_t loads = std::max<uint64_t>(2 * bytes / stride, 640);
    double cycles[2];
    for (unsigned i = 0; i < 2; ++i) {
      // Once around to fill the caches, then as often again.
      auto report = run.time(1, 64, {*buffer, (i + 1) * loads / 64});
      if (!report)
        return report.takeError();
      cycles[i] = report->cycles;
    }
    return (cycles[1] - cycles[0]) / double(loads / 64 * 64);
  };
}

//===----------------------------------------------------------------------===//
// A stencil
//===----------------------------------------------------------------------===//

/// A Laplacian of 7 points in f64, one point a work-item, as the publication's
/// first kernel.
constexpr StringLiteral stencilSource = R"(
kernel void laplacian(global const double *restrict u, global double *restrict f,
                      uint n, double centre, double side) {
  uint i = __builtin_amdgcn_workgroup_id_x() * 256 +
           __builtin_amdgcn_workitem_id_x();
  uint j = __builtin_amdgcn_workgroup_id_y();
  uint k = __builtin_amdgcn_workgroup_id_z();
  if (i == 0 || i >= n - 1 || j == 0 || j >= n - 1 || k == 0 || k >= n - 1)
    return;
  size_t at = i + (size_t)n * (j + (size_t)n * k);
  size_t plane = (size_t)n * n;
  double sum = u[at] * centre + (u[at - 1] + u[at + 1]) * side +
               (u[at - n] + u[at + n]) * side +
               (u[at - plane] + u[at + plane]) * side;
#ifdef NONTEMPORAL
  __builtin_nontemporal_store(sum, f + at);
#else
  f[at] = sum;
#endif
})";
/// What the publication's fifth kernel does: eight rows a work-item, the plane
/// below first, then the rows from the first to the last, each used for its
/// neighbours too, then the plane above; nontemporal stores.
constexpr StringLiteral tiledStencilSource = R"(
#define ROWS 8
__attribute__((amdgpu_flat_work_group_size(256, 256)))
kernel void laplacian(global const double *restrict u, global double *restrict f,
                      uint n, double centre, double side) {
  uint i = __builtin_amdgcn_workgroup_id_x() * 256 +
           __builtin_amdgcn_workitem_id_x();
  uint first = __builtin_amdgcn_workgroup_id_y() * ROWS;
  uint k = __builtin_amdgcn_workgroup_id_z();
  if (i == 0 || i >= n - 1 || k == 0 || k >= n - 1)
    return;
  size_t plane = (size_t)n * n, row = n;
  global const double *own = u + i + row * first + plane * k;
  global double *out = f + i + row * first + plane * k;
  double sum[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
    sum[r] = own[(long)(row * r) - (long)plane] * side;
  if (first > 0)
    sum[0] += own[-(long)row] * side;
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    double left = own[(long)(row * r) - 1], here = own[row * r];
    double right = own[row * r + 1];
    sum[r] += (left + right) * side + here * centre;
    if (r > 0)
      sum[r - 1] += here * side;
    if (r + 1 < ROWS)
      sum[r + 1] += here * side;
  }
  if (first + ROWS < n)
    sum[ROWS - 1] += own[row * ROWS] * side;
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
    sum[r] += own[row * r + plane] * side;
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
    if (first + r > 0 && first + r < n - 1)
      __builtin_nontemporal_store(sum[r], out + row * r);
})";

/// Bytes a second that a stencil moves at least: the grid once each way.
std::function<Expected<double>(const Row &)> stencil(std::string source,
                                                     uint32_t rows) {
  return [=](const Row &row) -> Expected<double> {
    constexpr uint32_t n = 512;
    Run run(row);
    if (Error error = run.build(source, "cl"))
      return std::move(error);
    uint64_t bytes = 8 * uint64_t(n) * n * n;
    struct {
      uint64_t u, f;
      uint32_t n, padding;
      double centre, side;
    } arguments = {0, 0, n, 0, -6, 1};
    for (uint64_t *address : {&arguments.u, &arguments.f}) {
      auto buffer = run.allocate(bytes);
      if (!buffer)
        return buffer.takeError();
      *address = *buffer;
    }
    LaunchParameters parameters;
    parameters.grid = {n / 256, n / rows, n};
    parameters.workgroup = {256, 1, 1};
    parameters.kernarg = ArrayRef(reinterpret_cast<const uint8_t *>(&arguments),
                                  sizeof(arguments));
    auto report = run.time(parameters, TimingOptions());
    if (!report)
      return report.takeError();
    raw_string_ostream(modelNote)
        << format("Modelled: HBM reads %.2f times the grid, limit %s; %llu of "
                  "%llu workgroups of a compute unit in detail.",
                  report->hbmBytesRead / double(bytes), report->limit.c_str(),
                  static_cast<unsigned long long>(report->detailedWorkgroups),
                  static_cast<unsigned long long>(report->workgroupsOfCU));
    if (verbose)
      outs() << format(
          "        L2 hits %.1f %%, HBM read %.2f, written %.2f of "
          "the grid, limit %s, %llu of %llu workgroups\n",
          100 * report->l2HitRate, report->hbmBytesRead / double(bytes),
          report->hbmBytesWritten / double(bytes), report->limit.c_str(),
          static_cast<unsigned long long>(report->detailedWorkgroups),
          static_cast<unsigned long long>(report->workgroupsOfCU));
    return 2 * double(bytes) / report->seconds;
  };
}

//===----------------------------------------------------------------------===//
// Triton's attention
//===----------------------------------------------------------------------===//

std::string descriptionOf(unsigned d, StringRef configuration) {
  SmallString<128> path(kernels);
  sys::path::append(path, "triton_attention_d" + Twine(d) + "_" +
                              configuration + ".json");
  return path.str().str();
}

/// Makes sure that the kernels are there, and says what to do if not.
std::string missingKernels() {
  static std::optional<std::string> reason;
  if (reason)
    return *reason;
  auto missing = [] {
    for (unsigned d : {128u, 64u})
      for (StringRef configuration : tunedConfigurations)
        if (!sys::fs::exists(descriptionOf(d, configuration)))
          return descriptionOf(d, configuration);
    return std::string();
  };
  if (!kernels.empty()) {
    reason = missing();
    if (!reason->empty())
      *reason +=
          ": not there; bench/compile_peer_kernels.py " + kernels + " makes it";
    return *reason;
  }
  kernels = WAVESMITH_BENCH_BUILD "/peer-kernels";
  reason = missing();
  if (reason->empty())
    return *reason;
  const std::string python = WAVESMITH_BENCH_BUILD "/venv-peers/bin/python";
  const std::string command =
      python + " " WAVESMITH_BENCH_COMPILE_PEERS " " + kernels.getValue();
  if (!sys::fs::can_execute(python)) {
    reason = "no Triton: scripts/bootstrap.sh installs it in build/venv-peers, "
             "and then this program compiles the kernels; or name a folder "
             "with --kernels";
    return *reason;
  }
  errs() << "compiling Triton's kernels: " << command << '\n';
  StringRef arguments[] = {python, WAVESMITH_BENCH_COMPILE_PEERS, kernels};
  std::optional<StringRef> redirects[] = {"", "", std::nullopt};
  std::string message;
  int status = sys::ExecuteAndWait(python, arguments, std::nullopt, redirects,
                                   0, 0, &message);
  reason = missing();
  if (!reason->empty())
    reason = "'" + command + "' failed (" +
             (message.empty() ? "status " + std::to_string(status) : message) +
             ")";
  return *reason;
}

struct AttentionResult {
  std::string configuration;
  double flopsPerSecond = 0, matrixShare = 0, vectorShare = 0;
  double occupancy = 0;
  std::string limit;
  uint64_t detailed = 0, workgroups = 0;
};

/// The buffers of one head size, which all configurations share.
struct AttentionDevice {
  explicit AttentionDevice(const Row &row) : run(row) {}
  Run run;
  std::map<std::string, uint64_t> buffers;
};

/// Causal attention of so many heads over 16,384 queries and keys. Data is
/// zero, which changes no address and no branch.
Expected<AttentionResult> modelAttention(AttentionDevice &device,
                                         const PeerKernel &kernel, unsigned d) {
  // The publication's launch: 16 batches of 16 heads.
  constexpr uint32_t length = 16384, heads = 256;
  Run &run = device.run;
  if (Error error = run.load(kernel.path))
    return std::move(error);
  std::vector<uint8_t> kernarg;
  auto append = [&](const void *bytes, size_t size) {
    kernarg.resize(alignTo(kernarg.size(), size));
    const uint8_t *from = static_cast<const uint8_t *>(bytes);
    kernarg.insert(kernarg.end(), from, from + size);
  };
  float softmaxScale = 1.0f / std::sqrt(float(d));
  for (const auto &[name, kind] : kernel.arguments) {
    if (kind == "pointer") {
      uint64_t address = 0;
      if (!StringRef(name).contains("scratch")) {
        if (!device.buffers.count(name)) {
          auto buffer = run.allocate(uint64_t(heads) * length *
                                     (name == "lse_ptr" ? 4 : 2 * d));
          if (!buffer)
            return buffer.takeError();
          device.buffers[name] = *buffer;
        }
        address = device.buffers[name];
      }
      append(&address, 8);
    } else if (name == "scale" && kind == "f32") {
      append(&softmaxScale, 4);
    } else if ((name == "queries" || name == "keys") && kind == "i32") {
      append(&length, 4);
    } else {
      return createStringError(kernel.name + ": argument '" + name + "' (" +
                               kind + ") is not known");
    }
  }
  uint32_t blocks = divideCeil(length, kernel.blockM);
  LaunchParameters parameters;
  parameters.grid = {blocks, heads, 1};
  parameters.workgroup = {kernel.threads, 1, 1};
  parameters.dynamicLDSBytes = kernel.sharedMemory;
  parameters.kernarg = kernarg;
  TimingOptions options;
  // A sample: workgroups that begin until then, a few of each slot, with
  // lengths from all of the range.
  options.detailedInstructions = 4'000'000;
  options.neighbourInstructions = 3'000'000;
  // Under the causal mask a block of queries sees all keys up to its own.
  options.work = [=](uint64_t number) { return double(number % blocks + 1); };
  auto report = run.time(parameters, options);
  if (!report)
    return report.takeError();
  AttentionResult result;
  result.configuration = kernel.name;
  // Two products, half of the scores.
  result.flopsPerSecond =
      4.0 * heads * double(length) * length * d / 2 / report->seconds;
  for (const ResourceShare &share : report->shares) {
    if (share.name == "MFMA")
      result.matrixShare = share.share;
    if (share.name == "VALU")
      result.vectorShare = share.share;
  }
  result.occupancy = report->achievedOccupancy;
  // The modelled compute unit is the one with the most work; counters are means
  // over the device.
  for (double *share :
       {&result.matrixShare, &result.vectorShare, &result.occupancy})
    *share *= report->balance;
  result.limit = report->limit;
  result.detailed = report->detailedWorkgroups;
  result.workgroups = report->workgroupsOfCU;
  if (verbose) {
    outs() << format(
        "        %-58s %6.1f TF  MFMA %4.1f %%  limit %s, %u waves "
        "a SIMD, %llu of %llu workgroups\n",
        kernel.name.c_str(), result.flopsPerSecond / 1e12,
        100 * result.matrixShare, report->limit.c_str(), report->wavesPerSIMD,
        static_cast<unsigned long long>(report->detailedWorkgroups),
        static_cast<unsigned long long>(report->workgroupsOfCU));
    outs().flush();
  }
  return result;
}

constexpr StringLiteral loadClockSource =
    "midiareshadi/attn-dsl-bench, sweep_v1.csv and counters_v1.csv: flops done "
    "over time, MfmaUtil and 2048 flops a clock, of AITER and SDPA";

/// The clock of an MI300X whose matrix units are busy for such a share, between
/// those that the counters and times of the other attention kernels of the
/// publication give (none of Triton's, which the rows are compared with).
double clockUnderLoad(double matrixShare) {
  struct Point {
    double share, clock;
  };
  constexpr Point points[] = {{0.2682, 1.628e9},
                              {0.3136, 1.582e9},
                              {0.4229, 1.358e9},
                              {0.7209, 1.119e9}};
  const Point *above = llvm::find_if(
      points, [&](const Point &p) { return p.share >= matrixShare; });
  if (above == std::begin(points))
    return points[0].clock;
  if (above == std::end(points))
    return std::end(points)[-1].clock;
  const Point &below = above[-1];
  double part = (matrixShare - below.share) / (above->share - below.share);
  return below.clock + part * (above->clock - below.clock);
}

double peakClockOf(const Row &row) {
  for (const TargetInfo &target : knownTargets())
    if (target.chip == row.chip)
      return target.clockHz;
  return 0;
}

struct TunedAttention {
  AttentionResult best;
  /// Means over all dispatches that the profiler saw.
  double meanMatrixShare = 0, meanOccupancy = 0;
  unsigned configurations = 0;
};

/// Triton's attention in the configurations of the publication's autotuner.
/// The profiler was there when it tuned: of the dispatches that its means are
/// over, 8 are those of the best configuration after tuning, and the rest is
/// spread over the five evenly (18 each for D 128, 34 for D 64).
Expected<TunedAttention> tritonAttention(const Row &row, unsigned d) {
  static std::map<unsigned, AttentionDevice> devices;
  static std::map<std::pair<unsigned, double>, TunedAttention> known;
  auto found = known.find({d, fittedScale});
  if (found == known.end()) {
    AttentionDevice &device = devices.try_emplace(d, row).first->second;
    TunedAttention tuned;
    std::string failures;
    const double each = d == 128 ? 18 : 34, after = 8;
    double matrix = 0, occupancy = 0;
    for (StringRef configuration : tunedConfigurations) {
      auto kernel = readPeerKernel(descriptionOf(d, configuration));
      if (!kernel)
        return kernel.takeError();
      auto result = modelAttention(device, *kernel, d);
      if (!result) {
        // As a tuner does: what cannot be launched is out.
        failures += "; " + kernel->name + ": " + toString(result.takeError());
        continue;
      }
      ++tuned.configurations;
      matrix += each * result->matrixShare;
      occupancy += each * result->occupancy;
      if (result->flopsPerSecond > tuned.best.flopsPerSecond)
        tuned.best = *result;
    }
    if (!tuned.configurations)
      return createStringError("none of the configurations can be launched" +
                               failures);
    double dispatches = each * tuned.configurations + after;
    tuned.meanMatrixShare =
        (matrix + after * tuned.best.matrixShare) / dispatches;
    tuned.meanOccupancy =
        (occupancy + after * tuned.best.occupancy) / dispatches;
    found = known.insert({{d, fittedScale}, tuned}).first;
  }
  const AttentionResult &best = found->second.best;
  raw_string_ostream(modelNote) << format(
      "Modelled: %s is the best of %u, limit %s, MFMA %.1f %%, VALU "
      "%.1f %%; %llu of %llu workgroups of a compute unit in detail, "
      "scaled by their blocks of keys.",
      best.configuration.c_str(), found->second.configurations,
      best.limit.c_str(), 100 * best.matrixShare, 100 * best.vectorShare,
      static_cast<unsigned long long>(best.detailed),
      static_cast<unsigned long long>(best.workgroups));
  return found->second;
}

std::vector<Row> rows() {
  std::vector<Row> all;
  auto calibrated = [&](std::string name, StringRef chip, double published,
                        StringRef unit, StringRef source, double tolerance,
                        std::function<Expected<double>(const Row &)> model) {
    all.push_back({std::move(name), chip.str(), unit.str(), source.str(),
                   tolerance, published, std::move(model), "", ""});
  };
  constexpr StringLiteral calculator =
      "AMD matrix instruction calculator, cycles of an instruction";
  constexpr StringLiteral sheet = "ROCm GPU architecture tables, peak";
  constexpr StringLiteral mt4g = "caps-tum/mt4g, sample_results, median";
  struct Matrix {
    const char *text;
    double mi250x, mi300x;
  };
  // Independent products, so that only the unit's time counts.
  const Matrix matrices[] = {
      {"v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], 0", 64, 32},
      {"v_mfma_f32_16x16x16f16 a[0:3], v[0:1], v[2:3], 0", 32, 16},
      {"v_mfma_f32_4x4x4f16 a[0:3], v[0:1], v[2:3], 0", 8, 8},
      {"v_mfma_f32_32x32x2f32 a[0:15], v0, v2, 0", 64, 64},
      {"v_mfma_f32_16x16x4f32 a[0:3], v0, v2, 0", 32, 32},
      {"v_mfma_f64_16x16x4f64 a[0:7], v[0:1], v[2:3], 0", 32, 32},
      {"v_mfma_f64_4x4x4f64 a[0:1], v[0:1], v[2:3], 0", 16, 16},
  };
  for (const Matrix &m : matrices) {
    std::string name = StringRef(m.text).split(' ').first.str() + " clocks";
    calibrated(name, "mi250x", m.mi250x, "cycles", calculator, 0.02,
               clocksOf(m.text, 8, 16));
    calibrated(name, "mi300x", m.mi300x, "cycles", calculator, 0.02,
               clocksOf(m.text, 8, 16));
  }
  calibrated("v_mfma_f32_32x32x16_fp8_fp8 clocks", "mi300x", 32, "cycles",
             calculator, 0.02,
             clocksOf("v_mfma_f32_32x32x16_fp8_fp8 a[0:15], v[0:1], v[2:3], 0",
                      8, 16));
  for (StringRef chip : {"mi250x", "mi300x"}) {
    const TargetInfo &target =
        cantFail(lookupTarget(chip == "mi250x" ? "gfx90a" : "gfx942", chip));
    calibrated("f64 vector peak", chip,
               target.peakFlops(target.vectorF64FlopsPerClockPerCU), "flop/s",
               sheet, 0.05,
               flopsOf("v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]", 8, 0, 128));
    calibrated("f16 matrix peak", chip,
               target.peakFlops(target.matrixF16FlopsPerClockPerCU), "flop/s",
               sheet, 0.05,
               flopsOf(matrices[0].text, 8, 16, 2.0 * 32 * 32 * 8));
    calibrated("f64 matrix peak", chip,
               target.peakFlops(target.matrixF64FlopsPerClockPerCU), "flop/s",
               sheet, 0.05,
               flopsOf(matrices[5].text, 8, 16, 2.0 * 16 * 16 * 4));
    calibrated("streaming read", chip, target.hbmAchievableBytesPerSecond,
               "byte/s", "the table of targets, achievable bandwidth", 0.10,
               stream(readSource, 1));
    calibrated("streaming copy", chip, target.hbmAchievableBytesPerSecond,
               "byte/s", "the table of targets, achievable bandwidth", 0.10,
               stream(copySource, 2));
    bool cdna3 = chip == "mi300x";
    calibrated("LDS latency", chip, cdna3 ? 52 : 48, "cycles", mt4g, 0.15,
               chase("lds", 64, 4));
    calibrated("vector L1 latency", chip, cdna3 ? 116 : 124, "cycles", mt4g,
               0.10, chase("vector", 4096, 128));
    calibrated("scalar L1 latency", chip, 48, "cycles", mt4g, 0.15,
               chase("scalar", 1024, 64));
    calibrated("L2 latency", chip, cdna3 ? 288 : 292, "cycles", mt4g, 0.10,
               chase("vector", 64 << 10, 128));
    calibrated("HBM latency", chip, cdna3 ? 876 : 684, "cycles", mt4g, 0.10,
               chase("vector", cdna3 ? 4 << 20 : 2 << 20, 256));
  }
  // A lane's address; so many bytes from one to the next.
  auto address = [](unsigned bytes) {
    return "v_mul_u32_u24 v1, " + std::to_string(bytes) + ", v0\n";
  };
  constexpr StringLiteral widths =
      "ROCm Compute Profiler documentation; LDS bank rules of the ISA guide";
  calibrated("LDS store, 4 bytes a lane", "mi250x", 8, "cycles", widths, 0.05,
             clocksOf("ds_write_b32 v1, v2", 8, 0, address(4), 1, 32768));
  calibrated("LDS store, 16 bytes a lane", "mi250x", 20, "cycles", widths, 0.05,
             clocksOf("ds_write_b128 v1, v[4:7]", 8, 0, address(16), 1, 32768));
  calibrated("LDS read of a CU, 16 bytes a lane", "mi300x", 8, "cycles",
             "caps-tum/mt4g (MI300A): 128 bytes a cycle", 0.05,
             [=](const Row &row) -> Expected<double> {
               auto cycles = clocksOf("ds_read_b128 v[4:7], v1", 8, 0,
                                      address(16), 8, 32768)(row);
               if (!cycles)
                 return cycles.takeError();
               return *cycles / 8;
             });
  // 64 lanes in two groups of 32: with a stride of s words, s (a power of 2)
  // words of each group are in one bank.
  for (unsigned stride : {2u, 4u, 8u, 32u})
    calibrated(
        "LDS read, stride of " + std::to_string(stride) + " words", "mi250x",
        std::max(4.0, 2.0 * std::min(stride, 32u)), "cycles",
        "ISA guide: 32 banks of 4 bytes, one word a bank and cycle", 0.10,
        clocksOf("ds_read_b32 v4, v1", 8, 0, address(4 * stride), 1, 32768));

  // The second group: nothing is fitted to it.
  auto compared = [&](std::string name, StringRef chip, double published,
                      StringRef unit, StringRef source,
                      std::function<Expected<double>(const Row &)> model,
                      StringRef remark, StringRef skipped = "") {
    all.push_back({std::move(name), chip.str(), unit.str(), source.str(), -1,
                   published, std::move(model), remark.str(), skipped.str()});
  };
  constexpr StringLiteral attention =
      "midiareshadi/attn-dsl-bench, sweep_v1.csv and counters_v1.csv: "
      "HipKittens' triton_baseline_v02.py, bf16, B16 H16 S16384, causal";
  constexpr StringLiteral clock =
      "At the peak clock; the line below has the clock that the same device "
      "had "
      "in the publication when its matrix units were as busy. Our kernel by "
      "Triton 3.9, the publication's by 3.4, in its autotuner's five "
      "configurations.";
  constexpr StringLiteral counters =
      "Clock-free. The published figure is a mean over the dispatches of "
      "tuning and the eight after it; so is the modelled one.";
  auto flops = [](unsigned d) {
    return [d](const Row &row) -> Expected<double> {
      auto result = tritonAttention(row, d);
      if (!result)
        return result.takeError();
      // Of the parameters as they are, which come first.
      if (!loadClockHz)
        loadClockHz = clockUnderLoad(result->best.matrixShare);
      return result->best.flopsPerSecond;
    };
  };
  auto mean = [](unsigned d, double TunedAttention::*member) {
    return [d, member](const Row &row) -> Expected<double> {
      auto result = tritonAttention(row, d);
      if (!result)
        return result.takeError();
      return (*result).*member;
    };
  };
  auto triton = [&](std::string name, double published, StringRef unit,
                    std::function<Expected<double>(const Row &)> model,
                    StringRef remark) {
    name = "Triton causal attention, " + name;
    // Kernels are compiled only for rows that are asked for.
    std::string skipped =
        StringRef(name).contains(only) ? missingKernels() : "";
    compared(name, "mi300x", published, unit, attention, std::move(model),
             remark, skipped);
  };
  triton("D 128", 364e12, "flop/s", flops(128), clock);
  triton("D 128, MFMA busy", 0.3396, "share",
         mean(128, &TunedAttention::meanMatrixShare), counters);
  triton("D 128, occupancy", 0.1866, "share",
         mean(128, &TunedAttention::meanOccupancy), counters);
  triton("D 64", 301e12, "flop/s", flops(64), clock);
  triton("D 64, MFMA busy", 0.3185, "share",
         mean(64, &TunedAttention::meanMatrixShare), counters);
  triton("D 64, occupancy", 0.2081, "share",
         mean(64, &TunedAttention::meanOccupancy), counters);
  constexpr StringLiteral laplacian =
      "ROCm blogs, finite difference method, Laplacian parts 1 and 3, 512^3 "
      "points in f64 on one GCD of MI250X: grid read and written, over time";
  compared("stencil, one point a work-item", "mi250x", 808.1e9, "byte/s",
           laplacian, stencil(stencilSource.str(), 1),
           "Published: HBM reads 1.88 times the grid, at 71 % of the peak in "
           "all. Three planes and what is written between them are just L2's "
           "8 MiB; the model's L2 replaces the oldest line in sets that a hash "
           "spreads evenly, and its HBM reaches the 80 % of plain streams.");
  compared("stencil, one point, nontemporal stores", "mi250x", 1.19 * 808.1e9,
           "byte/s", laplacian,
           stencil("#define NONTEMPORAL\n" + stencilSource.str(), 1),
           "Published: HBM reads 1.33 times the grid.");
  compared("stencil, eight rows a work-item", "mi250x", 1165e9, "byte/s",
           laplacian, stencil(tiledStencilSource.str(), 8),
           "Published: HBM reads the grid once.");
  constexpr StringLiteral blog =
      "ROCm blog, Performance Profiling on AMD GPUs, part 5, one GCD of MI250";
  constexpr StringLiteral noSource =
      "dropped: the publication describes its kernel's sizes only; what it "
      "executes between the sums, and reads from global memory, is not known";
  compared("LDS reduction by one lane, instructions a cycle", "mi250x", 0.12,
           "1/cycle", blog, nullptr, "", noSource);
  compared("LDS reduction, 64 lanes over one", "mi250x", 26.5 / 13.2, "ratio",
           blog, nullptr, "", noSource);
  constexpr StringLiteral noCK =
      "no package registry has CK's kernels as code objects or as source";
  compared("CK attention, D 128, S 8192", "mi250", 78e12, "flop/s",
           "CK's FlashAttention 2 on one GCD", nullptr, "", noCK);
  compared("CK causal attention, D 128, S 8192", "mi250", 61e12, "flop/s",
           "CK's FlashAttention 2 on one GCD", nullptr, "", noCK);
  return all;
}

} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv, "Compares the simulator's timing model to published figures");
  json::Array list;
  unsigned failures = 0;
  outs() << "Modelled, not measured: no GPU took part.\n"
         << format("%-7s %-52s %12s %12s\n", "chip", "row", "published",
                   "modelled");
  for (const Row &row : rows()) {
    if (!StringRef(row.name).contains(only))
      continue;
    bool calibrated = row.tolerance >= 0;
    json::Object entry{
        {"name", row.name},
        {"chip", row.chip},
        {"group", calibrated ? "calibrated" : "compared"},
        {"published", row.published},
        {"unit", row.unit},
        {"tolerance", calibrated ? json::Value(row.tolerance) : nullptr},
        {"source", row.source},
        {"remark", row.remark}};
    if (!row.skipped.empty()) {
      outs() << format("%-7s %-52s %12.5g %12s %-7s ", row.chip.c_str(),
                       row.name.c_str(), row.published, "skipped",
                       row.unit.c_str())
             << row.skipped << '\n';
      entry["skipped"] = row.skipped;
      entry["modelled"] = nullptr;
      list.push_back(std::move(entry));
      continue;
    }
    // As it is first, then with other fitted parameters.
    std::vector<double> figures;
    std::vector<double> scales = {1.0};
    if (varyFitted)
      scales.insert(scales.end(), {2.0 / 3, 4.0 / 3});
    bool failed = false;
    modelNote.clear();
    loadClockHz.reset();
    for (double scale : scales) {
      fittedScale = scaleOption * scale;
      modelNote.clear();
      auto modelled = row.model(row);
      if (!modelled) {
        errs() << "error: " << row.name << " on " << row.chip << ": "
               << toString(modelled.takeError()) << '\n';
        failed = true;
        break;
      }
      figures.push_back(*modelled);
    }
    if (failed) {
      ++failures;
      continue;
    }
    double error = figures[0] / row.published - 1;
    bool bad = calibrated && !(std::fabs(error) <= row.tolerance);
    failures += bad;
    outs() << format("%-7s %-52s %12.5g %12.5g %-7s %+6.1f %%%s",
                     row.chip.c_str(), row.name.c_str(), row.published,
                     figures[0], row.unit.c_str(), 100 * error,
                     bad ? "  OUT OF BOUNDS" : "");
    if (varyFitted)
      outs() << format("  fitted x 2/3: %+.1f %%, x 4/3: %+.1f %%",
                       100 * (figures[1] / figures[0] - 1),
                       100 * (figures[2] / figures[0] - 1));
    outs() << '\n';
    if (loadClockHz) {
      // Of the first scale, as the figure.
      double clock = *loadClockHz;
      double atLoad = figures[0] * clock / peakClockOf(row);
      outs() << format("        at %.2f GHz, %-42s %12.5g %-7s %+6.1f %%\n",
                       clock / 1e9, "measured under such a load", atLoad,
                       row.unit.c_str(), 100 * (atLoad / row.published - 1));
      entry["load_clock_hz"] = clock;
      entry["load_clock_source"] = loadClockSource;
      entry["modelled_at_load_clock"] = atLoad;
      entry["error_at_load_clock"] = atLoad / row.published - 1;
    }
    std::string remark = row.remark;
    if (!modelNote.empty())
      remark += (remark.empty() ? "" : " ") + modelNote;
    entry["remark"] = remark;
    if (!remark.empty())
      outs() << "        " << remark << '\n';
    outs().flush();
    entry["modelled"] = figures[0];
    entry["error"] = error;
    if (varyFitted) {
      entry["modelled_fitted_two_thirds"] = figures[1];
      entry["modelled_fitted_four_thirds"] = figures[2];
    }
    list.push_back(std::move(entry));
  }
  if (!jsonFile.empty()) {
    std::error_code error;
    raw_fd_ostream os(jsonFile, error);
    if (error) {
      errs() << "error: " << jsonFile << ": " << error.message() << '\n';
      return 1;
    }
    os << formatv("{0:2}", json::Value(json::Object{{"modelled", true},
                                                    {"rows", std::move(list)}}))
       << '\n';
  }
  return failures ? 1 : 0;
}
