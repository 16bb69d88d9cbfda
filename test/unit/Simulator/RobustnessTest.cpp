//===- RobustnessTest.cpp - Damaged code objects --------------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Simulator/Machine.h"
#include "InstructionRunner.h"
#include "wavesmith/Simulator/Checker.h"
#include "wavesmith/Support/PrintableText.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace wavesmith::sim;
using namespace wavesmith::sim::test;

namespace {

class RobustnessTest : public OnTarget {};

const char *const source = R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
constant double table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
kernel void f(global double *out, global const int *in, int n) {
  local double s[64];
  double a[24];
  int t = __builtin_amdgcn_workitem_id_x();
  for (int i = 0; i < n; ++i) a[(i + in[t]) % 24] = i / (1.0 + t);
  s[t] = a[in[t] % 24] + table[t & 7];
  __builtin_amdgcn_s_barrier();
  out[t] = s[63 - t];
})";

/// What every message has to be.
void expectMessage(const std::string &text) {
  EXPECT_FALSE(text.empty());
  EXPECT_TRUE(wavesmith::isPrintable(text)) << wavesmith::printable(text);
  // A crash is contained, but no file here should cause one.
  EXPECT_EQ(text.find("gave up"), std::string::npos) << text;
}

/// Loads and launches every kernel of a damaged file. Whatever happens must be
/// a result or an error.
void exercise(llvm::ArrayRef<uint8_t> elf, unsigned &loaded, unsigned &launched,
              std::string *message = nullptr) {
  auto object = CodeObject::load(elf);
  if (!object) {
    expectMessage(llvm::toString(object.takeError()));
    return;
  }
  ++loaded;
  for (const KernelInfo &kernel : (*object)->kernels()) {
    Device device;
    uint64_t out = device.upload(std::vector<double>(64));
    uint64_t in = device.upload(std::vector<int>(64, 3));
    Arguments arguments;
    arguments.add(out).add(in).add(24);
    arguments.bytes.resize(std::max<size_t>(
        arguments.bytes.size(),
        std::min<uint32_t>(kernel.explicitArgumentSize(), 4096)));
    LaunchParameters p;
    p.kernel = kernel.name;
    p.workgroup = {64, 1, 1};
    p.kernarg = arguments.bytes;
    p.maxInstructions = 20000;
    auto result = launchChecked(**object, device.memory, p);
    if (result) {
      ++launched;
      continue;
    }
    std::string text = llvm::toString(result.takeError());
    expectMessage(text);
    if (message)
      *message = text;
  }
}

TEST_P(RobustnessTest, FlippedBytesNeverCrash) {
  std::vector<uint8_t> elf = compile(source, "cl", target());
  ASSERT_FALSE(elf.empty());
  std::mt19937_64 random(4711);
  unsigned loaded = 0, launched = 0;
  std::string message;
  exercise(elf, loaded, launched, &message);
  ASSERT_EQ(loaded, 1u);
  ASSERT_EQ(launched, 1u) << message;
  for (int round = 0; round < 500; ++round) {
    std::vector<uint8_t> damaged = elf;
    unsigned flips = 1 + random() % 4;
    for (unsigned i = 0; i < flips; ++i)
      damaged[random() % damaged.size()] ^= uint8_t(1 + random() % 255);
    exercise(damaged, loaded, launched);
  }
  // Some damage is harmless, some is not.
  EXPECT_GT(loaded, 50u);
  EXPECT_LT(launched, 501u);
}

TEST_P(RobustnessTest, DamagedHeadersAndNotesNeverCrash) {
  std::vector<uint8_t> elf = compile(source, "cl", target());
  ASSERT_FALSE(elf.empty());
  std::mt19937_64 random(815);
  unsigned loaded = 0, launched = 0;
  // ELF header, program headers, note, dynamic symbols: the first KiB or so;
  // and the section headers at the end.
  for (int round = 0; round < 1000; ++round) {
    std::vector<uint8_t> damaged = elf;
    size_t size = std::min<size_t>(1800, elf.size());
    size_t at = random() % size;
    if (round % 3 == 0)
      at = elf.size() - 1 - random() % std::min<size_t>(1000, elf.size());
    damaged[at] = round % 2 ? uint8_t(random()) : 0xff;
    exercise(damaged, loaded, launched);
  }
  EXPECT_GT(loaded, 0u);
}

TEST_P(RobustnessTest, DamagedCodeNeverCrashes) {
  std::vector<uint8_t> elf = compile(source, "cl", target());
  ASSERT_FALSE(elf.empty());
  auto object = CodeObject::load(elf);
  ASSERT_TRUE(bool(object)) << messageOf(object);
  // Find the code by its disassembly: text lies one page after its offset.
  auto list = (*object)->disassemble("f");
  ASSERT_TRUE(bool(list)) << messageOf(list);
  uint64_t begin =
      list->front().address % 4096 + (list->front().address / 4096 - 1) * 4096;
  uint64_t size = list->back().address - list->front().address;
  ASSERT_LT(begin + size, elf.size());
  std::mt19937_64 random(12);
  unsigned loaded = 0, launched = 0;
  for (int round = 0; round < 1500; ++round) {
    std::vector<uint8_t> damaged = elf;
    for (unsigned i = 0; i < 1 + unsigned(round % 3); ++i)
      damaged[begin + random() % size] = uint8_t(random());
    exercise(damaged, loaded, launched);
  }
  EXPECT_EQ(loaded, 1500u);
  EXPECT_GT(launched, 0u);
  EXPECT_LT(launched, 1500u);
}

// LLVM's disassembler reads a literal behind the last word.
TEST_P(RobustnessTest, CodeThatEndsInTheMiddleOfAnInstruction) {
  for (const char *last :
       {"0x8004ff04", "0x7e0002ff", "0xbe8000ff", "0xd2800000", "0xc0020000"}) {
    auto object = build(
        assembleKernel(target(), "  s_nop 0\n  .long " + std::string(last)),
        "assembler", target());
    ASSERT_TRUE(object);
    Device device;
    auto result = device.tryRun(
        *object, "f", 1, 64,
        Arguments().add(uint64_t(0)).add(uint64_t(0)).add(uint64_t(0)));
    std::string message = messageOf(result);
    EXPECT_NE(message.find("the bytes are no instruction of this target"),
              std::string::npos)
        << last << ": " << message;
    EXPECT_EQ(message.find("gave up"), std::string::npos) << message;
  }
}

TEST_P(RobustnessTest, TruncatedFiles) {
  std::vector<uint8_t> elf = compile(source, "cl", target());
  ASSERT_FALSE(elf.empty());
  unsigned loaded = 0, launched = 0;
  for (size_t size = 0; size < elf.size(); size += 37)
    exercise(llvm::ArrayRef<uint8_t>(elf).take_front(size), loaded, launched);
  EXPECT_EQ(loaded, 0u);
}

/// Replaces every occurrence in the file.
std::vector<uint8_t> replaced(std::vector<uint8_t> elf, llvm::StringRef from,
                              llvm::StringRef to) {
  EXPECT_EQ(from.size(), to.size());
  unsigned count = 0;
  for (auto it = elf.begin();;) {
    it = std::search(it, elf.end(), from.begin(), from.end());
    if (it == elf.end())
      break;
    it = std::copy(to.begin(), to.end(), it);
    ++count;
  }
  EXPECT_GT(count, 0u) << from.str();
  return elf;
}

TEST_P(RobustnessTest, MoreAccumulationRegistersThanRegisters) {
  std::vector<uint8_t> elf =
      compile("kernel void k(global int *x) { *x = 1; }", "cl", target());
  ASSERT_FALSE(elf.empty());
  // The kernel uses none of them: then all of them, and no other.
  elf = replaced(elf, ".agpr_count", ".tgpr_count");
  elf = replaced(elf, ".vgpr_count", ".agpr_count");
  elf = replaced(elf, ".tgpr_count", ".vgpr_count");
  auto object = CodeObject::load(elf);
  std::string message = messageOf(object);
  EXPECT_NE(message.find("the metadata of kernel 'k' counts 0 vector registers "
                         "in all (.vgpr_count) and "),
            std::string::npos)
      << message;
}

// A name from the file reaches a terminal, JSON and Python's strings.
TEST_P(RobustnessTest, NamesInMessagesAreEscaped) {
  std::vector<uint8_t> elf = compile(R"(
kernel void quixotic(global int *windmill, int sancho) { *windmill = sancho; }
)",
                                     "cl", target(), "-g -cl-kernel-arg-info");
  ASSERT_FALSE(elf.empty());
  auto messageFor = [&](llvm::StringRef from, llvm::StringRef to) {
    auto object = CodeObject::load(replaced(elf, from, to));
    return messageOf(object);
  };
  EXPECT_EQ(messageFor("quixotic", "qui\x1b[1mc"),
            "malformed code object: a kernel's metadata: .name is no text: "
            "'qui\\x1B[1mc'");
  EXPECT_EQ(messageFor("quixotic.kd", "quixotic.\xff"
                                      "d"),
            "malformed code object: the metadata of kernel 'quixotic': .symbol "
            "is no text: 'quixotic.\\xFFd'");
  // In metadata and symbols, but not of a kernel: of no interest.
  EXPECT_EQ(messageFor("amdhsa.target", "amdhsa.\xff\x07\x1b\n\r\t"), "");
  // An argument's name is only shown, and its kind has to be known.
  auto object = CodeObject::load(replaced(elf, "windmill", "wind\x1b\xc3ll"));
  ASSERT_TRUE(bool(object)) << messageOf(object);
  EXPECT_EQ((*object)->kernels()[0].arguments[0].name, "wind\\x1B\\xC3ll");
  EXPECT_NE(messageFor("global_buffer", "global_\x80uffer").find("\\x80uffer"),
            std::string::npos);

  // The name of the source file, in a finding and by the plain run.
  std::vector<uint8_t> renamed = replaced(elf, ".txt", ".\x1b\x9bt");
  object = CodeObject::load(renamed);
  ASSERT_TRUE(bool(object)) << messageOf(object);
  Device device;
  Arguments arguments;
  arguments.add(uint64_t(0x1230)).add(3);
  LaunchParameters p;
  p.kernel = "quixotic";
  p.workgroup = {64, 1, 1};
  p.kernarg = arguments.bytes;
  CheckOptions check;
  std::vector<Finding> findings;
  p.check = &check;
  p.findings = &findings;
  auto result = launch(**object, device.memory, p);
  ASSERT_TRUE(bool(result)) << messageOf(result);
  ASSERT_FALSE(findings.empty());
  EXPECT_NE(findings[0].source.find(".\\x1B\\x9Bt:2:"), std::string::npos)
      << findings[0].source;
  expectMessage(findings[0].text());
  p.check = nullptr;
  p.findings = nullptr;
  result = launch(**object, device.memory, p);
  std::string message = messageOf(result);
  EXPECT_NE(message.find("' (/"), std::string::npos) << message;
  EXPECT_NE(message.find(".\\x1B\\x9Bt:2:"), std::string::npos) << message;
  expectMessage(message);

  // What the host calls its memory.
  uint64_t named = device.upload(std::vector<int>(1), "\x1b[2J");
  expectMessage(llvm::toString(device.memory.release(named + 4)));
}

TEST_P(RobustnessTest, OtherFilesAreNamed) {
  auto messageFor = [](llvm::ArrayRef<uint8_t> bytes) {
    auto object = CodeObject::load(bytes);
    return messageOf(object);
  };
  EXPECT_EQ(messageFor({}), "not an ELF file");
  std::vector<uint8_t> text(200, 'x');
  EXPECT_EQ(messageFor(text), "not an ELF file");
  for (llvm::StringRef magic : {"__CLANG_OFFLOAD_BUNDLE__", "CCOB"}) {
    std::vector<uint8_t> bundle(magic.bytes_begin(), magic.bytes_end());
    bundle.resize(4096);
    EXPECT_EQ(messageFor(bundle).find("an offload bundle, not an ELF file"),
              0u);
  }
  std::vector<uint8_t> elf = compile(source, "cl", "gfx908");
  EXPECT_NE(messageFor(elf).find("gfx90a and gfx942 are supported"),
            std::string::npos)
      << messageFor(elf);
  std::vector<uint8_t> relocatable = compile(source, "cl", target(), "-c");
  EXPECT_NE(messageFor(relocatable).find("link it with ld.lld"),
            std::string::npos)
      << messageFor(relocatable);
}

// The worst that can be done to the simulator: its own memory goes away.
TEST_P(RobustnessTest, ACrashInAnyThreadIsAnError) {
  auto object = build(R"(
kernel void copy(global int *out, global const int *in) {
  size_t i = __builtin_amdgcn_workgroup_id_x() * 64 +
             __builtin_amdgcn_workitem_id_x();
  out[i] = in[i];
})",
                      "cl", target());
  ASSERT_TRUE(object);
  constexpr unsigned groups = 1024;
  std::vector<int> numbers(groups * 64);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = int(i * 7);
  Device device;
  uint64_t out = device.upload(std::vector<int>(numbers.size()));
  uint64_t in = device.upload(numbers);
  Arguments arguments;
  arguments.add(out).add(in);

  // One page in the middle of the input, which is larger than what malloc
  // takes from its heap.
  uintptr_t page = sysconf(_SC_PAGESIZE);
  auto bytes = reinterpret_cast<uintptr_t>(
      device.memory.image().allocations.at(in).bytes.get());
  uintptr_t middle = (bytes + numbers.size() * sizeof(int) / 2) & ~(page - 1);
  auto *victim = reinterpret_cast<void *>(middle);
  for (unsigned threads : {1u, 2u, 5u}) {
    ASSERT_EQ(mprotect(victim, page, PROT_NONE), 0);
    auto result =
        device.tryRun(*object, "copy", groups, 64, arguments, threads);
    ASSERT_EQ(mprotect(victim, page, PROT_READ | PROT_WRITE), 0);
    std::string message = messageOf(result);
    EXPECT_EQ(message.find("launch of kernel 'copy': the simulator gave up: it "
                           "crashed"),
              0u)
        << message;
    // The same simulator runs on.
    device.run(*object, "copy", groups, 64, arguments, threads);
    EXPECT_EQ(device.download<int>(out, numbers.size()), numbers);
  }
}

TEST(MemoryTest, AllocationsAreChecked) {
  Memory memory;
  auto none = memory.allocate(0, "none");
  EXPECT_EQ(messageOf(none), "cannot allocate 0 bytes of device memory for "
                             "'none'");
  auto a = memory.allocate(100, "a");
  ASSERT_TRUE(bool(a));
  auto b = memory.allocate(100, "b");
  ASSERT_TRUE(bool(b));
  EXPECT_GT(*b, *a + 100);
  std::vector<uint8_t> bytes(101, 7);
  std::string message = llvm::toString(memory.write(*a, bytes));
  EXPECT_NE(message.find("host write of 101 bytes"), std::string::npos)
      << message;
  EXPECT_NE(message.find("'a'"), std::string::npos) << message;
  bytes.resize(100);
  EXPECT_FALSE(bool(memory.write(*a, bytes)));
  std::vector<uint8_t> back(50);
  EXPECT_FALSE(bool(memory.read(*a + 50, back)));
  EXPECT_EQ(back[49], 7);
  message = llvm::toString(memory.read(*a + 51, back));
  EXPECT_NE(message.find("host read of 50 bytes"), std::string::npos);
  message = llvm::toString(memory.release(*a + 1));
  EXPECT_NE(message.find("no allocation starts at"), std::string::npos);
  EXPECT_FALSE(bool(memory.release(*a)));
  message = llvm::toString(memory.release(*a));
  EXPECT_NE(message.find("released twice"), std::string::npos);
  message = llvm::toString(memory.read(*a, back));
  EXPECT_NE(message.find("which was released"), std::string::npos);
}

FOR_BOTH_TARGETS(RobustnessTest);

} // namespace
