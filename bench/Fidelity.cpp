//===- Fidelity.cpp - The timing model against published figures ----------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bench-fidelity [--json=FILE] [--kernels=FOLDER] [--only=NAME]
//
// Two groups of rows. The first holds figures that the model is calibrated
// with: it has to reproduce them, and the program fails if it does not. The
// second holds figures that nothing was fitted to: their errors are printed,
// and only looked at. Everything here is modelled; nothing was measured on a
// GPU by this program.
//
// The kernels of the second group that other compilers make are read from a
// folder (test/Peers/build_kernels.py writes it); rows without their kernel
// are listed as skipped.
//
//===----------------------------------------------------------------------===//

#include "KernelSource.h"
#include "wavesmith/Simulator/Timing.h"
#include "wavesmith/Target/Target.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include <cmath>
#include <functional>

using namespace llvm;
using namespace wavesmith;
using namespace wavesmith::sim;
using namespace wavesmith::bench;

static cl::OptionCategory category("bench-fidelity options");
static cl::opt<std::string> jsonFile("json", cl::desc("Write the rows as JSON"),
                                     cl::value_desc("file"),
                                     cl::cat(category));
static cl::opt<std::string> only("only",
                                 cl::desc("Rows whose name contains this"),
                                 cl::cat(category));
static cl::opt<double> scale("fitted-scale", cl::init(1.0),
                             cl::desc("Multiplies the fitted parameters"),
                             cl::cat(category));

namespace {

struct Row {
  std::string name, chip, unit, source;
  /// The first group, with the deviation that is allowed; negative for the
  /// second group.
  double tolerance;
  double published;
  std::function<Expected<double>(const Row &)> model;
  std::string remark;
};

/// A device with a code object made from source.
class Run {
public:
  explicit Run(const Row &row) : row(row) {}

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
    return memory.write(address,
                        ArrayRef<uint8_t>(
                            reinterpret_cast<const uint8_t *>(words.data()),
                            4 * words.size()));
  }
  Expected<TimingReport> time(uint32_t grid, uint32_t workgroup,
                              ArrayRef<uint64_t> arguments) {
    std::vector<uint8_t> kernarg(8 * arguments.size());
    memcpy(kernarg.data(), arguments.data(), kernarg.size());
    LaunchParameters parameters;
    parameters.kernel = code->kernels().front().name;
    parameters.grid = {grid, 1, 1};
    parameters.workgroup = {workgroup, 1, 1};
    parameters.kernarg = kernarg;
    TimingOptions options;
    options.chip = row.chip;
    options.fittedScale = scale;
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
)" << prologue << R"(
again:
)" << body << R"(
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
    if (Error error = run.build(
            loopKernel("", repeat(instruction, count), vgprs, agprs),
            "assembler"))
      return std::move(error);
    auto buffer = run.allocate(256);
    if (!buffer)
      return buffer.takeError();
    uint32_t grid = run.target().computeUnits;
    auto report = run.time(grid, 64 * waves, {*buffer, rounds});
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
std::function<Expected<double>(const Row &)> chase(StringRef memoryKind,
                                                   uint64_t bytes,
                                                   uint64_t stride) {
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

std::vector<Row> rows() {
  std::vector<Row> all;
  auto calibrated = [&](std::string name, StringRef chip, double published,
                        StringRef unit, StringRef source, double tolerance,
                        std::function<Expected<double>(const Row &)> model) {
    all.push_back({std::move(name), chip.str(), unit.str(), source.str(),
                   tolerance, published, std::move(model), ""});
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
    const TargetInfo &target = cantFail(
        lookupTarget(chip == "mi250x" ? "gfx90a" : "gfx942", chip));
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
               auto cycles =
                   clocksOf("ds_read_b128 v[4:7], v1", 8, 0, address(16), 8,
                            32768)(row);
               if (!cycles)
                 return cycles.takeError();
               return *cycles / 8;
             });
  // 64 lanes in two groups of 32: with a stride of s words, s (a power of 2)
  // words of each group are in one bank.
  for (unsigned stride : {2u, 4u, 8u, 32u})
    calibrated("LDS read, stride of " + std::to_string(stride) + " words",
               "mi250x", std::max(4.0, 2.0 * std::min(stride, 32u)), "cycles",
               "ISA guide: 32 banks of 4 bytes, one word a bank and cycle",
               0.10,
               clocksOf("ds_read_b32 v4, v1", 8, 0, address(4 * stride), 1,
                        32768));
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
  outs() << "Modelled, not measured: no GPU took part.\n";
  for (const Row &row : rows()) {
    if (!StringRef(row.name).contains(only))
      continue;
    auto modelled = row.model(row);
    if (!modelled) {
      errs() << "error: " << row.name << " on " << row.chip << ": "
             << toString(modelled.takeError()) << '\n';
      ++failures;
      continue;
    }
    double error = *modelled / row.published - 1;
    bool calibrated = row.tolerance >= 0;
    bool bad = calibrated && !(std::fabs(error) <= row.tolerance);
    failures += bad;
    outs() << format("%-7s %-44s %12.5g %12.5g %-7s %+6.1f %%%s\n",
                     row.chip.c_str(), row.name.c_str(), row.published,
                     *modelled, row.unit.c_str(), 100 * error,
                     bad ? "  OUT OF BOUNDS" : "");
    outs().flush();
    list.push_back(json::Object{
        {"name", row.name},
        {"chip", row.chip},
        {"group", calibrated ? "calibrated" : "compared"},
        {"published", row.published},
        {"modelled", *modelled},
        {"unit", row.unit},
        {"error", error},
        {"tolerance", calibrated ? json::Value(row.tolerance) : nullptr},
        {"source", row.source},
        {"remark", row.remark}});
  }
  if (!jsonFile.empty()) {
    std::error_code error;
    raw_fd_ostream os(jsonFile, error);
    if (error) {
      errs() << "error: " << jsonFile << ": " << error.message() << '\n';
      return 1;
    }
    os << formatv("{0:2}", json::Value(json::Object{
                               {"modelled", true},
                               {"rows", std::move(list)}}))
       << '\n';
  }
  return failures ? 1 : 0;
}
