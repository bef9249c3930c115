import { dirname } from "node:path";
import { z } from "zod";
import type { Equivalent } from "./equivalents.ts";

const Place = z.object({ line: z.int(), column: z.int() });

/** The part of Stryker's report that is read here. */
export const Report = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.string(),
      mutants: z.array(
        z.object({
          mutatorName: z.string(),
          replacement: z.string().default(""),
          status: z.string(),
          location: z.object({ start: Place, end: Place }),
        }),
      ),
    }),
  ),
});

export type Report = z.output<typeof Report>;

/** A mutant of a file. */
export interface Mutant {
  readonly file: string;
  /** Line and column count from 1. */
  readonly line: number;
  readonly column: number;
  /** Where it stands in the file's text. */
  readonly start: number;
  readonly end: number;
  /** The line that it begins on, without the space around it. */
  readonly lineText: string;
  readonly from: string;
  readonly to: string;
  readonly outcome: "noticed" | "survived" | "untested" | "left out";
}

const outcomes: Readonly<Record<string, Mutant["outcome"]>> = {
  Killed: "noticed",
  // Tests that no longer end have noticed it.
  Timeout: "noticed",
  RuntimeError: "noticed",
  Survived: "survived",
  NoCoverage: "untested",
  Ignored: "left out",
};

/** Throws if the status of a mutant is one that Stryker gives while it runs. */
export function mutantsOf({ files }: Report): readonly Mutant[] {
  return Object.entries(files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split("\n");
    const offsets = [0];
    for (const line of lines) offsets.push((offsets.at(-1) ?? 0) + line.length + 1);
    const offsetOf = ({ line, column }: z.output<typeof Place>) => (offsets[line - 1] ?? 0) + column - 1;
    return mutants.map(({ status, replacement, location }) => {
      const outcome = outcomes[status];
      const { line, column } = location.start;
      if (outcome === undefined) throw new Error(`${file}:${line}: a mutant is ${status}: the run was cut off`);
      const [start, end] = [offsetOf(location.start), offsetOf(location.end)];
      const lineText = (lines[line - 1] ?? "").trim();
      return { file, line, column, start, end, lineText, from: source.slice(start, end), to: replacement, outcome };
    });
  });
}

export interface Score {
  readonly folder: string;
  readonly mutants: number;
  readonly noticed: number;
  readonly survived: number;
  /** Mutants that no test can notice, or has to: equivalent, or refused by the compiler. */
  readonly excused: number;
  /** The share of noticed mutants among those that are not excused, from 0 to 1. */
  readonly share: number;
}

/** The results, and the faults of the list of equivalent mutants. */
export interface Measured {
  readonly scores: readonly Score[];
  readonly survivors: readonly Mutant[];
  readonly problems: readonly string[];
}

/**
 * Counts the mutants that the tests noticed, folder by folder: noticed / (all - excused). Lines of the log are not counted at all.
 *
 * @param isUncompiled whether the compiler refuses a mutant that no test has noticed
 */
export function measure(
  mutants: readonly Mutant[],
  equivalents: readonly Equivalent[],
  isUncompiled: (mutant: Mutant) => boolean,
): Measured {
  const counted = mutants.filter(({ outcome }) => outcome !== "left out");
  const excuse = (mutant: Mutant) => equivalents.find((equivalent) => isSame(equivalent, mutant));
  const missed = counted.filter(({ outcome }) => outcome !== "noticed");
  const survivors = missed.filter((mutant) => excuse(mutant) === undefined && !isUncompiled(mutant));
  const folders = Map.groupBy(counted, ({ file }) => dirname(file));
  const scores = [...folders].map(([folder, all]) => {
    const of = (some: readonly Mutant[]) => some.filter(({ file }) => dirname(file) === folder).length;
    const [survived, excused] = [of(survivors), of(missed) - of(survivors)];
    const noticed = all.length - survived - excused;
    return { folder, mutants: all.length, noticed, survived, excused, share: noticed / (noticed + survived) };
  });
  const problems = equivalents.flatMap((equivalent) => {
    const { file, line, from, to } = equivalent;
    const found = counted.filter((mutant) => isSame(equivalent, mutant));
    const name = `${file}: "${from}" to "${to}" in "${line}"`;
    if (!counted.some((mutant) => mutant.file === file)) return [];
    if (found.length === 0) return [`${name} is listed as equivalent and is no mutant of the file any more`];
    return found.every(({ outcome }) => outcome === "noticed")
      ? [`${name} is listed as equivalent and a test notices it`]
      : [];
  });
  return { scores, survivors, problems };
}

function isSame(equivalent: Equivalent, mutant: Mutant): boolean {
  const { file, line, from, to } = equivalent;
  return file === mutant.file && line === mutant.lineText && from === mutant.from && to === mutant.to;
}
