import { type ArtifactGeneratorSpec, ArtifactGeneratorSpec as Schema } from "../../api/artifact-generator.ts";
import { overLimits } from "../../api/field-marks.ts";
import { declaredExternalArtifact } from "../../api/kinds/external-artifact.ts";
import { Failure } from "../../core/failure.ts";
import { subject } from "../../core/object-ref.ts";
import { dnsSubdomainFaults } from "../../sources/generator/kubernetes-names.ts";
import type { GeneratorContext } from "./generator-context.ts";

/** Throws a {@link Failure} if one of these artifacts is a source of itself: it would change with each run, without end. */
export function refuseOwnSources(
  names: readonly string[],
  { sources }: ArtifactGeneratorSpec,
  namespace: string,
): void {
  const own = sources.find(
    (source) =>
      source.kind === declaredExternalArtifact.kind &&
      (source.namespace ?? namespace) === namespace &&
      names.includes(source.name),
  );
  if (own === undefined) return;
  const mend = "remove it from spec.sources, or rename the artifact";
  throw new Failure("ValidationFailed", `artifact ${own.name} is made from itself, source '${own.alias}': ${mend}`);
}

/** Throws a {@link Failure} for a spec that only a change of the object mends, in Flux's words (reference sources 10.2). */
export function checkSpec(
  spec: ArtifactGeneratorSpec,
  ctx: Pick<GeneratorContext, "namespace"> & { readonly deps: Pick<GeneratorContext["deps"], "noCrossNamespaceRefs"> },
): void {
  const [over] = overLimits(Schema, spec);
  if (over !== undefined) throw new Failure("ValidationFailed", `${over}: split it over several ArtifactGenerators`);
  const aliases = new Set<string>();
  for (const { alias, kind, name, namespace = ctx.namespace } of spec.sources) {
    if (aliases.has(alias)) throw new Failure("ValidationFailed", `duplicate source alias '${alias}' found`);
    aliases.add(alias);
    if (ctx.deps.noCrossNamespaceRefs && namespace !== ctx.namespace) {
      const source = subject({ kind, namespace, name });
      throw new Failure("AccessDenied", `cross-namespace reference to source ${source} is not allowed`);
    }
  }
  const names = new Set<string>();
  for (const { name, revision = "" } of spec.artifacts) {
    if (names.has(name)) throw new Failure("ValidationFailed", `duplicate artifact name '${name}' found`);
    names.add(name);
    const faults = (spec.pathPattern ?? "") === "" ? dnsSubdomainFaults(name) : [];
    if (faults.length > 0) {
      const what = `artifact name ${JSON.stringify(name)} is not a valid Kubernetes object name`;
      throw new Failure("ValidationFailed", `${what}: ${faults.join("; ")}`);
    }
    const alias = revision.slice(1);
    if (revision === "" || aliases.has(alias)) continue;
    throw new Failure("ValidationFailed", `artifact ${name} revision source alias '${alias}' not found`);
  }
}
