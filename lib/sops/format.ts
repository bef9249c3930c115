/** The stores of sops: how a file is read before, and written after, its decryption. */
export type SopsFormat = "yaml" | "json" | "dotenv" | "ini" | "binary";

/** As Flux spells a format in a message. */
export const formatLabel: { readonly [format in SopsFormat]: string } = {
  yaml: "YAML",
  json: "JSON",
  dotenv: "dotenv",
  ini: "INI",
  binary: "binary",
};

/** What says that bytes of a format are encrypted. A binary file is an envelope of JSON. */
const marker: { readonly [format in SopsFormat]: string } = {
  json: '"mac": "ENC[',
  binary: '"mac": "ENC[',
  dotenv: "sops_mac=ENC[",
  ini: "[sops]",
  yaml: "mac: ENC[",
};

/** The format for the name of a file, or of a key of a Secret (kustomization.md 3.10). */
export function formatOfName(name: string): SopsFormat {
  if (name.endsWith(".dockerconfigjson") || name.endsWith(".json")) return "json";
  if (name.endsWith(".yaml") || name.endsWith(".yml")) return "yaml";
  if (name.endsWith(".env")) return "dotenv";
  return name.endsWith(".ini") ? "ini" : "binary";
}

/** Whether the bytes hold the marker of the format. Bytes without it are left as they are. */
export function isEncrypted(bytes: Uint8Array, format: SopsFormat): boolean {
  return asBuffer(bytes).includes(marker[format]);
}

/** The format whose marker the bytes hold, for an entry of a Secret; undefined if they hold none. */
export function encryptedFormat(bytes: Uint8Array): SopsFormat | undefined {
  const formats: readonly SopsFormat[] = ["json", "yaml", "dotenv", "ini"];
  return formats.find((format) => isEncrypted(bytes, format));
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
