import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { messageOf } from "../../../../lib/core/failure.ts";
import type { Http, HttpRequest } from "../../../../lib/core/ports/http.ts";
import { EventShape } from "../../../../lib/notify/notification-message.ts";
import { isSetupFailure, type NotificationProvider } from "../../../../lib/notify/provider.ts";
import { providers } from "../../../../lib/notify/providers/providers.ts";
import { never, noDial, settingsFor } from "./played-scenario.ts";

const Texts = z.record(z.string(), z.string());
const Case = z.object({
  name: z.string(),
  type: z.string(),
  address: z.string(),
  token: z.string().default(""),
  username: z.string().default(""),
  password: z.string().default(""),
  commitStatus: z.string().default(""),
  /** What it has besides the event of all. */
  event: EventShape.partial(),
  answers: z.array(z.object({ status: z.int(), headers: Texts.default({}), body: z.string() })),
  requests: z.array(z.object({ method: z.string(), path: z.string(), headers: Texts, body: z.string().default("") })),
  fault: z.string().optional(),
  isSetup: z.boolean().default(false),
});
type Case = z.infer<typeof Case>;

/**
 * What notification-controller v1.9.3 sends to a host that gives these answers, and what it says. Recorded of its own notifiers against a
 * server on the loopback interface, which is git.example here; what names a client is left out.
 */
const { cases, event: eventOfAll } = z
  .object({ event: EventShape, cases: z.array(Case) })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, "../../../fixtures/notify/git-hosts.json"), "utf8")));

/** Where Sluice does something else, and why. */
const differences: Readonly<Record<string, string>> = {
  "github: forty characters that are no hash are asked for":
    "Flux resolves `..` in a revision, so an event can lead it to another part of the API. Here a revision is one segment.",
};

/** Gives the answers in their order. */
function hostOf({ answers }: Case, requests: HttpRequest[]): Http {
  return {
    async send(request) {
      const { status, headers, body } = answers[requests.length] ?? { status: 599, headers: {}, body: "" };
      requests.push(request);
      const type = status === 204 ? {} : { "content-type": "application/json" };
      return { url: request.url, status, headers: { ...type, ...headers }, body: Buffer.from(body) };
    },
  };
}

async function played(each: Case): Promise<Pick<Case, "fault" | "isSetup" | "requests">> {
  const requests: HttpRequest[] = [];
  const parts = { http: hostOf(each, requests), dial: noDial, now: () => 0, sleep: async () => {} };
  const { type, address, token, username, password, commitStatus, event } = each;
  const fault = await (async () => {
    let provider: NotificationProvider | undefined;
    try {
      provider = providers[type]?.make(settingsFor(type, { address, token, username, password, commitStatus }), parts);
    } catch (error) {
      return { fault: messageOf(error), isSetup: true };
    }
    try {
      await provider?.post(EventShape.parse({ ...eventOfAll, ...event }), never);
      return { fault: undefined, isSetup: false };
    } catch (error) {
      return { fault: messageOf(error), isSetup: isSetupFailure(error) };
    }
  })();
  return { ...fault, requests: requests.map(shown) };
}

function shown({ method, url, headers = {}, body = new Uint8Array() }: HttpRequest): Case["requests"][number] {
  const { pathname, search } = new URL(url);
  const others = Object.entries(headers).filter(([name]) => name !== "user-agent" && name !== "x-tfs-session");
  return { method, path: pathname + search, headers: Object.fromEntries(others), body: Buffer.from(body).toString() };
}

const types = [...new Set(cases.map(({ type }) => type))];
describe.each(types)("%s sends its host the same requests as Flux", (type) => {
  const own = cases.filter((each) => each.type === type);
  test.each(own.filter(({ name }) => differences[`${type}: ${name}`] === undefined))("$name", async (each) => {
    const { fault, isSetup, requests } = each;
    expect(await played(each)).toEqual({ fault, isSetup, requests });
  });
});

test("a revision that is not a hash cannot address another part of the API", async () => {
  const name = "forty characters that are no hash are asked for";
  const [each] = cases.filter((one) => one.name === name);
  if (each === undefined) throw new Error(`no case: ${name}`);
  const { requests } = await played(each);
  const revision = encodeURIComponent("../?#% ;&".repeat(4)).replaceAll("%26", "&");
  expect(requests.map(({ path }) => path)).toEqual([
    `/api/v3/repos/golden/repo/commits/${revision}abcd/statuses?per_page=50`,
  ]);
});
