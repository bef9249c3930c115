import { describe, expect, test } from "vitest";
import { kustomizations, ociRepositories } from "../../../cli/reconcilable.ts";
import { resumeObjects } from "../../../cli/resume-objects.ts";
import { suspendObjects } from "../../../cli/suspend-objects.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { condition, handled, kustomization, revision, source } from "./cluster-objects.ts";
import { fakeSession } from "./fake-session.ts";

describe("suspend and resume (11)", () => {
  test("suspend tells each object, and one that is absent without failing", async () => {
    const session = fakeSession([kustomization("web")]);
    await suspendObjects(kustomizations, ["web", "none"], false, session);
    expect(session.output.err).toBe(`► suspending kustomization web in flux-system namespace
✔ kustomization suspended
✗ Kustomization none not found in flux-system namespace
`);
  });

  test("suspend --all takes all of the namespace, in the words for the kind", async () => {
    const session = fakeSession([source]);
    await suspendObjects(ociRepositories, [], true, session);
    expect(session.output.err).toContain(
      "► suspending source oci app in flux-system namespace\n✔ source oci suspended\n",
    );
  });

  test.each([false, true])(
    "without a name, with all objects absent or none asked for (--all %s), says so",
    async (all) => {
      const session = fakeSession([]);
      const outcome = await suspendObjects(kustomizations, [], all, session).then(() => session.output.err, String);
      expect(outcome).toBe(
        all ? "✗ no Kustomization objects found in flux-system namespace\n" : "Error: Kustomization name is required",
      );
    },
  );

  test("resume of one object waits until its status speaks of it", async () => {
    const session = fakeSession([kustomization("web", { suspend: true })], handled);
    await resumeObjects(kustomizations, ["web"], { all: false, wait: false }, session);
    expect(session.output.err).toBe(`► resuming kustomization web in flux-system namespace
✔ kustomization resumed
◎ waiting for Kustomization reconciliation
✔ Kustomization web reconciliation completed
✔ applied revision ${revision}
`);
  });

  test("resume of several objects does not wait unless it is told to", async () => {
    const objects = [kustomization("a"), kustomization("b")];
    const session = fakeSession(objects);
    await resumeObjects(kustomizations, ["a", "b"], { all: false, wait: false }, session);
    expect(session.output.err).not.toContain("waiting");
    const waiting = fakeSession(objects, handled);
    await resumeObjects(kustomizations, ["a", "none", "b"], { all: false, wait: true }, waiting);
    expect(waiting.output.err).toContain("✗ Kustomization object 'none' not found in flux-system namespace\n");
    expect(waiting.output.err.match(/reconciliation completed/g)).toHaveLength(2);
  });

  test("resume of an object that does not become ready fails and counts it", async () => {
    const stalled = (object: LiveObject) => handled(object, [condition("Stalled", "True", "bad spec")]);
    const session = fakeSession([kustomization("web")], stalled);
    const resuming = resumeObjects(kustomizations, ["web"], { all: false, wait: false }, session);
    await expect(resuming).rejects.toThrow("reconciliation failed for 1 Kustomization(s)");
    expect(session.output.err).toContain("✗ Kustomization web reconciliation failed: bad spec\n");
  });
});
