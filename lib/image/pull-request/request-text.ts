import { cutText } from "../../core/cut-text.ts";
import { Failure } from "../../core/failure.ts";
import { type MessageEngine, MessageEngineError } from "../../core/ports/message-engine.ts";
import { type MessageOf, templateText } from "../commit-message.ts";
import type { RequestText } from "./request-host.ts";

/** Templates of the title and the text of a pull request, as those of commit messages. */
export const titleAnnotation = "sluice.dev/pull-request-title";
export const bodyAnnotation = "sluice.dev/pull-request-body";

/** GitLab and Gitea take 255 characters, GitHub one more. */
export const maxTitleBytes = 255;
/** GitHub takes 65,536 characters, the others more. */
export const maxBodyBytes = 60_000;

const defaultTitle = "Update from image update automation";

/**
 * Title and text of the pull request: by the templates in the annotations, else the first line of the message of the commit, and the rest.
 *
 * @throws Failure of reason `GitOperationFailed` that names the annotation whose template gives no text
 */
export async function requestText(
  message: string,
  annotations: Readonly<Record<string, string>>,
  of: MessageOf,
  engine: MessageEngine,
  signal: AbortSignal,
): Promise<RequestText> {
  const [first = "", ...rest] = message.trim().split("\n");
  const written = async (annotation: string, otherwise: string): Promise<string> => {
    const template = annotations[annotation];
    if (template === undefined) return otherwise;
    try {
      return await templateText(template, of, engine, signal);
    } catch (error) {
      if (!(error instanceof MessageEngineError)) throw error;
      const why = `annotation ${annotation}: ${inOwnWords(error.message)}`;
      throw new Failure("GitOperationFailed", `failed to open the pull request: ${why}`, { cause: error });
    }
  };
  const title = (await written(titleAnnotation, first)).replaceAll(/\s+/g, " ").trim();
  const body = (await written(bodyAnnotation, rest.join("\n"))).trim();
  return { title: cutText(title === "" ? defaultTitle : title, maxTitleBytes), body: cutText(body, maxBodyBytes) };
}

/** Flux's words are about the message of a commit. */
function inOwnWords(said: string): string {
  return said
    .replace(/^unable to create commit message template from spec: /, "the template cannot be read: ")
    .replace(/^failed to run template from spec: /, "the template fails: ");
}
