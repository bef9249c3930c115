import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";

export interface BuiltFlux {
  /** The folder with the controllers. */
  readonly controllers: string;
  /** Folders with their custom resource definitions. */
  readonly crds: readonly string[];
}

/** Flux's controllers that Sluice replaces. */
export const fluxControllers = [
  "notification-controller",
  "source-controller",
  "kustomize-controller",
  "helm-controller",
  "image-reflector-controller",
  "image-automation-controller",
] as const;
export type FluxController = (typeof fluxControllers)[number];

const ofRecordings: readonly FluxController[] = ["source-controller", "kustomize-controller"];

/** Those of the recordings, as the recordings were made with, if the environment names a build of them; otherwise undefined. */
export function builtFlux(): Promise<BuiltFlux | undefined> {
  return built("SLUICE_FLUX", ofRecordings);
}

/** All six of them, if the environment names a build; otherwise undefined. */
export function builtWholeFlux(): Promise<BuiltFlux | undefined> {
  return built("SLUICE_FLUX_ALL", fluxControllers);
}

/** A build with these of them: of all six, or of the two of the recordings if those are enough; otherwise undefined. */
export async function builtFluxWith(names: readonly FluxController[]): Promise<BuiltFlux | undefined> {
  const whole = await builtWholeFlux();
  return whole ?? (names.every((name) => ofRecordings.includes(name)) ? builtFlux() : undefined);
}

async function built(variables: string, names: readonly string[]): Promise<BuiltFlux | undefined> {
  const controllers = process.env[`${variables}_CONTROLLERS`] ?? "";
  const crds = (process.env[`${variables}_CRDS`] ?? "").split(delimiter).filter((folder) => folder !== "");
  if (controllers === "" || crds.length === 0) return undefined;
  await Promise.all(names.map((name) => access(join(controllers, name))));
  return { controllers, crds };
}
