import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { measuredElsewhere } from "./other-readers.ts";
import { worstInputs } from "./readers.ts";

const root = join(import.meta.dirname, "../..");

/** What a module has that parses, unpacks, verifies or matches bytes: a package, a function, a thread. */
const signs = [
  /from "(?:node:zlib|node:worker_threads|yaml|js-yaml|openpgp|ssh2|age-encryption|re2js|@sigstore\/\w+)"/,
  /^import \{[^}]*\b(?:createPublicKey|createPrivateKey|X509Certificate|verify|createDecipheriv|diffieHellman|hkdfSync|pbkdf2\w*|scrypt\w*)\b[^}]*\} from "node:crypto"/m,
  /\bJSON\.parse\(/,
  /\bparseJson\(/,
  /\bnew RegExp\(/,
  /\bWebAssembly\.compile\(/,
];

function isReader(source: string): boolean {
  const code = source.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, "");
  return signs.some((sign) => sign.test(code));
}

test("a module that imports zlib, verifies or parses JSON is a reader, and one that only mentions it in a comment is not", () => {
  expect(isReader('import { inflateSync } from "node:zlib";')).toBe(true);
  expect(isReader('import { createHash, verify } from "node:crypto";')).toBe(true);
  expect(isReader("return JSON.parse(text);")).toBe(true);
  expect(isReader('import { createHash } from "node:crypto";\n/** As JSON.parse(text) */\n// new RegExp(text)')).toBe(
    false,
  );
});

test("every reader of foreign bytes has a measured worst input, or a reason why it needs none", async () => {
  const readers: string[] = [];
  for await (const file of glob("{lib,functions}/**/*.ts", { cwd: root })) {
    if (isReader(await readFile(join(root, file), "utf8"))) readers.push(file);
  }
  const measured = worstInputs.map(({ reader }) => reader);
  const told = [...measuredElsewhere.keys()];
  expect(readers.filter((file) => !measured.includes(file) && !told.includes(file)).toSorted()).toEqual([]);
  expect(told.filter((file) => !readers.includes(file) || measured.includes(file))).toEqual([]);
});
