import { homedir } from "node:os";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { clusterEntries } from "../../../cli/local-command.ts";
import { run } from "../../../cli/run.ts";
import { terminal } from "../../../cli/terminal.ts";

describe("the clusters of sluice local", () => {
  test.each([
    { name: "no option: the embedded one", given: {}, entries: [] },
    { name: "a kubeconfig", given: { kubeconfig: ["a"] }, entries: [{ name: "a", file: "a" }] },
    {
      name: "a context of a kubeconfig",
      given: { kubeconfig: ["a"], context: ["blue"] },
      entries: [{ name: "blue", file: "a", context: "blue" }],
    },
    {
      name: "several kubeconfigs, each with its current context",
      given: { kubeconfig: ["a", "b"] },
      entries: [
        { name: "a", file: "a" },
        { name: "b", file: "b" },
      ],
    },
    {
      name: "several contexts of a kubeconfig",
      given: { kubeconfig: ["a"], context: ["blue", "green"] },
      entries: [
        { name: "blue", file: "a", context: "blue" },
        { name: "green", file: "a", context: "green" },
      ],
    },
  ])("$name", ({ given, entries }) => {
    expect(clusterEntries(given)).toEqual(entries);
  });

  test.each([
    { given: { context: ["blue"] }, says: "--context needs --kubeconfig FILE here" },
    {
      given: { kubeconfig: ["a", "b"], context: ["blue"] },
      says: "--context chooses contexts of one kubeconfig: give one --kubeconfig with each --context, or several --kubeconfig",
    },
    { given: { kubeconfig: ["a", "./a"] }, says: "--kubeconfig ./a is given twice: name each cluster once" },
    { given: { kubeconfig: ["a"], context: ["blue", "blue"] }, says: "--context blue is given twice" },
  ])("are refused: $says", ({ given, says }) => {
    expect(() => clusterEntries(given)).toThrow(says);
  });
});

test.each(["kubeconfig", "context"])(
  "a command for one cluster refuses several --%s, because it might write to the wrong one",
  async (option) => {
    let said = "";
    const write = (text: string): void => {
      said += text;
    };
    const code = await run(["take-over", `--${option}`, "a", `--${option}`, "b"], {
      terminal: terminal(write, write),
      ...{ env: {}, homeDir: homedir(), cwd: "/", stdin: Readable.from([]), onSignal: () => {} },
      signal: new AbortController().signal,
      exit: () => {
        throw new Error("exit");
      },
    });
    expect({ code, said }).toEqual({
      code: 1,
      said: `✗ --${option} is given 2 times: this command works on one cluster\n`,
    });
  },
);

test.each([
  ...["0", "1", "65535"].map((port) => ({ port, says: "--yes needs --reset" })),
  ...["65536", "100000", "-1", "1.5", "", "http"].map((port) => ({ port, says: `invalid port "${port}"` })),
])("--registry-port $port is refused with: $says", async ({ port, says }) => {
  let said = "";
  const write = (text: string) => {
    said += text;
  };
  const code = await run(["local", "--yes", `--registry-port=${port}`], {
    terminal: terminal(write, write),
    ...{ env: {}, homeDir: homedir(), cwd: "/", stdin: Readable.from([]), onSignal: () => {} },
    signal: new AbortController().signal,
    exit: () => {
      throw new Error("exit");
    },
  });
  expect({ code, said }).toEqual({ code: 1, said: expect.stringContaining(says) });
});
