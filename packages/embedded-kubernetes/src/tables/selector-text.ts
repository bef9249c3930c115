import type { JsonObject } from "../json.ts";
import { selectorText as textOfSelector } from "../server/selector-text.ts";

/** A selector in a cell: `<none>` if it selects by nothing. */
export function selectorText(selector: JsonObject | undefined): string {
  return textOfSelector(selector) || "<none>";
}
