import { describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { fileCluster } from "../../../doubles/file-cluster.ts";
import { image, Killed, policyWorld } from "./policy-world.ts";

const { signal } = new AbortController();
const embedded = fileCluster();
let spaces = 0;

async function namespaceOf(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
  const manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
  await embedded.cluster.create(manifest, { manager: "test" }, signal);
}

async function world(labels?: Readonly<Record<string, string>>) {
  const namespace = `policy-${spaces++}`;
  await namespaceOf(namespace, labels);
  return policyWorld(embedded.cluster, namespace);
}

const oneX: JsonObject = { policy: { semver: { range: "1.x" } } };
const anyTag: JsonObject = { policy: { alphabetical: { order: "asc" } } };
const digest = (digit: string): string => `sha256:${digit.repeat(64)}`;

/** A policy that has chosen 1.10.0. */
async function chosen(spec: JsonObject = oneX) {
  const one = await world();
  await one.repository();
  await one.tags(["1.0.0", "1.2.0", "1.10.0", "2.0.0", "1.11", "latest"]);
  await one.policy(spec);
  await one.run();
  return one;
}

const resolved = (tag: string, more = ""): string => `Latest image tag for ${image} resolved to ${tag}${more}`;

describe("an ImagePolicy", () => {
  test("image-automation/23, 37: selects a tag of its repository, and names the image as the repository does", async () => {
    const one = await chosen();
    expect(await one.status()).toMatchObject({
      latestRef: { name: image, tag: "1.10.0" },
      observedGeneration: 1,
    });
    expect(await one.conditions()).toEqual([`Ready=True Succeeded: ${resolved("1.10.0")}`]);
    expect(await one.events()).toEqual([`Normal Succeeded: ${resolved("1.10.0")}`]);
    expect((await one.get())?.metadata.finalizers).toEqual(["finalizers.fluxcd.io"]);
  });

  test("image-automation/38: a new tag moves the old one to observedPreviousRef, and the message names it", async () => {
    const one = await chosen();
    await one.tags(["1.10.0", "1.11.0"]);
    await one.run();
    const { latestRef, observedPreviousRef } = await one.status();
    expect(latestRef).toEqual({ name: image, tag: "1.11.0" });
    expect(observedPreviousRef).toEqual({ name: image, tag: "1.10.0" });
    const message = resolved("1.11.0", ` (previously ${image}:1.10.0)`);
    expect(await one.conditions()).toEqual([`Ready=True Succeeded: ${message}`]);
    expect(await one.events()).toContain(`Normal Succeeded: ${message}`);
  });

  test("a second run writes nothing and wakes no automation", async () => {
    const one = await chosen();
    await one.automation("update");
    const before = await one.get();
    one.writes.length = 0;
    expect(await one.run()).toEqual({ outcome: "unchanged", dueInMs: undefined, isQuiet: true });
    expect(one.writes).toEqual([]);
    expect((await one.get())?.metadata["resourceVersion"]).toBe(before?.metadata["resourceVersion"]);
  });

  test("image-automation/58: a new tag wakes all automations of the namespace", async () => {
    const one = await chosen();
    await one.automation("first");
    await one.automation("second");
    expect(one.requested).toEqual([]);
    await one.tags(["1.12.0"]);
    await one.run();
    const why = `ImagePolicy ${one.namespace}/app has chosen an image`;
    expect(one.requested).toEqual([`ImageUpdateAutomation/first: ${why}`, `ImageUpdateAutomation/second: ${why}`]);
  });

  test("the next run wakes them if a run was killed before it did", async () => {
    const one = await chosen();
    await one.automation("update");
    await one.tags(["1.12.0"]);
    one.state.writesLeft = 1;
    await expect(one.run()).rejects.toThrow(Killed);
    expect((await one.status()).latestRef?.tag).toBe("1.12.0");
    Object.assign(one.state, { writesLeft: Number.POSITIVE_INFINITY, isRetry: true });
    await one.run();
    expect(one.requested).toHaveLength(1);
  });

  test("subscribes to its repository, and unsubscribes when it is deleted", async () => {
    const one = await chosen();
    expect(one.subscriptions()).toEqual([expect.stringContaining("ImageRepository")]);
    await one.remove();
    expect(await one.run()).toMatchObject({ outcome: "deleted" });
    expect(one.subscriptions()).toEqual([]);
  });

  test("image-automation/70: its deletion removes the finalizer without reading tags", async () => {
    const one = await chosen();
    await one.remove();
    await one.run();
    expect(await one.get()).toBeUndefined();
    expect(one.lookups).toEqual([]);
    expect(await one.run()).toMatchObject({ outcome: "absent" });
  });
});

describe("failures", () => {
  test("image-automation/35: waits for a repository that has no tags", async () => {
    const one = await world();
    await one.repository();
    await one.policy(oneX);
    expect(await one.run()).toMatchObject({ outcome: "waiting", dueInMs: 30_000 });
    expect(await one.conditions()).toEqual([
      "Reconciling=True ProgressingWithRetry: processing object: new generation -1 -> 1",
      "Ready=False DependencyNotReady: retrying in 30s error: no tags in database",
    ]);
    expect((await one.status()).observedGeneration).toBe(-1);
    expect(await one.events()).toEqual(["Warning DependencyNotReady: retrying in 30s error: no tags in database"]);
  });

  test("image-automation/34: waits for a repository that does not exist, and is woken when it is created", async () => {
    const one = await world();
    await one.policy(oneX);
    expect(await one.run()).toMatchObject({ outcome: "failed", dueInMs: 750 });
    expect(await one.conditions()).toContain(
      'Ready=False DependencyNotReady: failed to get the referred ImageRepository: referenced ImageRepository does not exist: ImageRepository.image.toolkit.fluxcd.io "app" not found',
    );
    expect(one.subscriptions()).toEqual([expect.stringContaining("ImageRepository")]);
    expect(await one.run()).toMatchObject({ outcome: "failed", dueInMs: 1_500 });
  });

  test("image-automation/39: a failure keeps the last selected tag and is announced once", async () => {
    const one = await chosen();
    await one.policy({ policy: { semver: { range: ">=3.0.0" } } });
    expect(await one.run()).toMatchObject({ outcome: "failed", dueInMs: 750 });
    await one.run();
    expect((await one.status()).latestRef?.tag).toBe("1.10.0");
    expect(await one.conditions()).toEqual([
      "Reconciling=True ProgressingWithRetry: processing object: new generation 1 -> 2",
      "Ready=False Failure: unable to determine latest version from provided list; none of 6 tags is a version in spec.policy.semver.range '>=3.0.0'",
    ]);
    const told = "Warning Failure: unable to determine latest version from provided list; ";
    expect((await one.events()).filter((event) => event.startsWith(told))).toHaveLength(1);
  });

  test("image-automation/31: an invalid range stalls", async () => {
    const one = await chosen();
    await one.policy({ policy: { semver: { range: "not a range" } } });
    const why = 'invalid policy: improper constraint: "not a range"';
    const failure = { reason: "InvalidPolicy", message: why };
    expect(await one.run()).toMatchObject({ outcome: "stalled", dueInMs: undefined, failure });
    const message = `InvalidPolicy: ${why}`;
    expect(await one.conditions()).toEqual([`Stalled=True ${message}`, `Ready=False ${message}`]);
    expect((await one.status()).observedGeneration).toBe(2);
  });

  // As recorded in image-policy-filter/06-invalid-pattern.
  test("image-automation/30: a stalled policy keeps the Ready condition of an earlier failure, and the event repeats it", async () => {
    const one = await world();
    await one.repository();
    await one.tags(["1.0.0"]);
    await one.policy({ ...anyTag, filterTags: { pattern: "^feature-" } });
    await one.run();
    await one.policy({ ...anyTag, filterTags: { pattern: "(" } });
    await one.run();
    const empty =
      "Failure: version list argument cannot be empty; spec.filterTags.pattern '^feature-' matches none of 1 tags";
    expect(await one.conditions()).toEqual([
      "Stalled=True InvalidPolicy: failed to filter tags: invalid regular expression pattern '(': error parsing regexp: missing closing ): `(`",
      `Ready=False ${empty}`,
    ]);
    expect((await one.status()).conditions).toMatchObject([{ observedGeneration: 2 }, { observedGeneration: 1 }]);
    expect(await one.events()).toEqual([`Warning ${empty}`, `Warning ${empty}`]);
  });

  test("a tag such as latest fails a numerical policy, and the message says how to leave it out", async () => {
    const one = await world();
    await one.repository();
    await one.tags(["1", "latest"]);
    await one.policy({ policy: { numerical: { order: "asc" } } });
    await one.run();
    expect((await one.conditions()).at(-1)).toBe(
      "Ready=False Failure: failed to parse invalid numeric value 'latest'; leave such tags out with spec.filterTags.pattern, or take the number out of them with spec.filterTags.extract",
    );
  });

  test.each([
    { type: "semver", spec: oneX },
    { type: "alphabetical", spec: anyTag },
  ])("a policy of type $type whose tags take too long to rank says only to keep fewer of them", async ({ spec }) => {
    const one = await world();
    await one.repository();
    await one.tags(["1.0.0", "latest"]);
    await one.policy(spec);
    const clock = vi.spyOn(performance, "now");
    one.state.onTags = () => void clock.mockReturnValueOnce(0).mockReturnValueOnce(30_000);
    await one.run().finally(() => clock.mockRestore());
    expect((await one.conditions()).at(-1)).toBe(
      "Ready=False Failure: ranking 2 tags takes more than 20 s: keep fewer of them by spec.filterTags.pattern",
    );
  });

  test("a policy that recovers is Ready and no longer stalled", async () => {
    const one = await chosen();
    await one.policy({ policy: { semver: { range: "not a range" } } });
    await one.run();
    await one.policy(oneX);
    await one.run();
    expect(await one.conditions()).toEqual([`Ready=True Succeeded: ${resolved("1.10.0")}`]);
    expect(await one.events()).toContain(`Normal Succeeded: ${resolved("1.10.0")}`);
  });

  test("a repository with an invalid image name stalls the policy", async () => {
    const one = await chosen();
    await one.repository({ image: "a:b" });
    expect(await one.run()).toMatchObject({ outcome: "stalled" });
    expect(await one.conditions()).toContain(
      "Ready=False ImageURLInvalid: image 'a:b' should not include a tag; remove ':b'",
    );
  });
});

test("a repository that names a cloud identity stalls the policy", async () => {
  const one = await chosen();
  await one.repository({ provider: "aws", serviceAccountName: "reader" });
  expect(await one.run()).toMatchObject({ outcome: "stalled" });
  expect((await one.status()).conditions?.at(-1)).toMatchObject({
    reason: "FeatureGateDisabled",
    message:
      "to use spec.serviceAccountName in the ImageRepository for provider authentication please enable the ObjectLevelWorkloadIdentity feature gate in the controller",
  });
});

describe("an ImagePolicy with a repository in another namespace", () => {
  async function across(accessFrom: JsonObject | undefined, labels?: Readonly<Record<string, string>>) {
    const one = await world(labels);
    const other = `shared-${one.namespace}`;
    await namespaceOf(other);
    await one.repository(accessFrom === undefined ? {} : { accessFrom }, other);
    await one.tags(["1.0.0"], other);
    await one.policy({ ...oneX, imageRepositoryRef: { name: "app", namespace: other } });
    return { one, other };
  }
  const said = async (one: Awaited<ReturnType<typeof world>>) => (await one.status()).conditions?.at(-1)?.message;
  const prefix = "failed to get the referred ImageRepository: ";

  test("image-automation/36: is refused without accessFrom", async () => {
    const { one, other } = await across(undefined, { team: "a" });
    expect(await one.run()).toMatchObject({ outcome: "failed", dueInMs: 750 });
    expect((await one.status()).conditions?.at(-1)?.reason).toBe("AccessDenied");
    expect(await said(one)).toBe(
      `${prefix}access denied: '${other}/app' can't be accessed due to missing ACL labels on 'accessFrom'`,
    );
  });

  test("image-automation/36: is allowed by a selector that matches the labels of the policy's namespace", async () => {
    const { one } = await across(
      { namespaceSelectors: [{ matchLabels: { team: "b" } }, { matchLabels: { team: "a" } }] },
      { team: "a" },
    );
    await one.run();
    expect(await said(one)).toBe(resolved("1.0.0"));
  });

  test("image-automation/36: is allowed from all namespaces by an empty selector", async () => {
    const { one } = await across({ namespaceSelectors: [{ matchLabels: {} }] });
    await one.run();
    expect(await said(one)).toBe(resolved("1.0.0"));
  });

  test("image-automation/36: is refused if no selector matches", async () => {
    const { one, other } = await across({ namespaceSelectors: [{ matchLabels: { team: "b" } }] }, { team: "a" });
    await one.run();
    expect(await said(one)).toBe(
      `${prefix}access denied: '${other}/app' can't be accessed due to ACL labels mismatch on namespace '${one.namespace}'`,
    );
  });

  test("is refused by no-cross-namespace-refs, whatever accessFrom allows", async () => {
    const { one, other } = await across({ namespaceSelectors: [{ matchLabels: {} }] });
    one.state.noCrossNamespaceRefs = true;
    await one.run();
    expect(await said(one)).toBe(
      `${prefix}cannot access 'ImageRepository/${other}/app', cross-namespace references have been blocked`,
    );
  });
});

describe("the digest of an ImagePolicy", () => {
  const reflecting = (digestReflectionPolicy: string, interval?: string): JsonObject => ({
    ...oneX,
    digestReflectionPolicy,
    ...(interval === undefined ? {} : { interval }),
  });

  async function reflected(spec: JsonObject) {
    const one = await world();
    await one.repository();
    await one.tags(["1.0.0"]);
    one.digests.set("1.0.0", digest("a"));
    await one.policy(spec);
    return { one, result: await one.run() };
  }

  test("image-automation/41: with IfNotPresent each tag is looked up once, so a moved tag is not noticed", async () => {
    const { one } = await reflected(reflecting("IfNotPresent"));
    expect((await one.status()).latestRef?.digest).toBe(digest("a"));
    expect(await one.conditions()).toEqual([
      `Ready=True Succeeded: ${resolved("1.0.0", ` with digest ${digest("a")}`)}`,
    ]);
    one.digests.set("1.0.0", digest("b"));
    await one.run();
    expect((await one.status()).latestRef?.digest).toBe(digest("a"));
    expect(one.lookups).toHaveLength(1);
    one.digests.set("1.1.0", digest("c"));
    await one.tags(["1.0.0", "1.1.0"]);
    await one.run();
    expect((await one.status()).latestRef).toEqual({ name: image, tag: "1.1.0", digest: digest("c") });
    expect((await one.conditions())[0]).toMatch(`(previously ${image}:1.0.0@${digest("a")})`);
  });

  test("image-automation/42: with Always it is looked up at each interval, and a moved tag wakes the automations", async () => {
    const { one, result } = await reflected(reflecting("Always", "10m"));
    expect(result.dueInMs).toBe(600_000);
    await one.automation("update");
    one.digests.set("1.0.0", digest("b"));
    await one.run();
    expect((await one.status()).latestRef?.digest).toBe(digest("b"));
    expect((await one.status()).observedPreviousRef?.digest).toBe(digest("a"));
    expect(one.requested).toHaveLength(1);
  });

  test("image-automation/43: is removed when the policy is set to Never again", async () => {
    const { one } = await reflected(reflecting("IfNotPresent"));
    await one.policy(reflecting("Never"));
    await one.run();
    expect((await one.status()).latestRef).toEqual({ name: image, tag: "1.0.0" });
    expect(await one.conditions()).toEqual([
      `Ready=True Succeeded: ${resolved("1.0.0", ` (previously ${image}:1.0.0@${digest("a")})`)}`,
    ]);
  });

  test("image-automation/40: the API server refuses Always without an interval, and an interval without Always", async () => {
    const one = await world();
    await expect(one.policy(reflecting("Always"))).rejects.toThrow(
      "spec.interval must be set when spec.digestReflectionPolicy is set to 'Always'",
    );
    await expect(one.policy(reflecting("IfNotPresent", "10m"))).rejects.toThrow(
      "spec.interval is only accepted when spec.digestReflectionPolicy is set to 'Always'",
    );
  });

  test("a failed lookup of the digest fails the run and keeps the last selected tag", async () => {
    const { one } = await reflected(reflecting("IfNotPresent"));
    await one.tags(["1.5.0"]);
    expect(await one.run()).toMatchObject({ outcome: "failed" });
    expect(await one.conditions()).toContain(`Ready=False Failed: failed fetching digest of 1.5.0: no such tag`);
    expect((await one.status()).latestRef?.tag).toBe("1.0.0");
  });
});

describe("a suspended ImagePolicy", () => {
  test("that is Ready only records its generation and the request", async () => {
    const one = await chosen();
    await one.policy({ ...oneX, suspend: true });
    await one.annotate({ "reconcile.fluxcd.io/requestedAt": "now" });
    await one.tags(["1.20.0"]);
    expect(await one.run()).toEqual({ outcome: "suspended", dueInMs: undefined });
    const { conditions, lastHandledReconcileAt, latestRef, observedGeneration } = await one.status();
    expect({ lastHandledReconcileAt, observedGeneration, tag: latestRef?.tag }).toEqual({
      lastHandledReconcileAt: "now",
      observedGeneration: 2,
      tag: "1.10.0",
    });
    expect(conditions).toMatchObject([{ type: "Ready", observedGeneration: 1 }]);
  });

  test("that never ran has no conditions, and its generation stays unobserved", async () => {
    const one = await world();
    await one.policy({ ...oneX, suspend: true });
    await one.run();
    expect(await one.status()).toEqual({ observedGeneration: -1 });
  });
});

describe("barred images of an ImagePolicy", () => {
  const bar = (text: string) => ({ "sluice.dev/barred": text });

  test("a barred tag is skipped, and the message says so", async () => {
    const one = await chosen();
    await one.annotate(bar("1.10.0 alice: returns 500\n1.0.0 bob: too old"));
    await one.run();
    expect((await one.status()).latestRef?.tag).toBe("1.2.0");
    const message = resolved("1.2.0", ` (previously ${image}:1.10.0) (barred: 1.10.0)`);
    expect(await one.conditions()).toEqual([`Ready=True Succeeded: ${message}`]);
    expect(await one.events()).toContain(`Normal Succeeded: ${message}`);
  });

  test("a tag that is no longer barred can be selected again", async () => {
    const one = await chosen();
    await one.annotate(bar("1.10.0"));
    await one.run();
    await one.annotate({ "sluice.dev/barred": null });
    await one.run();
    expect((await one.status()).latestRef?.tag).toBe("1.10.0");
  });

  test("a barred digest excludes a tag only while the tag points to this digest", async () => {
    const one = await chosen();
    one.digests.set("1.10.0", digest("a"));
    await one.annotate(bar(`1.10.0@${digest("a")} alice: returns 500`));
    await one.run();
    expect((await one.status()).latestRef?.tag).toBe("1.2.0");
    one.digests.set("1.10.0", digest("b"));
    await one.run();
    expect((await one.status()).latestRef).toEqual({ name: image, tag: "1.10.0" });
    expect(one.lookups).toEqual([`${image}:1.10.0`, `${image}:1.10.0`]);
  });

  test("digests are looked up only for tags that a barred digest names", async () => {
    const one = await chosen();
    await one.annotate(bar(`1.0.0@${digest("a")}`));
    await one.run();
    expect(one.lookups).toEqual([]);
  });

  test("if all tags are barred, the policy fails and names them", async () => {
    const one = await chosen();
    await one.annotate(bar("1.10.0\n1.2.0\n1.0.0"));
    expect(await one.run()).toMatchObject({ outcome: "failed" });
    expect(await one.conditions()).toContain(
      "Ready=False Failure: every tag that the policy admits is barred: 1.10.0, 1.2.0, 1.0.0",
    );
    expect((await one.status()).latestRef?.tag).toBe("1.10.0");
  });

  test("an annotation that cannot be parsed stalls the policy, so that a barred image is never selected", async () => {
    const one = await chosen();
    await one.annotate(bar("1.10.0@sha256:abc"));
    expect(await one.run()).toMatchObject({ outcome: "stalled" });
    expect(await one.conditions()).toContain(
      "Ready=False InvalidPolicy: invalid policy: annotation sluice.dev/barred: line 1: the digest of 1.10.0 is not of the form sha256:<64 hexadecimal digits>",
    );
  });
});
