import { parseJson } from "../core/json.ts";

/** JSON that is kept in an annotation; undefined for a text that is not JSON. The API server holds at most 256 KiB of annotations. */
export function annotationJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
