import { servedKind } from "../../api/kinds/declaration.ts";
import { declaredImageUpdateAutomation } from "../../api/kinds/image-update-automation.ts";
import type { PolicyContext } from "./policy-context.ts";

/** Wakes all ImageUpdateAutomations of the policy's namespace; as in Flux, whether or not they select it. */
export async function wakeAutomations({ deps, home, live, namespace, run }: PolicyContext): Promise<void> {
  const { group, kind } = declaredImageUpdateAutomation;
  const automations = await home.listMetadata({ ...servedKind(declaredImageUpdateAutomation), namespace }, run.signal);
  for (const { metadata } of automations) {
    const key = { cluster: run.key.cluster, group, kind, namespace, name: metadata.name };
    await deps.requests.request(key, `ImagePolicy ${namespace}/${live.metadata.name} has chosen an image`, run.signal);
  }
}
