import { AlertSpec } from "../../../lib/api/alert.ts";
import { NotificationProviderSpec } from "../../../lib/api/notification-provider.ts";
import { messageOf } from "../../../lib/core/failure.ts";
import { maxJsonParts } from "../../../lib/core/json-text.ts";
import { maxAnswerBytes } from "../../../lib/git-hosts/ask-host.ts";
import { matchAlert, maxListChars } from "../../../lib/notify/match-alert.ts";
import { providers } from "../../../lib/notify/providers/providers.ts";
import { maxHeadersChars, readSettings } from "../../../lib/notify/read-settings.ts";
import { commit, eventOf, never, noDial, settingsFor } from "../../unit/notify/git/played-scenario.ts";
import type { WorstInput } from "../worst-input.ts";

const addressOf: Readonly<Record<string, { readonly address: string }>> = {
  azuredevops: { address: "https://git.example/golden/project/_git/repo" },
};

/** An answer of a git host to the first question of a provider. */
function answerOf(type: string, name: string, status: number, make: () => string): WorstInput {
  return {
    reader: "lib/git-hosts/ask-host.ts",
    name: `${type}: ${name}`,
    memoryMiB: 128,
    make: async () => {
      const body = Buffer.from(make());
      const http = { send: async ({ url }: { readonly url: string }) => ({ url, status, headers: {}, body }) };
      const parts = { http, dial: noDial, now: () => 0, sleep: async () => {} };
      const event = eventOf({ metadata: { revision: `main@sha1:${commit}`, change_request: "42" } });
      return async () => {
        await providers[type]?.make(settingsFor(type, addressOf[type]), parts).post(event, never).catch(messageOf);
      };
    },
  };
}

/** As many copies in a list as a text may have parts, or bytes. */
function listOf(item: string, parts: number): string {
  const count = Math.min(Math.floor(maxJsonParts / (parts + 1)), Math.floor(maxAnswerBytes / (item.length + 1)) - 1);
  return `[${Array.from({ length: count }, () => item).join(",")}]`;
}

const long = (begin: string, end: string): string =>
  `${begin}${"\\u001b[2J".repeat(Math.floor(maxAnswerBytes / 9) - begin.length - end.length)}${end}`;

/** An Alert whose expressions cost most, and an event with a message of the greatest length. */
function searched(name: string, expression: string): WorstInput {
  return {
    reader: "lib/notify/match-alert.ts",
    name,
    memoryMiB: 64,
    make: async () => {
      const inclusionList = [expression.repeat(Math.floor(maxListChars / expression.length))];
      const eventSources = [{ kind: "Kustomization", name: "*" }];
      const spec = AlertSpec.parse({ providerRef: { name: "p" }, eventSources, inclusionList });
      const event = eventOf({ message: "a".repeat(39_000) });
      return async () => matchAlert(event, { namespace: event.involvedObject.namespace, spec }, async () => ({}));
    },
  };
}

/** Headers in a Secret. */
function headers(name: string, make: () => string): WorstInput {
  return {
    reader: "lib/notify/read-settings.ts",
    name,
    memoryMiB: 64,
    make: async () => {
      const data = { headers: Buffer.from(make()).toString("base64") };
      const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "n", uid: "u" }, data };
      const spec = NotificationProviderSpec.parse({ type: "generic", secretRef: { name: "s" } });
      const parts = { home: { get: async () => secret }, hide: () => {}, class: "generic" } as const;
      return async () => {
        await readSettings({ name: "p", namespace: "n", uid: "u", spec }, parts, never).catch(messageOf);
      };
    },
  };
}

/** What the hosts of providers of notifications answer, and what Alerts and Secrets say. */
export const notifyReaders: readonly WorstInput[] = [
  searched("choices that overlap", "(?:a|aa)+$|"),
  searched("many optional letters", "a?"),
  headers("as many as there is room for", () =>
    Array.from({ length: Math.floor(maxHeadersChars / 9) }, (_, index) => `${index}`.padStart(5, "h") + ": a\n").join(
      "",
    ),
  ),
  headers("lists inside each other", () => "[".repeat(maxHeadersChars)),
  headers("aliases of aliases", () => {
    const lines = [
      "a0: &a0 [x]",
      ...Array.from({ length: 50 }, (_, index) => `a${index + 1}: &a${index + 1} [*a${index}, *a${index}]`),
    ];
    return lines.join("\n");
  }),
  answerOf("github", "as many statuses as are read", 200, () =>
    listOf('{"context":"a","state":"b","description":"c"}', 3),
  ),
  answerOf("github", "a status whose description fills the answer", 200, () =>
    long('[{"context":"kustomization/apps/0c9c2e41","state":"b","description":"', '"}]'),
  ),
  answerOf("github", "a message that fills the answer", 422, () => long('{"message":"', '"}')),
  answerOf("github", "as many errors as are read", 422, () => `{"errors":${listOf('{"code":"a"}', 1)}}`),
  answerOf(
    "gitlab",
    "a refusal of lists inside each other",
    400,
    () => `{"message":${"[".repeat(9_000)}${"]".repeat(9_000)}}`,
  ),
  answerOf("gitlab", "a refusal of as many texts as are read", 400, () => `{"message":${listOf('"a"', 0)}}`),
  answerOf("gitlab", "a refusal that is no JSON", 400, () => "<".repeat(maxAnswerBytes)),
  answerOf("gitea", "a version that fills the answer", 200, () => long('{"version":"', '"}')),
  answerOf("gitea", "a version of digits and dots", 200, () => `{"version":"${"1.".repeat(maxAnswerBytes / 2 - 20)}"}`),
  answerOf(
    "azuredevops",
    "as many statuses as are read",
    200,
    () => `{"value":${listOf('{"context":{"name":"a","genre":"b"},"state":"b","description":"c"}', 5)}}`,
  ),
];
