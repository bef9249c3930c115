import { parentPort, workerData } from "node:worker_threads";
import ssh from "ssh2";
import { messageOf } from "../../core/failure.ts";
import { isJsonObject } from "../../core/json.ts";
import type { DecryptedKey, DecryptKeyJob } from "./decrypt-ssh-key.ts";

/** Does the one job that decrypt-ssh-key.ts started this thread for. */
function perform({ text, passphrase }: DecryptKeyJob): DecryptedKey {
  try {
    const parsed = ssh.utils.parseKey(text, passphrase);
    return parsed instanceof Error ? { fault: parsed.message } : { pem: parsed.getPrivatePEM() };
  } catch (error) {
    // A wrong passphrase may make anything of it.
    return { fault: messageOf(error) };
  }
}

/** Only decrypt-ssh-key.ts starts this thread, so one field is enough to know its job. */
function isJob(value: unknown): value is DecryptKeyJob {
  return isJsonObject(value) && typeof value["passphrase"] === "string";
}

if (isJob(workerData)) parentPort?.postMessage(perform(workerData));
