import { servedKind } from "../lib/api/kinds/declaration.ts";
import { declaredNotificationProvider } from "../lib/api/kinds/notification-provider.ts";
import { notificationGroup } from "../lib/api/names.ts";
import type { JsonObject } from "../lib/core/json.ts";
import type { Manifest } from "../lib/core/manifest.ts";
import { checkName, exportNamespace, metadataOf, upsert, withoutUndefined, yamlOf } from "./created-object.ts";
import { type GlobalOptions, type Surroundings, withCluster } from "./session.ts";

// Alerts and Providers are never reconciled: there is nothing to wait for, and they are ready as soon as they are stored.

interface CreatedOptions extends GlobalOptions {
  readonly export?: boolean;
  readonly label?: readonly string[];
}

export interface AlertOptions extends CreatedOptions {
  readonly providerRef?: string;
  readonly eventSeverity?: string;
  /** Each `<kind>/<name>` or `<kind>/<name>.<namespace>`. */
  readonly eventSource?: readonly string[];
}

export interface ProviderOptions extends CreatedOptions {
  readonly type?: string;
  readonly channel?: string;
  readonly username?: string;
  readonly address?: string;
  readonly secretRef?: string;
}

/** `create alert`: an Alert for events of these objects. */
export async function createAlert(
  name: string | undefined,
  options: AlertOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const { eventSeverity = "", eventSource = [], providerRef = "" } = options;
  if (providerRef === "") throw new Error("provider ref is required");
  const eventSources = eventSource.map(eventSourceOf);
  if (eventSources.length === 0) throw new Error("at least one event source is required");
  const spec = withoutUndefined({
    providerRef: { name: providerRef },
    eventSeverity: eventSeverity === "" ? undefined : eventSeverity,
    eventSources,
  });
  await createStatic("Alert", name, spec, options, surroundings, providerRef);
}

/** `create alert-provider`: a Provider, which Alerts of its namespace send events to. */
export async function createProvider(
  name: string | undefined,
  options: ProviderOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const { address, channel, secretRef = "", type = "", username } = options;
  if (type === "") throw new Error("Provider type is required");
  const given = (text: string | undefined): string | undefined => (text === "" ? undefined : text);
  const spec = withoutUndefined({
    type,
    channel: given(channel),
    username: given(username),
    address: given(address),
    secretRef: secretRef === "" ? undefined : { name: secretRef },
  });
  await createStatic("Provider", name, spec, options, surroundings);
}

/** As flux reads it: what follows the last dot is the namespace. */
function eventSourceOf(text: string): JsonObject {
  const [, kind, path = ""] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  if (kind === undefined) throw new Error(`invalid event source '${text}', must be in format <kind>/<name>`);
  const dot = path.lastIndexOf(".");
  return dot === -1 ? { kind, name: path } : { kind, name: path.slice(0, dot), namespace: path.slice(dot + 1) };
}

/** @param provider that of an Alert: one that is missing is said, since the Alert is stored and ready without it, as in Flux */
async function createStatic(
  kind: "Alert" | "Provider",
  name: string,
  spec: JsonObject,
  options: CreatedOptions,
  surroundings: Surroundings,
  provider?: string,
): Promise<void> {
  const { terminal } = surroundings;
  const manifestIn = (namespace: string): Manifest => ({
    apiVersion: `${notificationGroup}/v1beta3`,
    kind,
    metadata: metadataOf(name, namespace, options),
    spec,
  });
  if (options.export === true) {
    terminal.document(await yamlOf(manifestIn(exportNamespace(options, surroundings))));
    return;
  }
  await withCluster(options, surroundings, async (session) => {
    terminal.generating(`generating ${kind}`);
    terminal.action(`applying ${kind}`);
    terminal.success(`${kind} ${await upsert(manifestIn(session.namespace), session)}`);
    terminal.waiting(`waiting for ${kind} reconciliation`);
    terminal.success(`${kind} ${name} is ready`);
    if (provider === undefined) return;
    const { cluster, namespace, signal } = session;
    const found = await cluster.get({ ...servedKind(declaredNotificationProvider), namespace, name: provider }, signal);
    if (found !== undefined) return;
    terminal.warning(
      `there is no Provider ${provider} in namespace ${namespace}: nothing is sent until it exists; create it, for example with sluice create alert-provider ${provider}`,
    );
  });
}
