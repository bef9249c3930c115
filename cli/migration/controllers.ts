import { z } from "zod";
import type { LiveObject } from "../../lib/core/manifest.ts";
import { textAt, valueAt } from "../objects/read-object.ts";

/** A Deployment of Flux or Flagger. */
export interface FoundController {
  /** `source-controller`, whatever the Deployment is called. */
  readonly name: string;
  readonly namespace: string;
  readonly deployment: string;
  /** The version of its image; empty for an image with a digest alone. */
  readonly version: string;
  readonly replicas: number;
  readonly serviceAccount: string;
  /** With those of `command`, since both may have flags. */
  readonly args: readonly string[];
}

/** The Deployments that an installation of Flux and Flagger may have. */
export const controllerNames = [
  "source-controller",
  "source-watcher",
  "kustomize-controller",
  "helm-controller",
  "notification-controller",
  "image-reflector-controller",
  "image-automation-controller",
  "flagger",
] as const;

const texts = z.array(z.string()).catch([]);
const Containers = z
  .array(z.object({ image: z.string().catch(""), args: texts.default([]), command: texts.default([]) }))
  .catch([]);

/** The controllers among these Deployments, by the labels of Flux's manifests or by the name of the image. Pure. */
export function findControllers(deployments: readonly LiveObject[]): readonly FoundController[] {
  return deployments.flatMap((deployment) => {
    const containers = Containers.parse(valueAt(deployment, "spec", "template", "spec", "containers") ?? []);
    const imaged = containers.map((container) => ({ container, ...imageOf(container.image) }));
    const labelled = labelOf(deployment);
    const found = imaged.find(({ name }) => isController(name)) ?? (isController(labelled) ? imaged[0] : undefined);
    if (found === undefined) return [];
    const { args, command } = found.container;
    return [
      {
        name: isController(found.name) ? found.name : labelled,
        namespace: deployment.metadata.namespace ?? "",
        deployment: deployment.metadata.name,
        version: found.version,
        replicas: Number(valueAt(deployment, "spec", "replicas") ?? 1),
        serviceAccount: textAt(deployment, "spec", "template", "spec", "serviceAccountName") || "default",
        args: [...command, ...args],
      },
    ];
  });
}

function isController(name: string): boolean {
  return controllerNames.some((one) => one === name);
}

/** `ghcr.io/fluxcd/source-controller:v1.7.0@sha256:…` */
function imageOf(image: string): { readonly name: string; readonly version: string } {
  const [, name = "", , version = ""] = /(?:^|\/)([^/:@]+)(:([^@]+))?(?:@.*)?$/.exec(image) ?? [];
  return { name, version };
}

function labelOf(deployment: LiveObject): string {
  const label = (name: string) => textAt(deployment, "metadata", "labels", `app.kubernetes.io/${name}`);
  if (label("part-of") === "flux") return label("component");
  return label("name") === "flagger" ? "flagger" : "";
}
