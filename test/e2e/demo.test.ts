import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

const usage = "usage: npm run demo [-- --kubeconfig FILE [--context NAME]]\n";

async function demo(...args: readonly string[]) {
  const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
  const child = spawn(process.execPath, [join(import.meta.dirname, "../../local/demo.ts"), ...args], { stdio });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: child.exitCode, out, err };
}

test.each([
  { args: ["--help"], ends: { code: 0, out: usage, err: "" } },
  { args: ["--foo"], ends: { code: 2, out: "", err: `✘ Unknown option '--foo'\n${usage}` } },
  {
    args: ["foo"],
    ends: { code: 2, out: "", err: expect.stringMatching(/^✘ Unexpected argument 'foo'[^\n]*\nusage/) },
  },
  { args: ["--context", "dev"], ends: { code: 2, out: "", err: `✘ --context needs --kubeconfig FILE\n${usage}` } },
  {
    args: ["--kubeconfig", "/nowhere"],
    ends: { code: 1, out: expect.stringMatching(/^✘ the demo could not go on: no kubeconfig at [^\n]*\n$/), err: "" },
  },
])("the demo with $args says in a line or two what to give it", async ({ args, ends }) => {
  expect(await demo(...args)).toEqual(ends);
});

test("the demo that is told to end says so, and nothing of what that broke off", async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../../local/demo.ts")], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    out += chunk;
    if (chunk.includes("Sluice started")) child.kill("SIGTERM");
  });
  const [err] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect(out.trimEnd().split("\n").at(-1)).toBe("✘ stopped by SIGTERM");
  expect({ err, code: child.exitCode }).toEqual({ err: "", code: 143 });
}, 60_000);
