import { describe, expect, test } from "vitest";
import { kustomizeGroup, ownerLabels } from "../../../lib/api/names.ts";
import type { DesiredObject } from "../../../lib/apply/desired-objects.ts";
import { type DryRun, type DryRunDeps, dryRun } from "../../../lib/apply/dry-run.ts";
import { usualRules } from "../../../lib/apply/set/apply-rules.ts";
import type { LiveObject, Metadata } from "../../../lib/core/manifest.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import type { TargetCluster } from "../../../lib/core/ports/home-and-target.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { noTarget } from "../../doubles/no-cluster.ts";

const { signal } = new AbortController();
const owner = { kind: "Kustomization", name: "app", namespace: "t" };
const installationKey = new Secret("test");
const replacing = { owner, inventory: [], otherOwner: async () => undefined };
const usualDeps = { force: false, replacing, installationKey, rules: usualRules };
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
function refusing(error: ApiError, object: LiveObject | undefined): TargetCluster {
  return { ...noTarget, apply: () => Promise.reject(error), get: async () => object };
}

/** The dry run without force, unless `deps` says otherwise. */
function trial(
  deps: Pick<DryRunDeps, "cluster"> & Partial<DryRunDeps>,
  wanted: Partial<Metadata> = {},
  listed?: LiveObject,
): Promise<DryRun> {
  return dryRun(desired(wanted), listed, { ...usualDeps, ...deps }, signal);
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
    expect((await trial({ cluster, force }, wanted)).kind).toBe(kind);
  });

  test.each([
    'RoleBinding.rbac.authorization.k8s.io "rb" is invalid: roleRef: Invalid value: {"Kind":"Role","Name":"two"}: cannot change roleRef',
    "StatefulSet.apps \"x\" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden",
    'Service "x" is invalid: spec.clusterIPs[0]: Invalid value: ["10.0.0.78"]: may not change once set',
    'Pod "x" is invalid: spec: Forbidden: pod updates may not change fields other than `spec.tolerations`',
    'Claim.example.test "x" is invalid: spec.class: Invalid value: "fast": class cannot be changed after creation',
    'Claim.example.test "x" is invalid: spec.class: Invalid value: "fast": failed rule: self == oldSelf',
  ])("recreates the object with force if the field can never change: %s (81)", async (text) => {
    const cluster = refusing(invalid(text), live());
    expect((await trial({ cluster, force: true })).kind).toBe("replace");
    expect((await trial({ cluster })).kind).toBe("refused");
  });

  test.each([
    ["Forbidden", 'admission webhook "guard.x" denied the request: storage class cannot be changed'],
    ["Invalid", "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: label team must not be modified"],
    ["Invalid", 'admission webhook "guard.x" denied the request: spec.class: class cannot be changed'],
    [
      "Invalid",
      'Job.example.test "x" is invalid: spec.mode: Invalid value: "a": mode cannot be changed while jobs are running',
    ],
  ])("keeps the object if a policy or a temporary state refuses with %s: %s", async (reason, message) => {
    const cluster = refusing(new ApiError({ code: 422, reason, message }), live());
    expect((await trial({ cluster, force: true })).kind).toBe("refused");
  });

  test("for an immutable field says how to have the object deleted and created again", async () => {
    const refused = await trial({ cluster: refusing(invalid(`${immutable}\n`), live()) });
    const mend =
      "to have it deleted and created again, set spec.force of the Kustomization, or annotate the object with kustomize.toolkit.fluxcd.io/force: enabled";
    expect(refused).toMatchObject({ message: `Secret/t/s dry-run failed (Invalid): ${immutable}; ${mend}\n` });
  });

  test("for any other reason never recreates the object, even with force", async () => {
    const cluster = refusing(invalid('Secret "s" is invalid: type: Required value'), live());
    expect((await trial({ cluster, force: true })).kind).toBe("refused");
  });

  test("for an immutable field reports why the object is not recreated if it must not be", async () => {
    const cluster = refusing(invalid(immutable), live());
    const otherOwner = async () => "Kustomization/t/other";
    const refused = await trial({ cluster, force: true, replacing: { ...replacing, otherOwner } });
    expect(refused).toEqual({
      kind: "refused",
      message: expect.stringContaining("Kustomization/t/other claims it too"),
    });
  });

  test.each(["Invalid", "Conflict", "Forbidden"])(
    "with %s counts as an immutable field if the text says so",
    async (reason) => {
      const cluster = refusing(new ApiError({ code: 422, reason, message: immutable }), live());
      expect(await trial({ cluster, force: true })).toEqual({
        kind: "replace",
        uid: "u1",
      });
    },
  );

  test("with another reason never counts as an immutable field", async () => {
    const cluster = refusing(new ApiError({ code: 400, reason: "BadRequest", message: immutable }), live());
    expect((await trial({ cluster, force: true })).kind).toBe("refused");
  });

  const refusedOf = (wanted: Partial<Metadata>, found: LiveObject | undefined) =>
    trial({ cluster: refusing(invalid("no"), found) }, wanted);
  const once = { annotations: { [`${kustomizeGroup}/ssa`]: "IfNotPresent" } };

  test("does not matter for an object that is ignored, or that is applied only once and exists", async () => {
    const disabled = { annotations: { [`${kustomizeGroup}/reconcile`]: "disabled" } };
    expect(await refusedOf({}, live(disabled))).toEqual({ kind: "skipped", uid: "u1" });
    expect(await refusedOf(once, live())).toEqual({ kind: "skipped", uid: "u1" });
    expect((await refusedOf(once, undefined)).kind).toBe("refused");
  });

  describe("because an older version in its managed fields lacks a field", () => {
    const old = { manager: "other", operation: "Update", apiVersion: "v1beta1", fieldsV1: {} } as const;
    const error = new ApiError({ code: 500, reason: "", message: ".spec.mode: field not declared in schema" });
    const rules = { ...usualRules, migratesApiVersion: true };

    /** Refuses the object under its own name, and under another with the second error, if there is one. */
    function trying(found: LiveObject | undefined, elsewhere?: ApiError, deps: object = {}) {
      const cluster: TargetCluster = {
        ...noTarget,
        get: async () => found,
        apply: async ({ metadata: { name } }) => {
          const refusal = name === "s" ? error : elsewhere;
          if (refusal !== undefined) throw refusal;
          return { object: live(), created: true, warnings: [] };
        },
      };
      return trial({ cluster, rules, ...deps });
    }

    test("migrates the managed fields with the gate, unless the applied version lacks the field too", async () => {
      const stale = live({ managedFields: [old] });
      expect(await trying(stale)).toEqual({
        kind: "configure",
        takeover: { migrates: true, patch: expect.any(Array) },
      });
      const denied = new ApiError({ code: 403, reason: "Forbidden", message: "may not create" });
      expect((await trying(stale, denied)).kind).toBe("configure");
      expect((await trying(stale, invalid("spec.mode: Required value"))).kind).toBe("refused");
      expect(await trying(stale, undefined, { rules: usualRules })).toMatchObject({ kind: "refused", error });
      expect((await trying(live({ managedFields: [{ ...old, apiVersion: "v1" }] }))).kind).toBe("refused");
      expect((await trying(undefined)).kind).toBe("refused");
    });

    test("with ignored fields makes the payload again after the migration", async () => {
      const ignore = { pathsFor: () => ["/spec/mode"], prepare: async () => {} };
      expect(await trying(live({ managedFields: [old] }), undefined, { rules: { ...rules, ignore } })).toMatchObject({
        kind: "configure",
        payload: desired().manifest,
      });
    });

    test("does not migrate if another reason is given", async () => {
      const cluster = refusing(invalid("no"), live({ managedFields: [old] }));
      expect((await trial({ cluster, rules })).kind).toBe("refused");
    });
  });

  test("for a missing object does not recreate it", async () => {
    const cluster = refusing(invalid(immutable), undefined);
    expect((await trial({ cluster, force: true })).kind).toBe("refused");
  });

  const going = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["example.com/hold"] };
  const unchangeable = "Forbidden: field is immutable when `immutable` is set";
  const late =
    'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/x"}';
  const wrong = 'Invalid value: "bad key": name part must consist of alphanumeric characters';
  test.each([
    { name: "for an immutable field", faults: [unchangeable], kind: "terminating" },
    { name: "for added finalizers", faults: [late, late], kind: "terminating" },
    { name: "for both", faults: [late, unchangeable], kind: "terminating" },
    { name: "for a fault of its successor too", faults: [wrong], kind: "refused" },
    { name: "for an immutable field and added finalizers", faults: [wrong, late], kind: "refused" },
    { name: "for a fault and an immutable field", faults: [unchangeable, wrong], kind: "refused" },
  ])("for a terminating object, $name: $kind", async ({ faults, kind }) => {
    const message = `Secret "s" is invalid: [${faults.join(", ")}]`;
    const named = new ApiError({
      code: 422,
      reason: "Invalid",
      message,
      causes: faults.map((fault) => ({ reason: "FieldValueForbidden", message: fault, field: "metadata" })),
    });
    expect((await trial({ cluster: refusing(named, live(going)) })).kind).toBe(kind);
  });

  test("for a terminating object, without causes, is judged by its text", async () => {
    const cluster = refusing(invalid(`Secret "s" is invalid: metadata.finalizers: ${late}`), live(going));
    expect((await trial({ cluster })).kind).toBe("terminating");
    expect((await refusedOf({}, live(going))).kind).toBe("refused");
  });

  test("for a terminating object is judged by every cause, also by one without a text", async () => {
    const causes = [{ reason: "FieldValueForbidden", message: late }, { reason: "FieldValueForbidden" }];
    const cluster = refusing(new ApiError({ code: 422, reason: "Invalid", message: late, causes }), live(going));
    expect((await trial({ cluster })).kind).toBe("refused");
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
  ])("is reported with Flux's text: $message (86)", async ({ answer, message }) => {
    const cluster = refusing(answer, live());
    expect(await trial({ cluster })).toMatchObject({
      kind: "refused",
      message,
    });
  });

  test("does not count as refused if the API server was too busy to answer", async () => {
    const busy = new ApiError({ code: 429, reason: "TooManyRequests", message: "later" });
    const trying = trial({ cluster: refusing(busy, live()), force: true });
    await expect(trying).rejects.toBe(busy);
  });
});

describe("a dry run that the API server accepts", () => {
  const changed = { ...live(), data: { k: "bmV3" } };
  test.each<{ name: string; created?: boolean; tried?: LiveObject; found?: LiveObject; kind: string }>([
    { name: "creates it", created: true, kind: "create" },
    { name: "equals the live object", kind: "unchanged" },
    { name: "changes its content", tried: changed, kind: "configure" },
    {
      name: "changes content that we do not own",
      tried: changed,
      found: live({ labels: { [`${kustomizeGroup}/reconcile`]: "disabled" } }),
      kind: "skipped",
    },
    { name: "changes a label", tried: live({ labels: { a: "b" } }), kind: "configure" },
    { name: "changes a finalizer", tried: live({ finalizers: ["example.com/hold"] }), kind: "configure" },
    {
      name: "would store another version and change nothing else",
      tried: live({ resourceVersion: "9" }),
      kind: "unchanged",
    },
    {
      name: "finds kubectl's last-applied annotation",
      found: live({ annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}" } }),
      tried: live({ annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}" } }),
      kind: "configure",
    },
  ])("and that $name: $kind", async ({ created = false, tried = live(), found = live(), kind }) => {
    const cluster = {
      ...noTarget,
      apply: async () => ({ object: tried, created, warnings: [] }),
      get: async () => found,
    };
    expect((await trial({ cluster })).kind).toBe(kind);
  });

  /** Tries it; `log` is what was asked of the cluster, in its order. */
  async function tried(listed: boolean, created: boolean, found: () => Promise<LiveObject | undefined>, wanted = {}) {
    const log: string[] = [];
    const cluster: TargetCluster = {
      ...noTarget,
      apply: async () => {
        log.push("apply");
        return { object: live(), created, warnings: [] };
      },
      get: () => (log.push("get"), found()),
    };
    const change = await trial({ cluster }, wanted, listed ? live() : undefined);
    return { change, log };
  }

  test("is compared with the listed object; an unlisted object is read only if the answer shows that it exists", async () => {
    expect((await tried(true, false, async () => live())).log).toEqual(["get", "apply"]);
    expect((await tried(false, false, async () => live())).log).toEqual(["apply", "get"]);
    expect((await tried(false, true, async () => live())).log).toEqual(["apply"]);
  });

  test("creates an object that was deleted meanwhile", async () => {
    expect((await tried(true, false, async () => undefined)).change).toEqual({ kind: "create" });
  });

  test("rethrows the error if the object could not be read; for an object to be created no read is needed", async () => {
    const lost = new Error("no answer");
    await expect(tried(true, false, () => Promise.reject(lost))).rejects.toBe(lost);
    expect((await tried(true, true, () => Promise.reject(lost))).change).toEqual({ kind: "create" });
  });

  test("skips an object that is applied only once, and reports the finalizers of a terminating one", async () => {
    const once = { annotations: { [`${kustomizeGroup}/ssa`]: "IfNotPresent" } };
    expect((await tried(false, false, async () => live({ labels: { a: "b" } }), once)).change).toEqual({
      kind: "skipped",
      uid: "u1",
    });
    const going = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["example.com/hold"] };
    const same = { ...live(), metadata: { ...live().metadata, ...going } };
    const cluster: TargetCluster = {
      ...noTarget,
      apply: async () => ({ object: same, created: false, warnings: [] }),
      get: async () => same,
    };
    expect(await trial({ cluster })).toEqual({
      kind: "terminating",
      uid: "u1",
      blockingFinalizers: ["example.com/hold"],
    });
  });
});
