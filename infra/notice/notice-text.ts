/** Third-party software that Sluice ships. */
export interface ThirdParty {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly licence: string;
  /** The unchanged texts of its licence, copying and notice files. */
  readonly texts: readonly string[];
}

/**
 * Licences whose terms a NOTICE file meets. A person reads any other licence before adding it here. `LGPL-3.0+` (openpgp) also asks
 * for the text of the GPL, which `third-party.ts` adds, and for a library that can be replaced, which infra/bundle.ts sees to.
 */
const knownLicences = new Set([
  "(MIT OR GPL-3.0-or-later)",
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "LGPL-3.0+",
  "MIT",
  "PSF-2.0",
  "Unlicense",
]);

const words = {
  "Apache-2.0": /Apache License,? *\s*Version 2\.0/,
  "BSD-2-Clause": /Redistribution and use in source and binary forms(?![^]*neither the name)/i,
  "BSD-3-Clause": /Redistribution and use in source and binary forms[^]*neither the name/i,
  ISC: /Permission to use, copy, modify, and(\/or)? distribute this software/,
  MIT: /Permission is hereby granted, free of charge/,
};

export const noticeHeading = `Sluice
Copyright The Sluice Authors

Licensed under the Apache License, Version 2.0: see the file LICENSE, which is also the text of that licence for all that is
named below. Written by infra/write-notice.ts.
`;

export const npmTitle = "npm packages that Sluice runs on";
/** The WebAssembly modules that we ship, by the folders that hold their go.mod. */
export const goTitles = {
  engine: "Go modules in engine/kustomize.wasm.br",
  "engine/cel": "Go modules in engine/cel.wasm.br",
  "engine/helm": "Go modules in engine/helm.wasm.br",
} as const;

export type GoFolder = keyof typeof goTitles;
export const goFolders: readonly GoFolder[] = ["engine", "engine/cel", "engine/helm"];

/**
 * One part of the NOTICE file: a list of the software, then each text once with the names of the software that it belongs to.
 * @throws {Error} that names the licences that are not known
 */
export function noticePart(title: string, shipped: readonly ThirdParty[]): string {
  const unknown = shipped.filter(({ licence }) => !licence.split(" AND ").every((one) => knownLicences.has(one)));
  if (unknown.length > 0) throw new Error(`licences to be read first: ${unknown.map(listed).join("; ")}`);
  const namesByText = new Map<string, string[]>();
  for (const { name, texts } of shipped) {
    for (const text of texts.map(withoutApacheLicence)) {
      if (text !== "") namesByText.set(text, [...new Set([...(namesByText.get(text) ?? []), name])]);
    }
  }
  const notices = [...namesByText].map(([text, names]) => `${"-".repeat(80)}\n${names.join(", ")}\n\n${text}\n`);
  return `${"=".repeat(80)}\n${title}\n\n${shipped.map((one) => `  ${listed(one)}\n`).join("")}\n${notices.join("\n")}`;
}

/** The SPDX names of the licences whose wording a text contains. */
export function licencesIn(text: string): readonly string[] {
  return Object.entries(words)
    .filter(([, pattern]) => pattern.test(text))
    .map(([name]) => name);
}

function listed({ name, version, licence }: ThirdParty): string {
  return `${name} ${version}, ${licence}`;
}

/** A text that is only the Apache licence is reduced to its copyright lines, since LICENSE holds the rest. */
function withoutApacheLicence(text: string): string {
  const lines = text
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.trimEnd());
  if (licencesIn(text).join() !== "Apache-2.0" || !text.includes("END OF TERMS AND CONDITIONS")) {
    return lines.join("\n").trim();
  }
  return lines
    .map((line) => line.trim())
    .filter((line) => /^Copyright (\(c\) |©|\d)/i.test(line))
    .join("\n");
}
