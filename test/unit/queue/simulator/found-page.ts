/** What a simulator said where a rule was taken out. */
export interface Found {
  readonly rule: string;
  readonly seed: number;
  /** The first promise that was broken. */
  readonly violation: string;
}

/** The page of docs/simulator that shows all rules of one simulator, and by which seed each is missed. */
export function foundPage(title: string, run: string, found: readonly (Found | undefined)[]): string {
  const rows = found.map((one) => (one === undefined ? "| not found | | |" : rowOf(one)));
  return [
    `# ${title}`,
    "",
    `Written by \`npx vitest run ${run} -u\`, and checked by the same test without \`-u\`. Each rule was taken out of`,
    "the code by itself; the seed is the first whose story goes wrong without it. With all rules in place every story",
    "of the same seeds goes right. [What the stories are](../work-queue.md#the-proof).",
    "",
    "| rule | seed | what went wrong without it |",
    "| --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

function rowOf({ rule, seed, violation }: Found): string {
  return `| ${rule} | ${seed} | ${violation} |`;
}
