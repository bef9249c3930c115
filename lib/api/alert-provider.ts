import { z } from "zod";
import { LocalReference } from "./fields.ts";

const ways = ["address", "secretRef"] as const;

/** `spec` of an AlertProvider (reference canary 13). The CRD is generated from it, and says the rule in the words of Flagger's. */
export const AlertProviderSpec = z
  .object({
    type: z.enum(["slack", "msteams", "discord", "rocket", "gchat"]).describe("Kind of chat."),
    channel: z.string().describe("Channel; general by default.").exactOptional(),
    username: z.string().describe("Name of the sender; flagger by default.").exactOptional(),
    address: z.string().describe("Address of the hook.").exactOptional(),
    proxy: z.string().describe("Proxy to the chat.").exactOptional(),
    secretRef: LocalReference.describe(
      "Secret with the address, and with a token where one is needed.",
    ).exactOptional(),
  })
  .refine((fields) => ways.filter((way) => fields[way] !== undefined).length === 1, {
    message: `must have exactly one of ${ways.join(", ")}`,
  })
  .meta({ required: undefined, oneOf: ways.map((way) => ({ required: ["type", way] })) });
export type AlertProviderSpec = Readonly<z.infer<typeof AlertProviderSpec>>;
