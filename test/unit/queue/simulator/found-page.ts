import { existsSync, readFileSync } from "node:fs";
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

/** The deep check searches for the first story each time; otherwise the one that the page names is played. */
const isSearched = process.env["SLUICE_SIM_RULES"] === "all";

/** The seed of each rule on a page of docs/maintainers/simulator; none where there is no page yet. */
function listedSeeds(page: string): ReadonlyMap<string, number> {
  if (!existsSync(page)) return new Map();
  const rows = readFileSync(page, "utf8").matchAll(/^\| (?<rule>.+?) \| (?<seed>\d+) \|/gm);
  return new Map([...rows].map(({ groups }) => [groups?.["rule"] ?? "", Number(groups?.["seed"])]));
}

/**
 * Finds the first story that goes wrong without a rule, once for each; undefined where none of the first 300 does. The story that
 * `page` names is played first, and is the answer if it goes wrong.
 */
export function firstFailures<Mutation>(
  tell: (seed: number, mutation: Mutation) => Promise<Outcome>,
  page: string,
): (taken: TakenOut<Mutation>) => Promise<Found | undefined> {
  const listed = isSearched ? new Map<string, number>() : listedSeeds(page);
  const found = new Map<string, Promise<Found | undefined>>();
  const failure = async ({ rule, mutation }: TakenOut<Mutation>, seed: number): Promise<Found | undefined> => {
    const [violation] = (await tell(seed, mutation)).violations;
    return violation === undefined ? undefined : { rule, seed, violation };
  };
  const find = async (taken: TakenOut<Mutation>): Promise<Found | undefined> => {
    const seed = listed.get(taken.rule);
    const known = seed === undefined ? undefined : await failure(taken, seed);
    for (let next = 1; known === undefined && next <= maxSeeds; next += 1) {
      const first = await failure(taken, next);
      if (first !== undefined) return first;
    }
    return known;
  };
  return (taken) => {
    const known = found.get(taken.rule) ?? find(taken);
    found.set(taken.rule, known);
    return known;
  };
}

/** A page of docs/maintainers/simulator: all rules that one simulator is tried with, and the seed by which each is missed. */
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
