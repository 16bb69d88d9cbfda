/*===- Simulator.h - The simulator, launch by launch --------------*- C -*-===*\
|*                                                                            *|
|* Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.     *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

/* Runs any gfx90a or gfx942 code object of version 4, 5 or 6 on the simulator:
 * whoever compiled it, with arguments of any layout. What wavesmith_run does
 * for kernels with a description is done here by hand, as with HIP's module
 * functions: allocate, copy, pack the arguments, launch, copy back.
 *
 * The rules of wavesmith-c/Wavesmith.h hold. Calls with the same memory run one
 * after the other.
 */

#ifndef WAVESMITH_C_SIMULATOR_H
#define WAVESMITH_C_SIMULATOR_H

#include "wavesmith-c/Wavesmith.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A code object, read and decoded. */
typedef struct wavesmith_simulator_program wavesmith_simulator_program;

/** Device memory. Accesses outside of its allocations are errors. */
typedef struct wavesmith_simulator_memory wavesmith_simulator_memory;

/** Reads an AMDGPU ELF file, not a bundle. The bytes are copied. */
WAVESMITH_API wavesmith_status wavesmith_simulator_program_load(
    const void *bytes, size_t size, wavesmith_simulator_program **program,
    char **message);

/** NULL is fine. Memory outlives it. */
WAVESMITH_API void
wavesmith_simulator_program_free(wavesmith_simulator_program *program);

/** What the code object says about itself, as JSON that lives as long as
 * \p program:
 *   {"target": "gfx942", "code_object_version": 5, "kernels": [
 *     {"name", "kernarg_size", "lds_bytes", "scratch_bytes", "sgprs", "vgprs",
 *      "agprs", "sgpr_spills", "vgpr_spills", "max_workgroup_size",
 *      "required_workgroup_size": [x, y, z], "uses_dynamic_stack",
 *      "arguments": [{"name", "kind", "offset", "size"}]}]}
 * Sizes and offsets are bytes. "kind" is the value kind of the metadata:
 * "by_value", "global_buffer", ...; hidden arguments, which a launch fills in
 * by itself, are left out. */
WAVESMITH_API const char *wavesmith_simulator_program_description(
    const wavesmith_simulator_program *program);

/** The instructions of a kernel, as JSON that the caller frees:
 *   [{"address", "text", "opcode", "known"}]
 * "known" is false for an instruction that the simulator cannot execute.
 * Functions that the kernel calls are not among them. */
WAVESMITH_API wavesmith_status wavesmith_simulator_program_disassemble(
    const wavesmith_simulator_program *program, const char *kernel,
    char **listing, char **message);

/** Memory without an allocation, to be freed by
 * wavesmith_simulator_memory_free.
 */
WAVESMITH_API wavesmith_status wavesmith_simulator_memory_create(
    wavesmith_simulator_memory **memory, char **message);

/** Frees all its allocations; NULL is fine. */
WAVESMITH_API void
wavesmith_simulator_memory_free(wavesmith_simulator_memory *memory);

/** Allocates \p bytes, more than 0. Reports call the allocation \p name, which
 * may be NULL. New memory holds a pattern that is a NaN. */
WAVESMITH_API wavesmith_status wavesmith_simulator_allocate(
    wavesmith_simulator_memory *memory, uint64_t bytes, const char *name,
    uint64_t *address, char **message);

/** Releases an allocation, given by its first address. */
WAVESMITH_API wavesmith_status wavesmith_simulator_release(
    wavesmith_simulator_memory *memory, uint64_t address, char **message);

/** Copies to or from the device. The bytes lie in one allocation. */
WAVESMITH_API wavesmith_status
wavesmith_simulator_write(wavesmith_simulator_memory *memory, uint64_t address,
                          const void *bytes, size_t size, char **message);
WAVESMITH_API wavesmith_status
wavesmith_simulator_read(wavesmith_simulator_memory *memory, uint64_t address,
                         void *bytes, size_t size, char **message);

/** What to launch. Set it up by wavesmith_simulator_launch_options_init, which
 * gives the defaults named below, then change members. */
typedef struct wavesmith_simulator_launch_options {
  /** sizeof(wavesmith_simulator_launch_options) of the caller's header. */
  size_t struct_size;
  /** Name of the kernel; NULL where there is only one. */
  const char *kernel;
  /** Number of workgroups; 1, 1, 1. */
  uint32_t grid[3];
  /** Work-items of a workgroup; 1, 1, 1. */
  uint32_t workgroup[3];
  /** The packed arguments, at the offsets of the description. What lies behind
   * the last explicit one is filled in. */
  const void *kernarg;
  size_t kernarg_size;
  /** Bytes of LDS on top of the kernel's own; 0. */
  uint32_t dynamic_lds_bytes;
  /** Host threads; 1. Results do not depend on it. */
  uint32_t threads;
  /** Instructions that a workgroup may issue, against endless loops; 2^32,
   * which take about a minute. 0 is no limit. A loop in which nothing changes
   * any more ends the launch much earlier. */
  uint64_t max_instructions;
  /** 1 runs the checker (docs/simulator.md): several times slower, on one host
   * thread; 0. */
  int32_t check;
  /** 1 models the launch's time (docs/timing.md); 0. */
  int32_t model_time;
  /** The chip whose time is modelled; NULL takes the architecture's first. */
  const char *chip;
  /** Multiplies the model's fitted parameters; 1. Launches with 2/3 and 4/3
   * show how far the modelled time depends on them. */
  double fitted_scale;
} wavesmith_simulator_launch_options;

/** Sets the defaults named above. */
WAVESMITH_API void wavesmith_simulator_launch_options_init(
    wavesmith_simulator_launch_options *options);

/** Runs a kernel to its end. \p report, if not NULL, is set to JSON that the
 * caller frees, with the members that a report has in docs/devices.md:
 *   {"kernel", "counters": {...}, "rocprof_counters": {...},
 *    "semantics": {...}}
 * and "findings": [...] of a checked launch, "modelled_time": {...} where the
 * time is modelled. Parameters that do not fit the kernel and mistakes in its
 * execution (of a checked launch, those that end it) are
 * WAVESMITH_DEVICE_ERROR; after it the contents of memory are unspecified. */
WAVESMITH_API wavesmith_status
wavesmith_simulator_launch(const wavesmith_simulator_program *program,
                           wavesmith_simulator_memory *memory,
                           const wavesmith_simulator_launch_options *options,
                           char **report, char **message);

/** The rocprof counters of a report, by wavesmith_simulator_launch or by
 * wavesmith_run on a simulator, as rocprof writes them: a line of names,
 * sorted, and one of values, behind the kernel's name. \p csv is set to text
 * that the caller frees. */
WAVESMITH_API wavesmith_status wavesmith_counters_csv(const char *report,
                                                      char **csv,
                                                      char **message);

#ifdef __cplusplus
}
#endif

#endif /* WAVESMITH_C_SIMULATOR_H */
