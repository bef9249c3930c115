import { writeFileSync } from "node:fs";
import type { Reporter, SerializedError, TestModule, TestSuite } from "vitest/node";
import { strayError } from "../report/stray-error.ts";
import { reportVariable, type TestReport } from "./test-report.ts";

/**
 * A reporter of vitest that writes what a run said to the file that a variable names. Vitest's own JSON has neither the errors of
 * hooks nor those outside of any test.
 */
// oxlint-disable-next-line import/no-default-export -- vitest takes a reporter's file only so
export default class TellRun implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const namesOf = (module: TestModule, state: "passed" | "failed" | "skipped") =>
      [...module.children.allTests(state)].map(({ fullName }) => fullName.replaceAll(" > ", " "));
    const isLoaded = (module: TestModule) => module.children.size > 0;
    const report: TestReport = {
      passed: modules.flatMap((module) => namesOf(module, "passed")),
      failed: modules.flatMap((module) => [...namesOf(module, "failed"), ...hookErrors(module)]),
      skipped: modules.flatMap((module) => namesOf(module, "skipped")).length,
      unloaded: modules
        .filter((module) => !isLoaded(module) && module.state() === "failed")
        .map((module) => `${module.relativeModuleId}: ${lineOf(module.errors())}`),
      stray: [
        ...modules.filter(isUnfinished).map(({ relativeModuleId }) => `${relativeModuleId} did not end`),
        ...unhandled.map(strayError),
      ],
    };
    const file = process.env[reportVariable];
    if (file === undefined) throw new Error(`${reportVariable}: the file to write to`);
    writeFileSync(file, JSON.stringify(report));
  }
}

/** Of hooks of the file and of each suite: vitest hands them to no test. */
function hookErrors(module: TestModule): readonly string[] {
  if (module.children.size === 0) return [];
  const suites: readonly (TestModule | TestSuite)[] = [module, ...module.children.allSuites()];
  return suites.flatMap((suite) => {
    const errors = suite.errors();
    const name = suite.type === "suite" ? suite.fullName.replaceAll(" > ", " ") : suite.relativeModuleId;
    return errors.length === 0 ? [] : [`a hook of ${name}: ${lineOf(errors)}`];
  });
}

/** As where its worker has died. */
function isUnfinished(module: TestModule): boolean {
  return ["pending", "queued"].includes(module.state());
}

function lineOf(errors: readonly SerializedError[]): string {
  return errors.map(({ message }) => message.split("\n", 1).join("")).join("; ");
}
