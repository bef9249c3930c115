import { describe, expect, test } from "vitest";
import { whyImage } from "../../../cli/why-image.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { condition } from "./cluster-objects.ts";
import { fakeSession } from "./fake-session.ts";

const namespace = "flux-system";
const commit = "1f2e3d4c5b6a79880f1e2d3c4b5a69780a1b2c3d";
const ref = (tag: string): JsonObject => ({ name: "ghcr.io/org/app", tag });

function object(kind: string, name: string, spec: JsonObject, status: JsonObject, annotations = {}): LiveObject {
  const metadata = { name, namespace, uid: "u", resourceVersion: "1", generation: 1, annotations };
  return { apiVersion: "v1", kind, metadata, spec, status };
}

function event(kind: string, name: string, at: string, message: string): LiveObject {
  const involvedObject = { kind, name, namespace };
  const metadata = { name: `${name}-${at}`, namespace, uid: "u", resourceVersion: "1" };
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata,
    involvedObject,
    firstTimestamp: `2026-11-29T10:0${at}:00Z`,
    message,
  };
}

const policy = (status: JsonObject = {}, annotations = {}): LiveObject =>
  object(
    "ImagePolicy",
    "app",
    { imageRepositoryRef: { name: "app" }, policy: { semver: { range: "1.x" } } },
    {
      latestRef: ref("1.2.0"),
      observedPreviousRef: ref("1.1.0"),
      conditions: [condition("Ready", "True", "chosen")],
      ...status,
    },
    annotations,
  );

const repository = object(
  "ImageRepository",
  "app",
  {},
  { lastScanResult: { tagCount: 3, scanTime: "2026-11-29T10:05:00Z" } },
);
const automation = (status: JsonObject = {}, spec: JsonObject = {}): LiveObject =>
  object(
    "ImageUpdateAutomation",
    "app",
    { sourceRef: { kind: "GitRepository", name: "fleet" }, ...spec },
    {
      observedPolicies: { app: ref("1.2.0") },
      lastPushCommit: commit,
      lastPushTime: "2026-11-29T10:03:00Z",
      conditions: [condition("Ready", "True", "repository up-to-date")],
      ...status,
    },
  );
const kustomization = (revision: string): LiveObject =>
  object(
    "Kustomization",
    "apps",
    { sourceRef: { kind: "GitRepository", name: "fleet" } },
    { lastAppliedRevision: revision, conditions: [condition("Ready", "True", `Applied revision: ${revision}`)] },
  );

const told = [
  event("ImageRepository", "app", "0", "successful scan: found 2 tags with checksum 1"),
  event("ImageRepository", "app", "1", "successful scan: found 3 tags with checksum 2"),
  event(
    "ImagePolicy",
    "app",
    "2",
    "Latest image tag for ghcr.io/org/app resolved to 1.2.0 (previously ghcr.io/org/app:1.1.0)",
  ),
  event("ImageUpdateAutomation", "app", "3", `pushed commit '${commit.slice(0, 7)}' to branch 'main'\nUpdate`),
  event("ImageRepository", "app", "4", "successful scan: found 3 tags with checksum 2"),
];

async function lines(...objects: readonly LiveObject[]): Promise<readonly string[]> {
  const session = fakeSession(objects);
  await whyImage("app", session);
  return session.output.out
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) =>
      line
        .split("\t")
        .slice(0, 4)
        .map((cell) => cell.trim())
        .join(" | "),
    );
}

describe("why image", () => {
  test("shows when the tag was seen, selected, committed and rolled out", async () => {
    const all = [policy(), repository, automation(), kustomization(`main@sha1:${commit}`), ...told];
    expect(await lines(...all)).toEqual([
      "seen | 2026-11-29T10:01:00Z | ImageRepository/flux-system/app | successful scan: found 3 tags with checksum 2",
      "chosen | 2026-11-29T10:02:00Z | ImagePolicy/flux-system/app | ghcr.io/org/app:1.2.0 by semver 1.x, before ghcr.io/org/app:1.1.0",
      "committed | 2026-11-29T10:03:00Z | ImageUpdateAutomation/flux-system/app | pushed commit '1f2e3d4' to branch 'main'",
      expect.stringMatching(/^rolled out \| \S+ \| Kustomization\/flux-system\/apps \| applied main@sha1:1f2e3d4c$/),
    ]);
  });

  test("shows what is unknown once the events in the cluster have expired", async () => {
    const all = [policy(), repository, automation(), kustomization("main@sha1:other")];
    expect(await lines(...all)).toEqual([
      "seen | ? | ImageRepository/flux-system/app | in a scan without an event; the last one, of 2026-11-29T10:05:00Z, found 3 tags",
      "chosen | ? | ImagePolicy/flux-system/app | ghcr.io/org/app:1.2.0 by semver 1.x, before ghcr.io/org/app:1.1.0",
      "committed | 2026-11-29T10:03:00Z | ImageUpdateAutomation/flux-system/app | pushed commit '1f2e3d4c', or one before it",
      "rolled out | ? | Kustomization/flux-system/apps | applied main@sha1:other, which may hold the commit or not: Applied revision: main@sha1:other",
    ]);
  });

  test("names the barred images with their reasons", async () => {
    const barred = { "sluice.dev/barred": "1.3.0 alice: returns 500" };
    expect(await lines(policy({}, barred), repository, automation(), ...told)).toContain(
      "barred | ? | ImagePolicy/flux-system/app | 1.3.0 alice: returns 500",
    );
  });

  test("shows why an automation has not committed the image", async () => {
    const behind = automation({
      observedPolicies: { app: ref("1.1.0") },
      conditions: [condition("Ready", "False", "failed to checkout source: denied")],
    });
    expect(await lines(policy(), repository, behind, ...told)).toContain(
      "committed | ? | ImageUpdateAutomation/flux-system/app | not yet, its last run has set ghcr.io/org/app:1.1.0: failed to checkout source: denied",
    );
    expect(await lines(policy(), repository, automation({ observedPolicies: {} }, { suspend: true }))).toContain(
      "committed | ? | ImageUpdateAutomation/flux-system/app | not yet, its last run did not use the policy: suspended",
    );
    expect(await lines(policy(), repository)).toContain(
      "committed | ? |  | no ImageUpdateAutomation in namespace flux-system: nothing commits the image",
    );
  });

  test("fails for a policy that has selected nothing, with the reason", async () => {
    const waiting = policy({ latestRef: {}, conditions: [condition("Ready", "False", "no tags in database")] });
    await expect(whyImage("app", fakeSession([waiting]))).rejects.toThrow(
      "ImagePolicy app has chosen no image: no tags in database",
    );
  });
});
