/** The parts of Go's layout for RFC 3339 in their order, with the range that Go checks at once. */
const parts = [
  { layout: "2006", digits: /^\d{4}/ },
  { layout: "-" },
  { layout: "01", digits: /^\d\d/, range: ["month", 1, 12] },
  { layout: "-" },
  { layout: "02", digits: /^\d\d/ },
  { layout: "T" },
  { layout: "15", digits: /^\d\d?/, range: ["hour", 0, 23] },
  { layout: ":" },
  { layout: "04", digits: /^\d\d/, range: ["minute", 0, 59] },
  { layout: ":" },
  { layout: "05", digits: /^\d\d/, range: ["second", 0, 59] },
  { layout: "Z07:00", digits: /^(?:Z|[-+]\d\d:\d\d)/ },
] as const;

/** What Go's `time.Parse` says of a text that is not RFC 3339; undefined if it finds no fault up to the zone. */
export function goTimeFault(text: string): string | undefined {
  const parsing = `parsing time ${quoted(text)}`;
  let rest = text;
  for (const part of parts) {
    const found =
      "digits" in part ? part.digits.exec(rest)?.[0] : rest.startsWith(part.layout) ? part.layout : undefined;
    if (found === undefined) {
      return `${parsing} as "2006-01-02T15:04:05Z07:00": cannot parse ${quoted(rest)} as ${quoted(part.layout)}`;
    }
    rest = rest.slice(found.length);
    if (part.layout === "05") rest = rest.slice(/^[.,]\d+/.exec(rest)?.[0].length ?? 0);
    if (!("range" in part)) continue;
    const [name, least, most] = part.range;
    if (Number(found) < least || Number(found) > most) return `${parsing}: ${name} out of range`;
  }
  return rest === "" ? undefined : `${parsing}: extra text: ${quoted(rest)}`;
}

/** As package time quotes: bytes that are not ASCII, or control characters, in hexadecimal digits. */
function quoted(text: string): string {
  const shown = [...Buffer.from(text)].map((byte) => {
    if (byte < 0x20 || byte > 0x7f) return `\\x${byte.toString(16).padStart(2, "0")}`;
    const character = String.fromCharCode(byte);
    return character === '"' || character === "\\" ? `\\${character}` : character;
  });
  return `"${shown.join("")}"`;
}
