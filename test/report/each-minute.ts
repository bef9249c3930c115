import { relative } from "node:path";
import type {
  Reporter,
  SerializedError,
  TestCase,
  TestModule,
  TestSpecification,
  TestSuite,
  Vitest,
} from "vitest/node";
import { differingLines } from "./differing-lines.ts";

const shownFiles = 6;

interface EachMinuteOptions {
  readonly write?: (text: string) => void;
  readonly everyMs?: number;
}

/**
 * One line a minute for a log that nobody scrolls: the time since the start, the counts, and the files that run with their
 * seconds. A test that fails is named at once, with its reason. The last line has the final counts.
 */
// oxlint-disable-next-line import/no-default-export -- vitest takes a reporter's file only so
export default class EachMinute implements Reporter {
  readonly #write: (text: string) => void;
  readonly #everyMs: number;
  readonly #running = new Map<TestModule, number>();
  #root = "";
  #files = 0;
  #ended = 0;
  #passed = 0;
  #failed = 0;
  #started = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({
    write = (text) => {
      process.stdout.write(text);
    },
    everyMs = 60_000,
  }: EachMinuteOptions = {}) {
    this.#write = write;
    this.#everyMs = everyMs;
  }

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root;
  }

  onTestRunStart(files: readonly TestSpecification[]): void {
    this.#files = files.length;
    this.#started = performance.now();
    this.#timer = setInterval(() => this.#write(`${this.#line()}\n`), this.#everyMs);
  }

  onTestModuleStart(module: TestModule): void {
    this.#running.set(module, performance.now());
  }

  onTestCaseResult(test: TestCase): void {
    const { state, errors = [] } = test.result();
    if (state === "passed") this.#passed += 1;
    if (state !== "failed") return;
    this.#failed += 1;
    this.#writeFailure(test.module, test.fullName, errors);
  }

  onTestSuiteResult(suite: TestSuite): void {
    if (suite.errors().length > 0) this.#writeFailure(suite.module, suite.fullName, suite.errors());
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(module);
    this.#ended += 1;
    if (module.errors().length > 0) this.#writeFailure(module, "outside of its tests", module.errors());
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer);
    this.#write(`${this.#line()}\n`);
  }

  #writeFailure({ moduleId }: TestModule, name: string, errors: readonly SerializedError[]): void {
    const reasons = errors.flatMap(({ message, diff }) => [
      message,
      ...(typeof diff === "string" ? [differingLines(diff)] : []),
    ]);
    const indented = reasons.flatMap((reason) => reason.split("\n")).map((line) => `  ${line}`.trimEnd());
    this.#write(`${[`failed: ${relative(this.#root, moduleId)}: ${name}`, ...indented].join("\n")}\n`);
  }

  #line(): string {
    const now = performance.now();
    const seconds = (since: number): number => Math.round((now - since) / 1_000);
    const longest = [...this.#running].toSorted(([, a], [, b]) => a - b).slice(0, shownFiles);
    const running = longest.map(([{ moduleId }, since]) => `${relative(this.#root, moduleId)} ${seconds(since)} s`);
    return [
      `${seconds(this.#started)} s: ${this.#ended} of ${this.#files} files, ${this.#passed} passed, ${this.#failed} failed`,
      ...(running.length === 0 ? [] : [`running ${running.join(", ")}`]),
    ].join("; ");
  }
}
