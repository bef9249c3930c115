import { originalsAnnotation } from "../../api/names.ts";
import { canaryText } from "../../canary/canary.ts";
import { canaryManager } from "../../canary/canary-deps.ts";
import { originalsOf, type TakeOver, withOriginal } from "../../canary/routes/originals.ts";
import { refOf } from "../../core/manifest.ts";
import type { CanaryContext } from "./canary-context.ts";

/** Saves the original state of other owners' objects in an annotation of the Canary, before the Canary writes them. */
interface Keeper {
  /** Without a word: an apex Service that is taken over is documented. */
  readonly keep: TakeOver;
  /** Reports it first, so that a step that is cut off in between reports it twice rather than never. */
  readonly take: TakeOver;
}

export function keeperOf(ctx: CanaryContext): Keeper {
  const { canary, home, run } = ctx;
  let known = originalsOf(canary);
  const keep: TakeOver = async (live) => {
    const { originals, text } = withOriginal(known, live);
    const body = { metadata: { annotations: { [originalsAnnotation]: text } } };
    await home.patch(refOf(canary.live), { type: "merge", body }, { manager: canaryManager }, run.signal);
    known = originals;
  };
  const take: TakeOver = async (live) => {
    const what = `${live.kind} ${live.metadata.name}.${canary.namespace}`;
    const how = "set spec.revertOnDeletion to have it given back when the Canary is deleted";
    await ctx.say("Warning", `${what} is taken over by Canary ${canaryText(canary)}, which did not make it: ${how}`);
    await keep(live);
  };
  return { keep, take };
}
