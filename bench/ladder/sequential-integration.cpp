//===- sequential-integration.cpp - Integrate a network on one core -------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sequential-integration NETWORK.mlir [--output=FILE] ...
//
// The sequential program of the ladder alone: integrates one zone, prints the
// number of steps and the time of one, and writes the abundances.
//
//===----------------------------------------------------------------------===//

#include "Problem.h"
#include "wavesmith/Support/ToolCommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace llvm;
using namespace wavesmith;
using namespace wavesmith::bench;

namespace {
struct Options {
  cl::OptionCategory category{"sequential-integration options"};
  cl::opt<std::string> network{cl::Positional, cl::desc("<network.mlir>"),
                               cl::Required, cl::cat(category)};
  ProblemOptions problem{category};
  cl::opt<uint64_t> maxSteps{"max-steps", cl::value_desc("N"),
                             cl::desc("Steps at most (default: no limit)"),
                             cl::init(~uint64_t(0)), cl::cat(category)};
  cl::opt<std::string> output{
      "output", cl::value_desc("file"),
      cl::desc("Where to write the abundances, as lines `name Y`"),
      cl::cat(category)};
};
} // namespace

static Error run(const Options &options) {
  auto network = loadNetwork(options.network);
  if (!network)
    return network.takeError();
  auto problem = makeProblem(std::move(*network), options.problem);
  if (!problem)
    return problem.takeError();
  SequentialIntegration integration(problem->network, problem->conditions);
  ZoneState state = problem->start;
  auto begin = std::chrono::steady_clock::now();
  integration.advance(state, options.maxSteps);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  outs() << problem->network.numStates() << " states, "
         << problem->network.numTerms() << " terms, F+ "
         << problem->network.gains.term.size() << ", F- "
         << problem->network.losses.term.size() << "\n"
         << "steps " << state.steps << "\n"
         << "time " << format("%.17g", state.time) << "\n"
         << "last step " << format("%.17g", state.step) << "\n"
         << format("%.3f us a step\n",
                   1e6 * seconds.count() / double(state.steps));
  if (options.output.empty())
    return Error::success();
  std::error_code code;
  raw_fd_ostream out(options.output, code);
  for (auto [name, y] : zip(problem->network.states, state.y))
    out << name << format(" %.17g\n", y);
  out.flush();
  if (code || out.has_error())
    return createStringError("cannot write '" + options.output + "'");
  return Error::success();
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  initializeTool("sequential-integration");
  Options options;
  std::vector<const cl::Option *> all = {&options.network, &options.maxSteps,
                                         &options.output};
  llvm::append_range(all, options.problem.all());
  if (!parseToolCommandLine(argc, argv,
                            "Integrates a reaction network on one core\n", all))
    return 1;
  if (Error error = run(options)) {
    printToolError(toString(std::move(error)));
    return 1;
  }
  return 0;
}
