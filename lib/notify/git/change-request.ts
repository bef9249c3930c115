import { markdownOf } from "../describe-event.ts";
import type { NotificationEvent } from "../notification-event.ts";

/** A comment on a pull or merge request. */
export interface ChangeRequestComment {
  /** By it the comment of one provider about one object is found again. It shows nowhere, since it is a comment of HTML. */
  readonly marker: string;
  /** Markdown that begins with the marker. */
  readonly body: string;
}

/** @param key `flux-pr-comment-key`, or GitLab's `flux-mr-comment-key` */
export function changeRequestComment(event: NotificationEvent, key: string, providerUid: string): ChangeRequestComment {
  const { kind, namespace, name } = event.involvedObject;
  const marker = `<!-- ${key}:${providerUid}/${kind}/${namespace}/${name} -->`;
  return { marker, body: `${marker}\n\n${markdownOf(event)}` };
}

/** The number of the pull or merge request, as a path has it. Throws the text of this parser of Go. */
export function changeRequestNumber({ metadata = {} }: NotificationEvent, parser: "Atoi" | "ParseInt"): string {
  const { change_request: text } = metadata;
  if (text === undefined) throw new Error('missing "change_request" metadata key');
  const refused = (why: string): Error =>
    new Error(
      `invalid "change_request" metadata value ${JSON.stringify(text)}: strconv.${parser}: parsing ${JSON.stringify(text)}: ${why}`,
    );
  if (!/^[+-]?\d+$/.test(text)) throw refused("invalid syntax");
  const number = BigInt(text.replace("+", ""));
  if (BigInt.asIntN(64, number) !== number) throw refused("value out of range");
  return String(number);
}

/** The UID of the Provider, which makes a marker its own. */
export function requiredProviderUid(uid: string): string {
  if (uid === "") throw new Error("provider UID cannot be empty");
  return uid;
}
