import { replacesAnnotation } from "../../../api/names.ts";
import type { LiveObject } from "../../../core/manifest.ts";
import type { VersionedRef } from "../../../core/object-ref.ts";
import { ApiError } from "../../../core/ports/cluster.ts";
import type { StepDeps } from "../../canary-deps.ts";
import type { Canary } from "../../canary.ts";
import { told } from "../../workload/step-objects.ts";
import { type Texts, isOwned } from "../../ownership.ts";
import type { RouteView } from "../object-router.ts";

/** The route of the other kind that a Canary had before its `sluice.dev/route-kind` changed. */
export interface FormerRoute {
  /** If there is one, and it is the Canary's own. */
  find(): Promise<LiveObject | undefined>;
  /** Annotations of the route in its place. They outlive a step that is killed before the deletion. */
  annotations(): Promise<Texts>;
  /** Deletes it once the other takes the requests. */
  remove(view: RouteView): Promise<void>;
}

export function formerRoute(ref: VersionedRef, canary: Canary, { cluster, signal, ...deps }: StepDeps): FormerRoute {
  const text = `${ref.kind} ${ref.name}.${ref.namespace}`;
  let known: Promise<LiveObject | undefined> | undefined;
  const read = async () => {
    const looked = cluster.get(ref, signal).catch(noneIfUnknown);
    const found = await told(looked, (cause) => `${text} get error: ${cause}`);
    return found !== undefined && isOwned(found, canary) ? found : undefined;
  };
  const find = () => {
    known ??= read();
    return known;
  };
  return {
    find,
    annotations: async () => ((await find()) === undefined ? {} : { [replacesAnnotation]: ref.kind }),
    remove: async (view) => {
      const live = await view.find("find");
      const { [replacesAnnotation]: replaced, ...annotations } = live?.metadata.annotations ?? {};
      if (live === undefined || replaced !== ref.kind) return;
      const former = await find();
      if (former !== undefined) {
        const options = { uid: former.metadata.uid, propagation: "Background" } as const;
        await told(cluster.delete(ref, options, signal), (cause) => `${text} delete error: ${cause}`);
        deps.log.info("route of another kind deleted", { canary: canary.name, namespace: canary.namespace });
      }
      await view.change(live, { annotations }, "mend");
    },
  };
}

/** A cluster that does not serve the kind has no such route. */
function noneIfUnknown(error: unknown): undefined {
  if (error instanceof ApiError && error.reason === "NoMatch") return undefined;
  throw error;
}
