import { expect, test } from "vitest";
import type { MessageEngine } from "../../../../lib/core/ports/message-engine.ts";
import { type PushedBranch, pullRequestFor } from "../../../../lib/image/pull-request/pull-request-for.ts";
import { memoryRequestHost } from "./memory-request-host.ts";

const forever = new AbortController().signal;
/** Plain texts need no engine. */
const engine: MessageEngine = { message: () => Promise.reject(new Error("it was started")) };

function pushed(annotations: Readonly<Record<string, string>>, more: Partial<PushedBranch> = {}): PushedBranch {
  return {
    head: "images",
    base: "main",
    annotations,
    address: "ssh://git@github.example.test:2222/shop/deploy.git",
    secret: new Map([["token", "golden-token"]]),
    message: "Update web\n\nweb:1 -> web:2\n",
    of: { cluster: "home", automation: { namespace: "apps", name: "images" }, values: {}, changes: [] },
    ...more,
  };
}

async function open(branch: PushedBranch) {
  const host = memoryRequestHost();
  const made = await pullRequestFor(branch, { http: host, now: () => 0, sleep: async () => {}, engine }, forever);
  return { made, host };
}

test("an automation that asks for a pull request gets one with the text of its commit", async () => {
  const { made, host } = await open(pushed({ "sluice.dev/pull-request": "true" }));
  expect(made).toEqual({ url: "https://github.example.test/shop/deploy/pull/1", change: "created" });
  expect(host.kept).toMatchObject([
    { title: "Update web", body: expect.stringMatching(/^web:1 -> web:2\n\n<!-- .* apps\/images -->$/) },
  ]);
});

test("annotations of an automation replace the texts of its pull request", async () => {
  const texts = { "sluice.dev/pull-request-title": "Images", "sluice.dev/pull-request-body": "Please look" };
  const { host } = await open(pushed({ "sluice.dev/pull-request": "github", ...texts }));
  expect(host.kept).toMatchObject([{ title: "Images", body: expect.stringMatching(/^Please look\n\n/) }]);
});

test("an automation that asks for no pull request gets none, and no host is called", async () => {
  for (const annotations of [{}, { "sluice.dev/pull-request": "false" }]) {
    const { made, host } = await open(pushed(annotations, { secret: new Map() }));
    expect(made).toBeUndefined();
    expect(host.asked).toEqual([]);
  }
});

test("a Secret with only an SSH key has no login for the API, and the message says how to fix that", async () => {
  const secret = new Map([
    ["identity", "key"],
    ["password", "of the key"],
  ]);
  await expect(open(pushed({ "sluice.dev/pull-request": "true" }, { secret }))).rejects.toMatchObject({
    name: "Failure",
    reason: "GitOperationFailed",
    message:
      "failed to open the pull request from images to main: there is no token for the API of the host: name a Secret with the key token in the annotation sluice.dev/pull-request-secret",
  });
});
