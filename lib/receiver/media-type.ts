/** A header value's token, as Go accepts it. */
const token = String.raw`[^\x00-\x20\x7f-\uffff()<>@,;:\\"/[\]?=]+`;
const special = String.raw`\\[()<>@,;:\\"/[\]?=]`;
const space = String.raw`[\t-\r ]*`;
const type = new RegExp(`^${space}(${token}(?:/${token})?)${space}$`);
const parameter = new RegExp(
  `${space};${space}(${token})${space}=${space}(${token}|"(?:${special}|(?!${special})[^"\\r\\n])*")`,
  "y",
);
const end = new RegExp(`^${space}(?:;${space})?$`);

/**
 * The media type of a header Content-Type in lower case, or undefined for one that Go's `mime.ParseMediaType` refuses: no type, a
 * parameter without a value, or one that is there twice with different values. Flux goes by it.
 */
export function mediaTypeOf(header: string): string | undefined {
  const [base = ""] = header.split(";", 1);
  const name = type.exec(base.toLowerCase())?.[1];
  if (name === undefined) return undefined;
  const values = new Map<string, string>();
  parameter.lastIndex = base.length;
  let at = base.length;
  for (let found = parameter.exec(header); found !== null; found = parameter.exec(header)) {
    at = parameter.lastIndex;
    const [, key = "", text = ""] = found;
    const value = text.startsWith('"')
      ? text.slice(1, -1).replaceAll(new RegExp(special, "g"), (two) => two.slice(1))
      : text;
    if ((values.get(key.toLowerCase()) ?? value) !== value) return undefined;
    values.set(key.toLowerCase(), value);
  }
  return end.test(header.slice(at)) ? name : undefined;
}

/** Whether a header Content-Type says that the body is JSON. It may list types, of which none counts after one that is refused. */
export function isJsonType(header: string): boolean {
  for (const part of header.split(",")) {
    const name = mediaTypeOf(part);
    if (name === undefined) return false;
    if (name === "application/json") return true;
  }
  return false;
}
