import type { Tenant } from "../tenant.ts";
import type { EngineLimits } from "./engine.ts";
import { PortError } from "./port-error.ts";

/** A template of Go, and what it sees (reference image-automation 6). */
export interface MessageInput {
  /** Its turns and limits count for this tenant. */
  readonly tenant: Tenant;
  readonly template: string;
  /** `.AutomationObject`. */
  readonly automation: { readonly namespace: string; readonly name: string };
  /** `.Values`. */
  readonly values: Readonly<Record<string, string>>;
  /** `.Changed`. */
  readonly files: readonly {
    readonly path: string;
    readonly objects: readonly {
      readonly object: {
        readonly apiVersion: string;
        readonly kind: string;
        readonly namespace: string;
        readonly name: string;
      };
      readonly changes: readonly { readonly oldValue: string; readonly newValue: string; readonly setter: string }[];
    }[];
  }[];
  /** The limit for the rendered text. */
  readonly maxBytes: number;
}

/**
 * Go's templates with the functions that Flux allows in a commit message: none that reads a clock, a random number, a name or the
 * environment.
 */
export interface MessageEngine {
  /** The text of the template. Throws a {@link MessageEngineError}, or the reason that `signal` was aborted with. */
  message(input: MessageInput, limits: EngineLimits, signal: AbortSignal): Promise<string>;
}

/**
 * `template`: it cannot be read, or fails. `removedField`: it reads a field that Flux has removed. The other reasons are those of the other
 * engine.
 */
export type MessageEngineErrorReason =
  | "broken"
  | "busy"
  | "memory"
  | "output"
  | "removedField"
  | "template"
  | "time"
  | "unavailable";

/** The message is Flux's where it has one. */
export class MessageEngineError extends PortError<MessageEngineErrorReason> {
  override readonly name = "MessageEngineError";
}
