import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../../../lib/core/json.ts";

// Objects of image automation as the controllers of Flux 2.9 have left them: test/fixtures/flux-images and test/fixtures/image-automation.

const fixtures = join(import.meta.dirname, "../../../fixtures");

const Left = z.object({
  kind: z.string(),
  metadata: z.object({ namespace: z.string() }).loose(),
  spec: z.custom<JsonObject>(isJsonObject),
  status: z.custom<JsonObject>(isJsonObject),
});
export type Left = z.infer<typeof Left>;

const Images = z.object({
  steps: z.array(z.object({ step: z.string(), flux: z.object({ objects: z.array(z.unknown()) }) })),
});
const Automations = z.object({ objects: z.array(z.unknown()) });

/** What a step of a scenario of ImageRepositories and ImagePolicies has left, with these texts in place of others. */
export async function leftByReflector(
  scenario: string,
  step: string,
  texts: Readonly<Record<string, string>>,
): Promise<readonly Left[]> {
  const file = await readFile(join(fixtures, "flux-images", `${scenario}.json`), "utf8");
  const { steps } = Images.parse(JSON.parse(replaced(file, texts)));
  return objectsIn(steps.find((one) => one.step === step)?.flux.objects ?? []);
}

/** The same of a scenario of ImageUpdateAutomations. */
export async function leftByAutomation(
  scenario: string,
  step: string,
  texts: Readonly<Record<string, string>>,
): Promise<readonly Left[]> {
  const file = await readFile(join(fixtures, "image-automation", scenario, `${step}.yaml`), "utf8");
  return objectsIn(Automations.parse(parse(replaced(file, texts))).objects);
}

/** The object of this kind. */
export function leftOf(kind: string, objects: readonly Left[]): Left {
  const found = objects.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`the recording has no ${kind}`);
  return found;
}

function objectsIn(objects: readonly unknown[]): readonly Left[] {
  return objects.flatMap((one) => Left.safeParse(one).data ?? []);
}

function replaced(file: string, texts: Readonly<Record<string, string>>): string {
  return Object.entries(texts).reduce((text, [recorded, own]) => text.replaceAll(recorded, own), file);
}
