import { z } from "zod";

/** What is read of Deployments, ReplicaSets and Pods to find out whether an image is why they fail. */
const Container = z.looseObject({ name: z.string(), image: z.string().default("") });

const Template = z.looseObject({
  metadata: z.looseObject({ labels: z.record(z.string(), z.string()).optional() }).optional(),
  spec: z.looseObject({ containers: z.array(Container) }),
});
export type PodTemplate = z.infer<typeof Template>;

/** A Deployment or ReplicaSet. */
export const Workload = z.looseObject({
  spec: z.looseObject({
    selector: z.object({ matchLabels: z.record(z.string(), z.string()).optional() }).optional(),
    template: Template,
  }),
});
export type Workload = z.infer<typeof Workload>;

const Ended = z.object({ exitCode: z.number(), reason: z.string().optional() });
const ContainerState = z.object({ running: z.unknown().optional(), terminated: Ended.optional() }).optional();

export const BlamedPod = z.object({
  status: z.object({
    /** Set where the node or the control plane has ended the Pod. */
    reason: z.string().optional(),
    startTime: z.string().optional(),
    conditions: z.array(z.object({ type: z.string(), status: z.string() })).optional(),
    containerStatuses: z
      .array(
        z.object({
          name: z.string(),
          imageID: z.string().default(""),
          ready: z.boolean().default(false),
          restartCount: z.number().default(0),
          state: ContainerState,
          lastState: ContainerState,
        }),
      )
      .optional(),
  }),
});
export type BlamedPod = z.infer<typeof BlamedPod>;

/** The label by which a Deployment tells its ReplicaSets apart. */
const hashLabel = "pod-template-hash";

/** A template without the image of one container and without the label of its ReplicaSet, and that image; undefined without the container. */
export function withoutImageOf(
  container: string,
  { metadata, spec, ...more }: PodTemplate,
): { readonly image: string; readonly rest: unknown } | undefined {
  const image = spec.containers.find(({ name }) => name === container)?.image;
  if (image === undefined) return undefined;
  const { [hashLabel]: _hash, ...labels } = metadata?.labels ?? {};
  const containers = spec.containers.map((one) => (one.name === container ? { ...one, image: "" } : one));
  return { image, rest: { ...more, metadata: { ...metadata, labels }, spec: { ...spec, containers } } };
}
