import { findCondition } from "../../api/condition.ts";
import type { ImageUpdateAutomationSpec } from "../../api/image-update-automation.ts";
import { Failure } from "../../core/failure.ts";
import type { MessageOf } from "../../image/commit-message.ts";
import type { EnsuredRequest } from "../../image/pull-request/ensure-pull-request.ts";
import { asksForPullRequest, pullRequestAnnotation } from "../../image/pull-request/find-host.ts";
import { pullRequestFor, secretAnnotation } from "../../image/pull-request/pull-request-for.ts";
import { proxyOf } from "../source/proxy.ts";
import { secretData } from "../source/secrets.ts";
import type { AutomationContext } from "./automation-context.ts";
import type { Pushed } from "./push-changes.ts";
import { branchOf } from "./push-config.ts";
import { type ResolvedSource, sourceKey } from "./resolve-source.ts";

/** Throws a {@link Failure} if the annotation asks for a pull request, but both branches are the same. */
export function checkPullRequest({ branch, isSwitched, ref }: ResolvedSource, { live }: AutomationContext): void {
  if (!asksForPullRequest(live.metadata.annotations?.[pullRequestAnnotation])) return;
  if (branchOf(ref) === undefined) throw unbased("spec.git.checkout.ref names no branch to merge it into");
  if (isSwitched) return;
  throw unbased(`commits go to the branch that is checked out, '${branch}': set spec.git.push.branch to another one`);
}

function unbased(why: string): Failure {
  const message = `the annotation ${pullRequestAnnotation} asks for a pull request, but ${why}`;
  return new Failure("InvalidSourceConfiguration", message);
}

/**
 * Makes sure that there is a pull request for the pushed branch, if the annotation asks for one. Throws a {@link Failure}; the commit
 * is pushed all the same.
 */
export async function requestPull(
  spec: ImageUpdateAutomationSpec,
  source: ResolvedSource,
  { message, changes = [] }: Pick<Pushed, "message"> & Partial<Pick<MessageOf, "changes">>,
  ctx: AutomationContext,
): Promise<EnsuredRequest | undefined> {
  const { deps, live, name, namespace, run } = ctx;
  const annotations = live.metadata.annotations ?? {};
  const base = branchOf(source.ref);
  if (base === undefined || !asksForPullRequest(annotations[pullRequestAnnotation])) return undefined;
  const values = spec.git?.commit.messageTemplateValues ?? {};
  const of = { cluster: run.key.cluster, automation: { namespace, name }, values, changes };
  const { secret, ...way } = await access(spec, source, ctx);
  const pushed = { annotations, address: source.spec.url, head: source.branch, base, message, of, secret, ...way };
  const { clock, http, messages: engine } = deps;
  return pullRequestFor(
    pushed,
    { http, now: () => clock.now(), sleep: (ms, signal) => clock.sleep(ms, signal), engine },
    run.signal,
  );
}

/** The Secret in the annotation is in the automation's namespace; without it the GitRepository's counts. */
async function access(spec: ImageUpdateAutomationSpec, { spec: settings }: ResolvedSource, ctx: AutomationContext) {
  const { home, live, run } = ctx;
  const own = { namespace: ctx.namespace, home, run };
  const of = { ...own, namespace: sourceKey(spec, ctx).namespace };
  const named = live.metadata.annotations?.[secretAnnotation];
  const given = settings.secretRef === undefined ? undefined : await secretData(settings.secretRef.name, of);
  const secret = named === undefined ? given : await secretData(named, own);
  if (named !== undefined && secret === undefined) {
    const mend = "create it, or remove the annotation";
    throw new Failure(
      "GitOperationFailed",
      `failed to open the pull request: the annotation ${secretAnnotation} names the Secret '${ctx.namespace}/${named}', which is not there: ${mend}`,
    );
  }
  const proxy = await proxyOf(settings, "failed to configure proxy options", of);
  const ca = [given?.get("ca.crt"), given?.get("caFile")].find((text = "") => text !== "");
  return {
    secret: secret ?? new Map<string, string>(),
    ...(proxy === undefined ? {} : { proxy }),
    ...(ca === undefined ? {} : { tls: { ca } }),
  };
}

/** Whether the last run has pushed, and has got no pull request for it. */
export function lacksPullRequest({ before: { conditions = [] } }: Pick<AutomationContext, "before">): boolean {
  const ready = findCondition(conditions, "Ready");
  return ready?.status === "False" && ready.message.startsWith("failed to open the pull request");
}
