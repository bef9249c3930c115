import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";

const page = await readFile(join(import.meta.dirname, "../../../docs/git-hosts.md"), "utf8");
const blocks = [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text = ""]) => text);

const Shown = z.strictObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.strictObject({ name: z.string(), namespace: z.string() }),
  spec: z.record(z.string(), z.json()).exactOptional(),
  stringData: z.record(z.string(), z.string()).exactOptional(),
});
const objects = blocks.flatMap((text) => loadAll(text).map((value) => Shown.parse(value)));
const shown = objects.map((object) => ({ ...object, title: `${object.kind} ${object.metadata.name}` }));

/** The path of each field, so that one that the schema does not know, and drops, is noticed. */
function paths(value: unknown, at = ""): readonly string[] {
  if (typeof value !== "object" || value === null) return [at];
  return Object.entries(value).flatMap(([name, part]) => paths(part, `${at}.${name}`));
}

describe("the guide for git hosts", () => {
  test("shows objects of every kind that it mentions", () => {
    expect(new Set(objects.map(({ kind }) => kind))).toEqual(new Set(["GitRepository", "Receiver", "Secret"]));
    const hosts = [...page.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
    expect(hosts).toEqual([
      "The same everywhere",
      "GitHub",
      "GitLab",
      "Bitbucket Cloud",
      "Bitbucket Server and Data Center",
      "Gitea and Forgejo",
      "AWS CodeCommit",
      "Azure DevOps",
      "When nothing happens",
    ]);
  });

  const ours = shown.filter((object) => declaredKinds.some(({ kind }) => kind === object.kind));
  test.each(ours)("shows $title with known fields", async (object) => {
    const declared = declaredKinds.find(({ kind }) => kind === object.kind);
    expect(object.apiVersion).toBe(`${declared?.group}/${declared?.versions[0]}`);
    const schema = (await declared?.schemas())?.spec;
    const parsed = schema?.safeParse(object.spec);
    expect(parsed?.error?.issues).toBeUndefined();
    expect(paths(parsed?.data)).toEqual(expect.arrayContaining([...paths(object.spec)]));
  });

  test.each(shown.filter(({ kind }) => kind === "Secret"))("shows $title with text", ({ apiVersion, stringData }) => {
    expect(apiVersion).toBe("v1");
    expect(Object.keys(stringData ?? {})).not.toEqual([]);
  });
});
