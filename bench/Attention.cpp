//===- Attention.cpp - The speed of attention, modelled -------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bench-attention [--chip=CHIP] [--type=TYPE] [--head-dim=N] [--length=N]
//                 [--causal] [--not-causal] [--no-triton] [--json=FILE]
//
// Wavesmith's attention and Triton's, both compiled here and executed on the
// same simulator with its timing model. Everything is modelled; nothing was
// measured on a GPU by this program. Of the workgroups of a compute unit only
// the first are simulated in detail, and the rest is extrapolated: a row says
// how many. What others measured on GPUs stands beside, with its source.
//
// Without filters the whole table is made, which takes most of an hour.
//
//===----------------------------------------------------------------------===//

#include "KernelSource.h"
#include "PeerKernel.h"
#include "wavesmith/Simulator/Timing.h"
#include "wavesmith/Target/Target.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <chrono>
#include <cmath>
#include <map>
#include <random>

using namespace llvm;
using namespace wavesmith;
using namespace wavesmith::sim;
using namespace wavesmith::bench;

static cl::OptionCategory category("bench-attention options");
static cl::list<std::string>
    chips("chip", cl::CommaSeparated,
          cl::desc("mi300x, mi250, of which one GCD is "
                   "modelled (default: both)"),
          cl::value_desc("chip"), cl::cat(category));
static cl::list<std::string> types("type", cl::CommaSeparated,
                                   cl::desc("bf16, f16 (default: both)"),
                                   cl::value_desc("type"), cl::cat(category));
static cl::list<unsigned> headDims("head-dim", cl::CommaSeparated,
                                   cl::desc("128, 64 (default: both)"),
                                   cl::value_desc("n"), cl::cat(category));
static cl::list<unsigned>
    lengths("length", cl::CommaSeparated,
            cl::desc("Queries and keys, multiples of 128 (default: 1024, 2048, "
                     "4096, 8192, 16384)"),
            cl::value_desc("n"), cl::cat(category));
static cl::opt<bool> onlyCausal("causal", cl::desc("Only with a causal mask"),
                                cl::cat(category));
static cl::opt<bool> onlyFull("not-causal",
                              cl::desc("Only without a causal mask"),
                              cl::cat(category));
static cl::opt<bool> noTriton("no-triton", cl::desc("Only Wavesmith's kernels"),
                              cl::cat(category));
static cl::opt<std::string> jsonFile("json", cl::desc("Write the rows as JSON"),
                                     cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string>
    schedule("schedule",
             cl::desc("Wavesmith's schedule, in place of the default"),
             cl::value_desc("attribute"), cl::cat(category));
static cl::opt<unsigned>
    hotSpots("hot-spots", cl::init(0),
             cl::desc("Print the instructions of Wavesmith's kernel before "
                      "which wavefronts wait longest"),
             cl::value_desc("n"), cl::cat(category));
static cl::opt<uint64_t> detailed(
    "detailed-instructions", cl::init(4'000'000),
    cl::desc("Instructions of a compute unit that are simulated in detail"),
    cl::value_desc("n"), cl::cat(category));

namespace {

/// What is computed: all heads of all batches.
struct Problem {
  std::string chip, type;
  uint32_t headDim, length, heads;
  bool isCausal;

  double flops() const {
    double all = 4.0 * heads * double(length) * length * headDim;
    return isCausal ? all / 2 : all;
  }
  /// One GCD of an MI250 is an MI210 in all that is modelled.
  std::string modelledChip() const { return chip == "mi250" ? "mi210" : chip; }
  const TargetInfo &target() const {
    for (const TargetInfo &target : knownTargets())
      if (target.chip == modelledChip())
        return target;
    llvm_unreachable("chips were checked");
  }
};

/// How one kernel is launched.
struct Kernel {
  std::string path;
  uint32_t threads = 0, sharedMemory = 0, tile = 0;
  std::vector<std::pair<std::string, std::string>> arguments;
  /// Of Wavesmith's kernels: of the schedule, which order the workgroups.
  std::optional<uint32_t> dies;
  double compileSeconds = 0;
};

struct Result {
  std::string name;
  double flopsPerSecond = 0, matrixShare = 0, vectorShare = 0, occupancy = 0;
  double ldsShare = 0, conflictShare = 0;
  uint64_t registers = 0, spills = 0, scratchBytes = 0, ldsBytes = 0;
  std::string limit;
  uint64_t detailed = 0, workgroups = 0;
  std::optional<double> compileSeconds;
};

/// The buffers that all kernels of a problem share: q, k and v hold normally
/// distributed numbers, the same in every head.
class Device {
public:
  explicit Device(Problem problem) : problem(std::move(problem)) {}

  Error fill();
  Expected<Result> model(const Kernel &kernel, StringRef name);

private:
  Problem problem;
  Memory memory;
  std::map<std::string, uint64_t> buffers;
};

} // namespace

/// The 16 bits of the number of the type next to a double.
static uint16_t roundTo(StringRef type, float value) {
  APFloat number(value);
  bool losesInfo;
  number.convert(type == "f16" ? APFloat::IEEEhalf() : APFloat::BFloat(),
                 APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

Error Device::fill() {
  uint64_t count = uint64_t(problem.length) * problem.headDim;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  // A table of numbers is enough to draw from.
  std::vector<uint16_t> table(1 << 16);
  for (uint16_t &number : table)
    number = roundTo(problem.type, normal(random));
  for (const char *name : {"q", "k", "v", "out", "lse"}) {
    bool isLse = StringRef(name) == "lse";
    uint64_t bytes = isLse ? 4 * uint64_t(problem.length) : 2 * count;
    auto address = memory.allocate(bytes * problem.heads, name);
    if (!address)
      return address.takeError();
    buffers[name] = *address;
    std::vector<uint16_t> head(bytes / 2, 0);
    if (StringRef(name).size() == 1)
      for (uint16_t &number : head)
        number = table[random() % table.size()];
    for (uint64_t h = 0; h < problem.heads; ++h)
      if (Error error = memory.write(
              *address + h * bytes,
              ArrayRef(reinterpret_cast<const uint8_t *>(head.data()), bytes)))
        return error;
  }
  return Error::success();
}

Expected<Result> Device::model(const Kernel &kernel, StringRef name) {
  auto bytes = readFile(kernel.path);
  if (!bytes)
    return bytes.takeError();
  auto code = CodeObject::load(*bytes);
  if (!code)
    return code.takeError();
  std::vector<uint8_t> kernarg;
  auto append = [&](const void *from, size_t size) {
    kernarg.resize(alignTo(kernarg.size(), size));
    const uint8_t *first = static_cast<const uint8_t *>(from);
    kernarg.insert(kernarg.end(), first, first + size);
  };
  const float scale = 1.0f / std::sqrt(float(problem.headDim));
  for (const auto &[argument, kind] : kernel.arguments) {
    StringRef key = argument;
    key.consume_back("_ptr");
    if (key == "o")
      key = "out";
    if (kind == "pointer") {
      // Triton's scratch is no buffer: it has no bytes.
      auto found = buffers.find(key.str());
      uint64_t address = found == buffers.end() ? 0 : found->second;
      append(&address, 8);
    } else if (kind == "f32" && key == "scale") {
      append(&scale, 4);
    } else if (key == "batch" || key == "queries" || key == "keys") {
      uint64_t value = key == "batch" ? 1 : problem.length;
      append(&value, kind == "i32" ? 4 : 8);
    } else {
      return createStringError(kernel.path + ": argument '" + argument + "' (" +
                               kind + ") is not known");
    }
  }
  uint32_t blocks = divideCeil(problem.length, kernel.tile);
  LaunchParameters parameters;
  parameters.kernel = (*code)->kernels().front().name;
  parameters.grid = {blocks, problem.heads, 1};
  parameters.workgroup = {kernel.threads, 1, 1};
  parameters.dynamicLDSBytes = kernel.sharedMemory;
  parameters.kernarg = kernarg;
  TimingOptions options;
  options.chip = problem.modelledChip();
  options.executeRest = false;
  options.detailedInstructions = detailed;
  options.neighbourInstructions = detailed / 4 * 3;
  // Under the causal mask a block of queries sees all keys up to its own.
  if (problem.isCausal)
    options.work = [blocks, heads = problem.heads,
                    dies = kernel.dies](uint64_t number) {
      if (!dies)
        return double(number % blocks + 1);
      // As wavesmith.attention_schedule says: whole heads for each die, four
      // in turn, then those that are left, and the last blocks first.
      uint64_t round = *dies > 1 ? *dies * 4 : 1;
      uint64_t whole = uint64_t(heads / round * round) * blocks;
      uint64_t place = number < whole ? number / round % blocks
                                      : (number - whole) / (heads % round);
      return double(blocks - place);
    };
  auto timed = launchTimed(**code, memory, parameters, options, 2);
  if (!timed)
    return timed.takeError();
  const TimingReport &report = timed->second;
  if (hotSpots && name == "wavesmith")
    report.print(outs(), hotSpots);
  Result result;
  result.name = name.str();
  result.flopsPerSecond = problem.flops() / report.seconds;
  for (const ResourceShare &share : report.shares) {
    if (share.name == "MFMA")
      result.matrixShare = share.share;
    if (share.name == "VALU")
      result.vectorShare = share.share;
    if (share.name == "LDS")
      result.ldsShare = share.share;
  }
  if (report.ldsCycles > 0)
    result.conflictShare = report.ldsConflictCycles / report.ldsCycles;
  const KernelInfo &info = (*code)->kernels().front();
  result.registers = info.vgprCount;
  result.spills = info.vgprSpillCount;
  result.scratchBytes = info.privateSegmentFixedSize;
  result.ldsBytes = info.groupSegmentFixedSize + kernel.sharedMemory;
  result.occupancy = report.achievedOccupancy;
  // The modelled compute unit is the one with the most work; the rows' shares
  // are means over the device.
  for (double *share : {&result.matrixShare, &result.vectorShare,
                        &result.ldsShare, &result.occupancy})
    *share *= report.balance;
  result.limit = report.limit;
  result.detailed = report.detailedWorkgroups;
  result.workgroups = report.workgroupsOfCU;
  if (kernel.compileSeconds > 0)
    result.compileSeconds = kernel.compileSeconds;
  return result;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The problem as a module.
static std::string attentionText(const Problem &problem) {
  std::string tensor = formatv("tensor<?x{0}x?x{1}x{2}>", problem.heads,
                               problem.headDim, problem.type);
  std::string lse = formatv("tensor<?x{0}x?xf32>", problem.heads);
  std::string options = problem.isCausal ? " causal top_left" : "";
  if (!schedule.empty())
    options += " {schedule = " + schedule + "}";
  return formatv("func.func @attend(%q: {0}, %k: {0}, %v: {0}) -> ({0}, {1}) "
                 "{{\n  %o, %lse = wavesmith.attention %q, %k, %v layout bhsd "
                 "scale {2:f9}{3} : ({0}, {0}, {0}) -> ({0}, {1})\n"
                 "  return %o, %lse : {0}, {1}\n}\n",
                 tensor, lse, 1.0 / std::sqrt(double(problem.headDim)),
                 options);
}

/// Compiles a module with wavesmith-compile; the time is that of the whole
/// program.
static Expected<Kernel> compileWavesmith(StringRef text, StringRef architecture,
                                         StringRef chip) {
  SmallString<128> folder(WAVESMITH_BENCH_BUILD "/bench-attention");
  if (std::error_code code = sys::fs::create_directories(folder))
    return createStringError(folder + ": " + code.message());
  std::string input = (folder + "/kernel.mlir").str();
  Kernel kernel;
  kernel.path = (folder + "/kernel.hsaco").str();
  {
    std::error_code code;
    raw_fd_ostream os(input, code);
    os << text;
    if (code || os.has_error())
      return createStringError("cannot write " + input);
  }
  std::string target = ("--target=" + architecture).str();
  std::string chipOption = ("--chip=" + chip).str();
  auto start = std::chrono::steady_clock::now();
  if (Error error = runProgram({WAVESMITH_BENCH_BUILD "/bin/wavesmith-compile",
                                input, target, chipOption, "-o", kernel.path}))
    return std::move(error);
  kernel.compileSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  std::string description = (folder + "/kernel.json").str();
  auto buffer = MemoryBuffer::getFile(description);
  if (!buffer)
    return createStringError(description + ": " + buffer.getError().message());
  auto value = json::parse((*buffer)->getBuffer());
  if (!value)
    return value.takeError();
  auto bad = [&] { return createStringError(description + ": not expected"); };
  const json::Object *object = value->getAsObject();
  const json::Array *kernels = object ? object->getArray("kernels") : nullptr;
  object = kernels && !kernels->empty() ? (*kernels)[0].getAsObject() : nullptr;
  if (!object)
    return bad();
  const json::Array *size = object->getArray("workgroup_size");
  const json::Array *grid = object->getArray("grid");
  const json::Array *arguments = object->getArray("arguments");
  const json::Object *taken = object->getObject("schedule");
  if (!size || !grid || !arguments || !taken)
    return bad();
  StringRef attribute = taken->getString("attribute").value_or("");
  kernel.dies = 1;
  if (size_t at = attribute.find("dies = "); at != StringRef::npos) {
    attribute = attribute.substr(at + 7);
    if (attribute.consumeInteger(10, *kernel.dies))
      return bad();
  }
  kernel.threads = (*size)[0].getAsInteger().value_or(0);
  // "queries ceildiv 128"
  StringRef tiles = (*grid)[0].getAsString().value_or("");
  if (tiles.rsplit(" ceildiv ").second.getAsInteger(10, kernel.tile))
    return bad();
  for (const json::Value &entry : *arguments) {
    const json::Object *argument = entry.getAsObject();
    auto name = argument ? argument->getString("name") : std::nullopt;
    auto kind = argument ? argument->getString("kind") : std::nullopt;
    auto type = argument ? argument->getString("type") : std::nullopt;
    if (!name || !kind || !type)
      return bad();
    bool isScalar = *kind == "scalar" || *kind == "dimension";
    kernel.arguments.emplace_back(*name, isScalar ? *type : "pointer");
  }
  return kernel;
}

/// Triton's kernels for a problem in its autotuner's configurations; those that
/// do not compile are left out.
static Expected<std::vector<std::pair<std::string, Kernel>>>
compileTriton(const Problem &problem) {
  const std::string folder = WAVESMITH_BENCH_BUILD "/peer-kernels";
  const std::string python = WAVESMITH_BENCH_BUILD "/venv-peers/bin/python";
  if (!sys::fs::can_execute(python))
    return createStringError("no Triton: scripts/bootstrap.sh installs it in "
                             "build/venv-peers");
  StringRef architecture = problem.target().architecture;
  std::string target = ("--target=" + architecture).str();
  std::string type = "--type=" + problem.type;
  std::string dim = "--head-dim=" + std::to_string(problem.headDim);
  SmallVector<StringRef> command = {
      python,    WAVESMITH_BENCH_COMPILE_PEERS, folder, target, type, dim,
      "--jobs=1"};
  if (!problem.isCausal)
    command.push_back("--not-causal");
  // What is there is not compiled again; the output of the program is not ours.
  std::optional<StringRef> redirects[] = {"", "", std::nullopt};
  std::string message;
  if (sys::ExecuteAndWait(python, command, std::nullopt, redirects, 0, 0,
                          &message))
    return createStringError("'" + join(command, " ") + "' failed " + message);
  std::string kind;
  if (architecture != "gfx942" || problem.type != "bf16" || !problem.isCausal)
    kind = (architecture + "_" + problem.type + "_" +
            (problem.isCausal ? "causal" : "full") + "_")
               .str();
  std::vector<std::pair<std::string, Kernel>> kernels;
  for (StringRef configuration : tunedConfigurations) {
    std::string name = formatv("triton_attention_{0}d{1}_{2}", kind,
                               problem.headDim, configuration);
    auto peer = readPeerKernel(folder + "/" + name + ".json");
    if (!peer) {
      consumeError(peer.takeError());
      continue;
    }
    Kernel kernel;
    kernel.path = peer->path;
    kernel.threads = peer->threads;
    kernel.sharedMemory = peer->sharedMemory;
    kernel.tile = peer->blockM;
    kernel.arguments = peer->arguments;
    kernel.compileSeconds = peer->compileSeconds.value_or(0);
    kernels.emplace_back(configuration.str(), kernel);
  }
  if (kernels.empty())
    return createStringError("none of Triton's configurations compiled");
  return kernels;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
/// What others measured on a GPU, for the row of the nearest shape.
struct Published {
  StringLiteral chip;
  uint32_t headDim, length;
  bool isCausal;
  StringLiteral figure;
};
} // namespace

/// From the publications that docs/tiles.md names.
static constexpr Published publishedFigures[] = {
    {"mi300x", 128, 8192, false,
     "B2 H24: moonmath 535 (truncating 553), AITER v3 435 (499) TF"},
    {"mi300x", 128, 16384, true,
     "B16 H16: AITER 494, Triton 364, SDPA 307 TF; MFMA busy 72, 34, 31 %"},
    {"mi300x", 64, 16384, true, "B16 H16: AITER 355, Triton 301, SDPA 270 TF"},
    {"mi250", 128, 8192, false, "CK FA2 78 TF a GCD"},
    {"mi250", 128, 8192, true, "CK FA2 61 TF a GCD"},
    {"mi250", 64, 8192, false, "CK FA2 76 TF a GCD"},
    {"mi250", 64, 8192, true, "CK FA2 45 TF a GCD"},
};

static json::Object describe(const Result &result, double peak) {
  json::Object object{
      {"modelled_tflops", result.flopsPerSecond / 1e12},
      {"share_of_peak", result.flopsPerSecond / peak},
      {"mfma_busy", result.matrixShare},
      {"valu_busy", result.vectorShare},
      {"lds_busy", result.ldsShare},
      {"lds_conflicts", result.conflictShare},
      {"occupancy", result.occupancy},
      {"limit", result.limit},
      {"registers", int64_t(result.registers)},
      {"spills", int64_t(result.spills)},
      {"scratch_bytes", int64_t(result.scratchBytes)},
      {"lds_bytes", int64_t(result.ldsBytes)},
      {"workgroups_of_compute_unit", int64_t(result.workgroups)},
      {"workgroups_in_detail", int64_t(result.detailed)}};
  object["compile_seconds"] =
      result.compileSeconds ? json::Value(*result.compileSeconds) : nullptr;
  return object;
}

static void print(const Result &result, double peak) {
  outs() << format("  %-28s %7.1f TF  %4.1f %% of peak  MFMA %4.1f %%  VALU "
                   "%4.1f %%  LDS %4.1f %% (conflicts %4.1f %%)  occupancy "
                   "%4.1f %%  %llu of %llu workgroups",
                   result.name.c_str(), result.flopsPerSecond / 1e12,
                   100 * result.flopsPerSecond / peak, 100 * result.matrixShare,
                   100 * result.vectorShare, 100 * result.ldsShare,
                   100 * result.conflictShare, 100 * result.occupancy,
                   static_cast<unsigned long long>(result.detailed),
                   static_cast<unsigned long long>(result.workgroups));
  outs() << format(
      "\n      %llu registers, %llu spills, %llu bytes of scratch, "
      "%llu bytes of LDS, limit %s",
      static_cast<unsigned long long>(result.registers),
      static_cast<unsigned long long>(result.spills),
      static_cast<unsigned long long>(result.scratchBytes),
      static_cast<unsigned long long>(result.ldsBytes), result.limit.c_str());
  if (result.compileSeconds)
    outs() << format(", compiled in %.2f s", *result.compileSeconds);
  outs() << '\n';
  outs().flush();
}

/// One row: Wavesmith's kernel and the best of Triton's.
static Expected<json::Object> makeRow(const Problem &problem) {
  const TargetInfo &target = problem.target();
  double peak = target.peakFlops(target.matrixF16FlopsPerClockPerCU);
  outs() << format("%s %s D %u length %u %s, %u heads\n", problem.chip.c_str(),
                   problem.type.c_str(), problem.headDim, problem.length,
                   problem.isCausal ? "causal" : "not causal", problem.heads);
  Device device(problem);
  if (Error error = device.fill())
    return std::move(error);
  auto kernel = compileWavesmith(attentionText(problem), target.architecture,
                                 problem.modelledChip());
  if (!kernel)
    return kernel.takeError();
  auto own = device.model(*kernel, "wavesmith");
  if (!own)
    return own.takeError();
  print(*own, peak);
  json::Object row = describe(*own, peak);
  row["chip"] = problem.chip;
  row["type"] = problem.type;
  row["head_dim"] = problem.headDim;
  row["length"] = problem.length;
  row["causal"] = problem.isCausal;
  row["heads"] = problem.heads;
  for (const Published &published : publishedFigures)
    if (published.chip == problem.chip &&
        published.headDim == problem.headDim &&
        published.length == problem.length &&
        published.isCausal == problem.isCausal && problem.type == "bf16") {
      row["published_measured"] = published.figure;
      outs() << "  measured by others on GPUs: " << published.figure << '\n';
    }
  row["ratio_to_triton"] = nullptr;
  row["triton_compile_seconds"] = nullptr;
  if (noTriton)
    return row;
  auto peers = compileTriton(problem);
  if (!peers) {
    std::string reason = toString(peers.takeError());
    outs() << "  triton: skipped: " << reason << '\n';
    row["triton_skipped"] = reason;
    return row;
  }
  std::optional<Result> best;
  for (const auto &[name, peer] : *peers) {
    auto result = device.model(peer, "triton " + name);
    if (!result) {
      // As a tuner does: what cannot be launched is out.
      outs() << "  triton " << name << ": " << toString(result.takeError())
             << '\n';
      continue;
    }
    print(*result, peak);
    if (!best || result->flopsPerSecond > best->flopsPerSecond)
      best = *result;
  }
  if (!best)
    return row;
  row["ratio_to_triton"] = own->flopsPerSecond / best->flopsPerSecond;
  if (best->compileSeconds)
    row["triton_compile_seconds"] = *best->compileSeconds;
  json::Object triton = describe(*best, peak);
  triton["configuration"] = best->name;
  row["triton"] = std::move(triton);
  outs() << format("  %.2f times the best of Triton's\n",
                   own->flopsPerSecond / best->flopsPerSecond);
  return row;
}

/// An option's values, or all of them; a value that is none of them is an
/// error.
template <typename T>
static std::vector<T> choose(const cl::list<T> &option, std::vector<T> known) {
  if (option.empty())
    return known;
  for (const T &value : option)
    if (!is_contained(known, value)) {
      errs() << "error: --" << option.ArgStr << "=" << value
             << ": not one of the table's\n";
      exit(1);
    }
  return std::vector<T>(option.begin(), option.end());
}

int main(int argc, char **argv) {
  InitLLVM initLLVM(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "The speed of attention, modelled: Wavesmith's kernels and Triton's on "
      "the same simulator\n");
  for (unsigned length : lengths)
    if (length == 0 || length % 128 != 0 || length > 131072) {
      errs() << "error: --length=" << length
             << ": expected a multiple of 128 up to 131072\n";
      return 1;
    }
  std::vector<unsigned> allLengths = {1024, 2048, 4096, 8192, 16384};
  if (!lengths.empty())
    allLengths.assign(lengths.begin(), lengths.end());
  outs() << "All figures are modelled by the simulator at the peak clock, from "
            "a sample of\nworkgroups, scaled; none was measured on a GPU, "
            "unless a line says so.\n";
  json::Array rows;
  bool failed = false;
  for (const std::string &chip :
       choose<std::string>(chips, {"mi300x", "mi250"}))
    for (const std::string &type : choose<std::string>(types, {"bf16", "f16"}))
      for (unsigned headDim : choose<unsigned>(headDims, {128, 64}))
        for (bool isCausal : {false, true}) {
          if ((onlyCausal && !isCausal) || (onlyFull && isCausal))
            continue;
          for (unsigned length : allLengths) {
            // As many workgroups at every length, if a tile has 128 queries:
            // more heads only repeat.
            uint32_t heads = std::max<uint32_t>(1, 4864 / (length / 128));
            auto row = makeRow({chip, type, headDim, length, heads, isCausal});
            if (!row) {
              errs() << "error: " << toString(row.takeError()) << '\n';
              failed = true;
              continue;
            }
            rows.push_back(std::move(*row));
          }
        }
  if (!jsonFile.empty()) {
    std::error_code code;
    raw_fd_ostream os(jsonFile, code);
    if (code) {
      errs() << "error: " << jsonFile << ": " << code.message() << '\n';
      return 1;
    }
    os << formatv("{0:2}",
                  json::Value(json::Object{
                      {"modelled", true},
                      {"sampled", true},
                      {"remark", "modelled at the peak clock from a sample of "
                                 "workgroups, scaled; not measured"},
                      {"rows", std::move(rows)}}))
       << '\n';
  }
  return failed ? 1 : 0;
}
