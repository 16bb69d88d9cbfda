//===- FuzzTest.cpp - Random instructions and damaged files ---------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Whatever a code object holds, the simulator ends with a result or an error.
/// Built twice: plainly, and with AddressSanitizer and UBSan, which end the
/// program at the first access or operation that C++ does not define. All is
/// from fixed seeds; WAVESMITH_FUZZ_ROUNDS multiplies how much is tried, and
/// WAVESMITH_FUZZ_SEED takes other seeds.
///
//===----------------------------------------------------------------------===//

#include "InstructionRunner.h"
#include "wavesmith/Simulator/Checker.h"
#include "wavesmith/Simulator/Timing.h"
#include "wavesmith/Support/PrintableText.h"
#include <cstdlib>
#include <map>
#include <set>

using namespace wavesmith::sim;
using namespace wavesmith::sim::test;

#ifdef WAVESMITH_TEST_SANITIZED
// Objects that a contained crash leaves half built are leaked on purpose;
// LLVM's allocators, which are inlined in part, mark memory that LLVM itself,
// not being instrumented, does not unmark.
extern "C" __attribute__((visibility("default"))) const char *
__asan_default_options() {
  return "detect_leaks=0:allow_user_poisoning=0:allocator_may_return_null=1";
}
extern "C" __attribute__((visibility("default"))) const char *
__ubsan_default_options() {
  return "print_stacktrace=1";
}

// The build does what it is for.
TEST(SanitizerDeathTest, ReportsWhatIsUndefined) {
  EXPECT_DEATH(
      {
        std::vector<int> numbers(4);
        int *volatile data = numbers.data();
        data[4] = 1;
      },
      "AddressSanitizer: heap-buffer-overflow");
  EXPECT_DEATH(
      {
        volatile int large = 0x7fffffff;
        volatile int sum = large + 1;
        (void)sum;
      },
      "signed integer overflow");
}
#endif

namespace {

unsigned rounds(unsigned count) {
  const char *factor = std::getenv("WAVESMITH_FUZZ_ROUNDS");
  return count * (factor ? std::max(1, std::atoi(factor)) : 1);
}

std::mt19937_64 generator(unsigned seed) {
  const char *other = std::getenv("WAVESMITH_FUZZ_SEED");
  return std::mt19937_64(
      seed + (other ? 1000 * std::strtoull(other, nullptr, 10) : 0));
}

/// What came of the launches of one test.
struct Outcomes {
  unsigned refused = 0, failed = 0, finished = 0, withFindings = 0;
  std::string message; // The last.
  std::set<std::string> opcodes;
};

/// Every message is text for a terminal, and none is that of a crash.
void expectMessage(const std::string &text) {
  EXPECT_FALSE(text.empty());
  EXPECT_TRUE(wavesmith::isPrintable(text)) << wavesmith::printable(text);
  EXPECT_EQ(text.find("gave up"), std::string::npos) << text;
}

/// Launches in one of four ways: plainly, checked, timed, checked and timed.
void launchInMode(const CodeObject &object, const KernelInfo &kernel,
                  unsigned mode, Outcomes &outcomes) {
  Device device;
  uint64_t first =
      device.upload(std::vector<uint64_t>(4096, 0x3ff0000000000000));
  uint64_t second = device.upload(std::vector<int>(4096, 3));
  Arguments arguments;
  arguments.add(first).add(second).add(24);
  // More than that no explicit argument takes here.
  arguments.bytes.resize(std::max<size_t>(
      arguments.bytes.size(),
      std::min<uint32_t>(kernel.explicitArgumentSize(), 4096)));
  arguments.bytes.resize(std::min<size_t>(arguments.bytes.size(),
                                          (kernel.kernargSize + 15) / 16 * 16));
  LaunchParameters p;
  p.kernel = kernel.name;
  p.grid = {2, 1, 1};
  p.workgroup = {128, 1, 1};
  if (kernel.maxFlatWorkgroupSize && kernel.maxFlatWorkgroupSize < 128)
    p.workgroup[0] = kernel.maxFlatWorkgroupSize;
  p.kernarg = arguments.bytes;
  p.maxInstructions = 24000;
  std::vector<InstructionUse> used;
  p.instructionUse = &used;
  CheckOptions check;
  std::vector<Finding> findings;
  if (mode & 1) {
    p.check = &check;
    p.findings = &findings;
  }
  auto run = [&]() -> llvm::Error {
    if (!(mode & 2))
      return launch(object, device.memory, p).takeError();
    auto result = launchTimed(object, device.memory, p, {}, 1);
    if (!result)
      return result.takeError();
    std::string report;
    llvm::raw_string_ostream os(report);
    result->second.print(os);
    os << result->second.toJSON();
    return llvm::Error::success();
  };
  if (llvm::Error error = run()) {
    ++outcomes.failed;
    outcomes.message = llvm::toString(std::move(error));
    expectMessage(outcomes.message);
  } else {
    ++outcomes.finished;
  }
  for (const Finding &finding : findings)
    expectMessage(finding.text());
  outcomes.withFindings += !findings.empty();
  for (const InstructionUse &use : used)
    outcomes.opcodes.insert(use.opcode);
}

//===----------------------------------------------------------------------===//
// Random instructions
//===----------------------------------------------------------------------===//

constexpr uint32_t endProgram = 0xbf810000;

/// A kernel with values in all registers that instructions can do something
/// with (addresses, buffer descriptors, small numbers, floats), and then so
/// many words of s_endpgm, to be written over.
std::string streamKernel(const std::string &target, size_t words) {
  std::string body = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                     "  v_and_b32 v0, 0x3ff, v0\n"
                     "  v_lshlrev_b32 v1, 4, v0\n"
                     "  v_mov_b32 v2, 0xf00\n"
                     "  v_mov_b32 v3, 0x7e00\n"
                     "  s_waitcnt lgkmcnt(0)\n";
  auto number = [](unsigned i) { return std::to_string(i); };
  auto mov = [&](unsigned reg, const std::string &value) {
    body += "  s_mov_b32 s" + number(reg) + ", " + value + "\n";
  };
  for (unsigned s = 8; s < 96; s += 4) {
    unsigned kind = s / 4 % 4;
    mov(s, kind < 2 ? "s4" : kind == 2 ? number(s) : "0x40490fdb");
    mov(s + 1, kind < 2 ? "s5" : kind == 2 ? "0" : "0x400921fb");
    mov(s + 2, kind == 0 ? "0x8000" : kind == 1 ? "s4" : "64");
    mov(s + 3, kind == 0 ? "0x27000" : kind == 1 ? "s5" : "0x3c003c00");
  }
  for (unsigned v = 8; v < 256; v += 8) {
    // Of every other eight, the lanes' addresses go over the end of the buffer
    // and of LDS.
    bool edge = v % 16;
    std::string lines[] = {
        "v_add_u32 v" + number(v) + ", s4, v1",
        "v_add_u32 v" + number(v) + (edge ? ", v3" : ", 0") + ", v" + number(v),
        "v_mov_b32 v" + number(v + 1) + ", s5",
        "v_mov_b32 v" + number(v + 2) + ", s4",
        "v_mov_b32 v" + number(v + 3) + ", s5",
        "v_lshlrev_b32 v" + number(v + 4) + ", " + "2, v0",
        "v_add_u32 v" + number(v + 4) + (edge ? ", v2" : ", 0") + ", v" +
            number(v + 4),
        "v_cvt_f32_u32 v" + number(v + 5) + ", v0",
        "v_cvt_f64_u32 v[" + number(v + 6) + ":" + number(v + 7) + "], v0"};
    for (const std::string &line : lines)
      body += "  " + line + "\n";
  }
  for (unsigned a = 0; a < 64; ++a)
    body += "  v_accvgpr_write_b32 a" + number(a) + ", v" + number(a) + "\n";
  body += "  s_mov_b32 m0, 0x40\n  s_mov_b64 vcc, 0x55\n";
  // What is written over these ends somewhere in the words behind.
  body += "  .fill " + std::to_string(words + 64) + ", 4, 0xbf810000\n";
  AssembledKernel kernel;
  kernel.body = body;
  kernel.vgprs = 512;
  kernel.accumOffset = 256;
  kernel.ldsBytes = 4096;
  kernel.scratchBytes = 256;
  kernel.workgroup = 256;
  return assembleModule(target, {kernel});
}

/// The file and where its words to write over begin.
struct StreamFile {
  std::vector<uint8_t> elf;
  size_t begin = 0;

  StreamFile(const std::string &target, size_t words)
      : elf(compile(streamKernel(target, words), "assembler", target)) {
    std::vector<uint8_t> run;
    for (size_t i = 0; i < words; ++i)
      for (unsigned shift = 0; shift < 32; shift += 8)
        run.push_back(uint8_t(endProgram >> shift));
    auto it = std::search(elf.begin(), elf.end(), run.begin(), run.end());
    if (it != elf.end())
      begin = it - elf.begin();
  }

  std::vector<uint8_t> with(llvm::ArrayRef<uint32_t> words) const {
    std::vector<uint8_t> result = elf;
    std::memcpy(result.data() + begin, words.data(), words.size() * 4);
    return result;
  }
};

/// The first word of each encoding: what is fixed in it.
struct Encoding {
  uint32_t bits, mask;
};
const Encoding encodings[] = {
    {0x80000000, 0xc0000000}, // SOP2
    {0xb0000000, 0xf0000000}, // SOPK
    {0xbe800000, 0xff800000}, // SOP1
    {0xbf000000, 0xff800000}, // SOPC
    {0xbf800000, 0xff800000}, // SOPP
    {0xc0000000, 0xfc000000}, // SMEM
    {0x00000000, 0x80000000}, // VOP2
    {0x7e000000, 0xfe000000}, // VOP1
    {0x7c000000, 0xfe000000}, // VOPC
    {0xd0000000, 0xfc000000}, // VOP3
    {0xd3800000, 0xff800000}, // VOP3P
    {0xd3c00000, 0xffc00000}, // MFMA
    {0xd8000000, 0xfc000000}, // DS
    {0xdc000000, 0xfc000000}, // FLAT, GLOBAL, SCRATCH
    {0xe0000000, 0xfc000000}, // MUBUF
    {0xe8000000, 0xfc000000}, // MTBUF
};

/// Words that may be an instruction: the bits that tell the encoding, and
/// whatever else. Half of all single words would otherwise be VOP2.
std::array<uint32_t, 2> randomEncoding(std::mt19937_64 &random) {
  const Encoding &encoding = encodings[random() % std::size(encodings)];
  uint32_t word = (uint32_t(random()) & ~encoding.mask) | encoding.bits;
  // SDWA, DPP and literals are one source of 512.
  if (word < 0x80000000 && random() % 3 == 0)
    word = (word & ~0x1ffu) | (random() % 2 ? 249 : random() % 4 ? 250 : 255);
  uint32_t second = uint32_t(random());
  // Most offsets lead out of LDS and of the buffers, and most operands of
  // matrix instructions are no vector registers: fewer shall.
  if (random() % 8) {
    if ((word & 0xffc00000) == 0xd3c00000) {
      word &= 0xffff80ff; // cbsz, abid
      second = (second & 0x1fffffff) | 0x20100;
    }
    if ((word & 0xfc000000) == 0xd8000000)
      word &= random() % 2 ? 0xffff0f0f : 0xffff00ff;
    if ((word & 0xfc000000) == 0xc0000000)
      second &= 0xfe0007fc;
  }
  return {word, second};
}

/// Encodings that decode to what the simulator knows, by opcode.
using Pool = std::map<std::string, std::vector<std::vector<uint32_t>>>;

Pool makePool(const std::string &target, std::mt19937_64 &random) {
  constexpr size_t words = 1 << 16;
  StreamFile file(target, words);
  EXPECT_GT(file.begin, 0u);
  std::vector<uint32_t> text;
  while (text.size() + 2 <= words)
    for (uint32_t word : randomEncoding(random))
      text.push_back(word);
  auto object = CodeObject::load(file.with(text));
  EXPECT_TRUE(bool(object)) << messageOf(object);
  Pool pool;
  if (!object)
    return pool;
  auto list = (*object)->disassemble("f");
  EXPECT_TRUE(bool(list)) << messageOf(list);
  if (!list)
    return pool;
  // The first address of the text.
  const std::vector<uint8_t> elf = file.with(text);
  uint64_t begin = 0;
  for (size_t i = 0; i < list->size() && !begin; ++i)
    if ((*list)[i].text.find("s_mov_b64 vcc") != std::string::npos)
      begin = (*list)[i + 1].address;
  EXPECT_GT(begin, 0u);
  for (size_t i = 0; i + 1 < list->size(); ++i) {
    const CodeObject::DecodedInstruction &instruction = (*list)[i];
    if (instruction.address < begin || !instruction.known)
      continue;
    size_t at = (instruction.address - begin) / 4;
    size_t size = ((*list)[i + 1].address - instruction.address) / 4;
    if (at + size > text.size())
      break;
    auto &encodings = pool[instruction.opcode];
    if (encodings.size() < 12)
      encodings.emplace_back(text.begin() + at, text.begin() + at + size);
  }
  return pool;
}

class FuzzTest : public OnTarget {};

// LLVM's disassembler crashes on some encodings that name a literal where none
// can be. All opcodes, with fields of ones and of zeros.
TEST_P(FuzzTest, FieldsOfOnes) {
  std::vector<uint32_t> text;
  for (const Encoding &encoding : encodings)
    for (uint32_t top = 0; top < 0x10000; ++top) {
      uint32_t fixed = top << 16;
      if ((fixed & encoding.mask) != (encoding.bits & 0xffff0000u))
        continue;
      for (uint32_t low : {0xffffu, 0x00ffu, 0x7fffu, 0x80f9u, 0x00fau})
        for (uint32_t second : {0xffffffffu, 0x0001fe00u, 0x03fc0000u, 0xff06u})
          // A sample of SOP2 and VOP2, most of whose bits are registers.
          if (encoding.mask >> 24 != 0xc0 && encoding.mask >> 24 != 0x80)
            text.insert(text.end(), {fixed | low, second});
          else if ((top + low + second) % 32 == 0)
            text.insert(text.end(), {fixed | low, second});
    }
  EXPECT_GT(text.size(), 200000u);
  StreamFile file(target(), text.size());
  ASSERT_GT(file.begin, 0u);
  auto object = CodeObject::load(file.with(text));
  std::string message = messageOf(object);
  EXPECT_EQ(message, "");
  if (message.empty())
    return;
  // Which? One of them, by halves.
  while (text.size() > 2) {
    size_t half = text.size() / 4 * 2;
    std::vector<uint32_t> first(text.begin(), text.begin() + half);
    auto object = CodeObject::load(file.with(first));
    text = messageOf(object).empty()
               ? std::vector<uint32_t>(text.begin() + half, text.end())
               : first;
  }
  ADD_FAILURE() << std::hex << text[0] << " " << text[1];
}

TEST_P(FuzzTest, RandomInstructions) {
  std::mt19937_64 random = generator(20);
  Pool pool = makePool(target(), random);
  // gfx90a and gfx942 have 1,000 or so each; some encodings are rare.
  EXPECT_GT(pool.size(), 700u);
  std::vector<const Pool::value_type *> opcodes;
  for (const auto &entry : pool)
    opcodes.push_back(&entry);
  ASSERT_FALSE(opcodes.empty());

  constexpr size_t words = 128;
  StreamFile file(target(), words);
  ASSERT_GT(file.begin, 0u);
  Outcomes outcomes;
  unsigned count = rounds(1200);
  for (unsigned round = 0; round < count; ++round) {
    std::vector<uint32_t> text;
    size_t length = 2 + random() % 40;
    while (text.size() < length) {
      if (random() % 128 == 0) { // Whatever it decodes to.
        auto pair = randomEncoding(random);
        text.insert(text.end(), pair.begin(), pair.end());
        continue;
      }
      const auto &encodings = opcodes[random() % opcodes.size()]->second;
      const auto &encoding = encodings[random() % encodings.size()];
      text.insert(text.end(), encoding.begin(), encoding.end());
    }
    auto object = CodeObject::load(file.with(text));
    if (!object) {
      ++outcomes.refused;
      expectMessage(messageOf(object));
      continue;
    }
    launchInMode(**object, (*object)->kernels()[0], round, outcomes);
  }
  // Code is decoded whatever it is.
  EXPECT_EQ(outcomes.refused, 0u);
  EXPECT_EQ(outcomes.failed + outcomes.finished, count);
  EXPECT_GT(outcomes.failed, count / 10);
  EXPECT_GT(outcomes.finished, count / 10);
  EXPECT_GT(outcomes.withFindings, count / 10);
  EXPECT_GT(outcomes.opcodes.size(), 500u);
  std::printf(
      "%u streams: %u finished, %u ended by an error, %u with findings; "
      "%zu opcodes to draw from, %zu in launches that finished\n",
      count, outcomes.finished, outcomes.failed, outcomes.withFindings,
      pool.size(), outcomes.opcodes.size());
}

//===----------------------------------------------------------------------===//
// Damaged files
//===----------------------------------------------------------------------===//

const char *const source = R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
constant double table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
global int counter;
__attribute__((noinline)) double called(double x, int n) {
  return n > 3 ? x * table[n & 7] : x;
}
kernel void f(global double *out, global const int *in, int n) {
  local double s[128];
  double a[24];
  int t = __builtin_amdgcn_workitem_id_x();
  for (int i = 0; i < n; ++i) a[(i + in[t]) % 24] = i / (1.0 + t);
  s[t & 127] = a[in[t] % 24] + called(table[t & 7], n);
  __builtin_amdgcn_s_barrier();
  out[t] = s[127 - (t & 127)];
}
kernel void g(global float *out, global const int *in, int n) {
  int t = __builtin_amdgcn_workitem_id_x();
  out[t] = __builtin_amdgcn_ds_bpermute(in[t] * 4, n) / (float)n;
  __opencl_atomic_fetch_add((global atomic_int *)&counter, 1,
      memory_order_relaxed, memory_scope_device);
})";

/// One damaged copy: bytes, fields of 4 or 8 bytes, a piece cut out, doubled,
/// or the end lost.
std::vector<uint8_t> damaged(std::vector<uint8_t> elf,
                             std::mt19937_64 &random) {
  // The headers, notes and symbols stand at both ends.
  auto place = [&](size_t size) {
    size_t last = elf.size() - size;
    switch (random() % 4) {
    case 0:
      return random() % std::min<size_t>(last + 1, 64);
    case 1:
      return random() % std::min<size_t>(last + 1, 2048);
    case 2:
      return last - random() % std::min<size_t>(last + 1, 2048);
    default:
      return random() % (last + 1);
    }
  };
  static const uint64_t extremes[] = {
      0,          1,          4,          0x7f,       0x80,       0xff,
      0x100,      0x1000,     0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
      0x3fffffff, 0x40000000, 1ull << 62, ~0ull,      ~0ull - 8,  1ull << 63};
  unsigned changes = 1 + random() % 4;
  for (unsigned i = 0; i < changes; ++i)
    switch (random() % 8) {
    case 0: {
      uint64_t value = extremes[random() % std::size(extremes)];
      size_t size = random() % 2 ? 4 : 8;
      std::memcpy(&elf[place(size) / size * size], &value, size);
      break;
    }
    case 1: {
      size_t from = place(64), to = place(64);
      std::memmove(&elf[to], &elf[from], 64);
      break;
    }
    case 2:
      if (random() % 4 == 0)
        elf.resize(std::max<size_t>(elf.size() - random() % elf.size(), 64));
      break;
    default:
      elf[place(1)] =
          random() % 2 ? uint8_t(random()) : uint8_t(extremes[random() % 6]);
    }
  return elf;
}

TEST_P(FuzzTest, DamagedFiles) {
  std::vector<std::vector<uint8_t>> files;
  for (const char *options :
       {"-g -O1", "-mcode-object-version=4 -O3 -cl-kernel-arg-info",
        "-mcode-object-version=6 -O0"})
    files.push_back(compile(source, "cl", target(),
                            options + std::string(" -cl-std=CL2.0")));
  std::mt19937_64 random = generator(21);
  Outcomes outcomes;
  unsigned count = rounds(1500), loaded = 0, launched = 0;
  for (const std::vector<uint8_t> &file : files) {
    ASSERT_GT(file.size(), 2048u);
    // What is damaged is sound before.
    auto object = CodeObject::load(file);
    ASSERT_TRUE(bool(object)) << messageOf(object);
    Outcomes sound;
    for (const KernelInfo &kernel : (*object)->kernels())
      launchInMode(**object, kernel, 0, sound);
    EXPECT_EQ(sound.finished, 2u) << sound.message;
  }
  for (unsigned round = 0; round < count; ++round) {
    auto object =
        CodeObject::load(damaged(files[round % files.size()], random));
    if (!object) {
      ++outcomes.refused;
      expectMessage(messageOf(object));
      continue;
    }
    ++loaded;
    for (const KernelInfo &kernel : (*object)->kernels()) {
      ++launched;
      launchInMode(**object, kernel, round, outcomes);
      auto list = (*object)->disassemble(kernel.name);
      if (!list)
        expectMessage(messageOf(list));
    }
  }
  EXPECT_EQ(outcomes.refused + loaded, count);
  EXPECT_EQ(outcomes.failed + outcomes.finished, launched);
  EXPECT_GT(outcomes.refused, count / 10);
  EXPECT_GT(outcomes.failed, count / 50);
  EXPECT_GT(outcomes.finished, count / 10);
  std::printf(
      "%u files: %u refused; of %u launches %u finished, %u ended by an "
      "error, %u with findings\n",
      count, outcomes.refused, launched, outcomes.finished, outcomes.failed,
      outcomes.withFindings);
}

FOR_BOTH_TARGETS(FuzzTest);

} // namespace
