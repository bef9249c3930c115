import { describe, expect, test } from "vitest";
import type { HttpRequest } from "../../../../lib/core/ports/http.ts";
import type { ProviderParts } from "../../../../lib/notify/provider.ts";
import { providers } from "../../../../lib/notify/providers/providers.ts";
import { githubAppLogins } from "../../../../lib/sources/git/github-app.ts";
import { memoryGitHost } from "./memory-git-host.ts";
import { type Delivery, noDial, outcomeOf, playedSteps } from "./played-scenario.ts";

/** What names a client, and what is another one each time. */
const namesOfClients = new Set(["user-agent", "x-tfs-session"]);

function deliveryOf({ method, url, headers = {}, body, proxy }: HttpRequest): Delivery {
  const { pathname, search } = new URL(url);
  const isByProxy = proxy !== undefined;
  return {
    ...(isByProxy ? { over: "proxy" } : {}),
    method,
    path: isByProxy ? url : pathname + search,
    headers,
    ...(body === undefined ? {} : { raw: Buffer.from(body).toString() }),
  };
}

/** Without the names of clients. For a token of an App Sluice asks as its GitRepositories do, so only the request itself counts. */
function comparable({ headers, raw, ...delivery }: Delivery): Delivery {
  const isOfApp = /^Bearer (?:<JWT>|eyJ)/.test(headers["authorization"] ?? "");
  const counting = Object.entries(headers).filter(([name]) => !namesOfClients.has(name));
  if (isOfApp) return { ...delivery, headers: {} };
  return { ...delivery, headers: Object.fromEntries(counting), ...(raw === undefined ? {} : { raw }) };
}

describe.each([
  ["62, 63, 64", "a commit status on GitHub", "github"],
  ["N7", "a commit status by each host", "proxy-types-git"],
  ["67", "a comment on a pull request of GitHub", "github-comment"],
])("%s: %s is as recorded (notify-%s)", (_numbers, _what, scenario) => {
  const host = memoryGitHost();
  const parts: ProviderParts = {
    http: host,
    dial: noDial,
    now: () => Date.parse("2026-03-02T11:31:07Z"),
    sleep: () => Promise.reject(new Error("nothing waits here")),
    githubApps: githubAppLogins(host, { now: () => Date.parse("2026-03-02T11:31:07Z") }),
  };
  const steps = playedSteps(`notify-${scenario}`).filter(({ settings }) =>
    ["change-request", "commit-status"].includes(providers[settings.type]?.class ?? ""),
  );
  test.each(steps)("$name", async (step) => {
    host.requests.length = 0;
    host.isUserKnown = step.name !== "user-not-known";
    const outcome = await outcomeOf(step, parts);
    expect(host.requests.map(deliveryOf).map(comparable)).toEqual(step.deliveries.map(comparable));
    expect(outcome === undefined ? [] : [outcome]).toEqual(step.messages);
  });
});
