import { describe, expect, test } from "vitest";
import { isObserved, resumeObjects, suspendObjects } from "../../../cli/suspend-and-resume.ts";
import { declaredKustomization } from "../../../lib/api/kinds/kustomization.ts";
import { declaredOciRepository } from "../../../lib/api/kinds/oci-repository.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { condition, handled, kustomization, revision, source } from "./cluster-objects.ts";
import { fakeSession } from "./fake-session.ts";

describe("suspend and resume (11)", () => {
  test("suspend prints a line for each object, also for a missing one, and does not fail", async () => {
    const session = fakeSession([kustomization("web")]);
    await suspendObjects(declaredKustomization, ["web", "none"], false, session);
    expect(session.output.err).toBe(`► suspending kustomization web in flux-system namespace
✔ kustomization suspended
✗ Kustomization none not found in flux-system namespace
`);
  });

  test("suspend --all suspends all objects of the namespace, under the kind's name", async () => {
    const session = fakeSession([source]);
    await suspendObjects(declaredOciRepository, [], true, session);
    expect(session.output.err).toContain(
      "► suspending source oci app in flux-system namespace\n✔ source oci suspended\n",
    );
  });

  test("--all selects all objects of the namespace, and none of another", async () => {
    const objects = [kustomization("here"), kustomization("there", {}, undefined, "other")];
    const session = fakeSession(objects);
    await suspendObjects(declaredKustomization, [], true, session);
    await resumeObjects(declaredKustomization, [], { all: true, wait: false }, session);
    expect(session.patched).toEqual(["Kustomization/here", "Kustomization/here"]);
  });

  test.each([
    { names: ["web"], all: false, wait: false, waits: true },
    { names: ["web"], all: false, wait: true, waits: true },
    { names: ["web", "none"], all: false, wait: false, waits: false },
    { names: [], all: true, wait: false, waits: false },
    { names: [], all: true, wait: true, waits: true },
    // With --all the names do not matter.
    { names: ["web"], all: true, wait: false, waits: false },
  ])("resume of $names with all $all and wait $wait waits: $waits", async ({ names, all, wait, waits }) => {
    const session = fakeSession([kustomization("web")], handled);
    await resumeObjects(declaredKustomization, names, { all, wait }, session);
    expect(session.output.err.includes("waiting for Kustomization reconciliation")).toBe(waits);
  });

  test.each([false, true])("reports that no object was selected (--all %s)", async (all) => {
    const session = fakeSession([]);
    const outcome = await suspendObjects(declaredKustomization, [], all, session).then(
      () => session.output.err,
      String,
    );
    expect(outcome).toBe(
      all ? "✗ no Kustomization objects found in flux-system namespace\n" : "Error: Kustomization name is required",
    );
  });

  test("resume of one object waits until its status is of the current generation", async () => {
    const session = fakeSession([kustomization("web", { suspend: true })], handled);
    await resumeObjects(declaredKustomization, ["web"], { all: false, wait: false }, session);
    expect(session.output.err).toBe(`► resuming kustomization web in flux-system namespace
✔ kustomization resumed
◎ waiting for Kustomization reconciliation
✔ Kustomization web reconciliation completed
✔ applied revision ${revision}
`);
  });

  test("resume of several objects waits only with --wait", async () => {
    const objects = [kustomization("a"), kustomization("b")];
    const session = fakeSession(objects);
    await resumeObjects(declaredKustomization, ["a", "b"], { all: false, wait: false }, session);
    expect(session.output.err).not.toContain("waiting");
    const waiting = fakeSession(objects, handled);
    await resumeObjects(declaredKustomization, ["a", "none", "b"], { all: false, wait: true }, waiting);
    expect(waiting.output.err).toContain("✗ Kustomization object 'none' not found in flux-system namespace\n");
    expect(waiting.output.err.match(/reconciliation completed/g)).toHaveLength(2);
  });

  test("resume fails with the number of objects that did not become ready", async () => {
    const stalled = (object: LiveObject) => handled(object, [condition("Stalled", "True", "bad spec")]);
    const session = fakeSession([kustomization("web")], stalled);
    const resuming = resumeObjects(declaredKustomization, ["web"], { all: false, wait: false }, session);
    await expect(resuming).rejects.toThrow("reconciliation failed for 1 Kustomization(s)");
    expect(session.output.err).toContain("✗ Kustomization web reconciliation failed: bad spec\n");
  });

  test("resume ends as soon as the first run has failed, with the reason", async () => {
    const failed = (object: LiveObject) =>
      handled(object, [condition("Ready", "False", "no such path", "ArtifactFailed")]);
    const session = fakeSession([kustomization("web", { suspend: true })], failed);
    const resuming = resumeObjects(declaredKustomization, ["web"], { all: false, wait: false }, session);
    await expect(resuming).rejects.toThrow("reconciliation failed for 1 Kustomization(s)");
    expect(session.output.err).toContain("✗ Kustomization web reconciliation failed: no such path\n");
  });
});

test.each([
  { observed: 2, ready: undefined, isNow: true },
  { observed: 1, ready: undefined, isNow: false },
  { observed: 1, ready: 2, isNow: true },
  { observed: undefined, ready: 2, isNow: true },
  { observed: undefined, ready: 1, isNow: false },
  { observed: undefined, ready: undefined, isNow: false },
])(
  "at generation 2 a status of $observed with a Ready condition of $ready is current: $isNow",
  ({ observed, ready, isNow }) => {
    const conditions = [{ ...condition("Ready", "True", ""), ...(ready && { observedGeneration: ready }) }];
    const object = kustomization("web", {}, { ...(observed && { observedGeneration: observed }), conditions });
    expect(isObserved({ ...object, metadata: { ...object.metadata, generation: 2 } })).toBe(isNow);
  },
);
