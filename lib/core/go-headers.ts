/** Go's client sets these itself, whatever it is given. */
const ownHeaders: ReadonlySet<string> = new Set(["content-length", "host", "trailer", "transfer-encoding"]);

/** Headers as Go's client sends them: without its own, and values in UTF-8 and trimmed. Node takes each character for a byte. Pure. */
export function goHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const names = Object.keys(headers);
  const isSame = (name: string): boolean => !ownHeaders.has(name.toLowerCase()) && isSentAsIs.test(headers[name] ?? "");
  if (names.every(isSame)) return headers;
  const sent = Object.entries(headers).filter(([name]) => !ownHeaders.has(name.toLowerCase()));
  return Object.fromEntries(
    sent.map(([name, value]) => [
      name,
      isSentAsIs.test(value) ? value : Buffer.from(value.replaceAll(/^[ \t]+|[ \t]+$/g, "")).toString("latin1"),
    ]),
  );
}

/** ASCII without space at its ends, as most headers are. */
const isSentAsIs = /^[!-~](?:[ -~]*[!-~])?$/;

/** The error of Go's client for headers that it does not send, without a value; undefined for valid headers. Pure. */
export function goHeaderFault(headers: Readonly<Record<string, string>>): string | undefined {
  for (const name of Object.keys(headers)) {
    const value = headers[name] ?? "";
    if (!/^[!#$%&'*+.^_`|~\dA-Za-z-]+$/.test(name)) {
      return `net/http: invalid header field name ${JSON.stringify(name)}`;
    }
    // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
    if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(value)) {
      const shown = name.replaceAll(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase());
      return `net/http: invalid header field value for ${JSON.stringify(shown)}`;
    }
  }
  return undefined;
}
