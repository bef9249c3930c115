import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import { ownerLabels } from "../../../lib/api/owner-labels.ts";
import type { DesiredObject } from "../../../lib/apply/desired-objects.ts";
import { dryRun } from "../../../lib/apply/dry-run.ts";
import type { LiveObject, Metadata } from "../../../lib/core/manifest.ts";
import { ApiError, type Cluster } from "../../../lib/core/ports/cluster.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { noCluster } from "../../doubles/no-cluster.ts";

const { signal } = new AbortController();
const owner = { name: "app", namespace: "t" };
const installationKey = new Secret("test");
const replacing = { owner, inventory: [], otherOwner: async () => undefined };
const ref = { group: "", version: "v1", kind: "Secret", namespace: "t", name: "s" };
const immutable = 'Secret "s" is invalid: data: Forbidden: field is immutable when `immutable` is set';
const marked = (value: string): Partial<Metadata> => ({ annotations: { [`${kustomizeGroup}/force`]: value } });

function desired(metadata: Partial<Metadata> = {}): DesiredObject {
  const manifest = { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "t", ...metadata } };
  return { id: "t_s__Secret", ref, manifest, digest: "d", resource: undefined };
}

function live(metadata: Partial<Metadata> = {}): LiveObject {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: "s",
      namespace: "t",
      uid: "u1",
      ...metadata,
      labels: { ...ownerLabels(owner), ...metadata.labels },
    },
  };
}

/** A cluster that has this object and answers every dry run with this error. */
function refusing(error: ApiError, object: LiveObject | undefined): Cluster {
  return { ...noCluster, apply: () => Promise.reject(error), get: async () => object };
}

function invalid(message: string): ApiError {
  return new ApiError({ code: 422, reason: "Invalid", message });
}

describe("a dry run that the API server refuses", () => {
  const label = { labels: { [`${kustomizeGroup}/force`]: "enabled" } };
  test.each<{ name: string; force?: boolean; wanted?: Partial<Metadata>; found?: Partial<Metadata>; kind: string }>([
    { name: "spec.force", force: true, kind: "replace" },
    { name: "the annotation of the manifest, in any case", wanted: marked("Enabled"), kind: "replace" },
    { name: "the annotation of the live object", found: marked("enabled"), kind: "replace" },
    { name: "a label", found: label, kind: "replace" },
    { name: "another value of the annotation", wanted: marked("yes"), kind: "refused" },
    { name: "nothing", kind: "refused" },
  ])("for an immutable field, with force by $name: $kind (81)", async ({ force = false, wanted, found, kind }) => {
    const cluster = refusing(invalid(immutable), live(found));
    expect(
      (await dryRun(desired(wanted), undefined, { cluster, force, replacing, installationKey }, signal)).kind,
    ).toBe(kind);
  });

  test("for anything else is never a reason to recreate the object, whatever force says", async () => {
    const cluster = refusing(invalid('Secret "s" is invalid: type: Required value'), live());
    expect(
      (await dryRun(desired(), undefined, { cluster, force: true, replacing, installationKey }, signal)).kind,
    ).toBe("refused");
  });

  test("for an immutable field tells why the object is not recreated, where it may not be", async () => {
    const deps = { cluster: refusing(invalid(immutable), live()), force: true, installationKey };
    const otherOwner = async () => "Kustomization/t/other";
    const refused = await dryRun(desired(), undefined, { ...deps, replacing: { ...replacing, otherOwner } }, signal);
    expect(refused).toEqual({ kind: "refused", message: expect.stringContaining("Kustomization/t/other has it too") });
  });

  test.each(["Invalid", "Conflict", "Forbidden"])(
    "with %s is for an immutable field where the text says so",
    async (reason) => {
      const cluster = refusing(new ApiError({ code: 422, reason, message: immutable }), live());
      expect(await dryRun(desired(), undefined, { cluster, force: true, replacing, installationKey }, signal)).toEqual({
        kind: "replace",
        uid: "u1",
      });
    },
  );

  test("with another reason never is", async () => {
    const cluster = refusing(new ApiError({ code: 400, reason: "BadRequest", message: immutable }), live());
    expect(
      (await dryRun(desired(), undefined, { cluster, force: true, replacing, installationKey }, signal)).kind,
    ).toBe("refused");
  });

  const refusedOf = (wanted: Partial<Metadata>, found: LiveObject | undefined) =>
    dryRun(
      desired(wanted),
      undefined,
      { cluster: refusing(invalid("no"), found), force: false, replacing, installationKey },
      signal,
    );
  const once = { annotations: { [`${kustomizeGroup}/ssa`]: "IfNotPresent" } };

  test("is nothing to an object that is left alone, or that is applied once only and is there", async () => {
    const disabled = { annotations: { [`${kustomizeGroup}/reconcile`]: "disabled" } };
    expect(await refusedOf({}, live(disabled))).toEqual({ kind: "skipped", uid: "u1" });
    expect(await refusedOf(once, live())).toEqual({ kind: "skipped", uid: "u1" });
    expect((await refusedOf(once, undefined)).kind).toBe("refused");
  });

  test("for an object that is not there is no reason to recreate it", async () => {
    const cluster = refusing(invalid(immutable), undefined);
    expect(
      (await dryRun(desired(), undefined, { cluster, force: true, replacing, installationKey }, signal)).kind,
    ).toBe("refused");
  });

  const going = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["example.com/hold"] };
  const unchangeable = "Forbidden: field is immutable when `immutable` is set";
  const late =
    'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/x"}';
  const wrong = 'Invalid value: "bad key": name part must consist of alphanumeric characters';
  test.each([
    { name: "for an immutable field", faults: [unchangeable], kind: "terminating" },
    { name: "for finalizers that come too late", faults: [late, late], kind: "terminating" },
    { name: "for both", faults: [late, unchangeable], kind: "terminating" },
    { name: "for what is wrong with its successor too", faults: [wrong], kind: "refused" },
    { name: "for that and finalizers that come too late", faults: [wrong, late], kind: "refused" },
    { name: "for that and an immutable field", faults: [unchangeable, wrong], kind: "refused" },
  ])("of an object that is being deleted, $name: $kind", async ({ faults, kind }) => {
    const message = `Secret "s" is invalid: [${faults.join(", ")}]`;
    const named = new ApiError({
      code: 422,
      reason: "Invalid",
      message,
      causes: faults.map((fault) => ({ reason: "FieldValueForbidden", message: fault, field: "metadata" })),
    });
    expect(
      (
        await dryRun(
          desired(),
          undefined,
          { cluster: refusing(named, live(going)), force: false, replacing, installationKey },
          signal,
        )
      ).kind,
    ).toBe(kind);
  });

  test("of an object that is being deleted, by one that names no causes, is judged by its text", async () => {
    const cluster = refusing(invalid(`Secret "s" is invalid: metadata.finalizers: ${late}`), live(going));
    expect(
      (await dryRun(desired(), undefined, { cluster, force: false, replacing, installationKey }, signal)).kind,
    ).toBe("terminating");
    expect((await refusedOf({}, live(going))).kind).toBe("refused");
  });

  test("of an object that is being deleted is judged by every cause, also by one without a text", async () => {
    const causes = [{ reason: "FieldValueForbidden", message: late }, { reason: "FieldValueForbidden" }];
    const cluster = refusing(new ApiError({ code: 422, reason: "Invalid", message: late, causes }), live(going));
    expect(
      (await dryRun(desired(), undefined, { cluster, force: false, replacing, installationKey }, signal)).kind,
    ).toBe("refused");
  });

  const conflict = { reason: "FieldManagerConflict", message: "conflict", field: ".data" };
  test.each([
    { answer: invalid("no"), message: "Secret/t/s dry-run failed (Invalid): no" },
    {
      answer: new ApiError({ code: 422, reason: "Invalid", message: "no", causes: [{ reason: "FieldValueInvalid" }] }),
      message: "Secret/t/s dry-run failed (Invalid): no",
    },
    {
      answer: new ApiError({ code: 404, reason: "NotFound", message: 'namespaces "t" not found' }),
      message: 'Secret/t/s not found: namespaces "t" not found',
    },
    {
      answer: new ApiError({ code: 404, reason: "NoMatch", message: 'no matches for kind "S" in version "v9"' }),
      message: 'Secret/t/s dry-run failed: no matches for kind "S" in version "v9"',
    },
    {
      answer: new ApiError({ code: 500, reason: "", message: "failed to create typed patch object" }),
      message: "Secret/t/s dry-run failed: failed to create typed patch object",
    },
    {
      answer: new ApiError({ code: 409, reason: "Conflict", message: "conflicts", causes: [conflict] }),
      message: "Secret/t/s dry-run failed (FieldManagerConflict): conflicts",
    },
  ])("is told in Flux's words: $message (86)", async ({ answer, message }) => {
    const cluster = refusing(answer, live());
    expect(await dryRun(desired(), undefined, { cluster, force: false, replacing, installationKey }, signal)).toEqual({
      kind: "refused",
      message,
    });
  });

  test("is none where the API server could not judge", async () => {
    const busy = new ApiError({ code: 429, reason: "TooManyRequests", message: "later" });
    const trying = dryRun(
      desired(),
      undefined,
      { cluster: refusing(busy, live()), force: true, replacing, installationKey },
      signal,
    );
    await expect(trying).rejects.toBe(busy);
  });
});

describe("a dry run that the API server takes", () => {
  const changed = { ...live(), data: { k: "bmV3" } };
  test.each<{ name: string; created?: boolean; tried?: LiveObject; found?: LiveObject; kind: string }>([
    { name: "creates it", created: true, kind: "create" },
    { name: "says the same as the live object", kind: "unchanged" },
    { name: "changes its content", tried: changed, kind: "configure" },
    {
      name: "changes its content, which is not ours to change",
      tried: changed,
      found: live({ labels: { [`${kustomizeGroup}/reconcile`]: "disabled" } }),
      kind: "skipped",
    },
    { name: "changes a label", tried: live({ labels: { a: "b" } }), kind: "configure" },
    { name: "changes a finalizer", tried: live({ finalizers: ["example.com/hold"] }), kind: "configure" },
    {
      name: "would store another version of it and change nothing",
      tried: live({ resourceVersion: "9" }),
      kind: "unchanged",
    },
    {
      name: "finds kubectl's note on it",
      found: live({ annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}" } }),
      tried: live({ annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}" } }),
      kind: "configure",
    },
  ])("and that $name: $kind", async ({ created = false, tried = live(), found = live(), kind }) => {
    const cluster = {
      ...noCluster,
      apply: async () => ({ object: tried, created, warnings: [] }),
      get: async () => found,
    };
    expect(
      (await dryRun(desired(), undefined, { cluster, force: false, replacing, installationKey }, signal)).kind,
    ).toBe(kind);
  });

  /** Tries it; `log` is what was asked of the cluster, in its order. */
  async function tried(listed: boolean, created: boolean, found: () => Promise<LiveObject | undefined>, wanted = {}) {
    const log: string[] = [];
    const cluster: Cluster = {
      ...noCluster,
      apply: async () => {
        log.push("apply");
        return { object: live(), created, warnings: [] };
      },
      get: () => (log.push("get"), found()),
    };
    const deps = { cluster, force: false, replacing, installationKey };
    const change = await dryRun(desired(wanted), listed ? live() : undefined, deps, signal);
    return { change, log };
  }

  test("reads a listed object beside it, and an unlisted one only where the answer says that it is there", async () => {
    expect((await tried(true, false, async () => live())).log).toEqual(["get", "apply"]);
    expect((await tried(false, false, async () => live())).log).toEqual(["apply", "get"]);
    expect((await tried(false, true, async () => live())).log).toEqual(["apply"]);
  });

  test("creates what has gone meanwhile", async () => {
    expect((await tried(true, false, async () => undefined)).change).toEqual({ kind: "create" });
  });

  test("says nothing where the object could not be read, of which a created one has no need", async () => {
    const lost = new Error("no answer");
    await expect(tried(true, false, () => Promise.reject(lost))).rejects.toBe(lost);
    expect((await tried(true, true, () => Promise.reject(lost))).change).toEqual({ kind: "create" });
  });

  test("leaves what is applied once only, and says what holds one that is being deleted", async () => {
    const once = { annotations: { [`${kustomizeGroup}/ssa`]: "IfNotPresent" } };
    expect((await tried(false, false, async () => live({ labels: { a: "b" } }), once)).change).toEqual({
      kind: "skipped",
      uid: "u1",
    });
    const going = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["example.com/hold"] };
    const same = { ...live(), metadata: { ...live().metadata, ...going } };
    const cluster: Cluster = {
      ...noCluster,
      apply: async () => ({ object: same, created: false, warnings: [] }),
      get: async () => same,
    };
    const deps = { cluster, force: false, replacing, installationKey };
    expect(await dryRun(desired(), undefined, deps, signal)).toEqual({
      kind: "terminating",
      uid: "u1",
      heldBy: ["example.com/hold"],
    });
  });
});
