import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";

// node test/e2e/recorded-images/write-fixtures.ts FOLDER: makes the fixtures of recordings of real Flux, one folder for each scenario.

const fixtures = join(import.meta.dirname, "../../fixtures/flux-images");
const scenario = /^image-(?:repository|policy)/;

/** What was published at a step, by its number in `source.yaml`. */
const published: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "image-policy-digest": { "if-not-present": ["1"], "tag-moved": ["2"], "new-tag": ["3"] },
  "image-policy-filter": { timestamp: ["1"], "newer-build": ["2"] },
  "image-policy-order": { alphabetical: ["1"], "forms-of-numbers": ["2"] },
  "image-policy-semver": { "one-x": ["1"], "new-tag": ["2"], "another-old-tag": ["3"] },
  "image-repository": { create: ["1"], "new-tag": ["2"], "tag-removed": ["3"], "another-image": ["4"] },
  "image-repository-exclusion-list": { default: ["1"] },
  "image-repository-many-tags": { "500-tags": ["1"] },
  "image-repository-suspend": { create: ["1"], suspended: ["2"] },
  "image-repository-unreachable": { "image-published": ["1"] },
};

/** Requests of objects that the step does not show. */
const asked: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "image-policy-digest": { "new-tag": "ImageRepository/app" },
  "image-policy-filter": { "newer-build": "ImageRepository/app" },
  "image-policy-order": { "forms-of-numbers": "ImageRepository/app" },
};

/** What was published at a step of a scenario of automations, in its order; of tags a scan is asked for. */
const publishedToAutomations: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "image-automation": {
    "first-commit": ["1", "2"],
    "new-tag": ["3"],
    "commit-of-another": ["4"],
    "set-back": ["5"],
  },
  "image-automation-markers": { "no-digest": ["1", "2"], "new-tag": ["3"], "digest-changed": ["4"] },
  "image-automation-message": {
    "default-message": ["1", "2"],
    "no-name": ["3"],
    "one-line": ["4"],
    values: ["5"],
    "changed-by": ["6"],
    empty: ["7"],
    "white-space": ["8"],
  },
  "image-automation-path": {
    folder: ["1", "2"],
    file: ["3"],
    missing: ["4"],
    link: ["5"],
    "leading-slash": ["6"],
    above: ["7"],
  },
  "image-automation-push-branch": {
    "branch-created": ["1", "2"],
    "branch-extended": ["3"],
    "merged-and-deleted": ["4", "5"],
    "branch-created-again": ["6"],
  },
  "image-automation-suspend": { "born-suspended": ["1", "2"], suspended: ["3"] },
  "image-automation-two": { first: ["1", "2"], "one-suspended": ["3"] },
  "image-automation-values": { values: ["1", "2"], "new-tag": ["3"] },
};

/** Steps whose objects stand under another comment. */
const commentOf: Readonly<Record<string, string>> = {
  "image-automation/nothing-to-change": "another",
  "image-automation-two/one-suspended": "one-after-the-other",
  "image-automation-two/both": "one-after-the-other",
};

const ignored = "<ignored>";
const Event = z.looseObject({ object: z.string(), type: z.string(), message: z.string() });
const Applied = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) });
/** What was deleted before a step: the recording shows it by the events that are missing. */
const deleted: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "image-policy-order": {
    "forms-of-numbers": ["numbers", "num-asc", "num-desc", "num-no-order"].map((name) => `ImagePolicy/${name}`),
  },
};

const requestedAt = "reconcile.fluxcd.io/requestedAt";
const Shown = z.looseObject({
  kind: z.string(),
  name: z.string().optional(),
  answer: z.string().optional(),
  metadata: z.looseObject({ name: z.string(), annotations: z.record(z.string(), z.string()).optional() }).optional(),
});
type Shown = z.infer<typeof Shown>;
const Step = z.object({
  step: z.string(),
  notes: z.string().optional(),
  objects: z.array(Shown),
  events: z.array(Event),
});
type Step = z.infer<typeof Step>;

const AutomationStep = Step.extend({ git: z.looseObject({}) });

const [, , from = ""] = process.argv;
for (const name of (await readdir(from)).filter((one) => scenario.test(one)).toSorted()) {
  await writeFile(join(fixtures, `${name}.json`), `${JSON.stringify(await fixtureOf(name), undefined, 1)}\n`);
}

for (const name of Object.keys(publishedToAutomations)) {
  const text = JSON.stringify(await automationFixture(name), undefined, 1);
  await writeFile(join(fixtures, "automations", `${name}.json`), `${text}\n`);
}

/** Of the objects only the automations: those that they depend on are in scenarios of their own. */
async function automationFixture(name: string): Promise<object> {
  const folder = join(from, name);
  const files = (await readdir(folder)).filter((file) => /^\d/.test(file)).toSorted();
  const steps = await Promise.all(
    files.map(async (file) => AutomationStep.parse(parse(await readFile(join(folder, file), "utf8")))),
  );
  const inputs = await inputsIn(join(folder, "input.yaml"));
  const source: unknown = parse(await readFile(join(folder, "source.yaml"), "utf8"));
  const requests = new Map<string, string>();
  const isOfAutomation = (object: unknown): boolean => String(object).startsWith("ImageUpdateAutomation/");
  return {
    source,
    steps: steps.map(({ step, notes, objects, events, git }, index) => {
      const comment = commentOf[`${name}/${step}`] ?? step;
      const shown = objects.filter(({ kind }) => kind === "ImageUpdateAutomation");
      const own = inputs.filter((one) => one.step === comment);
      // Two steps of one comment have an object each.
      const isShared = Object.values(commentOf).filter((each) => each === comment).length > 1;
      const applied = (isShared ? own.splice(step === "both" ? 1 : 0, 1) : own).map(({ manifest }) => ({
        apply: manifest,
      }));
      const publish = (publishedToAutomations[name]?.[step] ?? []).map((number) => ({ publish: number }));
      // The request that a suspended automation ignores was applied with it.
      const ignored = shown.filter(({ metadata }) => metadata?.annotations?.[requestedAt] === "<ignored>");
      const asked = shown.filter((one) => !ignored.includes(one)).flatMap((one) => actionsFor(one, requests));
      const reapplied = ignored.length === 0 ? [] : applied.map(({ apply }) => ({ apply: withRequest(apply) }));
      const before = inputs.filter((one) => one.step === undefined).map(({ manifest }) => ({ apply: manifest }));
      const isSuspending = step === "one-suspended" || step === "suspended";
      return {
        step,
        ...(notes === undefined ? {} : { notes }),
        do: [
          ...asked.filter((each) => "unrequest" in each),
          ...(isSuspending ? applied : []),
          ...publish,
          ...(index === 0 ? [...before, "settle"] : []),
          ...(isSuspending ? reapplied : applied),
          ...asked.filter((each) => !("unrequest" in each)),
        ],
        flux: { objects: shown, events: events.filter(({ object }) => isOfAutomation(object)), git },
      };
    }),
  };
}

function withRequest(manifest: unknown): object {
  const { metadata, ...rest } = z.looseObject({ metadata: z.looseObject({}) }).parse(manifest);
  return { ...rest, metadata: { ...metadata, annotations: { [requestedAt]: "<ignored>" } } };
}

async function fixtureOf(name: string): Promise<object> {
  const folder = join(from, name);
  const files = (await readdir(folder)).filter((file) => /^\d/.test(file)).toSorted();
  const steps = await Promise.all(
    files.map(async (file) => Step.parse(parse(await readFile(join(folder, file), "utf8")))),
  );
  const inputs = await inputsIn(join(folder, "input.yaml"));
  const source: unknown = parse(await readFile(join(folder, "source.yaml"), "utf8"));
  const requests = new Map<string, string>();
  const told = new Map<string, string>();
  return {
    source,
    steps: steps.map((step, index) => {
      const publish = (published[name]?.[step.step] ?? []).map((number) => ({ publish: number }));
      const before = index === 0 ? inputs.filter((one) => one.step === undefined) : [];
      const own = inputs.filter((one) => one.step === step.step);
      const hidden = asked[name]?.[step.step];
      return {
        step: step.step,
        ...(step.notes === undefined ? {} : { notes: step.notes }),
        do: [
          ...(deleted[name]?.[step.step] ?? []).map((object) => ({ delete: object })),
          ...publish,
          ...(before.length === 0 ? [] : [...before.map(({ manifest }) => ({ apply: manifest })), "settle"]),
          ...(hidden === undefined ? [] : [{ request: `<hidden ${step.step}>`, object: hidden }, "settle"]),
          ...own.map(({ manifest }) => ({ apply: withIgnored(manifest, step) })),
          ...step.objects.flatMap((shown) => actionsFor(shown, requests)),
        ],
        flux: { objects: step.objects, events: step.events.filter((event) => !isOfRetry(event, step, told)) },
      };
    }),
  };
}

/** A request that is ignored was applied with its object: no other manager has its annotation. */
function withIgnored(manifest: unknown, { objects }: Step): unknown {
  const { metadata, ...rest } = Applied.parse(manifest);
  const shown = objects.find((one) => one.kind === rest.kind && one.metadata?.name === metadata.name);
  if (shown?.metadata?.annotations?.[requestedAt] !== ignored) return manifest;
  return { ...rest, metadata: { ...metadata, annotations: { [requestedAt]: ignored } } };
}

/** Whether an event tells again what its object failed with in an earlier step, since Flux has tried again meanwhile. */
function isOfRetry({ object, type, message }: z.infer<typeof Event>, { objects }: Step, told: Map<string, string>) {
  const isTold = type === "Warning" && told.get(object) === message;
  told.set(object, message);
  return isTold && !objects.some((shown) => `${shown.kind}/${shown.metadata?.name}` === object);
}

function actionsFor(shown: Shown, requests: Map<string, string>): readonly object[] {
  const { kind, metadata, name = metadata?.name ?? "" } = shown;
  const object = `${kind}/${name}`;
  if (shown.answer !== undefined) return [{ delete: object }];
  const value = metadata?.annotations?.[requestedAt];
  const before = requests.get(object);
  if (value === before || value === ignored) return [];
  if (value === undefined) {
    requests.delete(object);
    return [];
  }
  requests.set(object, value);
  return [{ request: value, object }];
}

/** Each object stands under a comment with the step that it was applied in; those before the first comment were applied before it. */
async function inputsIn(file: string) {
  const documents = parseAllDocuments(await readFile(file, "utf8"));
  return documents.map((document) => {
    const step = document.commentBefore?.trim() ?? /^ ?(.*)$/m.exec(document.contents?.commentBefore ?? "")?.[1];
    return { step: step === "" ? undefined : step, manifest: document.toJS() as unknown };
  });
}
