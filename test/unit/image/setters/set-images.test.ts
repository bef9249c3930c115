import { describe, expect, test } from "vitest";
import { changeOf, images, mark, setImages, setText } from "./set-file.ts";

const tag = mark("apps:web:tag");

describe("image-automation/45, 46: a marker sets", () => {
  test.each([
    ["the full reference", "apps:web", "registry.test/web:1.1.0"],
    ["the full reference with its digest", "apps:pinned", "registry.test/pinned:2.0.0@sha256:abc"],
    ["the tag", "apps:pinned:tag", "2.0.0"],
    ["the name", "apps:pinned:name", "registry.test/pinned"],
    ["the digest", "apps:pinned:digest", "sha256:abc"],
    ["an empty text in quotes if no digest is known", "apps:web:digest", '""'],
  ])("%s", (_, setter, value) => {
    expect(setText(`image: old${mark(setter)}\n`)).toBe(`image: ${value}${mark(setter)}\n`);
  });
});

test.each([
  ["another namespace", "other:web"],
  ["an unknown or unselected policy", "apps:unknown"],
  ["an unknown part", "apps:web:version"],
  ["an empty part", "apps:web:"],
  ["a part in capitals", "apps:web:TAG"],
  ["a namespace alone", "apps"],
  ["no name", ""],
])("image-automation/47: a marker of %s changes nothing", (_, setter) => {
  expect(changeOf(`image: old${mark(setter)}\n`)).toBeUndefined();
});

describe("a comment is a marker", () => {
  test.each([
    ["without spaces", '#{"$imagepolicy":"apps:web:tag"}'],
    ["with several #", '### {"$imagepolicy": "apps:web:tag"}'],
    ["with trailing spaces", '# { "$imagepolicy" : "apps:web:tag" }   '],
    ["with other texts in it", '# {"$imagepolicy": "apps:web:tag", "owner": "team-a"}'],
    [
      "with a repeated name, of which the last counts",
      '# {"$imagepolicy": "apps:unknown", "$imagepolicy": "apps:web:tag"}',
    ],
    ["with escapes", '# {"\\u0024imagepolicy": "apps:web:tag"}'],
    ["by reference", '# {"$ref": "#/definitions/io.k8s.cli.setters.apps:web:tag"}'],
  ])("%s", (_, comment) => {
    const text = (value: string): string => `a: ${value} ${comment}\nb: '"$imagepolicy"'\n`;
    expect(setText(text("old"))).toBe(text("1.1.0"));
  });

  test.each([
    ["text behind it", '# {"$imagepolicy": "apps:web:tag"} see below'],
    ["text before it", '# image {"$imagepolicy": "apps:web:tag"}'],
    ["a space between two #", '# # {"$imagepolicy": "apps:web:tag"}'],
    ["a number in it", '# {"$imagepolicy": "apps:web:tag", "owner": 1}'],
    ["another field", '# {"$imagePolicy": "apps:web:tag"}'],
    ["a list", '# ["$imagepolicy", "apps:web:tag"]'],
    ["a list in it", '# {"$imagepolicy": ["apps:web:tag"]}'],
    ["a value for another key", '# {"x-k8s-cli": {"setter": {"name": "apps:web:tag", "value": "mine"}}}'],
    ["an escaped name", '# {"$imagepolicy": "apps%3Aweb%3Atag"}'],
    ["another reference", '# {"$ref": "#/definitions/apps:web:tag"}'],
    ["no end", '# {"$imagepolicy": "apps:web:tag"'],
    ["only null", "# null"],
  ])("with %s it is only a comment", (_, comment) => {
    expect(changeOf(`a: old ${comment}\nb: '"$imagepolicy"'\n`)).toBeUndefined();
  });

  test("image-automation/48: a file without a marker's field is not parsed, whatever its comments are", () => {
    expect(changeOf('a: old # {"$ref": "#/definitions/io.k8s.cli.setters.apps:web:tag"}\n')).toBeUndefined();
  });
});

describe("the position of a marker", () => {
  test.each([
    ["behind a value", `a: OLD${tag}\n`],
    ["behind a tab", `a: OLD\t${tag.trim()}\n`],
    ["after a quoted value", `a: "OLD"${tag}\n`],
    ["directly after a quote", `a: "OLD"${tag.trim()}\n`],
    ["behind an item", `a:\n  - OLD${tag}\n  - b\n`],
    ["after an item of an item", `a:\n- - OLD${tag}\n  - b\n`],
    ["above the first item", `a:\n  ${tag.trim()}\n  - OLD\n  - b\n`],
    ["above another item", `a:\n  - b\n  ${tag.trim()}\n  - OLD\n`],
    ["above an item, at the start of the line", `a:\n  - b\n${tag.trim()}\n  - OLD\n`],
    ["above an item, further to the right", `a:\n  - b\n     ${tag.trim()}\n  - OLD\n`],
    ["above the first item, with a blank line between", `a:\n  ${tag.trim()}\n\n  - OLD\n`],
    ["above an item, with blank lines around", `a:\n  - b\n\n  ${tag.trim()}\n\n  - OLD\n`],
    ["above an item below another comment and a blank line", `a:\n  - b\n  # c\n\n  ${tag.trim()}\n  - OLD\n`],
    ["after the dash of an item on the next line", `a:\n  - ${tag.trim()}\n    OLD\n`],
    ["above an item that is a block", `a:\n  ${tag.trim()}\n  - |-\n    OLD\n`],
    ["above an item with an anchor", `a:\n  ${tag.trim()}\n  - &x OLD\n`],
    ["above an item of a flow list", `a: [b,\n ${tag.trim()}\n OLD]\n`],
    ["above a value on a line of its own", `a:\n  ${tag.trim()}\n  OLD\n`],
    ["in a flow mapping", `a: {b: c, d: OLD${tag}\n}\n`],
    ["in a flow mapping after a comma", `a: {b: OLD,${tag}\n  d: e}\n`],
    ["in a flow list", `a: [b, OLD,${tag}\n  c]\n`],
    ["in JSON", `{"a": {"b": "OLD"${tag}\n}}\n`],
    ["after the header of a block scalar", `a: |-${tag}\n  OLD\nb: c\n`],
    ["after the value of an explicit key", `? a\n: OLD${tag}\n`],
    ["after the last line of a long value", `a: OLD${tag}\n`],
    ["at the end of a file without a line break", `a: OLD${tag}`],
  ])("%s counts", (_, text) => {
    expect(setText(text.replace("OLD", "old"))).toBe(text.replace("OLD", "1.1.0"));
  });

  test.each([
    ["above a key", `${tag.trim()}\na: old\n`],
    ["above a key in a flow mapping", `a: {\n ${tag.trim()}\n b: old}\n`],
    ["behind a key", `a:${tag}\n  old\n`],
    ["after a key without a value", `a:${tag}\n`],
    ["after an explicit key", `? a${tag}\n: old\n`],
    ["after a flow mapping", `a: {b: old}${tag}\n`],
    ["after a flow list", `a: [old]${tag}\n`],
    ["after the name of a list", `a:${tag}\n  - old\n`],
    ["behind an alias", `a: &x old\nb: *x${tag}\n`],
    ["below an item", `a:\n  - old\n  ${tag.trim()}\n`],
    ["below an item, separate from the next", `a:\n  - b\n  ${tag.trim()}\n\n  - old\n`],
    ["at the end of a mapping before the next item", `a:\n  - b: c\n    ${tag.trim()}\n  - old\n`],
    ["above an item that is a mapping", `a:\n  ${tag.trim()}\n  - b: old\n`],
    ["above an item that is a list", `a:\n  ${tag.trim()}\n  - - old\n`],
    ["above an item with another comment after it", `a:\n  ${tag.trim()}\n  - old # c\n`],
    ["above an item in a comment of two lines", `a:\n  # c\n  ${tag.trim()}\n  - old\n`],
    ["above the first item, separate from another comment", `a:\n  # c\n\n  ${tag.trim()}\n  - old\n`],
    ["in a block", `a: |-\n  old\n  ${tag.trim()}\n`],
    ["in quotes", `a: "old' ${tag.trim().replaceAll('"', "'")}"\nb: '"$imagepolicy"'\n`],
  ])("%s does not count", (_, text) => {
    expect(changeOf(text)).toBeUndefined();
  });

  test("twice on a line, only the last value before it is set", () => {
    expect(setText(`a: [old, old${tag}\n]\n`)).toBe(`a: [old, 1.1.0${tag}\n]\n`);
  });

  test("after an item counts, and above the same item does not", () => {
    const text = (value: string): string => `a:\n  ${tag.trim()}\n  - ${value}${mark("apps:pinned:tag")}\n`;
    expect(setText(text("old"))).toBe(text("2.0.0"));
  });
});

describe("image-automation/49: a value is written", () => {
  const short = mark("apps:short:tag");
  test.each([
    ["plain text", `a: old${tag}\n`, `a: 1.1.0${tag}\n`],
    ["in quotes if it looks like a number", `a: old${short}\n`, `a: "1.10"${short}\n`],
    ["in the existing quotes", `a: 'old'${tag}\nb: "old"${tag}\n`, `a: '1.1.0'${tag}\nb: "1.1.0"${tag}\n`],
    ["as text in place of a number", `a: 1.0${tag}\n`, `a: 1.1.0${tag}\n`],
    ["as text in place of a boolean or null", `a: true${tag}\nb: ~${tag}\n`, `a: 1.1.0${tag}\nb: 1.1.0${tag}\n`],
    ["without the tag of a number that Flux has written", `a: !!float 1.0.0${tag}\n`, `a: 1.1.0${tag}\n`],
    ["with the tag of text", `a: !!str old${tag}\n`, `a: !!str 1.1.0${tag}\n`],
    ["with its own tag", `a: !mine &x old${tag}\nb: *x\n`, `a: !mine &x 1.1.0${tag}\nb: *x\n`],
    ["behind an anchor", `a: &x old${tag}\nb: *x\n`, `a: &x 1.1.0${tag}\nb: *x\n`],
    ["in place of several lines", `a: old\n  older${tag}\n`, `a: 1.1.0${tag}\n`],
    ["in place of several lines in quotes", `a: "old\n\n  older"${tag}\n`, `a: "1.1.0"${tag}\n`],
    ["a literal block", `a: |${tag}\n    old\n    older\n\nb: c\n`, `a: |-${tag}\n    1.1.0\n\nb: c\n`],
    ["a folded block", `a: >+2${tag}\n    old\n\n# c\nb: c\n`, `a: >-${tag}\n    1.1.0\n\n# c\nb: c\n`],
    ["a block with blank lines first", `a: |-${tag}\n\n  old\nb: c\n`, `a: |-${tag}\n  1.1.0\nb: c\n`],
    ["an empty block", `a: |-${tag}\n\nb: c\n`, `a: 1.1.0${tag}\n\nb: c\n`],
    [
      "a block that becomes empty",
      `a: |-${mark("apps:web:digest")}\n  old\nb: c\n`,
      `a: ""${mark("apps:web:digest")}\nb: c\n`,
    ],
    ["nothing in quotes", `a: 'old'${mark("apps:web:digest")}\n`, `a: ''${mark("apps:web:digest")}\n`],
  ])("%s", (_, text, expected) => {
    expect(setText(text)).toBe(expected);
  });

  test.each([
    ["1.10", '"1.10"'],
    ["123", '"123"'],
    ["0123", '"0123"'],
    ["1e3", '"1e3"'],
    ["0x1F", '"0x1F"'],
    ["1_000", '"1_000"'],
    ["true", '"true"'],
    ["off", '"off"'],
    ["null", '"null"'],
    ["2026-01-02", '"2026-01-02"'],
    ["inf", "inf"],
    ["NaN", "NaN"],
    ["v1.10", "v1.10"],
    ["1.10.0", "1.10.0"],
    ["main-0a1b2c3-1700000000", "main-0a1b2c3-1700000000"],
    ["_", "_"],
    ["a: b", '"a: b"'],
    ["a #b", '"a #b"'],
    ["é\u2028\n", '"\\u00e9\\u2028\\u000a"'.replace("\\u000a", "\\n")],
  ])("the tag %j is written as %s", (value, written) => {
    const chosen = new Map([["apps:web", { setter: "apps:web", name: "registry.test/web", tag: value }]]);
    expect(setText(`a: old${tag}\n`, chosen)).toBe(`a: ${written}${tag}\n`);
  });

  test("in quotes if it does not fit a block of one line", () => {
    const chosen = new Map([["apps:web", { setter: "apps:web", name: "registry.test/web", tag: " a\n" }]]);
    expect(setText(`a: |-${tag}\n  old\n  older\nb: c\n`, chosen)).toBe(`a: " a\\n"${tag}\nb: c\n`);
  });
});

describe("setting images keeps", () => {
  test.each([
    ["CRLF line ends", `a: OLD${tag}\r\n\r\nb:\r\n  ${tag.trim()}\r\n  - OLD\r\nc: |-${tag}\r\n  OLD\r\n`],
    ["a byte order mark", `\ufeffa: OLD${tag}\n`],
    ["blank lines and spaces at the ends of lines", `\n\na: OLD   ${tag}  \n  \nb: c  \n\n`],
    ["separators and empty documents", `---\n---\n# c\n---\na: OLD${tag}\n...\n---\nb: OLD${tag}\n---\n`],
    ["comments", `# head\na: OLD${tag}\n# foot\n\n# end\n`],
    ["folded text and long lines", `a: >-\n  b\n  c\nd: ${"e ".repeat(200)}f\ng: OLD${tag}\n`],
    ["flow style", `a: [ 1,2 , {b: c} ]\nd: {\n  e: OLD,${tag}\n  f: "g"\n}\n`],
    ["the order and indentation of keys", `b:\n    - c\n    - d\na:\n- e\n- f: OLD${tag}\n`],
    ["a key that occurs twice", `a: OLD${tag}\na: OLD${tag}\n`],
    ["merge keys", `a: &a\n  b: c\nd:\n  <<: *a\n  e: OLD${tag}\n`],
    ["expressions of templates", `a: {{ .Values.x }}\nb: OLD${tag}\nc: "{{ .y }}"\n`],
    ["text beyond the basic plane", `a: 😀 x\nb: OLD${tag}\nc: "😀"\n`],
    [
      "empty annotations and file annotations",
      `metadata:\n  annotations:\n    config.kubernetes.io/path: x.yaml\na: OLD${tag}\n`,
    ],
    ["lists whose brackets are not indented", `a:\n  b: [\n    c,\n  ]\n  d: {\n    e: OLD${tag}\n  }\n  f: [\n1\n]\n`],
    [
      "lines of lists and quotes that are not indented",
      `a: [b,\nc, {d: OLD,${tag}\ne: "f"}\n]\ng: "h\ni"\nj:\n- k: 'l\n\nm'\n  n: OLD${tag}\n`,
    ],
    [
      "quotes and comments in lists that are not indented",
      `a: [it's, "]", 'x''y]', b "c, # ]\n!t "d]", &e "f]", g: 'h]', "i":'j]',\n# k]\nl#m]\nn: OLD${tag}\n`,
    ],
    ["lists that are keys, and brackets in text", `? [a,\nb]\n: OLD${tag}\nc: d[e\nf: |\n  [g\nh: >\n  "i\nj: [\n]\n`],
    ["comments directly after brackets", `a: [b]# c\nd: OLD${tag}\n`],
  ])("%s", (_, text) => {
    expect(setText(text.replaceAll("OLD", "old"))).toBe(text.replaceAll("OLD", "1.1.0"));
  });

  test("image-automation/48: a file whose values are already right unchanged", () => {
    expect(
      changeOf(`a: 1.1.0${tag}\nb: "1.10"${mark("apps:short:tag")}\nc: 1.10${mark("apps:short:tag")}\n`),
    ).toBeUndefined();
  });
});

describe("image-automation/69: a file is not changed if it contains", () => {
  test.each([
    ["a list at the top", `- old${tag}\n`],
    ["a scalar at the top", `old${tag}\n`],
    ["a list at the top of its second document", `a: old${tag}\n---\n- b\n`],
    ["a directive", `%YAML 1.1\n---\na: old${tag}\n`],
    ["an alias without an anchor", `a: old${tag}\nb: *x\n`],
    ["an alias with the anchor of another document", `a: &x old${tag}\n---\nb: *x\n`],
    ["a value that is not YAML", `a: old${tag}\nb: @x\n`],
    ["lines of a template", `{{- if .Values.x }}\na: old${tag}\n{{- end }}\n`],
    ["a comment in the middle of a value", `a: old${tag}\n  older\n`],
    ["tabs before keys", `a: old${tag}\n\tb: c\n`],
    ["unclosed brackets", `a: old${tag}\nb: [c\n`],
    ["unclosed quotes", `a: old${tag}\nb: ["c\n]\n`],
  ])("%s", (_, text) => {
    expect(changeOf(text)).toBeUndefined();
  });

  test("bytes that are not UTF-8", () => {
    const content = Buffer.concat([Buffer.from(`a: old${tag}\nb: `), Buffer.from([0xff, 0x0a])]);
    expect(setImages({ path: "a.yaml", content }, images)).toBeUndefined();
  });
});

describe("the report of set images", () => {
  const pod = (name: string, indent: string): string =>
    [
      `apiVersion: v1`,
      `kind: Pod`,
      `metadata:`,
      `  name: ${name}`,
      `  namespace: default`,
      `spec:`,
      `  image: old${mark("apps:web")}`,
    ]
      .map((line) => `${indent}${line}\n`)
      .join("");
  const change = { oldValue: "old", newValue: "registry.test/web:1.1.0", setter: "apps:web" };
  const object = (name: string) => ({ apiVersion: "v1", kind: "Pod", namespace: "default", name });

  test("lists old and new values and setters by object, in the order of the file", () => {
    const text = `${pod("b", "")}---\n${pod("a", "")}  tag: 1${tag}\n`;
    expect(changeOf(text)?.objects).toEqual([
      { object: object("b"), changes: [change] },
      { object: object("a"), changes: [change, { oldValue: "1", newValue: "1.1.0", setter: "apps:web:tag" }] },
    ]);
  });

  test("lists the items of a List, wherever its kind stands", () => {
    const items = `- ${pod("a", "  ").trimStart()}- ${pod("b", "  ").trimStart()}`;
    const expected = [
      { object: object("a"), changes: [change] },
      { object: object("b"), changes: [change] },
    ];
    expect(changeOf(`apiVersion: v1\nkind: List\nitems:\n${items}`)?.objects).toEqual(expected);
    expect(changeOf(`items:\n${items}kind: List\napiVersion: v1\n`)?.objects).toEqual(expected);
  });

  test("lists another kind with items as one object", () => {
    const text = `apiVersion: v1\nkind: PodList\nitems:\n- ${pod("a", "  ").trimStart()}`;
    const list = { apiVersion: "v1", kind: "PodList", namespace: "", name: "" };
    expect(changeOf(text)?.objects).toEqual([{ object: list, changes: [change] }]);
  });

  test("has empty texts if a document is not an object, and merges such documents", () => {
    const text = `image: old${mark("apps:web")}\n---\nmetadata:\n  name: ~\nimage: old${mark("apps:web")}\n`;
    const nothing = { apiVersion: "", kind: "", namespace: "", name: "" };
    expect(changeOf(text)?.objects).toEqual([{ object: nothing, changes: [change, change] }]);
  });

  test("names an object by its name after the change", () => {
    const text = `kind: X\nmetadata:\n  name: old${tag}\n`;
    expect(changeOf(text)?.objects[0]?.object.name).toBe("1.1.0");
  });

  test("reports the old value of a block with its line break", () => {
    expect(changeOf(`a: |${tag}\n  old\n`)?.objects[0]?.changes[0]?.oldValue).toBe("old\n");
  });
});
