import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { ImagePolicySpec } from "../../../lib/api/image-policy.ts";
import { ImageRepositorySpec } from "../../../lib/api/image-repository.ts";
import { ImageUpdateAutomationSpec } from "../../../lib/api/image-update-automation.ts";
import { helmModule, wasmHelm } from "../../../lib/engine/wasm-helm.ts";
import { commitMessage, type MessageOf } from "../../../lib/image/commit-message.ts";
import { pullRequestAnnotation } from "../../../lib/image/pull-request/find-host.ts";
import { secretAnnotation } from "../../../lib/image/pull-request/pull-request-for.ts";
import { bodyAnnotation, titleAnnotation } from "../../../lib/image/pull-request/request-text.ts";
import { setImages } from "../image/setters/set-file.ts";

const root = join(import.meta.dirname, "../../..");
const example = join(root, "examples/podinfo-images");
const page = await readFile(join(root, "docs/image-automation.md"), "utf8");
const onPage = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = ""]) => text);
const inExample = await Promise.all(
  (await readdir(example))
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => readFile(join(example, name), "utf8")),
);

const specs = {
  ImageRepository: ImageRepositorySpec,
  ImagePolicy: ImagePolicySpec,
  ImageUpdateAutomation: ImageUpdateAutomationSpec,
} as const;
const Resource = z.object({
  apiVersion: z.string(),
  kind: z.enum(["ImagePolicy", "ImageRepository", "ImageUpdateAutomation"]),
  spec: z.looseObject({}),
});

const documents = [...onPage, ...inExample].flatMap((text) => loadAll(text));
const resources = documents.flatMap((document) => {
  const parsed = Resource.safeParse(document);
  return parsed.success ? [parsed.data] : [];
});

const engine = wasmHelm({ file: helmModule, threads: 1, idleMs: 60_000 });
afterAll(() => engine.close());

const of: MessageOf = {
  cluster: "home",
  automation: { namespace: "apps", name: "podinfo" },
  values: { cluster: "production" },
  changes: [
    {
      path: "web.yaml",
      objects: [
        {
          object: { apiVersion: "apps/v1", kind: "Deployment", namespace: "apps", name: "podinfo" },
          changes: [{ oldValue: "podinfo:1.0.0", newValue: "podinfo:1.1.0", setter: "apps:podinfo" }],
        },
      ],
    },
  ],
};

test("every image resource of the page and of the example has only fields of its kind", () => {
  expect(resources.length).toBeGreaterThanOrEqual(6);
  for (const { kind, spec } of resources) expect(specs[kind].parse(spec)).toMatchObject(spec);
});

describe("the commit messages on the page", () => {
  const templates = documents.flatMap((document) => {
    const found = z
      .union([
        z.object({ messageTemplate: z.string() }),
        z
          .object({ spec: z.object({ git: z.object({ commit: z.object({ messageTemplate: z.string() }) }) }) })
          .transform(({ spec }) => spec.git.commit),
      ])
      .safeParse(document);
    return found.success ? [found.data.messageTemplate] : [];
  });

  test("are the output of their templates", async () => {
    const messages = await Promise.all(
      templates.map((template) => commitMessage(template, of, engine, new AbortController().signal)),
    );
    const short = "Update podinfo\n\n- podinfo:1.0.0 -> podinfo:1.1.0\n";
    expect(messages).toEqual([short, "Update production\n\nweb.yaml\n  Deployment/podinfo podinfo:1.1.0\n", short]);
  });
});

test("the markers of the example are set, and nothing else changes", async () => {
  const images = new Map([
    ["default:podinfo", { setter: "default:podinfo", name: "127.0.0.1:5000/podinfo", tag: "1.1.0" }],
  ]);
  const folder = join(example, "deploy");
  const changed = await Promise.all(
    (await readdir(folder)).map(async (path) =>
      setImages({ path, content: await readFile(join(folder, path)) }, images),
    ),
  );
  const lines = await Promise.all(
    changed
      .flatMap((file) => (file === undefined ? [] : [file]))
      .map(async ({ content, path }) => {
        const before = (await readFile(join(folder, path), "utf8")).split("\n");
        const after = Buffer.from(content).toString().split("\n");
        return after.filter((line, at) => line !== before[at]).map((line) => line.trim());
      }),
  );
  expect(lines.flat()).toEqual([
    'image: 127.0.0.1:5000/podinfo:1.1.0 # {"$imagepolicy": "default:podinfo"}',
    'newTag: 1.1.0 # {"$imagepolicy": "default:podinfo:tag"}',
  ]);
});

test("the page names the annotations of pull requests", () => {
  for (const annotation of [pullRequestAnnotation, titleAnnotation, bodyAnnotation, secretAnnotation]) {
    expect(page).toContain(`| \`${annotation}\` |`);
  }
});
