//===- Report.cpp - The table of a validation -----------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Validation/Validation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace wavesmith;
namespace json = llvm::json;

double ValidationRow::maxRelativeError() const {
  double largest = 0;
  for (const ResultComparison &result : results)
    largest = std::max(largest, result.maxRelativeError);
  return largest;
}

uint64_t ValidationRow::maxUlps() const {
  uint64_t largest = 0;
  for (const ResultComparison &result : results)
    largest = std::max(largest, result.maxUlps);
  return largest;
}

bool ValidationReport::passed() const {
  return llvm::all_of(rows,
                      [](const ValidationRow &row) { return row.passed(); });
}

/// JSON has no infinity.
static json::Value toNumber(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

static json::Value toInteger(uint64_t value) {
  return value > uint64_t(std::numeric_limits<int64_t>::max())
             ? json::Value(std::to_string(value))
             : json::Value(int64_t(value));
}

static json::Object toJSON(const ValidationRow &row) {
  json::Array results;
  for (const ResultComparison &result : row.results) {
    json::Object entry{
        {"name", result.name},
        {"size", toInteger(result.size)},
        {"differing", toInteger(result.differing)},
        {"max_relative_error", toNumber(result.maxRelativeError)},
        {"max_ulps", toInteger(result.maxUlps)}};
    if (result.maxOverBound >= 0)
      entry["max_over_bound"] = toNumber(result.maxOverBound);
    results.push_back(std::move(entry));
  }
  json::Object object{
      {"pass", row.pass},
      {"announces_change", row.announcesChange},
      {"annotation_changes", json::Array(row.annotationChanges)},
      {"other_changes", json::Array(row.otherChanges)},
      {"results", std::move(results)},
      {"max_relative_error", toNumber(row.maxRelativeError())},
      {"max_ulps", toInteger(row.maxUlps())},
      {"bound", row.bound},
      {"over_bound", toNumber(row.overBound)},
      {"failures", json::Array(row.failures)},
      {"passed", row.passed()}};
  if (row.differFromEvaluator)
    object["differ_from_evaluator"] = toInteger(*row.differFromEvaluator);
  if (row.differFromBefore)
    object["differ_from_before"] = toInteger(*row.differFromBefore);
  if (row.meaningChanges)
    object["meaning_changes"] = toInteger(*row.meaningChanges);
  if (row.zonesWithOtherSteps)
    object["zones_with_other_steps"] = toInteger(*row.zonesWithOtherSteps);
  if (row.steps)
    object["single_steps"] =
        json::Object{{"steps", toInteger(row.steps->steps)},
                     {"max_error", toNumber(row.steps->maxError)},
                     {"changed", toInteger(row.steps->changedSteps)}};
  if (row.launch)
    object["launch"] = row.launch->toJSON();
  return object;
}

json::Value ValidationReport::toJSON() const {
  json::Array list;
  for (const ValidationRow &row : rows)
    list.push_back(::toJSON(row));
  json::Array arguments;
  for (const auto &[name, source] : inputs)
    arguments.push_back(json::Object{{"name", name}, {"source", source}});
  return json::Object{{"wavesmith_validation", 1},
                      {"function", function},
                      {"meaning", meaning},
                      {"target", target},
                      {"device", stringify(device.kind)},
                      {"device_name", device.name},
                      {"zones", zones},
                      {"seed", toInteger(seed)},
                      {"inputs", std::move(arguments)},
                      {"rows", std::move(list)},
                      {"passed", passed()}};
}

static std::string formatError(double value) {
  if (value == 0)
    return "0";
  if (!std::isfinite(value))
    return std::isnan(value) ? "nan" : "inf";
  return llvm::formatv("{0:e1}", value).str();
}

/// A share of a bound.
static std::string formatShare(double value) {
  return value == 0 || value >= 100 || !(value >= 0.001)
             ? formatError(value)
             : llvm::formatv("{0:f3}", value).str();
}

static std::string formatUlps(uint64_t value) {
  return value > 999999 ? llvm::formatv("{0:e1}", double(value)).str()
                        : std::to_string(value);
}

void ValidationReport::print(llvm::raw_ostream &os) const {
  bool isMeasured = device.kind == DeviceKind::HIP;
  os << "function " << function << ", " << zones << " zones, " << target
     << ", device: " << stringify(device.kind) << " (" << device.name << ")\n";
  os << "compared with the " << meaning << "; inputs (seed " << seed << "):";
  for (auto [index, input] : llvm::enumerate(inputs))
    os << (index ? ", " : " ") << input.first << " " << input.second;
  os << "\n\n";

  std::vector<std::vector<std::string>> table;
  table.push_back({"pass", "changes", "error", "bound", "of it", "ulps",
                   "evaluator", "before", "instructions", "LDS conflicts",
                   isMeasured ? "measured us" : "modelled us", "findings",
                   "result"});
  for (const ValidationRow &row : rows) {
    std::vector<std::string> line;
    line.push_back(row.pass.empty() ? "(mandatory)" : row.pass);
    bool changes =
        !row.annotationChanges.empty() || row.meaningChanges.value_or(0) > 0;
    line.push_back(!changes              ? "none"
                   : row.announcesChange ? "announced"
                                         : "hidden");
    bool compared = !row.results.empty();
    line.push_back(compared ? formatError(row.maxRelativeError()) : "-");
    line.push_back(row.bound.empty() ? "-" : row.bound);
    line.push_back(compared ? formatShare(row.overBound) : "-");
    line.push_back(compared ? formatUlps(row.maxUlps()) : "-");
    auto bits = [](std::optional<uint64_t> differing) -> std::string {
      if (!differing)
        return "-";
      return *differing ? std::to_string(*differing) + " differ" : "same bits";
    };
    line.push_back(bits(row.differFromEvaluator));
    line.push_back(bits(row.differFromBefore));
    std::string instructions = "-", conflicts = "-", time = "-", found = "-";
    if (row.launch) {
      if (row.launch->counters)
        instructions = std::to_string(row.launch->counters->instructions);
      for (const sim::RocprofCounter &counter :
           row.launch->getRocprofCounters())
        if (counter.name == "SQ_LDS_BANK_CONFLICT")
          conflicts = llvm::formatv("{0:f0}", counter.value).str();
      if (row.launch->measuredSeconds)
        time =
            llvm::formatv("{0:f2}", *row.launch->measuredSeconds * 1e6).str();
      else if (row.launch->modelledTime)
        time = llvm::formatv("{0:f2}", row.launch->modelledTime->seconds * 1e6)
                   .str();
      if (row.launch->findings)
        found = std::to_string(row.launch->findings->size());
    }
    line.insert(line.end(), {instructions, conflicts, time, found,
                             row.passed() ? "pass" : "FAIL"});
    table.push_back(std::move(line));
  }
  std::vector<size_t> widths(table.front().size());
  for (const auto &line : table)
    for (auto [width, cell] : llvm::zip_equal(widths, line))
      width = std::max(width, cell.size());
  for (const auto &line : table) {
    for (auto [index, cell] : llvm::enumerate(line)) {
      os << (index ? "  " : "") << cell;
      if (index + 1 != line.size())
        os.indent(widths[index] - cell.size());
    }
    os << "\n";
  }

  os << "\n";
  for (const ValidationRow &row : rows) {
    std::string pass = row.pass.empty() ? "(mandatory)" : row.pass;
    for (const std::string &change : row.annotationChanges)
      os << pass << ": annotations: " << change << "\n";
    for (const std::string &change : row.otherChanges)
      os << pass << ": " << change << "\n";
    if (row.zonesWithOtherSteps && *row.zonesWithOtherSteps)
      os << pass << ": " << *row.zonesWithOtherSteps
         << " zones with another number of steps or status\n";
    if (row.steps)
      os << pass << ": " << row.steps->steps
         << " single steps: largest difference "
         << formatError(row.steps->maxError) << " of |Y0| + dt (P + L), "
         << row.steps->changedSteps << " of another size\n";
    for (const std::string &failure : row.failures)
      os << pass << ": FAIL: " << failure << "\n";
  }
  os << (passed() ? "all stages pass" : "stages failed") << "\n";
}
