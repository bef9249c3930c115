import { createHmac } from "node:crypto";
import { eventJson } from "../event-json.ts";
import { inWords, postMessage } from "../post-json.ts";
import type { MakeProvider, ProviderSettings } from "../provider.ts";

/**
 * The event for an Azure Event Hub, by its REST interface: with a shared access key, if the address is a connection string, or with
 * a JSON Web Token. As in Flux it takes neither a proxy nor certificates.
 */
export const azureeventhub: MakeProvider = (settings, parts) => {
  const hub = hubOf(settings);
  return {
    post: (event, signal) =>
      inWords("failed to send msg", signal, () => {
        const message = {
          url: `https://${hub.namespace}/${hub.name}/messages?timeout=60&api-version=2014-01`,
          headers: {
            "content-type": "application/atom+xml;type=entry;charset=utf-8",
            authorization: hub.authorization(parts.now()),
          },
          body: eventJson(event),
        };
        return postMessage(message, parts, signal);
      }),
  };
};

interface Hub {
  /** The host of the namespace. */
  readonly namespace: string;
  /** In the path of a URL. */
  readonly name: string;
  authorization(now: number): string;
}

function hubOf({ address, channel, token }: ProviderSettings): Hub {
  const invalid = "invalid authentication options";
  if (address === "") throw new Error(`${invalid}: endpoint URL cannot be empty`);
  if (address.includes("SharedAccessKey")) {
    if (token !== "") throw new Error(`${invalid}: jwt token and SAS authentication cannot be set at the same time`);
    return sharedHub(address);
  }
  if (token === "") {
    throw new Error(
      "failed to create a eventhub using managed identity: failed to get token: Sluice has no managed identity of Azure",
    );
  }
  const namespace = channel.includes(".servicebus.") ? channel : `${channel}.servicebus.windows.net`;
  if (!isHost(namespace)) throw new Error(`invalid namespace of a eventhub: '${channel}'`);
  return { namespace, name: encodeURIComponent(address), authorization: () => `Bearer ${token}` };
}

const maxAgeSeconds = 3600;

/** The hub of a connection string, such as `Endpoint=sb://…/;SharedAccessKeyName=…;SharedAccessKey=…;EntityPath=…`. */
function sharedHub(connection: string): Hub {
  const fault = (why: string): Error => new Error(`failed to create a eventhub using SAS: ${why}`);
  const values = new Map<string, string>();
  for (const pair of connection.split(";").filter((text) => text !== "")) {
    const at = pair.indexOf("=");
    if (at === -1) throw fault("failed parsing connection string due to unmatched key value separated by '='");
    values.set(pair.slice(0, at).toLowerCase(), pair.slice(at + 1));
  }
  const endpoint = values.get("endpoint") ?? "";
  const namespace = /^[a-z]+:\/\/([^/?#]*)/i.exec(endpoint)?.[1] ?? "";
  const [keyName, key] = [values.get("sharedaccesskeyname"), values.get("sharedaccesskey")];
  const [given, path] = [values.get("sharedaccesssignature"), values.get("entitypath")];
  if (namespace === "") throw fault('key "Endpoint" must not be empty');
  if (!isHost(namespace))
    throw fault("failed parsing connection string due to an incorrectly formatted Endpoint value");
  if (given === undefined && keyName === undefined) throw fault('key "SharedAccessKeyName" must not be empty');
  if (given === undefined && key === undefined) {
    throw fault('key "SharedAccessKey" or "SharedAccessSignature" cannot both be empty');
  }
  if (path === undefined) {
    throw fault("connection string does not contain an EntityPath. eventHub cannot be an empty string");
  }
  const name = path.split("/").map(encodeURIComponent).join("/");
  const resource = `https://${namespace}/${name}`;
  return {
    namespace,
    name,
    authorization: (now) => given ?? sharedAccessSignature(resource, { name: keyName ?? "", key: key ?? "" }, now),
  };
}

function sharedAccessSignature(
  resource: string,
  { name, key }: { readonly name: string; readonly key: string },
  now: number,
): string {
  const expiry = Math.floor(now / 1000) + maxAgeSeconds;
  const signed = encodeURIComponent(resource);
  const signature = createHmac("sha256", key).update(`${signed}\n${expiry}`).digest("base64");
  const fields = [
    `sr=${signed}`,
    `sig=${encodeURIComponent(signature)}`,
    `se=${expiry}`,
    `skn=${encodeURIComponent(name)}`,
  ];
  return `SharedAccessSignature ${fields.join("&")}`;
}

function isHost(text: string): boolean {
  return /^[a-z\d][a-z\d.-]*(?::\d+)?$/i.test(text);
}
