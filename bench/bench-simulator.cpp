//===- bench-simulator.cpp - How fast the simulator is --------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a few kernels on the simulator and says how many wavefront instructions
// it executed a second. Each figure is the best of several launches: what else
// runs on the host can only make a launch slower. Times are those of launch(),
// without compiling, loading and filling memory.
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Simulator/Checker.h"
#include "wavesmith/Simulator/Simulator.h"
#include "wavesmith/Simulator/Timing.h"
#include "wavesmith/Support/FileTransaction.h"
#include "wavesmith/Support/ToolCommandLine.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include <chrono>
#include <cstring>
#include <optional>
#include <random>
#include <thread>

using namespace wavesmith;
namespace cl = llvm::cl;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

namespace {

struct Options {
  cl::OptionCategory category{"bench-simulator options"};
  cl::opt<std::string> json{"json", cl::value_desc("file"),
                            cl::desc("Write the figures there"),
                            cl::cat(category)};
  cl::opt<std::string> target{"target", cl::value_desc("gfx90a|gfx942"),
                              cl::desc("Architecture (default gfx90a)"),
                              cl::init("gfx90a"), cl::cat(category)};
  cl::opt<std::string> gri{
      "gri", cl::value_desc("file.hsaco"),
      cl::desc("The right-hand side of GRI-Mech 3.0, one zone a work-item; "
               "imported and compiled by bench/make-gri30 if not given"),
      cl::cat(category)};
  cl::opt<std::string> only{
      "only", cl::value_desc("name"),
      cl::desc("One of f64, attention, gri; all if not given"),
      cl::cat(category)};
  cl::opt<unsigned> repetitions{
      "repetitions", cl::value_desc("N"),
      cl::desc("Launches a figure at least (default 5)"), cl::init(5),
      cl::cat(category)};
  cl::opt<unsigned> zones{"zones", cl::value_desc("N"),
                          cl::desc("Zones of GRI-Mech 3.0 (default 65536)"),
                          cl::init(65536), cl::cat(category)};
};

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// f64 arithmetic as rate equations have it: products, sums and Horner's rule
/// on values in registers and on constants, in a loop of 64 steps. Nothing
/// grows: every step maps [0, 1] to itself.
const char *const f64Kernel = R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void bench(global double *x, int steps) {
  int i = __builtin_amdgcn_workgroup_id_x() * 256 +
          __builtin_amdgcn_workitem_id_x();
  double a = x[4 * i], b = x[4 * i + 1], c = x[4 * i + 2], d = x[4 * i + 3];
  for (int step = 0; step < steps; ++step) {
    double p = fma(fma(fma(a, 0.0625, 0.125), a, 0.25), a, 0.5) * b;
    double q = fma(fma(fma(b, c, a), d, c), 0.125, d * 0.25);
    double r = fma(c, p, d * q) * 0.5;
    double s = (a * b + c * d) * 0.5;
    double forward = p * q, backward = r * s;
    double net = forward - backward;
    a = fma(a - s, 0.25, 0.5);
    b = fma(net, 0.125, 0.5);
    c = (r + s) * 0.5;
    d = fma(q, -0.25, 0.5);
  }
  x[4 * i] = a; x[4 * i + 1] = b; x[4 * i + 2] = c; x[4 * i + 3] = d;
}
)";

/// The inner loop of attention: a block of scores as a matrix product, their
/// running maximum and exponentials, and the product with the values. Fragments
/// come from LDS; the figure is about the mix of instructions, the numbers are
/// not attention's.
const char *const attentionKernel = R"(
typedef half half4 __attribute__((ext_vector_type(4)));
typedef float float16v __attribute__((ext_vector_type(16)));
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void bench(global float *out, global const half4 *keys, int blocks) {
  local half4 tile[1024];
  int lane = __builtin_amdgcn_workitem_id_x();
  int group = __builtin_amdgcn_workgroup_id_x();
  half4 query[8];
  for (int k = 0; k < 8; ++k)
    query[k] = keys[(lane + 64 * k) & 1023];
  float16v result[2];
  for (int i = 0; i < 16; ++i)
    result[0][i] = result[1][i] = 0.0f;
  float maximum = -1e30f, sum = 0.0f;
  for (int block = 0; block < blocks; ++block) {
    for (int k = 0; k < 4; ++k)
      tile[lane + 256 * k] = keys[(lane + 256 * k + block) & 1023];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    float16v score;
    for (int i = 0; i < 16; ++i)
      score[i] = 0.0f;
    for (int k = 0; k < 8; ++k)
      score = __builtin_amdgcn_mfma_f32_32x32x8f16(
          tile[(lane & 63) + 64 * k], query[k], score, 0, 0, 0);
    float top = maximum;
    for (int i = 0; i < 16; ++i)
      top = __builtin_fmaxf(top, score[i]);
    float scale = __builtin_amdgcn_exp2f(maximum - top);
    maximum = top;
    sum *= scale;
    half4 weights[4];
    for (int i = 0; i < 16; ++i) {
      float weight = __builtin_amdgcn_exp2f(score[i] - top);
      sum += weight;
      weights[i / 4][i % 4] = (half)weight;
    }
    for (int h = 0; h < 2; ++h) {
      result[h] *= scale;
      for (int k = 0; k < 4; ++k)
        result[h] = __builtin_amdgcn_mfma_f32_32x32x8f16(
            tile[512 + (lane & 63) + 64 * (k + 4 * h)], weights[k], result[h],
            0, 0, 0);
    }
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  }
  for (int i = 0; i < 16; ++i)
    out[(group * 256 + lane) * 16 + i] = (result[0][i] + result[1][i]) / sum;
}
)";

Expected<std::vector<uint8_t>> readFile(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, false, false);
  if (!file)
    return llvm::createStringError("cannot read '" + path +
                                   "': " + file.getError().message());
  StringRef bytes = (*file)->getBuffer();
  return std::vector<uint8_t>(bytes.bytes_begin(), bytes.bytes_end());
}

/// Runs a program; its output stays that of this process.
Error runProgram(llvm::ArrayRef<StringRef> command) {
  std::string message;
  int status = llvm::sys::ExecuteAndWait(command[0], command, std::nullopt, {},
                                         0, 0, &message);
  if (status)
    return llvm::createStringError("'" + command[0] + "' ended with status " +
                                   Twine(status) +
                                   (message.empty() ? "" : ": " + message));
  return Error::success();
}

Expected<std::shared_ptr<const sim::CodeObject>> compile(const char *source,
                                                         StringRef target) {
  llvm::SmallString<128> input, output;
  if (llvm::sys::fs::createTemporaryFile("bench", "cl", input) ||
      llvm::sys::fs::createTemporaryFile("bench", "hsaco", output))
    return llvm::createStringError("cannot make a temporary file");
  {
    std::error_code code;
    llvm::raw_fd_ostream out(input, code);
    out << source;
  }
  std::string processor = ("-mcpu=" + target).str();
  Error error =
      runProgram({WAVESMITH_BENCH_CLANG, "-target", "amdgcn-amd-amdhsa",
                  "-nogpulib", processor, "-O3", "-cl-std=CL2.0",
                  "-ffp-contract=off", "-w", "-x", "cl", input, "-o", output});
  auto bytes = error ? Expected<std::vector<uint8_t>>(std::move(error))
                     : readFile(output);
  llvm::sys::fs::remove(input);
  llvm::sys::fs::remove(output);
  if (!bytes)
    return bytes.takeError();
  return sim::CodeObject::load(*bytes);
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

/// One figure, or the reason why there is none.
struct Figure {
  std::string key;
  std::string title;
  std::string reason;
  uint64_t instructions = 0;
  double seconds = 0;
  bool isTime = false;

  bool isPresent() const { return reason.empty(); }
  double value() const {
    return isTime ? seconds : double(instructions) / seconds;
  }
};

/// The kernel's arguments, each of 8 bytes but a last one of 4.
class Arguments {
public:
  template <typename T> void add(T value) {
    while (bytes.size() % sizeof(T))
      bytes.push_back(0);
    bytes.resize(bytes.size() + sizeof(T));
    std::memcpy(&bytes[bytes.size() - sizeof(T)], &value, sizeof(T));
  }
  std::vector<uint8_t> bytes;
};

template <typename T>
Expected<uint64_t> upload(sim::Memory &memory, StringRef name,
                          const std::vector<T> &values) {
  auto address = memory.allocate(values.size() * sizeof(T), name);
  if (!address)
    return address;
  if (Error error = memory.write(
          *address, llvm::ArrayRef<uint8_t>(
                        reinterpret_cast<const uint8_t *>(values.data()),
                        values.size() * sizeof(T))))
    return std::move(error);
  return address;
}

/// A figure takes so many seconds at least, against what else runs.
constexpr double leastSeconds = 3;

/// The best of so many launches or more. An error of a launch is the figure's
/// reason.
void measure(Figure &figure, unsigned repetitions,
             llvm::function_ref<Expected<sim::Counters>()> launch) {
  figure.seconds = 0;
  double spent = 0;
  for (unsigned i = 0; i < repetitions || spent < leastSeconds; ++i) {
    auto begin = std::chrono::steady_clock::now();
    auto counters = launch();
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - begin;
    if (!counters) {
      figure.reason = llvm::toString(counters.takeError());
      return;
    }
    spent += time.count();
    if (i == 0 || time.count() < figure.seconds)
      figure.seconds = time.count();
    figure.instructions = counters->instructions;
  }
}

std::vector<double> randomNumbers(size_t count, double low, double high) {
  std::mt19937_64 random(1);
  std::vector<double> result(count);
  for (double &x : result)
    x = low + (high - low) * (double(random() >> 11) * 0x1p-53);
  return result;
}

Error benchF64(const Options &options, std::vector<Figure> &figures) {
  auto object = compile(f64Kernel, options.target);
  if (!object)
    return object.takeError();
  sim::Memory memory;
  constexpr unsigned groups = 16, workgroup = 256;
  auto x = upload(memory, "x",
                  randomNumbers(size_t(4) * groups * workgroup, 0.1, 0.9));
  if (!x)
    return x.takeError();
  Arguments arguments;
  arguments.add(*x);
  arguments.add(int32_t(4096));
  sim::LaunchParameters parameters;
  parameters.kernel = "bench";
  parameters.grid = {groups, 1, 1};
  parameters.workgroup = {workgroup, 1, 1};
  parameters.kernarg = arguments.bytes;
  for (unsigned threads : {1u, 2u}) {
    Figure figure;
    figure.key = threads == 1 ? "wave_instructions_per_second"
                              : "wave_instructions_per_second_two_threads";
    figure.title = threads == 1 ? "f64 VALU code, one thread"
                                : "f64 VALU code, two threads";
    measure(figure, options.repetitions,
            [&] { return sim::launch(**object, memory, parameters, threads); });
    figures.push_back(figure);
  }
  Figure checked, timed, both;
  checked.key = "wave_instructions_per_second_checked";
  checked.title = "f64 VALU code, checked";
  sim::CheckOptions check;
  measure(checked, options.repetitions, [&]() -> Expected<sim::Counters> {
    std::vector<sim::Finding> findings;
    sim::LaunchParameters p = parameters;
    p.check = &check;
    p.findings = &findings;
    auto counters = sim::launch(**object, memory, p);
    if (counters && !findings.empty())
      return llvm::createStringError("the checker says: " +
                                     findings.front().text());
    return counters;
  });
  timed.key = "wave_instructions_per_second_timed";
  timed.title = "f64 VALU code, timed";
  measure(timed, options.repetitions, [&]() -> Expected<sim::Counters> {
    auto result =
        sim::launchTimed(**object, memory, parameters, sim::TimingOptions());
    if (!result)
      return result.takeError();
    return result->first;
  });
  both.key = "wave_instructions_per_second_checked_timed";
  both.title = "f64 VALU code, checked and timed";
  measure(both, options.repetitions, [&]() -> Expected<sim::Counters> {
    std::vector<sim::Finding> findings;
    sim::LaunchParameters p = parameters;
    p.check = &check;
    p.findings = &findings;
    auto result = sim::launchTimed(**object, memory, p, sim::TimingOptions());
    if (!result)
      return result.takeError();
    if (!findings.empty())
      return llvm::createStringError("the checker says: " +
                                     findings.front().text());
    return result->first;
  });
  figures.insert(figures.end(), {checked, timed, both});
  return Error::success();
}

/// The two architectures round matrix products differently, gfx942 in more
/// steps.
Error benchAttentionOn(StringRef target, const Options &options,
                       std::vector<Figure> &figures) {
  auto object = compile(attentionKernel, target);
  if (!object)
    return object.takeError();
  sim::Memory memory;
  constexpr unsigned groups = 4, workgroup = 256;
  // Halves from 0.25 to 0.5.
  std::vector<uint16_t> halves(4096);
  std::mt19937 random(1);
  for (uint16_t &h : halves)
    h = static_cast<uint16_t>(0x3400 + random() % 1024);
  auto keys = upload(memory, "keys", halves);
  if (!keys)
    return keys.takeError();
  auto out = upload(memory, "out", std::vector<float>(groups * workgroup * 16));
  if (!out)
    return out.takeError();
  Arguments arguments;
  arguments.add(*out);
  arguments.add(*keys);
  arguments.add(int32_t(256));
  sim::LaunchParameters parameters;
  parameters.kernel = "bench";
  parameters.grid = {groups, 1, 1};
  parameters.workgroup = {workgroup, 1, 1};
  parameters.kernarg = arguments.bytes;
  Figure figure;
  figure.key = "wave_instructions_per_second_attention";
  if (target != options.target)
    figure.key += "_" + target.str();
  figure.title = "MFMA attention of " + target.str() + ", one thread";
  measure(figure, options.repetitions,
          [&] { return sim::launch(**object, memory, parameters); });
  figures.push_back(figure);
  return Error::success();
}

Error benchAttention(const Options &options, std::vector<Figure> &figures) {
  for (StringRef target : {"gfx90a", "gfx942"})
    if (Error error = benchAttentionOn(target, options, figures))
      return error;
  return Error::success();
}

Expected<std::string> codeObjectOfGRI(const Options &options) {
  if (!options.gri.empty())
    return options.gri.getValue();
  llvm::SmallString<128> folder(WAVESMITH_BENCH_BUILD "/bench");
  std::string path =
      (folder + "/gri30." + options.target.getValue() + ".hsaco").str();
  if (llvm::sys::fs::exists(path))
    return path;
  if (Error error = runProgram({WAVESMITH_BENCH_MAKE_GRI, WAVESMITH_BENCH_BUILD,
                                options.target.getValue(), path}))
    return std::move(error);
  return path;
}

Error benchGRI(const Options &options, std::vector<Figure> &figures) {
  Figure time;
  time.isTime = true;
  time.key = "gri30_seconds";
  time.title = "GRI-Mech 3.0, " + std::to_string(options.zones) + " zones";
  auto path = codeObjectOfGRI(options);
  if (!path) {
    time.reason = llvm::toString(path.takeError());
    figures.push_back(time);
    return Error::success();
  }
  auto bytes = readFile(*path);
  if (!bytes)
    return bytes.takeError();
  auto object = sim::CodeObject::load(*bytes);
  if (!object)
    return object.takeError();
  const sim::KernelInfo *kernel = (*object)->findKernel("rhs");
  if (!kernel || kernel->explicitArgumentSize() != 40)
    return llvm::createStringError(
        "'" + *path + "' has no kernel rhs(t, y, parameters, dydt, zones)");
  constexpr unsigned species = 53, workgroup = 64;
  size_t zones = options.zones;
  sim::Memory memory;
  auto y = upload(memory, "y", randomNumbers(species * zones, 1e-6, 1e-2));
  if (!y)
    return y.takeError();
  auto temperatures =
      upload(memory, "temperatures", randomNumbers(zones, 500, 3000));
  if (!temperatures)
    return temperatures.takeError();
  auto dydt = upload(memory, "dydt", std::vector<double>(species * zones));
  if (!dydt)
    return dydt.takeError();
  Arguments arguments;
  arguments.add(0.0);
  arguments.add(*y);
  arguments.add(*temperatures);
  arguments.add(*dydt);
  arguments.add(int64_t(zones));
  sim::LaunchParameters parameters;
  parameters.kernel = "rhs";
  parameters.grid = {static_cast<uint32_t>((zones + workgroup - 1) / workgroup),
                     1, 1};
  parameters.workgroup = {workgroup, 1, 1};
  parameters.kernarg = arguments.bytes;
  // Seconds, not milliseconds: two launches tell enough.
  unsigned repetitions = std::min<unsigned>(options.repetitions, 2);
  for (unsigned threads : {1u, 2u}) {
    Figure figure = time;
    if (threads == 2) {
      figure.key += "_two_threads";
      figure.title += ", two threads";
    }
    measure(figure, repetitions,
            [&] { return sim::launch(**object, memory, parameters, threads); });
    figures.push_back(figure);
    if (threads == 1) {
      figure.isTime = false;
      figure.key = "gri30_wave_instructions_per_second";
      figure.title = "GRI-Mech 3.0, one thread";
      figures.push_back(figure);
    }
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

void print(const std::vector<Figure> &figures) {
  for (const Figure &figure : figures) {
    llvm::outs() << llvm::left_justify(figure.title, 44);
    if (!figure.isPresent())
      llvm::outs() << "none: " << figure.reason << "\n";
    else if (figure.isTime)
      llvm::outs() << llvm::format("%8.3f s\n", figure.value());
    else
      llvm::outs() << llvm::format("%8.2f million wave instructions/s\n",
                                   figure.value() * 1e-6);
  }
}

llvm::json::Object toJSON(const Options &options,
                          const std::vector<Figure> &figures) {
  llvm::json::Object result, reasons;
  for (const Figure &figure : figures) {
    if (figure.isPresent()) {
      result[figure.key] = figure.value();
    } else {
      result[figure.key] = nullptr;
      reasons[figure.key] = figure.reason;
    }
  }
  result["reasons"] = std::move(reasons);
  result["gri30_zones"] = int64_t(options.zones);
  result["target"] = options.target.getValue();
  result["host"] = llvm::sys::getHostCPUName();
  result["host_threads"] = int64_t(std::thread::hardware_concurrency());
  return result;
}

int run(const Options &options) {
  std::vector<Figure> figures;
  struct {
    const char *name;
    Error (*function)(const Options &, std::vector<Figure> &);
  } parts[] = {
      {"f64", benchF64}, {"attention", benchAttention}, {"gri", benchGRI}};
  bool any = false;
  for (auto &part : parts) {
    if (!options.only.empty() && options.only != part.name)
      continue;
    any = true;
    if (Error error = part.function(options, figures)) {
      printToolError(llvm::toString(std::move(error)));
      return 1;
    }
  }
  if (!any) {
    printToolError("got --only=" + options.only +
                   ", expected f64, attention or gri");
    return 1;
  }
  print(figures);
  if (options.json.empty())
    return 0;
  std::string text;
  llvm::raw_string_ostream out(text);
  out << llvm::formatv("{0:2}", llvm::json::Value(toJSON(options, figures)))
      << "\n";
  FileTransaction files;
  Error error = files.add(
      options.json,
      llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(text.data()),
                              text.size()));
  if (!error)
    error = files.commit();
  if (error) {
    printToolError(llvm::toString(std::move(error)));
    return 1;
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  initializeTool("bench-simulator");
  Options options;
  if (!parseToolCommandLine(argc, argv, "Speed of the simulator on this host\n",
                            {&options.json, &options.target, &options.gri,
                             &options.only, &options.repetitions,
                             &options.zones}))
    return 1;
  if (options.repetitions == 0 || options.zones == 0) {
    printToolError("--repetitions and --zones must be at least 1");
    return 1;
  }
  return run(options);
}
