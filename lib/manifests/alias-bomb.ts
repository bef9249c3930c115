import { EVENT_ID, type Event } from "js-yaml";
import { lineAt } from "./line-at.ts";
import { Unacceptable } from "./read-failure.ts";
import type { DocumentText } from "./split-documents.ts";

/** What all aliases of a document may stand for: past it a few lines fill the memory. */
const maxAliasedNodes = 100_000;

/** Counts what the aliases stand for without following them, so a bomb costs no more than its text. */
export function refuseAliasBomb(events: readonly Event[], { text, line }: DocumentText): void {
  if (!events.some(({ type }) => type === EVENT_ID.ALIAS)) return;
  const sizes = new Map<string, number>();
  const open: { anchor: string; size: number }[] = [];
  const add = (size: number, anchor: string): void => {
    if (anchor !== "") sizes.set(anchor, size);
    const parent = open.at(-1);
    if (parent !== undefined) parent.size += size;
  };
  for (const event of events) {
    if (event.type === EVENT_ID.DOCUMENT) continue;
    if (event.type === EVENT_ID.POP) {
      const closed = open.pop();
      if (closed !== undefined) add(closed.size, closed.anchor);
      continue;
    }
    const anchor = text.slice(event.anchorStart, event.anchorEnd);
    if (event.type === EVENT_ID.ALIAS) {
      const size = sizes.get(anchor) ?? 1;
      if (size > maxAliasedNodes) {
        throw new Unacceptable(
          `its aliases stand for more than ${maxAliasedNodes} values`,
          line + lineAt(text, event.anchorStart),
        );
      }
      add(size, "");
    } else if (event.type === EVENT_ID.SCALAR) add(1, event.anchorStart === -1 ? "" : anchor);
    else open.push({ anchor: event.anchorStart === -1 ? "" : anchor, size: 1 });
  }
}
