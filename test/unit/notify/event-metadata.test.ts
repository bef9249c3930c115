import { describe, expect, test } from "vitest";
import { admits, type ProviderClass } from "../../../lib/notify/admits.ts";
import { eventKey } from "../../../lib/notify/event-key.ts";
import { keepMetadata } from "../../../lib/notify/keep-metadata.ts";
import { mergeMetadata } from "../../../lib/notify/merge-metadata.ts";
import type { NotificationEvent } from "../../../lib/notify/notification-event.ts";
import { kustomizationEvent, metadata } from "./sample-events.ts";

describe("the key of an event", () => {
  const upgraded = kustomizationEvent({
    involvedObject: { kind: "HelmRelease", namespace: "retail", name: "cart", apiVersion: "helm.toolkit.fluxcd.io/v2" },
    message: "Helm upgrade succeeded for release retail/cart.v3 with chart cart@1.4.2",
    metadata: {
      "helm.toolkit.fluxcd.io/revision": "1.4.2",
      "helm.toolkit.fluxcd.io/token": "sha256:e15c415d62760896bd8bec192a44c5716dc224db9e0fc609b9ac14718f8f9e56",
    },
  });
  const checked = kustomizationEvent({
    involvedObject: { ...kustomizationEvent().involvedObject, namespace: "flux-system", name: "apps" },
    message: "Health check passed in 5s",
    metadata: metadata({
      originRevision: "main@sha1:0a1b2c3d4e5f60718293a4b5c6d7e8f901234567",
      revision: `v1.0.0@sha256:${"ab".repeat(32)}`,
    }),
  });

  test.each([
    ["a HelmRelease", upgraded, "82101bf0ea71e8eeeebf0c1261db4c338bde7acf7db3704c137abacb6217e7cb"],
    ["a Kustomization", checked, "91d21af8d19506c296ce4686046ecd2415a0cb5815c2ba37001dbb01ae5910ac"],
  ])("39: of %s is the same as Flux's, bit for bit", (_name, event, key) => {
    expect(eventKey(event)).toBe(key);
  });

  test.each<[string, Partial<NotificationEvent>, boolean]>([
    ["another severity", { severity: "error" }, true],
    ["another reason", { reason: "HealthCheckFailed" }, true],
    ["another time", { timestamp: "2026-11-24T13:00:00Z" }, true],
    ["a revision of another group", { metadata: { "helm.toolkit.fluxcd.io/revision": "2" } }, true],
    ["another message", { message: "Applied revision: v2" }, false],
    ["a revision", { metadata: metadata({ revision: "v1" }) }, false],
    ["a token", { metadata: metadata({ token: "t" }) }, false],
  ])("36, 37: with %s is the same: %s", (_name, change, isSame) => {
    expect(eventKey(kustomizationEvent(change)) === eventKey(kustomizationEvent())).toBe(isSame);
  });
});

describe("the metadata of an event", () => {
  test("40: drops checksum, digest, token and keys of other groups", () => {
    const event = kustomizationEvent({
      metadata: {
        ...metadata({ revision: "v1", token: "t", checksum: "c", Digest: "d" }, { env: "prod", token: "kept" }),
        "helm.toolkit.fluxcd.io/revision": "2",
        plain: "x",
      },
    });
    expect(keepMetadata(event).metadata).toEqual(metadata({ revision: "v1" }, { env: "prod", token: "kept" }));
    expect(keepMetadata(kustomizationEvent({ metadata: { plain: "x" } }))).not.toHaveProperty("metadata");
  });

  test("46: prefers the controller's value, then the Alert's, then the object's, and reports each conflict", () => {
    const event = kustomizationEvent({ metadata: metadata({ env: "c", revision: "v1" }, { env: "a", team: "x" }) });
    const alert = { eventMetadata: { env: "b", team: "x", cluster: "eu-1" }, summary: "impact" };
    const merged = mergeMetadata(event, alert);
    expect(merged.event.metadata).toEqual({ env: "c", team: "x", cluster: "eu-1", summary: "impact", revision: "v1" });
    expect(merged.conflicts).toEqual({
      env: "involved object annotations, Alert object .spec.eventMetadata, involved object controller metadata",
      team: "involved object annotations, Alert object .spec.eventMetadata",
    });
  });

  test("keeps the prefixes of eventMetadata, and reads a key that is only a prefix as the empty key", () => {
    const event = kustomizationEvent({ metadata: { "kustomize.toolkit.fluxcd.io/": "x" } });
    const merged = mergeMetadata(event, { eventMetadata: { "a.b/c": "d" } });
    expect(merged.event.metadata).toEqual({ "": "x", "a.b/c": "d" });
    expect(mergeMetadata(kustomizationEvent(), {}).event).not.toHaveProperty("metadata");
  });
});

describe("a class of Providers", () => {
  const update = metadata({ commit_status: "update" });
  const ofCommit = metadata({}, { commit: "0a1b" });
  const ofRequest = metadata({}, { change_request: "42" });

  test.each<[string, Partial<NotificationEvent>, readonly ProviderClass[]]>([
    ["47: a heartbeat", { metadata: update }, ["generic", "commit-status"]],
    ["48: an event without commit", {}, ["generic", "other"]],
    ["48: an error without commit", { severity: "error" }, ["generic", "commit-status", "other"]],
    ["48: an event of a commit", { metadata: ofCommit }, ["generic", "commit-status", "other"]],
    ["49: an event of a change request", { metadata: ofRequest }, ["generic", "change-request", "other"]],
    ["49: one with an empty number", { metadata: metadata({}, { change_request: "" }) }, ["generic", "other"]],
    ["49: one with the number of a controller", { metadata: metadata({ change_request: "1" }) }, ["generic", "other"]],
    ["49: a heartbeat of a change request", { metadata: { ...update, ...ofRequest } }, ["generic", "commit-status"]],
  ])("%s is sent to the right ones", (_name, change, classes) => {
    const all = ["generic", "commit-status", "change-request", "other"] as const;
    expect(all.filter((of) => admits(of, kustomizationEvent(change)))).toEqual(classes);
  });
});
