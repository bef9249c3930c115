import { isUtf8 } from "node:buffer";
import { z } from "zod";
import type { Kustomization } from "../../api/kustomization.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { nameFault } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";
import { outageOf } from "../../core/ports/outage.ts";
import type { PostBuild } from "../../manifests/build-spec.ts";
import type { KustomizationDeps } from "./context.ts";

type PostBuildSpec = NonNullable<Kustomization["spec"]["postBuild"]>;
type Reference = NonNullable<PostBuildSpec["substituteFrom"]>[number];

const Data = z.record(z.string(), z.string()).catch({});

/**
 * The variables of `spec.postBuild`: those of ConfigMaps and Secrets of the object's own namespace in their order, then those of
 * the spec, which win. Read with our own rights, once for each run. Undefined if the spec asks for no substitution.
 *
 * @throws Outage if the API server does not answer
 */
export async function loadPostBuild(
  { metadata: { namespace = "" }, spec: { postBuild } }: Pick<Kustomization, "metadata" | "spec">,
  { home, gates }: Pick<KustomizationDeps, "gates"> & { readonly home: Pick<HomeCluster, "get"> },
  signal: AbortSignal,
): Promise<PostBuild | undefined> {
  if (postBuild === undefined) return undefined;
  const variables = new Map<string, string>();
  const secrets = new Set<string>();
  const notText = new Set<string>();
  const always = postBuild.substituteStrategy === "Always";
  const strict = gates.StrictPostBuildSubstitutions;
  for (const reference of postBuild.substituteFrom ?? []) {
    const found = await read(reference, namespace, home, signal);
    if ("fault" in found) {
      const fault = `substitute from '${reference.kind}/${reference.name}' error: ${found.fault}`;
      return { variables: new Map(), secrets: [], always, strict, fault };
    }
    for (const [name, text] of Object.entries(Data.parse(found.object?.["data"] ?? {}))) {
      const bytes = Buffer.from(text, reference.kind === "Secret" ? "base64" : "utf8");
      const value = oneLine(bytes.toString());
      variables.set(name, value);
      if (isUtf8(bytes)) notText.delete(name);
      else notText.add(name);
      if (reference.kind === "Secret") secrets.add(value);
    }
  }
  for (const [name, value] of Object.entries(postBuild.substitute ?? {})) variables.set(name, oneLine(value));
  for (const name of Object.keys(postBuild.substitute ?? {})) notText.delete(name);
  return { variables, secrets: [...secrets], notText, always, strict };
}

type Read = { readonly object: LiveObject | undefined } | { readonly fault: string };

async function read(
  { kind, name, optional }: Reference,
  namespace: string,
  home: Pick<HomeCluster, "get">,
  signal: AbortSignal,
): Promise<Read> {
  const misnamed = nameFault(name);
  if (misnamed !== undefined) return { fault: misnamed };
  const ref = { group: "", version: "v1", kind, namespace, name };
  try {
    const object = await home.get(ref, signal);
    if (object !== undefined || optional) return { object };
    return { fault: `${kind.toLowerCase()}s "${name}" not found` };
  } catch (error) {
    if (error instanceof ApiError && error.reason === "Forbidden") return { fault: error.message };
    throw outageOf(error, "BuildFailed", `substitute from '${kind}/${name}'`);
  }
}

function oneLine(value: string): string {
  return value.replaceAll("\n", "");
}
