import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { expect, test } from "vitest";
import { AlertSpec } from "../../../lib/api/alert.ts";
import { NotificationProviderSpec } from "../../../lib/api/notification-provider.ts";
import { isJsonObject } from "../../../lib/core/json.ts";
import type { ProviderType } from "../../../lib/notify/admits.ts";
import { awsProviders } from "../../../lib/notify/providers/aws-providers.ts";
import { providers } from "../../../lib/notify/providers/providers.ts";

const docs = join(import.meta.dirname, "../../../docs");
const page = await readFile(join(docs, "notifications.md"), "utf8");
const refuse = () => Promise.reject(new Error("nothing is sent"));
const types: Readonly<Record<string, ProviderType>> = {
  ...providers,
  ...awsProviders({ publish: refuse, putEvent: refuse, send: refuse }),
};

const objects = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)]
  .flatMap(([, text = ""]) => loadAll(text))
  .filter(isJsonObject);
const specsOf = (kind: string) => objects.filter((one) => one["kind"] === kind).map((one) => one["spec"]);

test("the examples on the page are valid Alerts and Providers", () => {
  expect(specsOf("Alert").map((spec) => AlertSpec.strict().safeParse(spec).error)).toEqual([undefined, undefined]);
  const specs = specsOf("Provider").map((spec) => NotificationProviderSpec.strict().parse(spec));
  expect(specs.map(({ type }) => type)).toEqual([
    "slack",
    "slack",
    "msteams",
    "github",
    "pagerduty",
    "sns",
    "alertmanager",
    "alertmanager",
  ]);
});

test("a Provider can be created from each example, with a Secret as its comment says", () => {
  const parts = {
    http: { send: refuse },
    dial: refuse,
    now: () => 0,
    sleep: refuse,
  };
  const made = specsOf("Provider").map((one) => {
    const { address = "https://hooks.example/secret", channel = "", type } = NotificationProviderSpec.parse(one);
    const settings = {
      ...{ type, address, channel, name: "it", namespace: "apps", uid: "u", username: "", password: "" },
      ...{ token: "hunter2", headers: {}, secret: {}, commitStatus: "id" },
      alert: { name: "all", namespace: "apps", uid: "v" },
    };
    return types[type]?.make(settings, parts);
  });
  expect(made).toHaveLength(8);
  expect(made).not.toContain(undefined);
});
