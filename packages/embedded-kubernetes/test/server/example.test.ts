import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("the example of the README applies an object, prints its kubeconfig, and removes its folder on Ctrl-C", async () => {
  const example = fileURLToPath(new URL("../../examples/start.ts", import.meta.url));
  const child = spawn(process.execPath, [example], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe("server-side apply: 201");
  const { value: command } = await lines.next();
  const kubeconfig = /^kubectl --kubeconfig (\S+) get configmap greeting/.exec(String(command))?.[1] ?? "";
  expect(existsSync(kubeconfig)).toBe(true);
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(existsSync(dirname(kubeconfig))).toBe(false);
});
