import { ImagePolicyStatus, type ImageRef } from "../../api/image-policy.ts";
import type { ImageUpdateAutomationSpec } from "../../api/image-update-automation.ts";
import { servedKind } from "../../api/kinds/declaration.ts";
import { declaredImagePolicy } from "../../api/kinds/image-policy.ts";
import { Failure } from "../../core/failure.ts";
import { outageOf } from "../../core/ports/outage.ts";
import type { ChosenImage } from "../../image/image-change.ts";
import type { AutomationContext } from "./automation-context.ts";
import { SelectorFault, selectorOf } from "./label-selector.ts";

/** The images of policies, by the name of the policy. */
export type ObservedPolicies = Readonly<Record<string, ImageRef>>;

/**
 * The images that the namespace's policies have chosen, as far as the selector matches them. Only that a policy has an image counts,
 * not whether it is ready or suspended. Throws a {@link Failure} `InvalidPolicySelector`.
 */
export async function selectPolicies(
  { policySelector }: Pick<ImageUpdateAutomationSpec, "policySelector">,
  { home, namespace, run }: Pick<AutomationContext, "home" | "namespace" | "run">,
): Promise<ObservedPolicies> {
  const isSelected = readSelector(policySelector ?? {});
  const listed = await home
    .list({ ...servedKind(declaredImagePolicy), namespace }, run.signal)
    .catch((error: unknown) => {
      throw outageOf(error, "Failed", "failed to list policies");
    });
  const chosen = listed.flatMap((live): readonly (readonly [string, ImageRef])[] => {
    const { labels = {}, name } = live.metadata;
    if (!isSelected(labels)) return [];
    // An unreadable status has no image; the policy's next run writes a valid one.
    const latest = ImagePolicyStatus.pick({ latestRef: true }).safeParse(live["status"] ?? {}).data?.latestRef;
    return latest === undefined ? [] : [[name, latest]];
  });
  return Object.fromEntries(chosen.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function readSelector(selector: ImageUpdateAutomationSpec["policySelector"] & {}) {
  try {
    return selectorOf(selector);
  } catch (error) {
    if (!(error instanceof SelectorFault)) throw error;
    const message = `failed to parse policy selector: ${error.message}`;
    throw new Failure("InvalidPolicySelector", message, { cause: error });
  }
}

/** The images as markers name them: by `namespace:policy`. */
export function imagesBySetter(policies: ObservedPolicies, namespace: string): ReadonlyMap<string, ChosenImage> {
  return new Map(
    Object.entries(policies).map(([policy, image]) => {
      const setter = `${namespace}:${policy}`;
      return [setter, { ...image, setter }];
    }),
  );
}
