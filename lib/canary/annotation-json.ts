import { parseJson } from "../core/json.ts";

/** JSON in an annotation; undefined if the text is not JSON. The API server holds at most 256 KiB of annotations. */
export function annotationJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
