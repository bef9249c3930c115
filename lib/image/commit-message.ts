import { Failure } from "../core/failure.ts";
import { hiddenValue } from "../core/known-words.ts";
import type { EngineLimits } from "../core/ports/engine.ts";
import { type MessageEngine, MessageEngineError } from "../core/ports/message-engine.ts";
import type { FileChange, ObjectChanges } from "./image-change.ts";

/** The limit for the message of a commit, and for the title and the text of a pull request. */
export const maxMessageBytes = 64 * 1024;
/** A template of this size is read within the engine's limits whatever it holds. */
export const maxTemplateBytes = 64 * 1024;
/** The limits for one text, including the start of the engine if it has not run before. */
export const messageLimits: EngineLimits = {
  maxCpuMs: 20_000,
  maxWallMs: 60_000,
  // A character may take six bytes in JSON.
  maxOutputBytes: 8 * maxMessageBytes,
};

/** Whose message it is, and what its template sees besides the changes. */
export interface MessageOf {
  /** The id of the automation's cluster. */
  readonly cluster: string;
  readonly automation: { readonly namespace: string; readonly name: string };
  /** `git.commit.messageTemplateValues`. */
  readonly values: Readonly<Record<string, string>>;
  readonly changes: readonly Pick<FileChange, "objects" | "path">[];
}

/** Flux's message, if the template is missing or empty. */
const defaultMessage = "Update from image update automation";

/**
 * The message of the commit for these changes (reference image-automation 6).
 *
 * @param template `git.commit.messageTemplate`
 * @throws Failure of reason `RemovedTemplateField`, which only a new template ends, or `GitOperationFailed`
 */
export async function commitMessage(
  template: string | undefined,
  of: MessageOf,
  engine: MessageEngine,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await templateText(
      template === undefined || template === "" ? defaultMessage : template,
      of,
      engine,
      signal,
    );
  } catch (error) {
    if (!(error instanceof MessageEngineError)) throw error;
    if (error.reason === "removedField") throw new Failure("RemovedTemplateField", error.message, { cause: error });
    throw new Failure("GitOperationFailed", `failed to update source: ${error.message}`, { cause: error });
  }
}

/** The text of a template of the same language, with the same data. Throws a {@link MessageEngineError} with Flux's words. */
export async function templateText(
  template: string,
  { cluster, automation, values, changes }: MessageOf,
  engine: MessageEngine,
  signal: AbortSignal,
): Promise<string> {
  const bytes = Buffer.byteLength(template);
  if (bytes > maxTemplateBytes) {
    const why = `it has ${bytes} bytes, and at most ${maxTemplateBytes} are read`;
    throw new MessageEngineError("template", `unable to create commit message template from spec: ${why}`);
  }
  // Most messages are plain text: no engine starts for them.
  if (!template.includes("{{")) return template;
  const tenant = { cluster, namespace: automation.namespace };
  const files = changes.map(({ path, objects }) => ({ path, objects: objects.map(withoutSecrets) }));
  const input = { tenant, template, automation, values, files, maxBytes: maxMessageBytes };
  return engine.message(input, messageLimits, signal);
}

/** The message goes to Alerts too, whose readers may not read the repository: the value that a marker in a Secret replaces may be a password. */
function withoutSecrets({ object, changes }: ObjectChanges): ObjectChanges {
  if (object.kind !== "Secret") return { object, changes };
  return { object, changes: changes.map((change) => ({ ...change, oldValue: hiddenValue })) };
}
