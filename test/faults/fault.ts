/** The faults of one file: each a likely mistake that compiles. */
export interface FileFaults {
  /** From the root of the project. */
  readonly file: string;
  /** The test files that notice a fault, unless it names others. */
  readonly tests: readonly string[];
  readonly faults: readonly ListedFault[];
}

interface Mistake {
  /** The mistake in a line, different for each fault of a file. */
  readonly what: string;
  /** Text that the file has exactly once. */
  readonly find: string;
  /** What stands there with the mistake. */
  readonly replace: string;
}

export interface NoticedFault extends Mistake {
  readonly tests?: readonly string[];
  /** Part of the name of the tests to run, where the whole file would take long. */
  readonly named?: string;
}

/** Behaves like the code that it replaces, for this reason: it is not run. */
export interface EquivalentFault extends Mistake {
  readonly equivalent: string;
}

export type ListedFault = NoticedFault | EquivalentFault;

/** A fault to try. */
export interface Fault extends Mistake {
  readonly file: string;
  readonly tests: readonly string[];
  readonly named: string | undefined;
}

/** The faults of these files that are run, in their order. */
export function faultsToTry(files: readonly FileFaults[]): readonly Fault[] {
  return files.flatMap(({ file, tests, faults }) =>
    faults.flatMap((fault) =>
      "equivalent" in fault ? [] : [{ ...fault, file, tests: fault.tests ?? tests, named: fault.named }],
    ),
  );
}

/**
 * The file's text with the mistake in it.
 *
 * @throws Error where the text to find is not there exactly once
 */
export function withMistake({ what, find, replace }: Mistake, text: string): string {
  const [before = "", after, ...more] = text.split(find);
  if (after === undefined || more.length > 0) {
    const count = after === undefined ? "not there" : `there ${more.length + 1} times`;
    throw new Error(
      `"${what}": the text to find is ${count}; find the same mistake in the code as it is now:\n${find}`,
    );
  }
  return `${before}${replace}${after}`;
}
