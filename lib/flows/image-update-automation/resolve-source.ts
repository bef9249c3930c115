import { z } from "zod";
import { type GitRepositorySpec, GitRepositorySpec as Schema } from "../../api/git-repository.ts";
import type { ImageUpdateAutomationSpec } from "../../api/image-update-automation.ts";
import { servedKind } from "../../api/kinds/declaration.ts";
import { declaredGitRepository } from "../../api/kinds/git-repository.ts";
import { parseLive } from "../../api/parse-live.ts";
import { Failure } from "../../core/failure.ts";
import { goUrlFault } from "../../core/go-url-fault.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { nameFault, subject } from "../../core/object-ref.ts";
import { outageOf } from "../../core/ports/outage.ts";
import type { WorkKey } from "../../core/work-key.ts";
import type { SignCommit } from "../../sources/git/write/git-clone.ts";
import { SigningKeyFault } from "../../sources/git/write/signing-key.ts";
import { shownUrl } from "../git-repository/git-failure.ts";
import type { AutomationContext, AutomationRepository } from "./automation-context.ts";
import { type PushConfig, pushConfig } from "./push-config.ts";
import { signerOf } from "./signing-key.ts";

/** The repository of an automation with all settings of its use. */
export interface ResolvedSource extends PushConfig {
  readonly repository: AutomationRepository;
  /** The spec of the GitRepository: of it only settings count, whatever its state. */
  readonly spec: GitRepositorySpec;
  readonly sign: SignCommit | undefined;
}

const prefix = "failed configuring source manager: ";

const Unsupported = z.object({
  sourceRef: z.object({ kind: z.string() }).partial().exactOptional(),
  update: z.object({ strategy: z.string() }).partial().exactOptional(),
});

/** Throws a {@link Failure} for fields that the definition refuses, but that an object of an older one may have. */
export function checkSpec(live: LiveObject): void {
  const { data } = Unsupported.safeParse(live["spec"] ?? {});
  const kind = data?.sourceRef?.kind ?? declaredGitRepository.kind;
  if (kind !== declaredGitRepository.kind) throw invalidSource(`source kind '${kind}' not supported`);
  const strategy = data?.update?.strategy ?? "Setters";
  if (strategy !== "Setters") throw new Failure("InvalidUpdateStrategy", `unsupported update strategy: ${strategy}`);
}

/** The key of the GitRepository, which may be of another namespace. */
export function sourceKey(
  { sourceRef }: Pick<ImageUpdateAutomationSpec, "sourceRef">,
  { namespace, run }: Pick<AutomationContext, "namespace" | "run">,
): WorkKey {
  const { group, kind } = declaredGitRepository;
  return {
    cluster: run.key.cluster,
    group,
    kind,
    namespace: sourceNamespace(sourceRef, namespace),
    name: sourceRef.name,
  };
}

function sourceNamespace({ namespace = "" }: ImageUpdateAutomationSpec["sourceRef"], ownNamespace: string): string {
  return namespace === "" ? ownNamespace : namespace;
}

/** Why an automation of this namespace may not use the GitRepository that it names; undefined if it may. Pure. */
export function sourceRefusal(
  { sourceRef }: Pick<ImageUpdateAutomationSpec, "sourceRef">,
  ownNamespace: string,
  { noCrossNamespaceRefs }: Pick<AutomationContext["deps"], "noCrossNamespaceRefs">,
): string | undefined {
  const namespace = sourceNamespace(sourceRef, ownNamespace);
  if (!noCrossNamespaceRefs || namespace === ownNamespace) return undefined;
  const { kind } = declaredGitRepository;
  return `can't access '${subject({ kind, namespace, name: sourceRef.name })}', cross-namespace references have been blocked`;
}

/**
 * Reads the GitRepository as settings, and opens its repository. Throws a {@link Failure} in Flux's words and order (reference
 * image-automation 4.6). The caller disposes of the repository.
 */
export async function resolveSource(spec: ImageUpdateAutomationSpec, ctx: AutomationContext): Promise<ResolvedSource> {
  const { git } = spec;
  if (git === undefined) {
    throw invalidSource(`source kind '${declaredGitRepository.kind}' necessitates field .spec.git`);
  }
  const key = sourceKey(spec, ctx);
  const refusal = sourceRefusal(spec, ctx.namespace, ctx.deps);
  if (refusal !== undefined) throw new Failure("AccessDenied", refusal);
  const settings = await readSettings(key, ctx);
  const config = pushConfig(git, settings);
  if (config === undefined) {
    const why = "and cannot be inferred from .spec.git.checkout.ref or GitRepository .spec.ref";
    throw sourceFailed(`push spec not provided, ${why}`);
  }
  const access = { namespace: key.namespace, home: ctx.home, run: ctx.run };
  const repository = await ctx.deps.openRepository(settings, access).catch((error: unknown) => {
    throw error instanceof Failure ? loginFailure(error, key.namespace) : error;
  });
  try {
    const sign = await signerOf(git.commit.signingKey, ctx).catch((error: unknown) => {
      throw error instanceof SigningKeyFault ? sourceFailed(error.message, error) : error;
    });
    return { ...config, spec: settings, repository, sign };
  } catch (error) {
    await repository[Symbol.asyncDispose]();
    throw error;
  }
}

async function readSettings(key: WorkKey, { home, run }: AutomationContext): Promise<GitRepositorySpec> {
  const unread = "failed to get referenced git repository";
  const fault = nameFault(key.name);
  if (fault !== undefined) throw sourceFailed(`${unread}: ${fault}`);
  const live = await home.get({ ...key, ...servedKind(declaredGitRepository) }, run.signal).catch((error: unknown) => {
    throw outageOf(error, "SourceManagerFailed", `${prefix}${unread}`);
  });
  if (live === undefined) {
    const why = `${key.kind}.${key.group} ${JSON.stringify(key.name)} not found`;
    const message = `${prefix}referenced git repository does not exist: ${why}`;
    throw new Failure("SourceManagerFailed", message, { waitsFor: key });
  }
  try {
    const spec = parseLive(live, "spec", Schema);
    const urlFault = goUrlFault(spec.url) ?? (URL.canParse(spec.url) ? undefined : "invalid URL");
    if (urlFault !== undefined) throw sourceFailed(`failed to parse URL '${shownUrl(spec.url)}': ${urlFault}`);
    return spec;
  } catch (error) {
    throw error instanceof Failure && error.reason === "InvalidSpec" ? sourceFailed(error.message, error) : error;
  }
}

/** A failed login in an automation's words: until here the texts are a GitRepository's. */
function loginFailure(failure: Failure, namespace: string): Failure {
  const { message, reason } = failure;
  if (reason === "InvalidProviderConfiguration") return invalidSource(message, failure);
  if (reason === "FeatureGateDisabled" || reason === "UnsupportedField") return failure;
  if (reason === "GitOperationFailed") {
    // Flux finds these when it connects.
    const why = message.replace(/^failed to checkout and determine revision: /, "");
    return new Failure("GitOperationFailed", `failed to checkout source: ${why}`, { cause: failure });
  }
  const twice = new RegExp(`^(failed to get secret '${escaped(namespace)}/[^']*': )\\1`);
  const why = twice.test(message) ? message.replace(twice, "$1").replace("get secret", "get auth secret") : message;
  return sourceFailed(why.replace(/^failed to configure proxy options: /, ""), failure);
}

function escaped(text: string): string {
  return text.replaceAll(/[.\\^$*+?()[\]{}|]/g, "\\$&");
}

function sourceFailed(why: string, cause?: unknown): Failure {
  return new Failure("SourceManagerFailed", `${prefix}${why}`, { cause });
}

function invalidSource(why: string, cause?: unknown): Failure {
  return new Failure("InvalidSourceConfiguration", `${why}: invalid source configuration`, { cause });
}
