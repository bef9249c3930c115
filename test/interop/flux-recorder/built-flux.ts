import { access } from "node:fs/promises";
import { join } from "node:path";

export interface BuiltFlux {
  /** The folder with source-controller and kustomize-controller. */
  readonly controllers: string;
  /** Folders with their custom resource definitions. */
  readonly crds: readonly string[];
}

/** Flux's controllers, if the environment names a build of them; otherwise undefined. */
export async function builtFlux(): Promise<BuiltFlux | undefined> {
  const controllers = process.env["SLUICE_FLUX_CONTROLLERS"] ?? "";
  const crds = (process.env["SLUICE_FLUX_CRDS"] ?? "").split(":").filter((folder) => folder !== "");
  if (controllers === "" || crds.length === 0) return undefined;
  await Promise.all(["source-controller", "kustomize-controller"].map((name) => access(join(controllers, name))));
  return { controllers, crds };
}
