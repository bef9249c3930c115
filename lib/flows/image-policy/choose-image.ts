import type { ImagePolicySpec, ImageRef } from "../../api/image-policy.ts";
import { barredAnnotation } from "../../api/names.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import { type BarredImage, parseBarred } from "../../image/barred/barred-images.ts";
import { choices } from "../../image/choose/choices.ts";
import { filterTags } from "../../image/choose/filter-tags.ts";
import { rankingOf } from "../../image/choose/ranking.ts";
import type { PolicyContext, ReferredRepository } from "./policy-context.ts";
import { listed } from "./policy-status.ts";

/** A policy's choice. */
export interface Choice {
  readonly ref: ImageRef;
  /** The barred tags that would have been chosen, the best first. */
  readonly passedOver: readonly string[];
}

/** Steps 5 to 9 of a pass (reference image-automation 3.4). Undefined if the store has no tags of the repository. Throws a {@link Failure} in Flux's words. */
export async function chooseImage(
  spec: ImagePolicySpec,
  repository: ReferredRepository,
  ctx: PolicyContext,
): Promise<Choice | undefined> {
  const { deps, live, run } = ctx;
  const ranking = rankingOf(spec.policy);
  const barred = barredBy(live.metadata.annotations?.[barredAnnotation]);
  const tags = (await deps.imageTags.get(repository.key, run.signal))?.tags ?? [];
  if (tags.length === 0) return undefined;
  const candidates = await filterTags(tags, spec.filterTags, run.signal);
  const ordered = await choices(candidates, ranking, run.signal);
  const passedOver: string[] = [];
  for await (const tag of ordered) {
    const bars = barred.filter((one) => one.tag === tag);
    const known = new Map<string, string>();
    if (await isBarred(bars, () => digestOf(tag, repository, known, ctx))) {
      passedOver.push(tag);
      continue;
    }
    return { ref: await refOf(tag, spec, repository, known, ctx), passedOver };
  }
  throw new Failure("Failure", `every tag that the policy admits is barred: ${listed(passedOver)}`);
}

function barredBy(annotation = ""): readonly BarredImage[] {
  try {
    return parseBarred(annotation);
  } catch (error) {
    const message = `invalid policy: annotation ${barredAnnotation}: ${messageOf(error)}`;
    throw new Failure("InvalidPolicy", message, { cause: error });
  }
}

/** Whether a tag with these entries is barred. The digest is asked for only where an entry depends on it. */
async function isBarred(bars: readonly BarredImage[], digest: () => Promise<string>): Promise<boolean> {
  if (bars.length === 0) return false;
  if (bars.some((one) => one.digest === undefined)) return true;
  const present = await digest();
  return bars.some((one) => one.digest === present);
}

/** The chosen tag with its digest, where the policy asks for it (reference image-automation 3.5). */
async function refOf(
  tag: string,
  { digestReflectionPolicy }: ImagePolicySpec,
  repository: ReferredRepository,
  known: Map<string, string>,
  ctx: PolicyContext,
): Promise<ImageRef> {
  const name = repository.spec.image;
  if (digestReflectionPolicy === "Never") return { name, tag };
  const former = ctx.before.latestRef;
  const isKnown = former?.name === name && former.tag === tag && former.digest !== undefined && former.digest !== "";
  if (digestReflectionPolicy === "IfNotPresent" && isKnown) return former;
  return { name, tag, digest: await digestOf(tag, repository, known, ctx) };
}

/** Looks it up once a run. */
async function digestOf(
  tag: string,
  repository: ReferredRepository,
  known: Map<string, string>,
  { deps, run }: PolicyContext,
): Promise<string> {
  const digest = known.get(tag) ?? (await deps.digestOfTag(repository, tag, run));
  known.set(tag, digest);
  return digest;
}
