import { stripVTControlCharacters } from "node:util";
import { JsonReporter, type TestModule } from "vitest/node";

const shownLines = 40;
const linesAround = 1;

/**
 * Vitest's JSON report, which names only what two values are called, with the lines in which they differ: for a run whose output
 * is read where nobody can repeat it.
 */
// oxlint-disable-next-line import/no-default-export -- vitest takes a reporter's file only so
export default class JsonWithDifferences extends JsonReporter {
  constructor() {
    super({});
  }

  override async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const failed = modules.flatMap((module) => [...module.children.allTests("failed")]);
    // The report has the stack of an error, which begins with its message.
    for (const error of failed.flatMap((test) => test.result().errors ?? [])) {
      if (error.diff !== undefined) error.stack = `${error.message}\n${differingLines(error.diff)}`;
    }
    await super.onTestRunEnd(modules);
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
