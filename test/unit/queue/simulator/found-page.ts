import type { Outcome } from "./simulate.ts";

/** A rule, and the code without it. */
interface TakenOut<Mutation> {
  readonly rule: string;
  readonly mutation: Mutation;
}

/** What a simulator said where a rule was taken out. */
interface Found {
  readonly rule: string;
  readonly seed: number;
  /** The first promise that was broken. */
  readonly violation: string;
}

const maxSeeds = 300;

/** Finds the first story that goes wrong without a rule, once for each; undefined where none of the first 300 does. */
export function firstFailures<Mutation>(tell: (seed: number, mutation: Mutation) => Promise<Outcome>) {
  const found = new Map<string, Promise<Found | undefined>>();
  const find = async ({ rule, mutation }: TakenOut<Mutation>): Promise<Found | undefined> => {
    for (let seed = 1; seed <= maxSeeds; seed += 1) {
      const [violation] = (await tell(seed, mutation)).violations;
      if (violation !== undefined) return { rule, seed, violation };
    }
    return undefined;
  };
  return (taken: TakenOut<Mutation>): Promise<Found | undefined> => {
    const known = found.get(taken.rule) ?? find(taken);
    found.set(taken.rule, known);
    return known;
  };
}

/** A page of docs/simulator: all rules that one simulator is tried with, and the seed by which each is missed. */
export function foundPage({
  title,
  run,
  about,
  found,
}: {
  readonly title: string;
  /** The test that writes the page. */
  readonly run: string;
  readonly about: string;
  readonly found: readonly (Found | undefined)[];
}): string {
  const rows = found.map((one) =>
    one === undefined ? "| not found | | |" : `| ${one.rule} | ${one.seed} | ${one.violation} |`,
  );
  return [
    `# ${title}`,
    "",
    `\`npx vitest run ${run} -u\` writes this page, and the same test checks it.`,
    "Each rule was taken out of the code by itself. The seed is that of the first story that goes wrong without the rule.",
    `With all rules in place every story goes right. ${about}.`,
    "",
    "| rule | seed | what went wrong without it |",
    "| --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}
