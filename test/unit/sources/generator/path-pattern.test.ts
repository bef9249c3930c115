import { expect, test } from "vitest";
import type { OutputArtifact } from "../../../../lib/api/artifact-generator.ts";
import { artifactRequests, maxArtifacts, maxCaptures } from "../../../../lib/sources/generator/path-pattern.ts";
import { budget, tree } from "./trees.ts";

const folders = ["apps/Web/envs/prod", "apps/Web/envs/dev", "apps/api/envs/prod", "other"];
const output: OutputArtifact = { name: "{app}", copy: [{ from: "@repo/apps/{app}/**", to: "@artifact/{app}" }] };

async function requests(pathPattern: string, artifacts: readonly OutputArtifact[] = [output], list = folders) {
  const source = tree(Object.fromEntries([...list.map((path) => [`${path}/`, ""] as const), ["apps/file", ""]]));
  return artifactRequests({ artifacts, pathPattern }, new Map([["repo", source]]), budget());
}

test("11.5/126: a pathPattern makes artifacts for each matching folder: names and labels in lower case, paths as they are", async () => {
  const [web, api, ...others] = await requests("@repo/apps/{app}");
  expect(web).toEqual({
    name: "web",
    copy: [{ from: "@repo/apps/Web/**", to: "@artifact/Web" }],
    labels: { app: "web" },
  });
  expect(api).toMatchObject({ name: "api", labels: { app: "api" } });
  expect(others).toEqual([]);
});

test("several captures in a pathPattern match as in a regular expression", async () => {
  const named = { ...output, name: "{app}-{env}" };
  const both = await requests("@repo/apps/{app}/envs/{env}", [named]);
  expect(both.map(({ name }) => name)).toEqual(["web-dev", "web-prod", "api-prod"]);
  const split = await requests("@repo/{app}-{env}", [named], ["a-b-c", "nothing", "-x"]);
  expect(split.map(({ labels }) => labels)).toEqual([{ app: "a-b", env: "c" }]);
});

test("a pathPattern without a match gives no artifact, and without a pathPattern the list stays as it is", async () => {
  expect(await requests("@repo/none/{app}")).toEqual([]);
  expect(await requests("@repo/")).toEqual([]);
  expect(await requests("@repo/apps.*/{app}")).toEqual([]);
  expect(await artifactRequests({ artifacts: [output] }, new Map(), budget())).toEqual([{ ...output, labels: {} }]);
});

test.each([
  ["@other/{app}", 'pathPattern "@other/{app}": source alias other not found in local sources'],
  ["@repo/{app", 'pathPattern "@repo/{app": invalid capture starting at offset 0: missing closing brace'],
  ["@repo/app}", 'pathPattern "@repo/app}": invalid capture ending at offset 3: missing opening brace'],
  ["@repo/{}", 'pathPattern "@repo/{}": empty capture variable'],
  [
    "@repo/{1a}",
    'pathPattern "@repo/{1a}": capture variable "1a" must be a valid capture name matching [A-Za-z_][A-Za-z0-9_]*',
  ],
  ["@repo/{a}/{a}", 'pathPattern "@repo/{a}/{a}": duplicate capture variable "a"'],
  ["@repo/{_a}", 'pathPattern "@repo/{_a}": capture variable "_a" is not a valid Kubernetes label key: name part must'],
  [
    "@repo/{dir}",
    'pathPattern "@repo/{dir}": failed to render artifact {app} for match apps: invalid template "{app}": capture variable "app" is not defined by pathPattern',
  ],
])("%s is refused: %s", async (pattern, why) => {
  await expect(requests(pattern)).rejects.toThrow(why);
});

test.each([
  ["a_b", 'rendered artifact name "a_b" is not a valid Kubernetes object name: a lowercase RFC 1123 subdomain must'],
  ["-a", 'captured value "-a" for variable "app" is not a valid Kubernetes label value: a valid label must be'],
  ["a".repeat(64), "is not a valid Kubernetes label value: must be no more than 63 bytes"],
])("a folder %s is refused: %s", async (folder, why) => {
  await expect(requests("@repo/{app}", [output], [folder])).rejects.toThrow(why);
});

test("11.5/125: two folders whose lower-case names are equal are refused, and the message has both names", async () => {
  await expect(requests("@repo/apps/{app}", [output], ["apps/Web", "apps/web"])).rejects.toThrow(
    'pathPattern "@repo/apps/{app}": directories "apps/Web" and "apps/web" both resolve to artifact name "web"',
  );
});

test("a pathPattern with more captures than allowed is refused", async () => {
  const captures = (count: number) => Array.from({ length: count }, (_, at) => `{a${at}}`).join("/");
  expect(await requests(`@repo/${captures(maxCaptures)}`)).toEqual([]);
  await expect(requests(`@repo/${captures(maxCaptures + 1)}`)).rejects.toThrow(`more than ${maxCaptures} captures`);
});

test("a pathPattern that makes more artifacts than a spec may list is refused", async () => {
  const list = (count: number) => Array.from({ length: count }, (_, index) => `apps/a${index}`);
  expect(await requests("@repo/apps/{app}", [output], list(maxArtifacts))).toHaveLength(maxArtifacts);
  await expect(requests("@repo/apps/{app}", [output], list(maxArtifacts + 1))).rejects.toThrow(
    `it makes more than ${maxArtifacts} artifacts`,
  );
});
