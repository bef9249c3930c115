import { z } from "zod";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import type { WeightedBackend } from "../../../local/demo/smooth-weights.ts";

export interface Pod {
  readonly name: string;
  readonly image: string;
}

/** A Service of a route with its ready pods. */
export interface Backend extends WeightedBackend {
  readonly pods: readonly Pod[];
}

const Route = z.object({
  spec: z.object({
    rules: z.array(z.object({ backendRefs: z.array(z.object({ name: z.string(), weight: z.number() })) })).min(1),
  }),
});
const Slice = z.object({
  metadata: z.object({ labels: z.record(z.string(), z.string()).default({}) }),
  endpoints: z
    .array(
      z.object({
        conditions: z.object({ ready: z.boolean().default(false) }).prefault({}),
        targetRef: z.object({ name: z.string() }).optional(),
      }),
    )
    .nullish(),
});
const PodSpec = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({ containers: z.array(z.object({ image: z.string() })).min(1) }),
});

/** Of each pod that was seen, by namespace and name: a pod may be gone between two reads. */
const images = new Map<string, string>();

/** The backends of an HTTPRoute, as a gateway finds them: none before there is a route. */
export async function readBackends(
  cluster: Cluster,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<readonly Backend[]> {
  const route = { group: "gateway.networking.k8s.io", version: "v1", kind: "HTTPRoute", namespace, name };
  const slicesOf = { group: "discovery.k8s.io", version: "v1", kind: "EndpointSlice", namespace };
  const live = await cluster.get(route, signal);
  const slices = await cluster.list(slicesOf, signal);
  // After the slices: a pod exists before a slice names it.
  const pods = await cluster.list({ group: "", version: "v1", kind: "Pod", namespace }, signal);
  for (const { metadata, spec } of pods.map((pod) => PodSpec.parse(pod))) {
    images.set(`${namespace}/${metadata.name}`, spec.containers[0]?.image ?? "");
  }
  const endpoints = slices.map((slice) => Slice.parse(slice));
  const podsOf = (service: string): readonly Pod[] =>
    endpoints
      .filter(({ metadata }) => metadata.labels["kubernetes.io/service-name"] === service)
      .flatMap((slice) => slice.endpoints ?? [])
      .filter(({ conditions }) => conditions.ready)
      .flatMap(({ targetRef }) => {
        const image = images.get(`${namespace}/${targetRef?.name ?? ""}`);
        return targetRef === undefined || image === undefined ? [] : [{ name: targetRef.name, image }];
      });
  const rules = Route.safeParse(live).data?.spec.rules ?? [];
  const refs = rules.flatMap(({ backendRefs }) => backendRefs);
  return refs.map((backend) => ({ service: backend.name, weight: backend.weight, pods: podsOf(backend.name) }));
}
