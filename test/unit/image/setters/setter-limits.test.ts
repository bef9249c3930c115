import { expect, test } from "vitest";
import { maxMarkerChars } from "../../../../lib/image/setters/marker.ts";
import {
  maxDepth,
  maxDocumentChars,
  maxDocuments,
  maxIndicators,
} from "../../../../lib/image/setters/read-documents.ts";
import { maxChangesPerFile, maxSetterFileBytes } from "../../../../lib/image/setters/set-images.ts";
import { changeOf, mark, setText } from "./set-file.ts";

const marked = `a: old${mark("apps:web:tag")}\n`;

/** A document without markers of so many characters. */
function documentOf(chars: number): string {
  const text = "---\nb: ";
  return `${text}${"x".repeat(chars - text.length - 1)}\n`;
}

test(`a file with markers has at most ${maxSetterFileBytes} bytes`, () => {
  const count = Math.floor((maxSetterFileBytes - marked.length) / 1_000_000);
  const text = `${marked}${documentOf(1_000_000).repeat(count)}`;
  const most = `${text}${documentOf(maxSetterFileBytes - text.length)}`;
  expect(setText(most).startsWith("a: 1.1.0")).toBe(true);
  expect(() => changeOf(`${most}\n`)).toThrow(
    `a.yaml holds image policy markers and has more than ${maxSetterFileBytes} bytes: move the parts without markers to another file`,
  );
  expect(changeOf(documentOf(maxSetterFileBytes + 1))).toBeUndefined();
});

test(`a document of a file with markers has at most ${maxDocumentChars} characters`, () => {
  expect(changeOf(`${marked}${documentOf(maxDocumentChars)}`)).toBeDefined();
  expect(() => changeOf(`${marked}${documentOf(maxDocumentChars + 1)}`)).toThrow(
    `a.yaml holds image policy markers, and its document at line 2 has more than ${maxDocumentChars} characters: move the parts without markers to another file`,
  );
});

test(`a document of a file with markers has at most ${maxIndicators} characters that may start a value`, () => {
  const most = `${marked}---\nb: [${"x,".repeat(maxIndicators - 8)}x]\n`;
  const indicators = (most.slice(marked.length).match(/[[{,:?\-&!*\n\r]/g) ?? []).length;
  expect(indicators).toBe(maxIndicators - 1);
  expect(changeOf(`${most}\n`)).toBeDefined();
  expect(() => changeOf(`${most}\n\n`)).toThrow(`has more than ${maxIndicators} line breaks and characters`);
});

test(`a document of a file with markers is nested at most ${maxDepth} levels deep`, () => {
  const nested = (levels: number): string => `${marked}b: ${"[".repeat(levels)}${"]".repeat(levels)}\n`;
  expect(changeOf(nested(maxDepth - 1))).toBeDefined();
  expect(() => changeOf(nested(maxDepth))).toThrow(
    `its document at line 1 is nested deeper than ${maxDepth} levels: nest it less deeply`,
  );
});

test(`a file with markers has at most ${maxDocuments} documents`, () => {
  expect(changeOf(`${marked}${"---\n".repeat(maxDocuments - 1)}`)).toBeDefined();
  expect(() => changeOf(`${marked}${"---\n".repeat(maxDocuments)}`)).toThrow(
    `a.yaml holds image policy markers and has more than ${maxDocuments} documents: split it into several files`,
  );
});

test(`the markers of a file set at most ${maxChangesPerFile} values`, () => {
  expect(changeOf(marked.repeat(maxChangesPerFile))?.objects[0]?.changes).toHaveLength(maxChangesPerFile);
  expect(() => changeOf(marked.repeat(maxChangesPerFile + 1))).toThrow(
    `a.yaml has more than ${maxChangesPerFile} image policy markers: split it into several files`,
  );
});

test(`a comment of more than ${maxMarkerChars} characters does not count as a marker`, () => {
  const marker = mark("apps:web:tag").trim();
  const text = (spaces: number): string => `a: old ${marker}${" ".repeat(spaces)}\n`;
  expect(changeOf(text(maxMarkerChars - marker.length))).toBeDefined();
  expect(changeOf(text(maxMarkerChars - marker.length + 1))).toBeUndefined();
});
