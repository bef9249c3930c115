import { readFile, writeFile } from "node:fs/promises";
import { JsonReporter, type SerializedError, type TestModule } from "vitest/node";
import { differingLines } from "./differing-lines.ts";
import { strayError } from "./stray-error.ts";
import type { VitestReport } from "./suite-counts.ts";

/**
 * Vitest's JSON report with what it leaves out: the lines in which two values differ, and errors outside of any test. CI
 * prints them, since its run cannot be repeated elsewhere. `--outputFile.json=FILE` names its file.
 */
// oxlint-disable-next-line import/no-default-export -- vitest takes a reporter's file only so
export default class JsonWithDifferences extends JsonReporter {
  constructor() {
    super({});
  }

  override async onTestRunEnd(
    modules: readonly TestModule[],
    unhandled: readonly SerializedError[] = [],
  ): Promise<void> {
    const failed = modules.flatMap((module) => [...module.children.allTests("failed")]);
    // The report has the stack of an error, which begins with its message.
    for (const error of failed.flatMap((test) => test.result().errors ?? [])) {
      if (error.diff !== undefined) error.stack = `${error.message}\n${differingLines(error.diff)}`;
    }
    await super.onTestRunEnd(modules);
    const { outputFile } = this.ctx.config;
    const file = typeof outputFile === "object" ? outputFile["json"] : undefined;
    if (file === undefined || unhandled.length === 0) return;
    const stray = unhandled.map(strayError);
    const report: object = JSON.parse(await readFile(file, "utf8"));
    await writeFile(file, JSON.stringify({ ...report, stray } satisfies Pick<VitestReport, "stray">));
  }
}
