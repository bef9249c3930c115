import { mapLimit } from "../lib/core/concurrency.ts";
import { ApiError } from "../lib/core/ports/cluster.ts";
import { clusterRights } from "../lib/definitions/cluster-rights.ts";
import type { AccessRight } from "../lib/kube/connect.ts";
import type { Session } from "./session.ts";

/** What the identity of the kubeconfig may not do of all that a Sluice with this identity does. */
export interface CheckedRights {
  /** `patch kustomizations.kustomize.toolkit.fluxcd.io/status`; null if the server does not say. */
  readonly missing: readonly string[] | null;
  /** Why the server does not say. */
  readonly fault?: string;
}

const concurrency = 8;

/** What a Sluice with this identity does with its own objects. What it applies needs whatever the manifests hold. */
function neededRights(): readonly AccessRight[] {
  return clusterRights["sluice-reconcile"].flatMap(
    ({ group, resource: path, names = [undefined], namespace, verbs }) => {
      const [resource = "", subresource] = path.split("/");
      return names.flatMap((name) =>
        verbs.map(({ verb }) => ({
          ...{ verb, group, resource },
          ...(subresource === undefined ? {} : { subresource }),
          ...(namespace === undefined ? {} : { namespace }),
          ...(name === undefined ? {} : { name }),
        })),
      );
    },
  );
}

/** Asks the server about each right: every user may create a `SelfSubjectAccessReview` by default. */
export async function checkRights({
  isAllowed,
  signal,
}: Pick<Session, "isAllowed" | "signal">): Promise<CheckedRights> {
  try {
    const judged = await mapLimit(
      neededRights(),
      concurrency,
      async (right, stop) => ((await isAllowed(right, stop)) ? [] : [describe(right)]),
      signal,
    );
    return { missing: judged.flat() };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    return { missing: null, fault: error.message };
  }
}

function describe({ verb, group, resource, subresource, namespace, name }: AccessRight): string {
  const kind = group === "" ? resource : `${resource}.${group}`;
  const part = subresource === undefined ? "" : `/${subresource}`;
  return `${verb} ${kind}${part}${name === undefined ? "" : ` ${name}`}${namespace === undefined ? "" : ` in ${namespace}`}`;
}
