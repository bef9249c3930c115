import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { shellBlocks } from "./shell-commands.ts";

const root = join(import.meta.dirname, "../../..");
const list = "docs/maintainers/testing.md";

/** A row of the list of commands that no test runs. */
interface NotRun {
  readonly page: string;
  /** How the commands begin; empty for every command of the page. */
  readonly begins: readonly string[];
  readonly reason: string;
}

/** Reads the table "Commands that no test runs" of docs/maintainers/testing.md. */
export function listedAsNotRun(markdown: string): readonly NotRun[] {
  const [, section = ""] = /^### Commands that no test runs$(.*?)(?:^##|(?![^]))/ms.exec(markdown) ?? [];
  return [...section.matchAll(/^\| `([^`]+)` \| (.+?) \| (.+) \|$/gm)].map(
    ([, page = "", commands = "", reason = ""]) => ({
      page,
      begins: [...commands.matchAll(/`([^`]+)`/g)].map(([, begin = ""]) => begin),
      reason,
    }),
  );
}

/** The commands of a block as they stand, each with its continued lines. Lines of here-documents count as commands. */
export const statementsOf = (block: string): readonly string[] => block.trimEnd().split(/(?<!\\)\n/);

/** Blocks without the commands that are listed; a block without any other command is left out. */
export function withoutListed(blocks: readonly string[], listed: readonly NotRun[]): readonly string[] {
  const isListed = (statement: string) =>
    listed.some(({ begins }) => begins.length === 0 || begins.some((begin) => statement.startsWith(begin)));
  return blocks
    .map((block) => statementsOf(block).filter((statement) => !isListed(statement)))
    .filter((statements) => statements.some((statement) => /^\s*[^\s#]/.test(statement)))
    .map((statements) => `${statements.join("\n")}\n`);
}

/**
 * The blocks of shell that the test of a page has to run: all of them, without the commands that docs/maintainers/testing.md lists
 * with the reason why no test runs them.
 *
 * @param page from the root of the project: `docs/install.md`
 * @param count how many blocks the test knows. Throws an error if the page has another number, so a new block has to be run
 */
export async function blocksToRun(page: string, count: number): Promise<readonly string[]> {
  return counted("blocks", page, await unlistedBlocks(page), count);
}

/** The commands in {@link blocksToRun}, each with its continued lines. @param count how many commands the test knows */
export async function commandsToRun(page: string, count: number): Promise<readonly string[]> {
  return counted("commands", page, (await unlistedBlocks(page)).flatMap(statementsOf), count);
}

function counted(what: string, page: string, found: readonly string[], count: number): readonly string[] {
  if (found.length === count) return found;
  throw new Error(`${page} has ${found.length} ${what}, and its test knows ${count}:\n${found.join("\n")}`);
}

/** The blocks of a page without the commands that are listed as not run. */
export async function unlistedBlocks(page: string): Promise<readonly string[]> {
  const [text, testing] = await Promise.all([page, list].map((file) => readFile(join(root, file), "utf8")));
  const listed = listedAsNotRun(testing ?? "").filter((row) => row.page === page);
  return withoutListed(shellBlocks(text ?? ""), listed);
}
