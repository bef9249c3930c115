/** What a registry asks for with a 401. */
export type Challenge =
  | { readonly scheme: "basic" }
  | { readonly scheme: "bearer"; readonly realm: string; readonly parameters: Readonly<Record<string, string>> };

/** Reads a `WWW-Authenticate` header (RFC 9110); of several challenges a bearer one wins. Undefined where none is known. */
export function parseChallenge(header: string): Challenge | undefined {
  const bearer = /(?:^|,\s*)bearer\s+(.*)$/i.exec(header)?.[1];
  if (bearer !== undefined) {
    const parameters: Record<string, string> = {};
    for (const [, key = "", quoted, plain = ""] of bearer.matchAll(
      /([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi,
    )) {
      parameters[key.toLowerCase()] ??= quoted?.replaceAll(/\\(.)/g, "$1") ?? plain;
    }
    const { realm } = parameters;
    if (realm !== undefined) return { scheme: "bearer", realm, parameters };
  }
  return /(?:^|,\s*)basic(?:\s|$|,)/i.test(header) ? { scheme: "basic" } : undefined;
}
