/** Software of others that Sluice ships. */
export interface ThirdParty {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly licence: string;
  /** What its licence, copying and notice files say, each as it is. */
  readonly texts: readonly string[];
}

/** Licences whose terms a NOTICE file meets. Another one is read by a person before it is listed here. */
const knownLicences = new Set([
  "(MIT OR GPL-3.0-or-later)",
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "PSF-2.0",
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
export const goTitle = "Go modules in engine/kustomize.wasm.br";

/**
 * One part of the NOTICE file: a list of what is shipped, then each text once with the names of those that it belongs to.
 * @throws {Error} if a licence is not one of those known, naming it
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

/** The licences whose words stand in a text, by their SPDX names. */
export function licencesIn(text: string): readonly string[] {
  return Object.entries(words)
    .filter(([, pattern]) => pattern.test(text))
    .map(([name]) => name);
}

function listed({ name, version, licence }: ThirdParty): string {
  return `${name} ${version}, ${licence}`;
}

/** Of the Apache licence, where it stands alone, only its copyright lines are kept, as LICENSE holds the rest. */
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
