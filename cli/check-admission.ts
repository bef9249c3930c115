import { kustomizeGroup } from "../lib/api/names.ts";
import { ApiError } from "../lib/core/ports/cluster.ts";
import { checkedName, installedWebhook, webhookAnswers } from "../lib/definitions/admission-webhook.ts";
import type { Session } from "./session.ts";

/** The admission webhook of a cluster that has one (docs/admission.md). */
export interface CheckedAdmission {
  /** Whether the API server calls it and it answers; null if that cannot be told. */
  readonly answers: boolean | null;
  /** Why it cannot be told. */
  readonly fault?: string;
}

interface Asking extends Pick<Session, "cluster" | "signal"> {
  readonly terminal: Pick<Session["terminal"], "action" | "success" | "warning">;
}

/**
 * Has the API server call the webhook, by a dry run of an object that is never written. Says nothing where there is none. Fails no
 * check: without the webhook the sweep finds every change.
 */
export async function checkAdmission({ cluster, terminal, signal }: Asking): Promise<CheckedAdmission | undefined> {
  try {
    if ((await installedWebhook(cluster, signal)) === undefined) return undefined;
    terminal.action("checking the admission webhook");
    const asks = {
      apiVersion: `${kustomizeGroup}/v1`,
      kind: "Kustomization",
      metadata: { name: checkedName, namespace: "kube-system" },
      spec: { interval: "1h", prune: false, sourceRef: { kind: "OCIRepository", name: checkedName } },
    };
    const { warnings } = await cluster.apply(asks, { manager: "sluice-check", force: true, dryRun: true }, signal);
    const answers = warnings.includes(webhookAnswers);
    if (answers) terminal.success("it is called, and answers");
    else {
      terminal.warning(
        "it is installed, but the API server gets no answer from it: changes are found by the sweep, within a minute; docs/admission.md says what has to be open",
      );
    }
    return { answers };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    terminal.warning(`not known whether the admission webhook answers: ${error.message}`);
    return { answers: null, fault: error.message };
  }
}
