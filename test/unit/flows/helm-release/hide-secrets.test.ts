import { expect, test } from "vitest";
import { hidingIn } from "../../../../lib/flows/helm-release/actions/hide-secrets.ts";

const gone = (): Promise<never> => Promise.reject(new Error("the artifact is gone"));

test("a failure is shown without the values of Secrets although the chart cannot be read any more", async () => {
  const { signal } = new AbortController();
  const attempt = {
    ctx: { deps: { helm: { prepare: gone } }, namespace: "apps", run: { key: { cluster: "test" }, signal } },
    chart: { bytes: gone },
    values: { from: [{ text: "password: s3cr3t-x" }], inline: {} },
    references: [{ kind: "Secret", name: "db" } as const],
  };
  const hide = await hidingIn(attempt, []);
  expect(hide("Source not ready: artifact not found; s3cr3t-x")).toBe("Source not ready: artifact not found; *****");
});

test("the end of the run is no failure to hide", async () => {
  const run = { key: { cluster: "test" }, signal: AbortSignal.abort(new Error("stopped")) };
  const attempt = {
    ctx: { deps: { helm: { prepare: gone } }, namespace: "apps", run },
    chart: { bytes: gone },
    values: { from: [{ text: "password: s3cr3t-x" }], inline: {} },
    references: [{ kind: "Secret", name: "db" } as const],
  };
  await expect(hidingIn(attempt, [])).rejects.toThrow("stopped");
});
