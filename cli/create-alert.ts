import { declaredAlert } from "../lib/api/kinds/alert.ts";
import { servedKind } from "../lib/api/kinds/declaration.ts";
import { declaredNotificationProvider } from "../lib/api/kinds/notification-provider.ts";
import type { JsonObject } from "../lib/core/json.ts";
import type { Manifest } from "../lib/core/manifest.ts";
import { applyObject, type CreatedOptions, objectOf, printOrApply } from "./create-object.ts";
import { checkName, withoutUndefined } from "./created-object.ts";
import type { Session, Surroundings } from "./session.ts";

// Alerts and Providers are never reconciled: there is nothing to wait for, and they are ready as soon as they are stored.

interface AlertOptions extends CreatedOptions {
  readonly providerRef?: string;
  readonly eventSeverity?: string;
  /** Each `<kind>/<name>` or `<kind>/<name>.<namespace>`. */
  readonly eventSource?: readonly string[];
}

interface ProviderOptions extends CreatedOptions {
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
  await printOrApply(objectOf(declaredAlert, name, spec, options), options, surroundings, async (manifest, session) => {
    await applyStatic(manifest, session);
    await warnOfMissing(providerRef, session);
  });
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
  const manifestIn = objectOf(declaredNotificationProvider, name, spec, options);
  await printOrApply(manifestIn, options, surroundings, applyStatic);
}

/** As flux reads it: what follows the last dot is the namespace. */
function eventSourceOf(text: string): JsonObject {
  const [, kind, path = ""] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  if (kind === undefined) throw new Error(`invalid event source '${text}', must be in format <kind>/<name>`);
  const dot = path.lastIndexOf(".");
  return dot === -1 ? { kind, name: path } : { kind, name: path.slice(0, dot), namespace: path.slice(dot + 1) };
}

async function applyStatic(manifest: Manifest, session: Session): Promise<void> {
  const { terminal } = session;
  const { kind, metadata } = manifest;
  terminal.generating(`generating ${kind}`);
  await applyObject(manifest, { thing: kind }, session);
  terminal.waiting(`waiting for ${kind} reconciliation`);
  terminal.success(`${kind} ${metadata.name} is ready`);
}

/** The Alert is stored and ready without its Provider, as in Flux. */
async function warnOfMissing(provider: string, { cluster, namespace, signal, terminal }: Session): Promise<void> {
  const found = await cluster.get({ ...servedKind(declaredNotificationProvider), namespace, name: provider }, signal);
  if (found !== undefined) return;
  terminal.warning(
    `there is no Provider ${provider} in namespace ${namespace}: nothing is sent until it exists; create it, for example with sluice create alert-provider ${provider}`,
  );
}
