import { AlertProviderSpec } from "../../api/canary.ts";
import { parseLive } from "../../api/parse-live.ts";
import { nameFault } from "../../core/object-ref.ts";
import { secretTexts } from "../../core/secret-texts.ts";
import type { StepDeps } from "../canary-deps.ts";
import type { AlertReceiver } from "./alert-message.ts";

/** The name of an AlertProvider. */
export interface ProviderName {
  readonly name: string;
  readonly namespace: string;
}

/** Reads an AlertProvider and its Secret. Throws an `Error` in Flagger's words for what is wrong with them, without a value of the Secret. */
export async function alertReceiver({ name, namespace }: ProviderName, deps: StepDeps): Promise<AlertReceiver> {
  const { cluster, signal } = deps;
  const of = `alert provider ${name}.${namespace}`;
  const fault = nameFault(name);
  if (fault !== undefined) throw new Error(`${of} error: ${fault}`);
  const ref = { group: "flagger.app", version: "v1beta1", kind: "AlertProvider", namespace, name };
  const live = await cluster.get(ref, signal);
  if (live === undefined) {
    throw new Error(`${of} error: alertprovider.flagger.app ${JSON.stringify(name)} not found`);
  }
  const spec = parseLive(live, "spec", AlertProviderSpec);
  const secret = spec.secretRef && (await secretOf({ name: spec.secretRef.name, namespace }, of, deps));
  return {
    type: spec.type,
    address: secret?.address ?? spec.address ?? "",
    token: secret?.token ?? "",
    channel: orDefault(spec.channel, "general"),
    username: orDefault(spec.username, "flagger"),
    proxy: spec.proxy ?? "",
  };
}

function orDefault(text: string | undefined, byDefault: string): string {
  return text === undefined || text === "" ? byDefault : text;
}

async function secretOf(
  { name, namespace }: ProviderName,
  of: string,
  { cluster, signal }: StepDeps,
): Promise<{ readonly address: string; readonly token: string }> {
  const fault = nameFault(name);
  if (fault !== undefined) throw new Error(`${of} secretRef error: ${fault}`);
  const live = await cluster.get({ group: "", version: "v1", kind: "Secret", namespace, name }, signal);
  if (live === undefined) throw new Error(`${of} secretRef error: secrets ${JSON.stringify(name)} not found`);
  const data = secretTexts(live);
  const address = data.get("address");
  if (address === undefined) throw new Error(`${of} secret does not contain an address`);
  return { address, token: data.get("token") ?? "" };
}
