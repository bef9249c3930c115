import { expect, test } from "vitest";
import { objectTopic } from "../../../lib/core/topics.ts";
import type { WorkKey } from "../../../lib/core/work-key.ts";
import { announceChanged } from "../../../lib/flows/announce-changed.ts";
import { never } from "../../contract/state-back-end.ts";

test("canary/18: an apply that changes a Deployment wakes the Canary of this Deployment, and no other Canary", async () => {
  const topics: string[] = [];
  const asked: string[] = [];
  const canary = { cluster: "home", group: "flagger.app", kind: "Canary", namespace: "apps", name: "web" };
  const refOf = (group: string, kind: string, name: string) => ({
    group,
    version: "v1",
    kind,
    namespace: "apps",
    name,
  });
  const topicOf = (group: string, kind: string, name: string) =>
    objectTopic({ cluster: "home", group, kind, namespace: "apps", name });
  const deps = {
    concurrency: 2,
    subscriptions: {
      async subscribers(topic: string) {
        topics.push(topic);
        return topic === topicOf("apps", "Deployment", "web") ? [canary] : [];
      },
    },
    requests: { request: async ({ name }: WorkKey, why: string) => void asked.push(`${name}: ${why}`) },
  };
  const applied = [
    { desired: { ref: refOf("apps", "Deployment", "web") }, change: "configured" },
    { desired: { ref: refOf("", "ConfigMap", "web") }, change: "created" },
    { desired: { ref: refOf("", "Secret", "same") }, change: "unchanged" },
    { desired: { ref: refOf("apps", "Deployment", "left") }, change: "skipped" },
    { desired: { ref: refOf("batch", "Job", "once") }, change: "created" },
  ];
  await announceChanged(applied, "home", deps, never);
  expect(topics.toSorted()).toEqual([topicOf("", "ConfigMap", "web"), topicOf("apps", "Deployment", "web")]);
  expect(asked).toEqual(["web: Deployment/apps/web changed"]);
});
