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
  /** At most so many of those that are chosen because something changed, spread evenly over their list. */
  readonly most: number;
}

/** The faults that a run tries. Faults that are named by file or mistake are all tried, whatever has changed. */
export function chooseFaults(faults: readonly Fault[], choice: Choice): readonly Fault[] {
  const { all, files, what, changed, most } = choice;
  if (files.length > 0 || what !== undefined) {
    return faults.filter((fault) => {
      const isOfFile = files.length === 0 || files.some((path) => fault.file.startsWith(path));
      return isOfFile && (what === undefined || fault.what.includes(what));
    });
  }
  if (all) return faults;
  return spread(
    faults.filter((fault) => changed.has(fault.file) || fault.tests.some((test) => changed.has(test))),
    most,
  );
}

/** At most so many, at equal distances. */
function spread<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items;
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)]).filter(
    (item) => item !== undefined,
  );
}
