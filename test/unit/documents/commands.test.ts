import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { fromGoFlags } from "../../../cli/go-flags.ts";
import { program } from "../../../cli/program.ts";
import { terminal } from "../../../cli/terminal.ts";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import {
  blocksToRun,
  commandsToRun,
  listedAsNotRun,
  statementsOf,
  unlistedBlocks,
  withoutListed,
} from "./page-blocks.ts";
import { commandsOf, shellBlocks } from "./shell-commands.ts";

const root = join(import.meta.dirname, "../../..");
const Scripts = z.object({ scripts: z.record(z.string(), z.string()) });
const { scripts } = Scripts.parse(JSON.parse(await readFile(join(root, "package.json"), "utf8")));

/**
 * The pages whose blocks a test runs as they stand, with that test. It takes them from `blocksToRun` or `commandsToRun`, which leave
 * out the commands that docs/maintainers/testing.md lists; that page also says what a test replaces.
 */
const executed: Readonly<Record<string, string>> = {
  "README.md": "test/e2e/examples/pages.test.ts",
  "docs/bootstrap.md": "test/e2e/pages/bootstrap.test.ts",
  "docs/buckets.md": "test/e2e/pages/aws.test.ts",
  "docs/canaries.md": "test/e2e/pages/objects.test.ts",
  "docs/canary-examples.md": "test/e2e/canary-examples.test.ts",
  "docs/check-migration.md": "test/e2e/fleet/guide.test.ts",
  "docs/cluster-owner.md": "test/e2e/pages/operator-pages.test.ts",
  "docs/command-line.md": "test/e2e/pages/operator-pages.test.ts",
  "docs/day-two.md": "test/e2e/pages/operator-pages.test.ts",
  "docs/deploy.md": "test/e2e/pages/deploy.test.ts",
  "docs/events.md": "test/e2e/pages/aws.test.ts",
  "docs/first-app.md": "test/interop/first-app.test.ts",
  "docs/git-hosts.md": "test/e2e/pages/objects.test.ts",
  "docs/install.md": "test/e2e/installed/page.test.ts",
  "docs/logs.md": "test/e2e/pages/{logs,aws}.test.ts",
  "docs/moving-from-flux.md": "test/e2e/fleet/guide.test.ts",
  "docs/notifications.md": "test/e2e/pages/objects.test.ts",
  "docs/receivers.md": "test/e2e/pages/objects.test.ts",
  "docs/sops.md": "test/e2e/pages/sops.test.ts",
  "docs/troubleshooting.md": "test/e2e/troubleshooting.test.ts",
  "examples/fleet/README.md": "test/e2e/fleet/readme.test.ts",
  "examples/notify/README.md": "test/e2e/examples/pages.test.ts",
  "examples/overlays/README.md": "test/e2e/examples/pages.test.ts",
  "examples/podinfo-canary/README.md": "test/e2e/canary-examples.test.ts",
  "examples/podinfo-helm/README.md": "test/e2e/examples/pages.test.ts",
  "examples/podinfo-images/README.md": "test/e2e/examples/pages.test.ts",
  "examples/shop/README.md": "test/interop/shop-page.test.ts",
};

/** Commands of `sluice` in the text and in tables, without those that show a pattern: `sluice get [NAME]`, `sluice suspend …`. */
function commandsInProse(markdown: string): readonly string[] {
  const spans = markdown.replaceAll(/^ *```[^]*?^ *```$/gm, "").matchAll(/`(sluice [^`]+)`/g);
  return [...spans].flatMap(([, text = ""]) => (/[[…|]/.test(text) ? [] : [text.replaceAll(/\s+/g, " ")]));
}

interface PageCommand {
  readonly page: string;
  readonly words: readonly string[];
  /** In the text of the page, where a command may stand for its kind, without its arguments. */
  readonly isMention: boolean;
}

const pages: string[] = [];
for await (const page of glob("{README,CONTRIBUTING,docs/*,docs/sources/*,docs/maintainers/*,examples/*/README}.md", {
  cwd: root,
})) {
  pages.push(page);
}

async function commandsByPage(): Promise<readonly PageCommand[]> {
  const found: PageCommand[] = [];
  for (const page of pages) {
    const text = await readFile(join(root, page), "utf8");
    const listed = (blocks: readonly string[], isMention: boolean) =>
      blocks.flatMap(commandsOf).map((words) => ({ page, words, isMention }));
    found.push(...listed(shellBlocks(text), false), ...listed(commandsInProse(text), true));
  }
  return found;
}

/** The real command line, whose commands do nothing. */
function parser(): Command {
  const silent = terminal(
    () => true,
    () => true,
    { columns: () => undefined, isScreen: false, confirm: undefined },
  );
  const surroundings = {
    ...{ terminal: silent, env: {}, homeDir: "/", cwd: "/", stdin: Readable.from([]), onSignal: () => undefined },
    signal: new AbortController().signal,
    exit: () => {
      throw new Error("exit");
    },
  };
  const top = program(surroundings, declaredKinds);
  const quiet = (command: Command): void => {
    command.exitOverride();
    // `resume` resumes the cluster, and with a kind objects.
    if (command.commands.length === 0 || command.name() === "resume") command.action(() => undefined);
    for (const one of command.commands) quiet(one);
  };
  quiet(top);
  return top;
}

const commandLine = parser();

/** Why the command line would refuse these words; undefined if it takes them. */
async function faultOf(args: readonly string[]): Promise<string | undefined> {
  try {
    await commandLine.parseAsync(fromGoFlags(args, commandLine), { from: "user" });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function argumentsOf([first, ...others]: readonly string[]): readonly string[] | undefined {
  return first === "sluice" ? others : undefined;
}

describe("the commands of our pages", () => {
  test("are known to the command line, each with its options", async () => {
    const ours = (await commandsByPage()).flatMap(({ words, ...where }) => {
      const args = argumentsOf(words);
      return args === undefined ? [] : [{ ...where, args }];
    });
    expect(ours.length).toBeGreaterThan(200);
    const refused: object[] = [];
    for (const { page, args, isMention } of ours) {
      const fault = await faultOf(args);
      const counts = fault !== undefined && (!isMention || /unknown (command|option)/.test(fault));
      if (counts) refused.push({ page, command: args.join(" "), fault });
    }
    expect(refused).toEqual([]);
  });

  test("that begin with npm run name a script of package.json", async () => {
    const named = (await commandsByPage()).flatMap(({ page, words: [program, run, ...others] }) => {
      const script = others.find((word) => !word.startsWith("-"));
      return program === "npm" && run === "run" ? [{ page, script }] : [];
    });
    expect(named.filter(({ script }) => script === undefined || !(script in scripts))).toEqual([]);
  });

  test("never say npx sluice, which fetches a package of another project where Sluice is not installed", async () => {
    const told = "{README.md,CONTRIBUTING.md,{docs,examples}/**/*.md,{cli,functions,lib,local}/**/*.ts,infra/lib/*.ts}";
    const found: string[] = [];
    for await (const file of glob(told, { cwd: root })) {
      if (/\bnpx\s+sluice\b/.test(await readFile(join(root, file), "utf8"))) found.push(file);
    }
    expect(found).toEqual([]);
  });

  test("are run by a test, or docs/maintainers/testing.md says why none runs them", async () => {
    const forgotten: string[] = [];
    for (const page of pages) {
      if (page in executed) continue;
      forgotten.push(...(await unlistedBlocks(page)).map((block) => `${page}: ${block}`));
    }
    expect(forgotten).toEqual([]);
  });

  test.each(Object.entries(executed))("of %s are taken by %s, which says how many there are", async (page, files) => {
    expect(await unlistedBlocks(page)).not.toEqual([]);
    const takenBy: (readonly (string | undefined)[])[] = [];
    for await (const file of glob(files, { cwd: root })) {
      const calls = (await readFile(join(root, file), "utf8")).matchAll(
        /\b(?:blocks|commands)ToRun\(\s*"(.+)", \d+\)/g,
      );
      takenBy.push([...calls].map(([, taken]) => taken));
    }
    expect(takenBy).not.toEqual([]);
    for (const taken of takenBy) expect(taken).toContain(page);
  });

  test("are marked with $ in a block that also shows what they print", async () => {
    const inBlocks = (await commandsByPage()).flatMap(({ words: [program = ""], isMention }) =>
      isMention ? [] : [program],
    );
    const programs = new Set(inBlocks);
    const unmarked: string[] = [];
    for (const page of pages) {
      const text = await readFile(join(root, page), "utf8");
      for (const [, block = ""] of text.matchAll(/^ *```console\n([^]*?)^ *```$/gm)) {
        const lines = block.split("\n").map((line) => line.trim());
        const isCommand = (line: string, at: number) => at === 0 || programs.has(line.split(" ")[0] ?? "");
        unmarked.push(...lines.filter((line, at) => isCommand(line, at) && !line.startsWith("$ ")));
      }
    }
    expect(unmarked).toEqual([]);
  });

  test("that are listed as not run are on their page, and each has a reason", async () => {
    const listed = listedAsNotRun(await readFile(join(root, "docs/maintainers/testing.md"), "utf8"));
    expect(listed).not.toEqual([]);
    for (const { page, begins, reason } of listed) {
      const statements = shellBlocks(await readFile(join(root, page), "utf8")).flatMap(statementsOf);
      const unknown = begins.filter((begin) => !statements.some((statement) => statement.startsWith(begin)));
      expect({ page, unknown, reason }).toEqual({ page, unknown: [], reason: expect.stringMatching(/[a-z]{2}/) });
      expect(statements).not.toEqual([]);
    }
  });
});

test("a test that knows fewer or more blocks or commands than its page has is refused", async () => {
  const page = "docs/bootstrap.md";
  const blocks = await unlistedBlocks(page);
  const commands = blocks.flatMap(statementsOf);
  expect(await blocksToRun(page, blocks.length)).toEqual(blocks);
  expect(await commandsToRun(page, commands.length)).toEqual(commands);
  const refused = (what: string, has: number, knows: number) =>
    `${page} has ${has} ${what}, and its test knows ${knows}`;
  const fewer = blocks.length - 1;
  await expect(blocksToRun(page, fewer)).rejects.toThrow(refused("blocks", blocks.length, fewer));
  const more = commands.length + 1;
  await expect(commandsToRun(page, more)).rejects.toThrow(refused("commands", commands.length, more));
});

test("a listed command is left out of its block with its continued lines, and a block without any other command as a whole", () => {
  const table =
    "### Commands that no test runs\n\n| `a.md` | `aws`, `npx cdk` | AWS |\n| `b.md` | all | slow |\n\n## Next\n";
  const listed = listedAsNotRun(table);
  expect(listed).toEqual([
    { page: "a.md", begins: ["aws", "npx cdk"], reason: "AWS" },
    { page: "b.md", begins: [], reason: "slow" },
  ]);
  const blocks = ["aws ecr \\\n  --all\nsluice get all # one\n", "npx cdk deploy\n# after that\n"];
  expect(withoutListed(blocks, listed.slice(0, 1))).toEqual(["sluice get all # one\n"]);
  expect(withoutListed(blocks, listed.slice(1))).toEqual([]);
});

test("a command or an option that the command line does not have is noticed", async () => {
  expect(await faultOf(["get", "kustomisations"])).toContain("unknown command");
  expect(await faultOf(["get", "kustomizations", "--prune"])).toContain("unknown option");
});

test("the commands of a block are found: behind pipes, over several lines, and not in comments or here-documents", () => {
  const block = `
export A=1 B="2 3"        # sluice no
A=1 sluice get ks "a b" \\
  -n 'c d' | grep x && npx sluice check > file
cat <<'EOF' | kubectl apply -f -
sluice neither
EOF
`;
  expect(commandsOf(block)).toEqual([
    ["export", "A=1", "B=2 3"],
    ["sluice", "get", "ks", "a b", "-n", "c d"],
    ["grep", "x"],
    ["npx", "sluice", "check"],
    ["cat"],
    ["kubectl", "apply", "-f", "-"],
  ]);
});
