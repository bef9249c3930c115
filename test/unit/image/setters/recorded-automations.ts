import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import type { ChosenImage } from "../../../../lib/image/image-change.ts";

// What Flux 2.9 has committed: test/fixtures/image-automation.

const fixtures = join(import.meta.dirname, "../../../fixtures/image-automation");

const Files = z.record(z.string(), z.unknown());
const Source = z.record(
  z.string(),
  z.object({ files: Files.exactOptional(), parent: z.string().exactOptional() }).loose(),
);
const Image = z.object({ name: z.string(), tag: z.string(), digest: z.string().exactOptional() });
const Automation = z.object({
  metadata: z.object({ namespace: z.string() }).exactOptional(),
  status: z
    .object({
      lastPushCommit: z.string().exactOptional(),
      observedPolicies: z.record(z.string(), Image).exactOptional(),
    })
    .exactOptional(),
});
const Step = z.object({
  git: z
    .object({
      commits: z
        .array(z.object({ commit: z.string(), parents: z.array(z.string()), files: z.record(z.string(), z.string()) }))
        .exactOptional(),
    })
    .exactOptional(),
  objects: z.array(Automation).exactOptional(),
});

/** The texts of files by path; a link has none. */
type Texts = ReadonlyMap<string, string>;

export interface RecordedFile {
  readonly scenario: string;
  readonly step: string;
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly images: ReadonlyMap<string, ChosenImage>;
}

/** Every file that an automation has changed in a recording, with what it was before and the images of that run. */
export function recordedFiles(): readonly RecordedFile[] {
  return readdirSync(fixtures).flatMap(filesOfScenario);
}

function filesOfScenario(scenario: string): readonly RecordedFile[] {
  const folder = join(fixtures, scenario);
  const source = Source.parse(parse(readFileSync(join(folder, "source.yaml"), "utf8")));
  const own = new Map(
    Object.entries(source).flatMap(([title, published]) => {
      const id = /main is now (.+)$/.exec(title)?.[1];
      return id === undefined ? [] : [[id, published] as const];
    }),
  );
  const states = new Map<string, Texts>();
  const stateOf = (commit: string): Texts => {
    const state = states.get(commit);
    if (state !== undefined) return state;
    const published = own.get(commit);
    const texts = Object.entries(published?.files ?? {}).filter(
      (file): file is [string, string] => typeof file[1] === "string",
    );
    return new Map([...(published?.parent === undefined ? [] : stateOf(published.parent)), ...texts]);
  };
  const steps = readdirSync(folder).filter((name) => /^\d/.test(name));
  return steps.toSorted().flatMap((step) => {
    const { git, objects = [] } = Step.parse(parse(readFileSync(join(folder, step), "utf8")));
    return (git?.commits ?? []).flatMap(({ commit, parents, files }) => {
      const before = stateOf(parents[0] ?? "");
      const images = imagesOf(objects.find(({ status }) => status?.lastPushCommit === commit));
      states.set(commit, new Map([...before, ...Object.entries(files)]));
      return Object.entries(files).map(([path, after]) => ({
        scenario,
        step: step.replace(".yaml", ""),
        path,
        before: before.get(path) ?? "",
        after,
        images,
      }));
    });
  });
}

function imagesOf(automation: z.infer<typeof Automation> | undefined): ReadonlyMap<string, ChosenImage> {
  const images = Object.entries(automation?.status?.observedPolicies ?? {}).map(([policy, image]) => ({
    setter: `${automation?.metadata?.namespace}:${policy}`,
    ...image,
  }));
  return new Map(images.map((image) => [image.setter, image]));
}
