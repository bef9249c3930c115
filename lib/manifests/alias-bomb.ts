import { EVENT_ID, type Event, type ScalarEvent } from "js-yaml";
import { Unacceptable } from "./read-failure.ts";
import { type DocumentText, lineAt } from "./split-documents.ts";

/** The expanded size of all aliases of one document. Without a limit a few lines could fill the memory. */
export const maxAliasedBytes = 16 * 1024 * 1024;

/** Memory that a value takes besides its text, at least. */
const bytesPerNode = 32;

/**
 * Adds up the expanded size of a document's aliases without expanding them, so an alias bomb costs no more than its text. Throws
 * {@link Unacceptable} above {@link maxAliasedBytes}.
 */
export function refuseAliasBomb(events: readonly Event[], { text, line }: DocumentText): void {
  if (!events.some(({ type }) => type === EVENT_ID.ALIAS)) return;
  const sizes = new Map<string, number>();
  const open: { anchor: string; bytes: number }[] = [];
  let aliased = 0;
  const add = (bytes: number, anchor: string): void => {
    if (anchor !== "") sizes.set(anchor, bytes);
    const parent = open.at(-1);
    if (parent !== undefined) parent.bytes += bytes;
  };
  for (const event of events) {
    if (event.type === EVENT_ID.DOCUMENT) continue;
    if (event.type === EVENT_ID.POP) {
      const closed = open.pop();
      if (closed !== undefined) add(closed.bytes, closed.anchor);
      continue;
    }
    const anchor = event.anchorStart === -1 ? "" : text.slice(event.anchorStart, event.anchorEnd);
    if (event.type === EVENT_ID.ALIAS) {
      const bytes = sizes.get(anchor) ?? bytesPerNode;
      aliased += bytes;
      if (aliased > maxAliasedBytes) {
        throw new Unacceptable(
          `its aliases expand to more than ${maxAliasedBytes} bytes`,
          line + lineAt(text, event.anchorStart),
        );
      }
      add(bytes, "");
    } else if (event.type === EVENT_ID.SCALAR) add(bytesOf(event, text), anchor);
    else open.push({ anchor, bytes: bytesPerNode });
  }
}

function bytesOf({ valueStart, valueEnd }: ScalarEvent, text: string): number {
  return bytesPerNode + Buffer.byteLength(text.slice(valueStart, valueEnd));
}
