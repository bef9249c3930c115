import type { Fault } from "./fault.ts";

export interface Choice {
  /** Every fault. */
  readonly all: boolean;
  /** Beginnings of the paths of files; none: of any. */
  readonly files: readonly string[];
  /** Part of what the mistake is; undefined: any. */
  readonly what: string | undefined;
  /** Paths that have changed: faults of these files, and those that are noticed by these tests, are chosen. */
  readonly changed: ReadonlySet<string>;
  /** Which tenth of the faults is chosen besides: 0 to 9. */
  readonly tenth: number;
}

/** The faults that a run tries. Faults that are named by file or mistake are all tried, whatever has changed. */
export function chooseFaults(faults: readonly Fault[], choice: Choice): readonly Fault[] {
  const { all, files, what, changed, tenth } = choice;
  const isNamed = files.length > 0 || what !== undefined;
  return faults.filter((fault, index) => {
    if (isNamed) {
      const isOfFile = files.length === 0 || files.some((path) => fault.file.startsWith(path));
      return isOfFile && (what === undefined || fault.what.includes(what));
    }
    return all || index % 10 === tenth || changed.has(fault.file) || fault.tests.some((test) => changed.has(test));
  });
}
