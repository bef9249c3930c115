import { messageOf } from "../../core/failure.ts";
import { eventJson } from "../event-json.ts";
import { type NatsLogin, publishOnce } from "../nats-connection.ts";
import { type NatsKey, natsKey } from "../nats-key.ts";
import { inWords } from "../post-json.ts";
import type { MakeProvider, ProviderSettings } from "../provider.ts";

/** The event as a message of NATS. As in Flux it takes neither a proxy nor certificates. */
export const nats: MakeProvider = (settings, parts) => {
  const { address, channel: subject } = settings;
  if (address === "") throw new Error("NATS server (address) cannot be empty");
  if (subject === "") throw new Error("NATS subject (channel) cannot be empty");
  return {
    post: (event, signal) =>
      inWords(`error publishing event to subject ${subject}`, signal, async () => {
        if (/[\s\p{Cc}]/u.test(subject)) throw new Error("nats: invalid subject");
        const server = { server: address, login: loginOf(settings), name: "NATS Provider Publisher" };
        await publishOnce(server, { subject, payload: eventJson(event) }, parts.dial, signal);
      }),
  };
};

/** A credentials file comes before a key, and that before a name and password. */
function loginOf({ secret, username, password }: ProviderSettings): () => NatsLogin {
  const { creds = "", nkey = "" } = secret;
  if (creds !== "") return () => credentialsOf(creds);
  const login = nkey === "" ? {} : { key: keyOf("error parsing nkey seed", nkey) };
  return () => (nkey === "" && username !== "" && password !== "" ? { username, password } : login);
}

/** The JWT and the seed of a credentials file. */
function credentialsOf(file: string): NatsLogin {
  const [jwt = "", seed = ""] = Array.from(
    file.matchAll(/-{3,}[^\r\n]*-{3,}\r?\n([\w.=-]+)\r?\n-{3,}[^\r\n]*-{3,}(?:\r?\n|$)/g),
    ([, text = ""]) => text,
  );
  return { jwt, key: keyOf("error signing nonce: unable to extract key pair from bytes", seed) };
}

function keyOf(words: string, seed: string): NatsKey {
  try {
    return natsKey(seed);
  } catch (error) {
    throw new Error(`${words}: ${messageOf(error)}`, { cause: error });
  }
}
