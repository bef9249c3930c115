import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type HelmWorld, helmWorld, index } from "./helm-world.ts";

let world: HelmWorld;
beforeEach(async () => {
  world = await helmWorld({ helmIndexMaxBytes: 1_000 });
});
afterEach(() => world.close());

const hexOf = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const stored = (text: string) => `stored artifact: revision 'sha256:${hexOf(text)}'`;

describe("a HelmRepository with an index", () => {
  test("11.4/92: stores the index as JSON under its own digest; its revision is the digest of the server's bytes", async () => {
    world.helmRepository();
    expect(await world.runOnce()).toMatchObject({ outcome: "stored", dueInMs: 3_600_000 });
    const { artifact, url } = world.read();
    const [bytes = new Uint8Array()] = world.stored.values();
    expect(artifact).toMatchObject({
      revision: `sha256:${hexOf(index("1.0.0"))}`,
      digest: `sha256:${hexOf(bytes)}`,
      path: `helmrepository/apps/app/index-${hexOf(index("1.0.0"))}.yaml`,
      size: bytes.length,
    });
    expect(url).toBe("http://127.0.0.1:19790/helmrepository/apps/app/index.yaml");
    expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({ entries: { app: [{ version: "1.0.0" }] } });
    expect(world.said()).toEqual([
      `Ready=True Succeeded: ${stored(index("1.0.0"))}`,
      `ArtifactInStorage=True Succeeded: ${stored(index("1.0.0"))}`,
    ]);
    const from = "from 'https://charts.example.test/stable'";
    expect(world.told()).toEqual([`Normal NewArtifact: stored fetched index of size ${bytes.length}B ${from}`]);
  });

  test.each([
    ["https://charts.example.test", "https://charts.example.test/index.yaml"],
    ["https://charts.example.test/a//b/", "https://charts.example.test/a/b/index.yaml"],
    ["https://charts.example.test/a?sig=x", "https://charts.example.test/a/index.yaml?sig=x"],
  ])("%s has its index at %s", async (url, found) => {
    world.helmRepository({ url });
    await world.runOnce();
    expect(world.sent.map((request) => request.url)).toEqual([found]);
  });

  test("11.4/90: an unchanged index sends an event only for users, and keeps the artifact", async () => {
    world.helmRepository();
    await world.runOnce();
    const before = world.read().artifact;
    world.state.now += 60_000;
    expect(await world.runOnce()).toMatchObject({ outcome: "unchanged" });
    expect(world.read().artifact).toEqual(before);
    const revision = `sha256:${hexOf(index("1.0.0"))}`;
    expect(world.told().slice(1)).toEqual([
      `Normal ArtifactUpToDate: artifact up-to-date with remote revision: '${revision}'`,
    ]);
  });

  test.each([
    [{ etag: '"one"' }, { "if-none-match": '"one"' }],
    [{ "last-modified": "Sat, 21 Nov 2026 12:00:00 GMT" }, { "if-modified-since": "Sat, 21 Nov 2026 12:00:00 GMT" }],
  ])("an index whose %j has not changed is not downloaded again", async (headers, asked) => {
    Object.assign(world.server, { headers, isConditional: true });
    world.helmRepository();
    await world.runOnce();
    world.server.body = "is not read";
    await world.runOnce();
    await world.runOnce();
    expect(world.sent.map((request) => request.headers)).toEqual([{}, asked, asked]);
    expect(world.said()).toContain(`Ready=True Succeeded: ${stored(index("1.0.0"))}`);
  });

  test("after a change of the URL, or if the stored index is missing, the index is requested unconditionally", async () => {
    Object.assign(world.server, { headers: { etag: '"one"' }, isConditional: true });
    world.helmRepository();
    await world.runOnce();
    world.helmRepository({ url: "https://charts.example.test/other" });
    await world.runOnce();
    world.stored.clear();
    await world.runOnce();
    expect(world.stored.size).toBe(1);
    expect(world.sent.map((request) => request.headers)).toEqual([{}, {}, {}]);
  });

  test("a new index is announced before it is stored", async () => {
    world.helmRepository();
    await world.runOnce();
    world.server.body = index("1.0.0", "1.1.0");
    world.writes.length = 0;
    await world.runOnce();
    const outdated = `"message":"new index revision 'sha256:${hexOf(world.server.body)}'"`;
    expect(JSON.stringify(world.writes[0]?.body)).toContain(outdated);
    expect(world.said()).toContain(`Ready=True Succeeded: ${stored(world.server.body)}`);
  });

  test("an index that cannot be parsed fails, and the last artifact is kept", async () => {
    world.helmRepository();
    await world.runOnce();
    const before = world.read().artifact;
    world.server.body = "apiVersion: v1\nentries: [\n";
    expect(await world.runOnce()).toMatchObject({ outcome: "failed", dueInMs: 750 });
    const why =
      "failed to load Helm repository from index YAML: failed to load index: error converting YAML to JSON: yaml: line 2: did not find expected node content";
    expect(world.said()).toContain(`FetchFailed=True IndexationFailed: ${why}`);
    expect(world.read().artifact).toEqual(before);
    expect(world.told().at(-1)).toBe(`Warning IndexationFailed: ${why}`);
  });

  test.each([
    [{ body: "x".repeat(1_001) }, "index exceeds the maximum index file size of 1000 bytes"],
    [{ status: 404 }, "failed to fetch https://charts.example.test/stable/index.yaml : 404 Not Found"],
  ])("11.4/89: %o fails and is retried", async (answer, why) => {
    Object.assign(world.server, answer);
    world.helmRepository();
    expect(await world.runOnce()).toMatchObject({ outcome: "failed", dueInMs: 750 });
    const message = `failed to fetch Helm repository index: failed to cache index to temporary file: ${why}`;
    expect(world.said()).toContain(`FetchFailed=True Failed: ${message}`);
    expect(world.told()).toEqual([`Warning Failed: ${message}`]);
  });

  test("a server that sends Retry-After is not asked again before that time", async () => {
    Object.assign(world.server, { status: 503, headers: { "retry-after": "30" } });
    world.helmRepository();
    expect(await world.runOnce()).toMatchObject({ dueInMs: 30_000 });
  });

  test.each([
    [
      "oci://example.test/charts",
      "'oci' URL scheme cannot be used with 'default' HelmRepository type; set spec.type: oci",
    ],
    ["https://charts.example.test:x/", `parse "https://charts.example.test:x/": invalid port ":x" after host`],
  ])("11.4/88: %s stalls with type default", async (url, why) => {
    world.helmRepository({ url });
    expect(await world.runOnce()).toMatchObject({ outcome: "stalled" });
    const message = `URLInvalid: invalid Helm repository URL: ${why}`;
    expect(world.said()).toEqual([`Stalled=True ${message}`, `Ready=False ${message}`, `FetchFailed=True ${message}`]);
    expect(world.sent).toEqual([]);
  });

  test("a login in the URL is sent, but never shown", async () => {
    world.server.status = 404;
    world.helmRepository({ url: "https://ann:s3cret@charts.example.test/" });
    await world.runOnce();
    expect(world.sent[0]).toMatchObject({
      url: "https://charts.example.test/index.yaml",
      headers: { authorization: `Basic ${Buffer.from("ann:s3cret").toString("base64")}` },
    });
    expect([...world.said(), ...world.told()].join()).not.toContain("s3cret");
  });
});

describe("a HelmRepository of type oci", () => {
  const oci = { type: "oci", url: "oci://example.test/charts" };

  test("11.4/86: has no finalizer, no condition and no artifact", async () => {
    world.helmRepository(oci);
    expect(await world.runOnce()).toMatchObject({ outcome: "static", dueInMs: undefined });
    expect([world.get("app").metadata.finalizers ?? [], world.get("app")["status"]]).toEqual([[], {}]);
    expect([world.sent, world.events]).toEqual([[], []]);
  });

  test("a change of it wakes the charts that may have stalled on its spec; a run without a change does not", async () => {
    world.helmRepository(oci);
    await world.runOnce();
    world.requested.length = 0;
    world.helmRepository({ ...oci, url: "oci://example.test/other" });
    await world.runOnce();
    const why = "here/source.toolkit.fluxcd.io/HelmRepository/apps/app may have changed";
    expect(world.requested).toMatchObject([{ why }]);
    world.state.isRequested = false;
    await world.runOnce();
    expect(world.requested).toHaveLength(1);
  });

  test("11.4/87: if it had an index before, it loses artifact, finalizer and status", async () => {
    world.helmRepository();
    await world.runOnce();
    world.helmRepository(oci);
    await world.runOnce();
    expect([world.get("app").metadata.finalizers, world.get("app")["status"], world.recorded.size]).toEqual([
      [],
      {},
      0,
    ]);
  });
});
