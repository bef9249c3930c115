import { afterAll, describe, expect, test } from "vitest";
import { maxCopyOperations } from "../../../../lib/api/artifact-generator.ts";
import { files, generatorSpaces, split, succeeded } from "./generator-spaces.ts";

const spaces = await generatorSpaces();
const { ready, world } = spaces;
afterAll(() => spaces[Symbol.asyncDispose]());

describe("an ArtifactGenerator that cannot run as it is written", () => {
  test("does not take over the ExternalArtifact of another generator until that generator is deleted", async () => {
    const one = await ready();
    const before = await one.artifact("web");
    const copy = [{ from: "@repo/base/b.yaml", to: "@artifact/" }];
    await one.generator(
      split({
        artifacts: [
          { name: "mine", copy },
          { name: "web", copy },
        ],
      }),
      "second",
    );
    expect(await one.run("second")).toMatchObject({ outcome: "failed", dueInMs: 750 });
    const maker = `ArtifactGenerator/${one.namespace}/gen`;
    expect((await one.conditions("second")).at(-1)).toBe(
      `Ready=False ReconciliationFailed: web reconcile failed: ${maker} makes it: rename the artifact in one of the two`,
    );
    expect(await one.artifact("web")).toEqual(before);
    expect(await one.externalArtifacts()).toEqual(["api", "web"]);
    await one.remove("ArtifactGenerator", "gen");
    await one.run();
    await one.run("second");
    expect(await one.externalArtifacts()).toEqual(["mine", "web"]);
  });

  test("stalls if an artifact uses itself as a source", async () => {
    const one = await ready();
    const { sources } = split();
    const own = { alias: "self", kind: "ExternalArtifact", name: "web" };
    await one.generator(split({ sources: [...(Array.isArray(sources) ? sources : []), own] }));
    expect(await one.run()).toMatchObject({ outcome: "stalled" });
    expect((await one.conditions()).at(-1)).toContain(
      "Ready=False ValidationFailed: artifact web is made from itself, source 'self'",
    );
  });

  test("11.5/127: may not read sources of other namespaces if the installation forbids it", async () => {
    const [one, other] = [await world(), await world()];
    await one.source("repo", files, { within: other.namespace });
    const sources = [{ alias: "repo", kind: "OCIRepository", name: "repo", namespace: other.namespace }];
    await one.generator({ ...split(), sources });
    one.state.noCrossNamespaceRefs = true;
    expect(await one.run()).toMatchObject({ outcome: "stalled", dueInMs: undefined });
    const text = `cross-namespace reference to source OCIRepository/${other.namespace}/repo is not allowed`;
    expect(await one.conditions()).toEqual([`Stalled=True AccessDenied: ${text}`, `Ready=False AccessDenied: ${text}`]);
    one.state.noCrossNamespaceRefs = false;
    await one.run();
    expect(await one.conditions()).toEqual([succeeded]);
  });

  test.each([
    [
      "duplicate source alias 'repo' found",
      { sources: [1, 2].map(() => ({ alias: "repo", kind: "OCIRepository", name: "repo" })) },
    ],
    [
      "duplicate artifact name 'a' found",
      { artifacts: [1, 2].map(() => ({ name: "a", copy: [{ from: "@repo/", to: "@artifact/" }] })) },
    ],
    [
      "artifact a revision source alias 'x' not found",
      { artifacts: [{ name: "a", revision: "@x", copy: [{ from: "@repo/", to: "@artifact/" }] }] },
    ],
  ])("stalls: %s", async (text, change) => {
    const one = await world();
    await one.source("repo", files);
    await one.generator(split(change));
    expect(await one.run()).toMatchObject({ outcome: "stalled" });
    expect(await one.conditions()).toEqual([
      `Stalled=True ValidationFailed: ${text}`,
      `Ready=False ValidationFailed: ${text}`,
    ]);
    expect(await one.events()).toEqual([`Warning ValidationFailed: ${text}`]);
  });

  test("the API server rejects an artifact name that is not a valid object name, unless a pathPattern makes the names", async () => {
    const one = await world();
    const artifacts = [{ name: "{app}", copy: [{ from: "@repo/apps/{app}/**", to: "@artifact/" }] }];
    await expect(one.generator(split({ artifacts }))).rejects.toThrow(
      "artifact names must be valid Kubernetes object names when pathPattern is not set",
    );
    await one.source("repo", files);
    await one.generator(split({ artifacts, pathPattern: "@repo/apps/{app}" }));
    await one.run();
    expect(await one.externalArtifacts()).toEqual(["api", "web"]);
    const labels = (await one.get("ExternalArtifact", "web"))?.metadata.labels;
    expect(labels).toMatchObject({ app: "web" });
    await one.source("repo", { "other/x": "" }, { revision: "v2" });
    await one.run();
    expect(await one.conditions()).toEqual(["Ready=True Succeeded: reconciliation succeeded, generated 0 artifact(s)"]);
    expect(await one.externalArtifacts()).toEqual([]);
  });

  test("11.5/125: stalls until the source changes if a pathPattern gives two folders the same name", async () => {
    const one = await world();
    await one.source("repo", { "apps/Web/a": "", "apps/web/a": "" });
    const artifacts = [{ name: "{app}", copy: [{ from: "@repo/apps/{app}/**", to: "@artifact/" }] }];
    await one.generator(split({ artifacts, pathPattern: "@repo/apps/{app}" }));
    expect(await one.run()).toMatchObject({ outcome: "stalled" });
    const text = 'directories "apps/Web" and "apps/web" both resolve to artifact name "web"';
    expect(await one.conditions()).toEqual(
      ["Stalled=True", "Ready=False"].map(
        (head) => `${head} BuildFailed: failed to expand path pattern: pathPattern "@repo/apps/{app}": ${text}`,
      ),
    );
    await one.source("repo", { "apps/Web/a": "" }, { revision: "v2" });
    await one.run();
    expect(await one.externalArtifacts()).toEqual(["web"]);
  });

  test("stalls if it has more operations than the limit", async () => {
    const one = await world();
    await one.source("repo", files);
    const copies = (count: number) => [
      { name: "web", copy: Array.from({ length: count }, () => ({ from: "@repo/base/b.yaml", to: "@artifact/x" })) },
    ];
    await one.generator(split({ artifacts: copies(maxCopyOperations) }));
    expect(await one.run()).toMatchObject({ outcome: "stored" });
    await one.generator(split({ artifacts: copies(maxCopyOperations + 1) }));
    await one.run();
    const allowed = `has ${maxCopyOperations + 1} items, ${maxCopyOperations} are allowed`;
    expect((await one.conditions()).at(-1)).toContain(`Ready=False ValidationFailed: spec.artifacts: ${allowed}`);
  });
});
