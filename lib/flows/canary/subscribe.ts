import type { CanaryStatus } from "../../api/canary.ts";
import { parseApiVersion } from "../../core/object-ref.ts";
import { objectTopic } from "../../core/topics.ts";
import type { CanaryContext } from "./canary-context.ts";

/** What a Canary is woken by: its target, and the ConfigMaps and Secrets of it that are tracked. */
export function topicsOf(
  { canary, run }: Pick<CanaryContext, "canary" | "run">,
  status: CanaryStatus,
): readonly string[] {
  const { apiVersion, kind, name } = canary.spec.targetRef;
  const { cluster } = run.key;
  const { namespace } = canary;
  const { group } = parseApiVersion(apiVersion);
  const configs = Object.keys(status.trackedConfigs ?? {}).flatMap((key) => {
    const [type = "", config = ""] = key.split("/", 2);
    const configKind = configKinds[type];
    return configKind === undefined ? [] : [{ cluster, group: "", kind: configKind, namespace, name: config }];
  });
  return [{ cluster, group, kind, namespace, name }, ...configs].map(objectTopic);
}

const configKinds: Readonly<Record<string, string>> = { configmap: "ConfigMap", secret: "Secret" };
