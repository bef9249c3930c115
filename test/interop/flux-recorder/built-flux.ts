import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";

export interface BuiltFlux {
  /** The folder with the controllers. */
  readonly controllers: string;
  /** Folders with their custom resource definitions. */
  readonly crds: readonly string[];
}

/** source-controller and kustomize-controller, if the environment names a build of them; otherwise undefined. */
export function builtFlux(): Promise<BuiltFlux | undefined> {
  return built("SLUICE_FLUX", ["source-controller", "kustomize-controller"]);
}

/** The controllers that the typical repository needs, in the order in which they start: the others tell notification-controller. */
export const allControllers = [
  "notification-controller",
  "source-controller",
  "kustomize-controller",
  "helm-controller",
  "image-reflector-controller",
  "image-automation-controller",
] as const;

/** All six of them, if the environment names a build; otherwise undefined. */
export function builtWholeFlux(): Promise<BuiltFlux | undefined> {
  return built("SLUICE_FLUX_ALL", allControllers);
}

async function built(variables: string, names: readonly string[]): Promise<BuiltFlux | undefined> {
  const controllers = process.env[`${variables}_CONTROLLERS`] ?? "";
  const crds = (process.env[`${variables}_CRDS`] ?? "").split(delimiter).filter((folder) => folder !== "");
  if (controllers === "" || crds.length === 0) return undefined;
  await Promise.all(names.map((name) => access(join(controllers, name))));
  return { controllers, crds };
}
