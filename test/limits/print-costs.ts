import { play } from "./play.ts";
import { worstInputs } from "./readers.ts";

/** Plays every worst input once and prints the table of docs/figures.md. With SLUICE_DEEP=true at their full size. For a quiet machine: memory counts what a busy one has not collected. */
process.stdout.write(
  "| reader | its worst input | blocked, ms | memory, MiB | limit, MiB |\n| --- | --- | --- | --- | --- |\n",
);
for (const input of worstInputs.toSorted((a, b) => a.reader.localeCompare(b.reader))) {
  const { blockedMs, grownMiB } = await play(input);
  const cells = [`\`${input.reader}\``, input.name, Math.round(blockedMs), Math.round(grownMiB), input.memoryMiB];
  process.stdout.write(`| ${cells.join(" | ")} |\n`);
}
