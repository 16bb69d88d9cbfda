//===- Simulator.h - Instruction-level CDNA simulator -----------*- C++ -*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Executes gfx90a and gfx942 code objects on the host, instruction by
/// instruction, and checks every memory access on the way. The library needs
/// LLVM's Object, MC, BinaryFormat and Support libraries only.
///
/// Use: load a CodeObject once, allocate and fill device memory, launch:
/// \code
///   auto object = CodeObject::load(elfBytes);
///   Memory memory;
///   auto y = memory.allocate(8 * n, "y");
///   LaunchParameters parameters;
///   parameters.kernel = "axpy";
///   parameters.grid = {blocks, 1, 1};
///   parameters.workgroup = {256, 1, 1};
///   parameters.kernarg = packedArguments;
///   auto counters = launch(**object, memory, parameters);
/// \endcode
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_SIMULATOR_SIMULATOR_H
#define WAVESMITH_SIMULATOR_SIMULATOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace wavesmith::sim {

/// One argument of a kernel, as the code object's metadata describes it.
struct KernelArgument {
  /// The name in the source; empty where the compiler gave none.
  std::string name;
  /// by_value, global_buffer, hidden_block_count_x and so on.
  std::string valueKind;
  /// Where the argument lies in the kernarg segment, in bytes.
  uint32_t offset = 0;
  uint32_t size = 0;
};

/// The resources and the interface of one kernel. Sizes are in bytes.
struct KernelInfo {
  std::string name;
  uint32_t kernargSize = 0;
  uint32_t kernargAlignment = 0;
  /// LDS of a workgroup, without what the launch adds.
  uint32_t groupSegmentFixedSize = 0;
  /// Scratch of a work-item.
  uint32_t privateSegmentFixedSize = 0;
  uint32_t sgprCount = 0;
  /// VGPRs of a work-item; on these targets the AGPRs are included, as in the
  /// metadata.
  uint32_t vgprCount = 0;
  uint32_t agprCount = 0;
  uint32_t sgprSpillCount = 0;
  uint32_t vgprSpillCount = 0;
  /// The largest number of work-items in a workgroup.
  uint32_t maxFlatWorkgroupSize = 0;
  uint32_t wavefrontSize = 0;
  /// Zeros where the kernel takes any size.
  std::array<uint32_t, 3> requiredWorkgroupSize = {0, 0, 0};
  /// The virtual address of the kernel descriptor in the ELF.
  uint64_t descriptorAddress = 0;
  std::vector<KernelArgument> arguments;
  bool usesDynamicStack = false;

  /// The bytes of the explicit (not hidden) arguments: what a launch needs at
  /// least.
  uint32_t explicitArgumentSize() const;
};

namespace detail {
struct CodeObjectImage;
struct MemoryImage;
} // namespace detail

/// How the simulator's result of an instruction compares with the chips'.
enum class Exactness : uint8_t {
  /// Executing it stops the wavefront with an error.
  Unsupported,
  /// The chips approximate within a published bound; the simulator gives a
  /// value within that bound, which may be another one than theirs.
  Approximate,
  /// The same bits, but for the sign and payload of NaN.
  Exact,
};

/// "exact", "approximate" or "unsupported".
llvm::StringRef spelling(Exactness exactness);

/// An instruction of a target.
struct InstructionInfo {
  /// LLVM's name without the encoding, e.g. V_FMA_F64.
  std::string opcode;
  Exactness exactness = Exactness::Unsupported;
  /// The bound of an approximation, or why it is not supported.
  std::string note;
};

/// All instructions that LLVM can decode for "gfx90a" or "gfx942", sorted by
/// name. Another target is an error.
llvm::Expected<std::vector<InstructionInfo>>
instructionSet(llvm::StringRef target);

/// The table of both targets in Markdown: docs/simulator-instructions.md.
llvm::Expected<std::string> instructionTable();

/// A loaded, decoded code object. Immutable; may be shared between threads.
class CodeObject {
public:
  /// Reads and decodes an AMDGPU ELF shared object for gfx90a or gfx942.
  /// Malformed input of any kind gives an error. Instructions that are not
  /// known are accepted here and reported when execution reaches them.
  static llvm::Expected<std::shared_ptr<const CodeObject>>
  load(llvm::ArrayRef<uint8_t> elf);
  ~CodeObject();

  /// The processor: "gfx90a" or "gfx942".
  llvm::StringRef target() const;
  /// The version of the code object: 4, 5 or 6.
  unsigned version() const;
  llvm::ArrayRef<KernelInfo> kernels() const; ///< In the file's order.
  /// Null where there is no such kernel.
  const KernelInfo *findKernel(llvm::StringRef name) const;

  /// The disassembly of the instruction at a virtual address of the ELF, and
  /// whether the simulator can execute it. Used by tests and reports.
  struct DecodedInstruction {
    uint64_t address;
    std::string text;
    /// The name that the semantics are looked up by, e.g. V_FMA_F64.
    std::string opcode;
    bool known;
  };
  /// Disassembles the code of a kernel, padding after its end left out.
  llvm::Expected<std::vector<DecodedInstruction>>
  disassemble(llvm::StringRef kernel) const;

  /// Implementation detail of the library.
  const detail::CodeObjectImage &image() const { return *impl; }

private:
  CodeObject();
  std::unique_ptr<detail::CodeObjectImage> impl;
};

/// The device's global memory. Addresses are never used twice, allocations lie
/// far apart. Not thread-safe: callers serialise calls, launches included.
class Memory {
public:
  Memory();
  ~Memory();
  Memory(Memory &&);
  Memory &operator=(Memory &&);

  /// Allocates bytes (aligned to 256; an allocation of zero bytes is an error)
  /// and returns their device address. The name appears in reports. Contents
  /// are filled with a pattern of NaN so that uninitialised values show.
  llvm::Expected<uint64_t> allocate(uint64_t bytes, llvm::StringRef name);
  /// Releases an allocation by its first address.
  llvm::Error release(uint64_t address);
  /// Copies to the device. The range must lie in one allocation.
  llvm::Error write(uint64_t address, llvm::ArrayRef<uint8_t> bytes);
  /// Copies from the device. The range must lie in one allocation.
  llvm::Error read(uint64_t address, llvm::MutableArrayRef<uint8_t> out) const;

  /// Implementation detail of the library.
  detail::MemoryImage &image() const { return *impl; }

private:
  std::unique_ptr<detail::MemoryImage> impl;
};

/// How often a launch executed an opcode.
struct InstructionUse {
  std::string opcode;
  Exactness exactness = Exactness::Exact;
  /// Once for each wavefront that issued it.
  uint64_t count = 0;
};

struct CheckOptions;
struct Finding;

/// What to launch. The referenced memory must live until launch returns.
struct LaunchParameters {
  llvm::StringRef kernel;
  /// Number of workgroups.
  std::array<uint32_t, 3> grid = {1, 1, 1};
  /// Work-items of a workgroup.
  std::array<uint32_t, 3> workgroup = {1, 1, 1};
  /// The packed kernarg segment. It may end after the explicit arguments;
  /// launch fills in the hidden ones (block counts, group sizes, remainders,
  /// grid dimensions, LDS size, apertures; zero for what the simulator does
  /// not have).
  llvm::ArrayRef<uint8_t> kernarg;
  /// LDS on top of the kernel's own.
  uint32_t dynamicLDSBytes = 0;
  /// Instructions that the wavefronts of a workgroup may issue together,
  /// against endless loops; 0 for no limit. The default takes about a minute.
  /// A loop in which nothing changes any more ends the launch much earlier.
  uint64_t maxInstructions = uint64_t(1) << 32;
  /// Checker mode (wavesmith/Simulator/Checker.h): findings are appended to the
  /// list, which must be given, and the run goes on where that is possible. It
  /// is several times slower and takes one host thread.
  const CheckOptions *check = nullptr;
  std::vector<Finding> *findings = nullptr;
  /// Where launch puts what it executed, sorted by opcode; null for nowhere.
  /// The approximate ones tell which results may differ from a chip's.
  std::vector<InstructionUse> *instructionUse = nullptr;
};

/// What a launch did. Instructions are counted once a wavefront.
struct Counters {
  uint64_t workgroups = 0;
  uint64_t waves = 0;
  /// All instructions that wavefronts issued.
  uint64_t instructions = 0;
  /// Vector ALU instructions; MFMA is included and also counted alone.
  uint64_t VALU = 0;
  uint64_t MFMA = 0;
  /// Scalar ALU instructions, branches and waits not included.
  uint64_t SALU = 0;
  uint64_t SMEM = 0;
  uint64_t LDS = 0;
  /// Vector memory instructions: global, buffer, scratch and flat ones; the
  /// flat ones are counted in flat too.
  uint64_t VMEMRead = 0;
  uint64_t VMEMWrite = 0;
  uint64_t VMEMAtomic = 0;
  uint64_t flat = 0;
  uint64_t branch = 0;
  uint64_t waitcnt = 0;
  uint64_t barrier = 0;
  /// s_nop, s_sleep, s_endpgm, cache control and the like.
  uint64_t other = 0;
  uint64_t f64Add = 0;
  uint64_t f64Mul = 0;
  uint64_t f64FMA = 0;
  uint64_t f64Trans = 0;
  uint64_t f32Add = 0;
  uint64_t f32Mul = 0;
  uint64_t f32FMA = 0;
  uint64_t f32Trans = 0;
  /// The sum of active lanes over all VALU instructions.
  uint64_t activeLanesVALU = 0;
  /// Bytes that active lanes read and wrote in global memory.
  uint64_t globalBytesRead = 0;
  uint64_t globalBytesWritten = 0;
  /// Bytes that active lanes read and wrote in scratch.
  uint64_t scratchBytesRead = 0;
  uint64_t scratchBytesWritten = 0;

  /// The percentage of lanes that were active in VALU instructions, 0 where
  /// there were none.
  double activeVALULanesPercent() const;
  Counters &operator+=(const Counters &other);
};

/// Runs a kernel to its end. Workgroups are run by so many host threads; the
/// results do not depend on their number (a kernel with global atomics is run
/// by one). Wavefronts of a workgroup are run in turn from barrier to barrier.
///
/// Errors: parameters that do not fit the kernel; and anything that goes wrong
/// in execution (bad access, unknown instruction, unsupported mode, limit
/// exceeded), with kernel, workgroup, wavefront, lane, instruction and address.
/// After an error in execution the contents of memory are unspecified.
llvm::Expected<Counters> launch(const CodeObject &object, Memory &memory,
                                const LaunchParameters &parameters,
                                unsigned threads = 1);

} // namespace wavesmith::sim

#endif // WAVESMITH_SIMULATOR_SIMULATOR_H
