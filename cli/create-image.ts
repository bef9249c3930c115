import type { KindDeclaration } from "../lib/api/kinds/declaration.ts";
import { declaredImagePolicy } from "../lib/api/kinds/image-policy.ts";
import { declaredImageRepository } from "../lib/api/kinds/image-repository.ts";
import { declaredImageUpdateAutomation } from "../lib/api/kinds/image-update-automation.ts";
import type { JsonObject } from "../lib/core/json.ts";
import { applyAndWait, type CreatedOptions, objectOf, printOrApply } from "./create-object.ts";
import { checkName, withoutUndefined } from "./created-object.ts";
import { durationOf } from "./duration-option.ts";
import type { Surroundings } from "./session.ts";

interface ImageRepositoryOptions extends CreatedOptions {
  readonly image?: string;
  readonly interval: string;
  readonly secretRef?: string;
  readonly certRef?: string;
  readonly scanTimeout?: string;
}

interface ImagePolicyOptions extends CreatedOptions {
  readonly imageRef?: string;
  readonly selectSemver?: string;
  readonly selectAlpha?: string;
  readonly selectNumeric?: string;
  readonly filterRegex?: string;
  readonly filterExtract?: string;
  readonly reflectDigest?: string;
  readonly interval?: string;
}

interface ImageUpdateOptions extends CreatedOptions {
  readonly gitRepoRef?: string;
  readonly gitRepoNamespace?: string;
  readonly gitRepoPath?: string;
  readonly checkoutBranch?: string;
  readonly pushBranch?: string;
  readonly commitTemplate?: string;
  readonly authorName?: string;
  readonly authorEmail?: string;
  readonly signingKeySecret?: string;
  readonly signingKeyType?: string;
  readonly interval: string;
}

/** `create image repository`: an ImageRepository, and waits for its first scan. */
export async function createImageRepository(
  name: string | undefined,
  options: ImageRepositoryOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const { certRef, image, interval, scanTimeout, secretRef } = options;
  if (image === undefined) throw new Error("an image repository (--image) is required");
  const spec = withoutUndefined({
    image,
    interval: durationOf(interval, "--interval"),
    timeout: scanTimeout === undefined ? undefined : durationOf(scanTimeout, "--scan-timeout"),
    secretRef: referenceTo(secretRef),
    certSecretRef: referenceTo(certRef),
  });
  await create(declaredImageRepository, name, spec, options, surroundings);
}

/** `create image policy`: an ImagePolicy, and waits for its first choice. */
export async function createImagePolicy(
  name: string | undefined,
  options: ImagePolicyOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const { filterExtract, filterRegex, imageRef, interval, reflectDigest } = options;
  if (imageRef === undefined)
    throw new Error("the name of an ImageRepository in the namespace is required (--image-ref)");
  if (filterExtract !== undefined && filterRegex === undefined) {
    throw new Error("cannot specify --filter-extract without specifying --filter-regex");
  }
  if (reflectDigest === "Always" && interval === undefined) {
    throw new Error("--interval is required with --reflect-digest Always: the time between two lookups of the digest");
  }
  if (reflectDigest !== "Always" && interval !== undefined) {
    throw new Error("--interval is only for --reflect-digest Always");
  }
  const filter = { pattern: filterRegex, extract: filterExtract };
  const spec = withoutUndefined({
    imageRepositoryRef: { name: imageRef },
    policy: policyOf(options),
    filterTags: filterRegex === undefined ? undefined : withoutUndefined(filter),
    digestReflectionPolicy: reflectDigest,
    interval: interval === undefined ? undefined : durationOf(interval, "--interval"),
  });
  await create(declaredImagePolicy, name, spec, options, surroundings);
}

function policyOf({ selectAlpha, selectNumeric, selectSemver }: ImagePolicyOptions): JsonObject {
  const policies = [
    ...(selectSemver === undefined ? [] : [{ semver: { range: selectSemver } }]),
    ...(selectAlpha === undefined ? [] : [{ alphabetical: { order: orderOf(selectAlpha, "--select-alpha") } }]),
    ...(selectNumeric === undefined ? [] : [{ numerical: { order: orderOf(selectNumeric, "--select-numeric") } }]),
  ];
  const [policy] = policies;
  if (policy === undefined || policies.length > 1) {
    throw new Error("one of --select-semver, --select-alpha and --select-numeric is required");
  }
  return policy;
}

function orderOf(text: string, option: string): string {
  const order = text.toLowerCase();
  if (order === "asc" || order === "desc") return order;
  throw new Error(`${option} must be asc or desc, not ${text}`);
}

/** `create image update`: an ImageUpdateAutomation, and waits for its first run. */
export async function createImageUpdate(
  name: string | undefined,
  options: ImageUpdateOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const { authorEmail, authorName, checkoutBranch, commitTemplate, gitRepoNamespace, gitRepoPath, gitRepoRef } =
    options;
  if (gitRepoRef === undefined) throw new Error("a reference to a GitRepository is required (--git-repo-ref)");
  if (authorEmail === undefined) throw new Error("an author email is required (--author-email)");
  const { interval, pushBranch, signingKeySecret, signingKeyType } = options;
  if (signingKeyType !== undefined && signingKeySecret === undefined) {
    throw new Error("--signing-key-type is only for --signing-key-secret");
  }
  const spec = withoutUndefined({
    sourceRef: withoutUndefined({ kind: "GitRepository", name: gitRepoRef, namespace: gitRepoNamespace }),
    interval: durationOf(interval, "--interval"),
    git: withoutUndefined({
      checkout: checkoutBranch === undefined ? undefined : { ref: { branch: checkoutBranch } },
      commit: withoutUndefined({
        author: withoutUndefined({ name: authorName, email: authorEmail }),
        messageTemplate: commitTemplate,
        signingKey:
          signingKeySecret === undefined
            ? undefined
            : withoutUndefined({ type: signingKeyType, secretRef: { name: signingKeySecret } }),
      }),
      push: pushBranch === undefined ? undefined : { branch: pushBranch },
    }),
    update: withoutUndefined({ path: gitRepoPath, strategy: "Setters" }),
  });
  await create(declaredImageUpdateAutomation, name, spec, options, surroundings);
}

function referenceTo(name: string | undefined): JsonObject | undefined {
  return name === undefined ? undefined : { name };
}

async function create(
  declared: KindDeclaration,
  name: string,
  spec: JsonObject,
  options: CreatedOptions,
  surroundings: Surroundings,
): Promise<void> {
  const thing = declared.kind;
  await printOrApply(objectOf(declared, name, spec, options), options, surroundings, async (manifest, session) => {
    session.terminal.generating(`generating ${thing}`);
    await applyAndWait(manifest, { thing }, session);
    session.terminal.success(`${thing} reconciliation completed`);
  });
}
