import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { chooseRef, idleFields, type WantedRef } from "../../../../lib/sources/git/choose-ref.ts";
import { GitFault } from "../../../../lib/sources/git/git-fault.ts";
import { gitWorld, manifest } from "./git-world.ts";

const { world, repository, artifact, conditions, message, apply, run, told } = gitWorld();
const determined = "failed to checkout and determine revision";
const url = "https://git.example.test/app.git";

describe("spec.ref", () => {
  test("11.2/31: if it is unset, the branch master is fetched", async () => {
    const commit = repository().commit({ "a.yaml": manifest }, {}, "master");
    apply({ ref: null });
    await run();
    expect(artifact()).toMatchObject({
      revision: `master@sha1:${commit}`,
      path: `gitrepository/apps/app/${commit}.tar.gz`,
    });
  });

  test("11.2/33: a tag wins over semver and branch, and one Warning says so", async () => {
    const commit = repository().commit({ "a.yaml": manifest });
    repository().tag("1.0.0", commit);
    repository().tag("2.0.0", repository().commit({ "b.yaml": manifest }));
    apply({ ref: { tag: "1.0.0", semver: "2.x", branch: "main" } });
    await run();
    expect(artifact().revision).toBe(`1.0.0@sha1:${commit}`);
    await run();
    expect(told().filter((line) => line.startsWith("Warning"))).toEqual([
      "Warning AmbiguousReference: spec.ref.semver and spec.ref.branch change nothing, since spec.ref.tag takes precedence",
    ]);
  });

  test("11.2/34: a name wins over a branch and is part of the revision", async () => {
    const commit = repository().commit({ "a.yaml": manifest });
    repository().commit({ "b.yaml": manifest }, {}, "dev");
    apply({ ref: { name: "refs/heads/main", branch: "dev" } });
    await run();
    expect(artifact().revision).toBe(`refs/heads/main@sha1:${commit}`);
  });

  test("a name may be the ref of a pull request, or a tag with ^{}", async () => {
    const commit = repository().commit({ "a.yaml": manifest });
    repository().refs.set("refs/pull/420/head", { oid: commit });
    repository().tag("v1", commit, "One");
    apply({ ref: { name: "refs/pull/420/head" } });
    await run();
    expect(artifact().revision).toBe(`refs/pull/420/head@sha1:${commit}`);
    apply({ ref: { name: "refs/tags/v1^{}" } });
    await run();
    expect(artifact().revision).toBe(`refs/tags/v1^{}@sha1:${commit}`);
  });

  test("11.2/35: a commit alone is the revision; with a branch, the branch stands before it", async () => {
    const commit = repository().commit({ "a.yaml": manifest });
    repository().commit({ "b.yaml": manifest });
    apply({ ref: { commit } });
    await run();
    expect(artifact().revision).toBe(`sha1:${commit}`);
    apply({ ref: { commit, branch: "main" } });
    await run();
    expect(artifact().revision).toBe(`main@sha1:${commit}`);
    expect(told().filter((line) => line.startsWith("Warning"))).toEqual([]);
  });

  test("a commit may be written in upper case", async () => {
    const commit = repository().commit({ "a.yaml": manifest });
    apply({ ref: { commit: commit.toUpperCase() } });
    await run();
    expect(artifact().revision).toBe(`sha1:${commit}`);
  });

  test("11.2/36: semver selects the highest tag of the range, pre-releases only if the range allows them, and keeps the v", async () => {
    for (const tag of ["1.0.0", "1.1.0-rc.1", "v1.0.5", "1.9", "latest"]) {
      repository().tag(tag, repository().commit({ [`${tag}.yaml`]: manifest }));
    }
    apply({ ref: { semver: "1.x" } });
    await run();
    expect(artifact().revision).toMatch(/^v1\.0\.5@sha1:[0-9a-f]{40}$/);
    apply({ ref: { semver: ">=1.0.0-0" } });
    await run();
    expect(artifact().revision).toMatch(/^1\.1\.0-rc\.1@sha1:/);
  });

  test("a recovery event names the commit only for refs that Flux clones again each time; for others it names the revision", async () => {
    const commit = repository().commit({ "a.yaml": manifest }, { message: "The subject\n\nThe rest\n" });
    repository().tag("1.0.0", commit);
    for (const [ref, wrong, says] of [
      [{ semver: "1.x" }, { semver: "9.x" }, "The subject"],
      [{ commit }, { commit: "0123456789012345678901234567890123456789" }, "The subject"],
      [{ tag: "1.0.0" }, { tag: "9" }, `1.0.0@sha1:${commit}`],
    ] as const) {
      apply({ ref });
      await run();
      apply({ ref: wrong });
      await run();
      told();
      apply({ ref });
      await run();
      expect(told()).toContain(`Normal Succeeded: stored artifact for commit '${says}'`);
    }
  });

  test("11.2/37: an annotated tag resolves to its commit", async () => {
    const commit = repository().commit({ "a.yaml": manifest });
    repository().tag("v1.0.0", commit, "One");
    apply({ ref: { tag: "v1.0.0" } });
    await run();
    expect(artifact().revision).toBe(`v1.0.0@sha1:${commit}`);
  });

  test("subscribes only to the refs that decide the revision", async () => {
    const follows = async (ref: JsonObject) => {
      apply({ ref });
      await run();
      return [...world().listens.values()].flat();
    };
    repository().commit({ "a.yaml": manifest });
    const topic = "git#git.example.test/app";
    const names = (name: string) => [{ topic, follows: { kind: "names", names: [name] } }];
    expect(await follows({ branch: "main" })).toEqual(names("refs/heads/main"));
    expect(await follows({ tag: "v1" })).toEqual(names("refs/tags/v1"));
    expect(await follows({ name: "refs/pull/1/head" })).toEqual(names("refs/pull/1/head"));
    expect(await follows({ semver: "1.x" })).toEqual([
      { topic, follows: { kind: "range", semver: "1.x", after: "refs/tags/" } },
    ]);
    const commit = "1".repeat(40);
    expect(await follows({ commit, branch: "main" })).toEqual(names("refs/heads/main"));
    // A push of any ref may bring a commit that is not there yet.
    expect(await follows({ commit })).toEqual([topic]);
  });
});

/** Each field by itself leads to a commit of its own. The names beside them begin with theirs, and come first. */
const oids = { old: "0".repeat(40), commit: "1".repeat(40), branch: "2".repeat(40), tag: "3".repeat(40) };
const versions = { semver: "4".repeat(40), name: "5".repeat(40) };
const listed = [
  { name: "refs/heads/main-old", oid: oids.old },
  { name: "refs/heads/main", oid: oids.branch },
  { name: "refs/heads/named-old", oid: oids.old },
  { name: "refs/heads/named", oid: versions.name },
  { name: "refs/tags/1.0.0-old", oid: oids.old },
  { name: "refs/tags/1.0.0", oid: oids.tag },
  { name: "refs/tags/2.0.0", oid: versions.semver },
];
const wanted = {
  commit: oids.commit,
  name: "refs/heads/named",
  tag: "1.0.0",
  semver: "2.x",
  branch: "main",
} as const satisfies Required<WantedRef>;

/** The fields that count: the first of them decides, and beside a commit a name or else a branch is shown. */
const countingIn = (ref: WantedRef): readonly (keyof WantedRef)[] => {
  const isSet = (field: keyof WantedRef) => ref[field] !== undefined;
  const first = (...fields: readonly (keyof WantedRef)[]) => fields.filter(isSet).slice(0, 1);
  return isSet("commit") ? ["commit", ...first("name", "branch")] : first("name", "tag", "semver", "branch");
};
const shownAlone = {
  name: `refs/heads/named@sha1:${versions.name}`,
  tag: `1.0.0@sha1:${oids.tag}`,
  semver: `2.0.0@sha1:${versions.semver}`,
  branch: `main@sha1:${oids.branch}`,
} as const;
const shownFor = (ref: WantedRef): string => {
  const [first, second] = countingIn(ref);
  if (first !== "commit") return shownAlone[first ?? "branch"];
  return `${second === undefined ? "" : `${wanted[second]}@`}sha1:${oids.commit}`;
};

const combinations = Array.from(
  { length: 2 ** Object.keys(wanted).length },
  (_, bits): WantedRef => Object.fromEntries(Object.entries(wanted).filter((_field, at) => (bits & (2 ** at)) !== 0)),
).filter((ref) => Object.keys(ref).length > 0);

test.each(combinations.map((ref) => [Object.keys(ref).join(" and "), ref] as const))(
  "with %s set, the revision shows the field that counts, for a commit its name or branch, and the other fields are ignored",
  async (_, ref) => {
    const { revision, commit } = await chooseRef(ref, listed, async () => new Map(), AbortSignal.timeout(20_000));
    expect(revision).toBe(shownFor(ref));
    expect(revision.endsWith(`sha1:${commit}`)).toBe(true);
    const idle = Object.keys(ref).filter((field) => !countingIn(ref).some((one) => one === field));
    expect(idleFields(ref).toSorted()).toEqual(idle.toSorted());
  },
);

test("a commit is searched in the history of its branch if one is set, and otherwise in that of every ref", async () => {
  const within = async (ref: WantedRef) =>
    (await chooseRef(ref, listed, async () => new Map(), AbortSignal.timeout(20_000))).within;
  expect(await within({ commit: oids.commit, branch: "main" })).toEqual([oids.branch]);
  expect(await within({ commit: oids.commit })).toEqual([
    oids.old,
    oids.branch,
    versions.name,
    oids.tag,
    versions.semver,
  ]);
  const onlyOld = listed.filter(({ name }) => name !== "refs/heads/main");
  const gone = chooseRef(
    { commit: oids.commit, branch: "main" },
    onlyOld,
    async () => new Map(),
    AbortSignal.timeout(20_000),
  );
  await expect(gone).rejects.toThrow('couldn\'t find remote ref "refs/heads/main"');
});

describe("of tags with the same version, the one with the newest commit is chosen, and then the last by name:", () => {
  const lightweight = (name: string, commit: string) => ({ name: `refs/tags/${name}`, oid: commit });
  const annotated = (name: string, commit: string) => ({ name: `refs/tags/${name}`, oid: oids.tag, peeled: commit });
  const [older, newer] = ["a".repeat(40), "b".repeat(40)];
  const committedAt = async (commits: readonly string[]) =>
    new Map(commits.map((oid) => [oid, { [older]: 1, [newer]: 2 }[oid] ?? Number.NaN]));
  const kinds = { lightweight, annotated };
  const cases = Object.entries(kinds).flatMap(([first, one]) =>
    Object.entries(kinds).flatMap(([second, other]) => [
      {
        name: `${first}, newer, before ${second}`,
        tags: [one("1.0.0+a", newer), other("1.0.0+b", older)],
        chosen: "1.0.0+a",
      },
      {
        name: `${first} before ${second}, which is newer`,
        tags: [one("1.0.0+a", older), other("1.0.0+b", newer)],
        chosen: "1.0.0+b",
      },
      {
        name: `${first} before ${second}, which is as old`,
        tags: [one("1.0.0+a", older), other("1.0.0+b", older)],
        chosen: "1.0.0+b",
      },
    ]),
  );
  test.each(cases)("$name", async ({ tags, chosen }) => {
    for (const refs of [tags, tags.toReversed()]) {
      const { revision } = await chooseRef({ semver: "1.x" }, refs, committedAt, AbortSignal.timeout(20_000));
      expect(revision).toMatch(new RegExp(`^${chosen.replace("+", "[+]")}@sha1:[ab]+$`));
    }
  });
});

describe("a ref that does not exist fails the run at once, with Flux's text", () => {
  const commit = "1".repeat(40);
  test.each([
    {
      ref: { branch: "dev/one" },
      says: `unable to clone '${url}': couldn't find remote ref "refs/heads/dev/one"`,
    },
    { ref: { tag: "v9" }, says: `unable to clone '${url}': couldn't find remote ref "refs/tags/v9"` },
    { ref: { semver: ">=9.0.0" }, says: `no match found for semver: >=9.0.0` },
    { ref: { semver: "not a range" }, says: 'semver parse error: improper constraint: "not a range"' },
    {
      ref: { name: "refs/heads/gone" },
      says: `unable to resolve ref 'refs/heads/gone' to a specific commit`,
    },
    {
      ref: { name: "/refs/heads/main" },
      says: "ref /refs/heads/main is invalid; Git refs cannot begin or end with a slash '/'",
    },
    { ref: { commit }, says: `unable to resolve commit object for '${commit}': object not found` },
    { ref: { commit: "main" }, says: "unable to resolve commit object for 'main': object not found" },
    {
      ref: { commit, branch: "gone" },
      says: `unable to clone '${url}': couldn't find remote ref "refs/heads/gone"`,
    },
  ])("$ref", async ({ ref, says }) => {
    const head = repository().commit({ "a.yaml": manifest });
    repository().tag("v0.9.0", head);
    apply({ ref });
    expect(await run()).toMatchObject({ outcome: "failed", dueInMs: 750 });
    expect(conditions()).toContain("FetchFailed=True GitOperationFailed");
    expect(message()).toBe(`${determined}: ${says}`);
  });
});

describe("a server that answers wrongly", () => {
  test.each([
    { fault: new GitFault("authentication", "it wants credentials"), says: "authentication required: " },
    { fault: new GitFault("authorization", "it says no"), says: "authorization failed: " },
    { fault: new GitFault("not-found", "there is none"), says: "repository not found: " },
    { fault: new GitFault("unreachable", "dial tcp: connection refused"), says: "dial tcp: connection refused" },
  ])("$fault.reason", async ({ fault, says }) => {
    repository().commit({ "a.yaml": manifest });
    repository().faults.push(fault);
    apply();
    await run();
    expect(message()).toBe(`${determined}: unable to clone '${url}': ${says}`);
    await run();
    expect(conditions()).toContain("Ready=True Succeeded");
    repository().faults.push(fault);
    await run();
    // While there is an artifact, Flux asks for the refs alone.
    expect(message()).toBe(`${determined}: unable to list remote for '${url}': ${says}`);
    expect(conditions()).toContain("ArtifactInStorage=True Succeeded");
  });

  test("11.1/6: is retried after 750 ms, then after twice as long each time, and from 750 ms again after a success", async () => {
    repository().commit({ "a.yaml": manifest });
    apply();
    const waits: unknown[] = [];
    for (let failures = 0; failures < 3; failures++) {
      repository().faults.push(new GitFault("unavailable", "503"));
      waits.push((await run()).dueInMs);
    }
    expect(waits).toEqual([750, 1_500, 3_000]);
    await run();
    repository().faults.push(new GitFault("unavailable", "503"));
    expect(await run()).toMatchObject({ dueInMs: 750 });
  });

  test("a URL that Go cannot parse stalls with Go's message", async () => {
    apply({ url: "https://user:secret@git.example.test:x/app.git" });
    expect(await run()).toMatchObject({ outcome: "stalled" });
    const shown = "https://git.example.test:x/app.git";
    expect(message()).toBe(`failed to parse url '${shown}': parse "${shown}": invalid port ":x" after host`);
    apply({ url: "https://git.example.test/%zz.git" });
    expect(await run()).toMatchObject({ outcome: "stalled" });
    expect(message()).toContain(': invalid URL escape "%zz"');
  });

  test.each([
    ["https://user:S3cr/et@git.example.test/x", "https://git.example.test/x"],
    ["https://user:S3cr?et@git.example.test/x", "https://git.example.test/x"],
    ["https://user:S3cr#et@git.example.test/x", "https://git.example.test/x"],
    ["https://user:S3c@ret@git.example.test:bad/x", "https://git.example.test:bad/x"],
  ])("a URL that cannot be parsed is reported without any part of its login: %s", async (url, shown) => {
    apply({ url });
    expect(await run()).toMatchObject({ outcome: "stalled" });
    expect(message()).toContain(`failed to parse url '${shown}': `);
    expect(message()).not.toMatch(/user|S3c|ret@|et@/);
  });

  test("a URL with more than two slashes is reported without its login", async () => {
    repository().faults.push(new GitFault("not-found", "there is none"));
    apply({ url: "https:///user:S3cret@git.example.test/x" });
    await run();
    expect(message()).not.toContain("S3cret");
  });

  test("a login in the URL never appears in any text", async () => {
    repository().faults.push(new GitFault("not-found", "there is none"));
    apply({ url: "https://user:secret@git.example.test/app.git" });
    await run();
    expect(message()).toBe(`${determined}: unable to clone '${url}': repository not found: `);
    const withToken = "https://git.example.test/app.git?access_token=secret";
    repository(withToken).faults.push(new GitFault("not-found", "there is none"));
    apply({ url: withToken });
    await run();
    expect(message()).toBe(
      `${determined}: unable to clone 'https://git.example.test/app.git?…': repository not found: `,
    );
    apply({ url: "https://user:secret@:1/app.git" });
    expect(await run()).toMatchObject({ outcome: "stalled" });
    expect(conditions()).toEqual(expect.arrayContaining(["Stalled=True URLInvalid", "FetchFailed=True URLInvalid"]));
    expect(JSON.stringify([world().writes, world().events])).not.toContain("secret");
  });
});
