import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CliWorld, cliWorld } from "./cli-world.ts";

const { signal } = new AbortController();
let world: CliWorld;
let image: string;

beforeAll(async () => {
  world = await cliWorld();
  image = `${world.registry}/app`;
  for (const tag of ["1.0.0", "1.1.0"]) await push(tag);
});
afterAll(() => world.close());

const sh = (...args: readonly string[]) => world.sh("-n", "default", ...args);

/** Any artifact has a tag that a policy can choose. */
async function push(tag: string): Promise<void> {
  const file = join(world.folder, "app.yaml");
  await writeFile(file, `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {tag: "${tag}"}\n`);
  const from = ["--source", "https://git.example.test/app", "--revision", `v${tag}`, "--insecure-registry"];
  const { code, err } = await world.sh("push", "artifact", `oci://${image}:${tag}`, "-f", file, ...from);
  if (code !== 0) throw new Error(err);
}

const cells = (table: string) =>
  table
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t").map((cell) => cell.trim()));

test("create image repository waits for its first scan, and create image policy for its first tag, with flux's texts", async () => {
  const repository = await sh("create", "image", "repository", "app", "--image", image, "--interval", "1h");
  expect(repository).toMatchObject({
    code: 0,
    err: [
      "✚ generating ImageRepository",
      "► applying ImageRepository",
      "✔ ImageRepository created",
      "◎ waiting for ImageRepository reconciliation",
      "✔ ImageRepository reconciliation completed",
      "",
    ].join("\n"),
  });
  const policy = await sh("create", "image", "policy", "app", "--image-ref", "app", "--select-semver", "1.x");
  expect(policy).toMatchObject({ code: 0 });
  expect(policy.err).toMatch("✔ ImagePolicy reconciliation completed");
});

test("get image shows repositories and policies in flux's columns", async () => {
  const [head, repository] = cells((await sh("get", "image", "repository")).out);
  expect(head).toEqual(["NAME", "LAST SCAN", "SUSPENDED", "READY", "MESSAGE"]);
  expect(repository?.slice(0, 1)).toEqual(["app"]);
  expect(repository?.[1]).toMatch(/^\d{4}-\d\d-\d\dT/);
  expect(repository?.[4]).toMatch("successful scan: found 2 tags");
  expect(cells((await sh("get", "images", "policy", "app")).out)).toEqual([
    ["NAME", "IMAGE", "TAG", "READY", "MESSAGE"],
    ["app", image, "1.1.0", "True", `Latest image tag for ${image} resolved to 1.1.0`],
  ]);
  const all = (await sh("get", "image", "all")).out;
  expect(all).toContain("imagerepository/app");
  expect(all).toContain("imagepolicy/app");
  expect(await world.sh("-n", "kube-system", "get", "images", "all")).toMatchObject({
    code: 1,
    err: '✗ no images found in "kube-system" namespace\n',
  });
});

test("reconcile image repository scans, and the policy selects a new tag", async () => {
  await push("1.2.0");
  const { code, err } = await sh("reconcile", "image", "repository", "app");
  expect({ code, err }).toMatchObject({ code: 0 });
  expect(err).toMatch("✔ scan fetched 3 tags");
  await expect.poll(async () => (await sh("get", "image", "policy", "app")).out).toMatch("1.2.0");
  expect((await sh("reconcile", "image", "policy", "app")).err).toMatch(`✔ selected ref ${image}:1.2.0`);
});

test("image bar makes the policy select another tag at once, and image unbar allows the tag again", async () => {
  const barred = await sh("image", "bar", "app", "1.2.0", "--reason", "returns 500", "--by", "alice");
  expect(barred).toMatchObject({ code: 0 });
  expect(barred.err).toMatch("✔ 1.2.0 is barred in ImagePolicy app");
  expect(barred.err).toMatch(`✔ selected ref ${image}:1.1.0`);
  const policy = {
    group: "image.toolkit.fluxcd.io",
    version: "v1",
    kind: "ImagePolicy",
    namespace: "default",
    name: "app",
  };
  const object = await world.cluster.get(policy, signal);
  expect(object?.metadata.annotations?.["sluice.dev/barred"]).toBe("1.2.0 alice: returns 500");
  expect((await sh("get", "image", "policy", "app")).out).toMatch("(barred: 1.2.0)");
  expect((await sh("image", "unbar", "app", "1.0.0")).err).toMatch(
    "✗ 1.0.0 is not barred in ImagePolicy app; barred: 1.2.0",
  );
  expect((await sh("image", "unbar", "app", "1.2.0")).err).toMatch(`✔ selected ref ${image}:1.2.0`);
  expect((await world.cluster.get(policy, signal))?.metadata.annotations).not.toHaveProperty("sluice.dev/barred");
});

test("a policy with digest reflection looks digests up in the registry", async () => {
  const reflecting = ["--image-ref", "app", "--select-semver", "1.x", "--reflect-digest", "IfNotPresent"];
  expect(await sh("create", "image", "policy", "digest", ...reflecting)).toMatchObject({ code: 0 });
  const { err } = await sh("reconcile", "image", "policy", "digest");
  expect(err).toMatch(/selected ref \S+:1\.2\.0@sha256:[0-9a-f]{64}\n/);
});

test("image bar refuses an invalid tag, and needs a reason", async () => {
  expect((await sh("image", "bar", "app", "app:1.2.0", "--reason", "a")).err).toMatch(
    "✗ line 1 does not begin with a tag such as 1.3.0",
  );
  expect((await sh("image", "bar", "app", "1.2.0")).err).toMatch("--reason");
});

test("an annotation that a user edits wakes the policy without a request", async () => {
  const policy = {
    group: "image.toolkit.fluxcd.io",
    version: "v1",
    kind: "ImagePolicy",
    namespace: "default",
    name: "app",
  };
  const bar = async (text: string | null): Promise<void> => {
    const body = { metadata: { annotations: { "sluice.dev/barred": text } } };
    await world.cluster.patch(policy, { type: "merge", body }, { manager: "test" }, signal);
  };
  await bar("1.2.0 bob: leaks");
  await expect.poll(async () => (await sh("get", "image", "policy", "app")).out).toMatch("resolved to 1.1.0");
  await bar(null);
  await expect.poll(async () => (await sh("get", "image", "policy", "app")).out).toMatch("resolved to 1.2.0");
});

test("suspend, resume, export and delete know the kinds by flux's names", async () => {
  expect((await sh("suspend", "image", "policy", "app")).err).toBe(
    "► suspending image policy app in default namespace\n✔ image policy suspended\n",
  );
  expect((await sh("resume", "image", "policy", "app")).err).toMatch(`✔ selected ref ${image}:1.2.0`);
  expect((await sh("export", "image", "repository", "app")).out).toMatch(`image: ${image}`);
  const update = ["create", "image", "update", "app", "--git-repo-ref", "app", "--author-email", "a@example.test"];
  const manifest = await sh(...update, "--git-repo-path", "./apps", "--push-branch", "images", "--export");
  expect(manifest.out).toBe(`---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImageUpdateAutomation
metadata:
  name: app
  namespace: default
spec:
  git:
    commit:
      author:
        email: a@example.test
    push:
      branch: images
  interval: 1m0s
  sourceRef:
    kind: GitRepository
    name: app
  update:
    path: ./apps
    strategy: Setters
`);
  expect((await sh("delete", "image", "policy", "app", "--silent")).err).toMatch("✔ image policy deleted");
  expect((await sh("suspend", "image", "update", "none")).err).toMatch("ImageUpdateAutomation none not found");
});

test.each<readonly [what: string, args: readonly string[], message: string]>([
  ["a repository without an image", ["repository", "app"], "an image repository (--image) is required"],
  [
    "a policy without a repository",
    ["policy", "app", "--select-semver", "1.x"],
    "the name of an ImageRepository in the namespace is required (--image-ref)",
  ],
  [
    "a policy without a rule",
    ["policy", "app", "--image-ref", "app"],
    "one of --select-semver, --select-alpha and --select-numeric is required",
  ],
  [
    "a policy with two rules",
    ["policy", "app", "--image-ref", "app", "--select-semver", "1.x", "--select-alpha", "asc"],
    "one of --select-semver, --select-alpha and --select-numeric is required",
  ],
  [
    "an invalid order",
    ["policy", "app", "--image-ref", "app", "--select-alpha", "up"],
    "--select-alpha must be asc or desc, not up",
  ],
  [
    "a filter template without an expression",
    ["policy", "app", "--image-ref", "app", "--select-semver", "1.x", "--filter-extract", "$1"],
    "cannot specify --filter-extract without specifying --filter-regex",
  ],
  [
    "digest lookups without an interval",
    ["policy", "app", "--image-ref", "app", "--select-semver", "1.x", "--reflect-digest", "Always"],
    "--interval is required with --reflect-digest Always: the time between two lookups of the digest",
  ],
  [
    "an interval without digest lookups",
    ["policy", "app", "--image-ref", "app", "--select-semver", "1.x", "--interval", "1m"],
    "--interval is only for --reflect-digest Always",
  ],
  ["an update without a repository", ["update", "app"], "a reference to a GitRepository is required (--git-repo-ref)"],
  [
    "an update without an author",
    ["update", "app", "--git-repo-ref", "app"],
    "an author email is required (--author-email)",
  ],
])("create image refuses %s", async (_what, args, message) => {
  expect(await sh("create", "image", ...args, "--export")).toMatchObject({ code: 1, err: `✗ ${message}\n` });
});
