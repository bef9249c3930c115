import { DataKeyError } from "../../lib/core/ports/data-keys.ts";
import { HttpError } from "../../lib/core/ports/http.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import type { KeyParts } from "../../lib/sops/keys/key-parts.ts";

/** For flows whose keys are in Secrets, if they have any. */
export const noKeyServices: Omit<KeyParts, "home"> = {
  http: { send: () => Promise.reject(new HttpError("unreachable", "there is no key service")) },
  clock: systemClock,
  dataKeys: { open: () => Promise.reject(new DataKeyError("denied", "there is no KMS")) },
  accountTokens: undefined,
  ageSecret: undefined,
  vaultConfigMap: undefined,
  defaultAccount: "",
};
