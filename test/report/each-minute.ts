import { relative } from "node:path";
import type { Reporter, TestCase, TestModule, TestSpecification, Vitest } from "vitest/node";

const shownFiles = 6;

interface EachMinuteOptions {
  readonly write?: (text: string) => void;
  readonly everyMs?: number;
}

/**
 * One line a minute for a log that nobody scrolls: the time since the start, the counts, and the files that run with their
 * seconds. A test that fails is named at once. The last line has the final counts.
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
    const { state } = test.result();
    if (state === "passed") this.#passed += 1;
    if (state !== "failed") return;
    this.#failed += 1;
    this.#write(`failed: ${relative(this.#root, test.module.moduleId)}: ${test.fullName}\n`);
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(module);
    this.#ended += 1;
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer);
    this.#write(`${this.#line()}\n`);
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
