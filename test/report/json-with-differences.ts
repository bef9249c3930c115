import { readFile, writeFile } from "node:fs/promises";
import { stripVTControlCharacters } from "node:util";
import { JsonReporter, type SerializedError, type TestModule } from "vitest/node";
import { strayError } from "./stray-error.ts";
import type { VitestReport } from "./suite-counts.ts";

const shownLines = 40;
const linesAround = 1;

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

/** The lines of a difference that belong to one side, with a line around each. */
function differingLines(difference: string): string {
  const lines = stripVTControlCharacters(difference).split("\n");
  const isOfOneSide = (line: string): boolean => /^\s*[-+]/.test(line);
  const isNear = (_line: string, at: number): boolean =>
    lines.slice(Math.max(0, at - linesAround), at + linesAround + 1).some(isOfOneSide);
  const near = lines.filter(isNear);
  const left = near.length - shownLines;
  return [...near.slice(0, shownLines), ...(left > 0 ? [`(${left} more lines)`] : [])].join("\n");
}
