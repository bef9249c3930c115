import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { run } from "../../../cli/run.ts";
import { terminal } from "../../../cli/terminal.ts";

/** The command with a missing kubeconfig: options are checked before the kubeconfig is read. */
async function takeOver(...args: readonly string[]): Promise<{ readonly code: number; readonly said: string }> {
  let said = "";
  const write = (text: string): void => {
    said += text;
  };
  const code = await run(["take-over", "--kubeconfig", "/nonexistent", ...args], {
    terminal: terminal(write, write),
    ...{ env: {}, homeDir: "/nonexistent", cwd: "/nonexistent", stdin: Readable.from([]), onSignal: () => {} },
    signal: new AbortController().signal,
    exit: () => {
      throw new Error("exit");
    },
  });
  return { code, said };
}

test.each([
  ["empty, as from an unset variable", ""],
  ["white space", "an id"],
  ["a line break", "local-1\n"],
  ["a control character", "local-\u001b[31m"],
  ["longer than the owner object may hold", "a".repeat(1_025)],
])("an installation id is refused if it is %s: with it, no Sluice would write to the cluster", async (_, id) => {
  const { code, said } = await takeOver("--installation", id);
  expect([code, said]).toEqual([
    1,
    expect.stringMatching(/^✗ --installation must be an id as the log prints it, such as /),
  ]);
});

test("--state and --installation together are refused", async () => {
  const { code, said } = await takeOver(
    "--installation",
    "123456789012/eu-west-1/sluice",
    "--state",
    "/tmp/of-another",
  );
  expect([code, said]).toEqual([1, "✗ option '--installation <id>' cannot be used with option '--state <dir>'\n"]);
});

test.each([
  ["the functions that share a table", "123456789012/eu-west-1/sluice"],
  ["a sluice local", "local-676c30a22db08f28"],
  ["the longest that the owner object may hold", "a".repeat(1_024)],
])("an installation id is accepted: %s", async (_, id) => {
  const { code, said } = await takeOver("--installation", id);
  expect([code, said]).toEqual([1, expect.stringMatching(/^✗ no kubeconfig at /)]);
});
