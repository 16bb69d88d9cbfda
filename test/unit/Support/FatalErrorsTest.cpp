//===- FatalErrorsTest.cpp - Fatal errors and crashes are contained -------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Support/FatalErrors.h"
#include "llvm/Support/ErrorHandling.h"
#include "gtest/gtest.h"
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace wavesmith;

namespace {

/// The message of what is contained; "" where nothing was.
std::string contain(llvm::function_ref<void()> body) {
  llvm::Error error = containFatalErrors(body);
  bool isFatal = error.isA<FatalError>();
  EXPECT_EQ(bool(error), isFatal);
  return error ? llvm::toString(std::move(error)) : "";
}

volatile int depth;
/// Overflows the stack.
[[gnu::noinline]] int recurse(volatile int *outer) {
  volatile int here[64] = {*outer};
  ++depth;
  return depth < 0 ? 0 : recurse(here) + here[0];
}

void overflow() {
  volatile int start = 1;
  depth = 0;
  recurse(&start);
}

void writeToNull() {
  volatile int *volatile null = nullptr;
  *null = 1;
}

TEST(FatalErrors, ABodyThatEnds) {
  int runs = 0;
  EXPECT_EQ(contain([&] { ++runs; }), "");
  EXPECT_EQ(runs, 1);
}

TEST(FatalErrors, MoreMemoryThanThereIs) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(contain([] { llvm::report_bad_alloc_error("no memory"); }),
            "out of memory");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(FatalErrors, EachKind) {
  // Twice: handlers and signal masks must be as before.
  for (int i = 0; i < 2; ++i) {
    bool isPassed = false;
    EXPECT_EQ(contain([&] {
                llvm::report_fatal_error("cannot select this");
                isPassed = true;
              }),
              "cannot select this");
    EXPECT_EQ(contain([&] { std::abort(); }), "it crashed (abort)");
    EXPECT_EQ(contain([&] { writeToNull(); }),
              "it crashed (invalid memory access, or input too deeply nested)");
    EXPECT_EQ(contain([&] { overflow(); }),
              "it crashed (invalid memory access, or input too deeply nested)");
    EXPECT_GT(depth, 1000);
    EXPECT_EQ(contain([&] { std::raise(SIGFPE); }),
              "it crashed (arithmetic exception)");
    EXPECT_FALSE(isPassed);
  }
}

TEST(FatalErrors, Nested) {
  std::string inner;
  std::string outer = contain([&] {
    inner = contain([&] { llvm::report_fatal_error("inner"); });
    llvm::report_fatal_error("outer");
  });
  EXPECT_EQ(inner, "inner");
  EXPECT_EQ(outer, "outer");
}

TEST(FatalErrors, SeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        std::string wanted = std::to_string(t) + "," + std::to_string(i);
        std::string got = contain([&] {
          if (i % 3 == 0)
            overflow();
          if (i % 3 == 1)
            llvm::report_fatal_error(llvm::StringRef(wanted));
        });
        bool isGood = i % 3 == 0   ? got.find("it crashed") == 0
                      : i % 3 == 1 ? got == wanted
                                   : got.empty();
        good += isGood;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good, 8 * 20);
}

TEST(FatalErrors, HandlersAreThePreviousOnesAfterwards) {
  static volatile std::sig_atomic_t seen;
  seen = 0;
  auto previous = std::signal(SIGFPE, [](int) { seen = 1; });
  EXPECT_EQ(contain([&] { std::raise(SIGFPE); }),
            "it crashed (arithmetic exception)");
  EXPECT_EQ(seen, 0);
  std::raise(SIGFPE);
  EXPECT_EQ(seen, 1);
  std::signal(SIGFPE, previous);
}

TEST(FatalErrorsDeathTest, AToolEndsWithOneMessage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto isOne = ::testing::ExitedWithCode(1);
  EXPECT_EXIT(
      {
        exitOnFatalErrors("tool");
        llvm::report_fatal_error("cannot select this");
      },
      isOne, "^tool: error: cannot select this\n$");
  EXPECT_EXIT(
      {
        exitOnFatalErrors("tool");
        overflow();
      },
      isOne, "^tool: error: it crashed \\(invalid memory access, .*\\)\n$");
  // In a thread that nobody watches.
  EXPECT_EXIT(
      {
        exitOnFatalErrors("tool");
        std::thread(writeToNull).join();
      },
      isOne, "^tool: error: it crashed .*\n$");
  // Still in force after something was contained.
  EXPECT_EXIT(
      {
        exitOnFatalErrors("tool");
        if (contain([] { std::abort(); }) == "it crashed (abort)" &&
            contain([] { llvm::report_fatal_error("x"); }) == "x")
          llvm::report_fatal_error("second");
      },
      isOne, "^tool: error: second\n$");
}

} // namespace
