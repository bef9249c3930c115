import { z } from "zod";
import { equal, isJsonObject, type JsonObject, toJsonObject } from "../../../core/json.ts";
import type { LiveObject } from "../../../core/manifest.ts";
import { totalWeight } from "../../analysis.ts";
import type { StepDeps } from "../../canary-deps.ts";
import type { Canary } from "../../canary.ts";
import { StepFault } from "../../step-fault.ts";
import { primaryAnnotation } from "../../workload/knative-target.ts";
import { told } from "../../workload/step-objects.ts";
import { changed } from "../changed-object.ts";
import type { Router, Routes } from "../router.ts";
import { refuseLacking } from "../strategies.ts";
import { allToPrimary, checkSum, sharesOf } from "../weights.ts";

const Traffic = z.looseObject({
  latestRevision: z.boolean().default(false),
  revisionName: z.string().optional(),
  percent: z.number().default(0),
});

const ServiceSpec = z.looseObject({ traffic: z.array(Traffic).default([]) });
const ServiceStatus = z.looseObject({ latestCreatedRevisionName: z.string() });

interface View {
  readonly read: () => Promise<LiveObject>;
  readonly write: (
    live: LiveObject,
    wanted: { annotations?: Record<string, string>; spec?: JsonObject },
  ) => Promise<void>;
  readonly text: string;
}

/** Routes by the Knative Service that is the target: between its latest revision and the one in its annotation. */
export function knativeRouter(canary: Canary, deps: StepDeps): Router {
  const view = viewOf(canary, deps);
  return {
    ensure: async ({ weight } = {}) => {
      refuseLacking(canary, "knative");
      const live = await view.read();
      const annotations = live.metadata.annotations ?? {};
      if (primaryAnnotation in annotations) {
        if (weight !== undefined && liveRoutes(live, view.text).canary !== weight) await setWeight(live, weight, view);
        return;
      }
      const status = ServiceStatus.safeParse(live["status"]).data;
      if (status === undefined)
        throw new StepFault(`${view.text} has no revision yet: wait until Knative has made one`);
      await view.write(live, {
        annotations: { ...annotations, [primaryAnnotation]: status.latestCreatedRevisionName },
      });
    },
    routes: async () => liveRoutes(await view.read(), view.text),
    setRoutes: async (routes) => {
      checkSum(routes);
      await setWeight(await view.read(), routes.canary, view);
      return {};
    },
    finalize: async () => {
      const live = await view.read();
      const { [primaryAnnotation]: primary, ...annotations } = live.metadata.annotations ?? {};
      if (primary !== undefined) await view.write(live, { annotations });
    },
  };
}

async function setWeight(live: LiveObject, weight: number, view: View): Promise<void> {
  const spec = isJsonObject(live["spec"]) ? live["spec"] : {};
  const traffic = [
    { latestRevision: true, percent: weight },
    { revisionName: primaryOf(live, view.text), percent: totalWeight - weight },
  ];
  await view.write(live, { spec: toJsonObject({ ...spec, traffic }) });
}

function viewOf(canary: Canary, deps: StepDeps): View {
  const { namespace } = canary;
  const { name } = canary.spec.targetRef;
  const text = `Knative Service ${name}.${namespace}`;
  const ref = { group: "serving.knative.dev", version: "v1", kind: "Service", namespace, name };
  let known: Promise<LiveObject> | undefined;
  const get = async () => {
    const failed = (cause: string) => `${text} get query error: ${cause}`;
    const found = await told(deps.cluster.get(ref, deps.signal), failed);
    if (found === undefined) throw new StepFault(failed(`services.serving.knative.dev "${name}" not found`));
    return found;
  };
  return {
    text,
    read: () => {
      known ??= get();
      return known;
    },
    write: async (live, wanted) => {
      const isSame = wanted.spec === undefined || equal(wanted.spec, live["spec"]);
      const { spec: _, ...metadata } = wanted;
      const after = changed(live, isSame ? metadata : wanted, deps);
      known = Promise.resolve(await told(after, (cause) => `${text} update query error: ${cause}`));
    },
  };
}

/** As the spec has it: the status follows later. */
function liveRoutes(live: LiveObject, text: string): Routes {
  const primary = primaryOf(live, text);
  const { traffic = [] } = ServiceSpec.safeParse(live["spec"]).data ?? {};
  const from = traffic.find(({ revisionName }) => revisionName === primary)?.percent;
  const to = traffic.find(({ latestRevision }) => latestRevision)?.percent ?? 0;
  // Without a word on the primary, its revision is the latest one, or the Service has not been routed yet.
  return { ...(from === undefined ? allToPrimary : sharesOf(from, to)), isMirrored: false };
}

function primaryOf({ metadata }: LiveObject, text: string): string {
  const primary = metadata.annotations?.[primaryAnnotation];
  if (primary !== undefined) return primary;
  throw new StepFault(`${text} annotation not found`);
}
