import type { JsonObject } from "../core/json.ts";
import { selectorText as textOfSelector } from "../core/selector-text.ts";

/** A selector in a cell: `<none>` if it selects by nothing. */
export function selectorText(selector: JsonObject | undefined): string {
  return textOfSelector(selector) || "<none>";
}
