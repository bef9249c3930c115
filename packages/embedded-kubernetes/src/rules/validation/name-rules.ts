import { isIPv4, isIPv6 } from "node:net";

/** What is wrong with a text, in the words of `k8s.io/apimachinery/pkg/util/validation`; nothing when it is right. */
export type NameRule = (text: string) => readonly string[];

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomain = `${label}(\\.${label})*`;
const dns1035 = "[a-z]([-a-z0-9]*[a-z0-9])?";
const qualified = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const configKey = "[-._a-zA-Z0-9]+";

const maxLabel = 63;
const maxSubdomain = 253;
const qualifiedText =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

export function regexText(text: string, pattern: string, ...examples: readonly string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(" or ");
  return `${text} (e.g. ${shown}regex used for validation is '${pattern}')`;
}

function matches(pattern: string, text: string): boolean {
  return new RegExp(`^(?:${pattern})$`).test(text);
}

function tooManyCharacters(text: string, max: number): readonly string[] {
  return Buffer.byteLength(text) > max ? [`must be no more than ${max} characters`] : [];
}

function tooManyBytes(text: string, max: number): readonly string[] {
  return Buffer.byteLength(text) > max ? [`must be no more than ${max} bytes`] : [];
}

function rule(max: number, pattern: string, message: string): NameRule {
  return (text) => [...tooManyCharacters(text, max), ...(matches(pattern, text) ? [] : [message])];
}

export const dnsLabel: NameRule = (text) => [
  ...tooManyCharacters(text, maxLabel),
  ...(matches(label, text) ? [] : [labelProblem(text)]),
];

function labelProblem(text: string): string {
  // A valid subdomain fails as a label only for its dots, and the server says just that.
  return matches(subdomain, text)
    ? "must not contain dots"
    : regexText(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
        label,
        "my-name",
        "123-abc",
      );
}

export const dnsSubdomain = rule(
  maxSubdomain,
  subdomain,
  regexText(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    subdomain,
    "example.com",
  ),
);

export const wildcardSubdomain = rule(
  maxSubdomain,
  `\\*\\.${subdomain}`,
  regexText(
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    `\\*\\.${subdomain}`,
    "*.example.com",
  ),
);

export const serviceName = rule(
  maxLabel,
  dns1035,
  regexText(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    dns1035,
    "my-name",
    "abc-123",
  ),
);

/** A label key, an annotation key, a finalizer: an optional DNS prefix, a slash, and a name. */
export const qualifiedName: NameRule = (text) => {
  const parts = text.split("/");
  const name = parts.at(-1) ?? "";
  if (parts.length > 2) {
    const problem = regexText(qualifiedText, qualified, "MyName", "my.name", "123-abc");
    return [`a valid label key ${problem} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  return [...(parts.length === 2 ? prefixProblems(parts[0] ?? "") : []), ...namePartProblems(name)];
};

function prefixProblems(prefix: string): readonly string[] {
  return prefix === ""
    ? ["prefix part must be non-empty"]
    : dnsSubdomain(prefix).map((problem) => `prefix part ${problem}`);
}

function namePartProblems(name: string): readonly string[] {
  const length = name === "" ? ["must be non-empty"] : tooManyBytes(name, maxLabel);
  const form = matches(qualified, name) ? [] : [regexText(qualifiedText, qualified, "MyName", "my.name", "123-abc")];
  return [...length, ...form].map((problem) => `name part ${problem}`);
}

export const labelValue: NameRule = (text) => [
  ...tooManyBytes(text, maxLabel),
  ...(matches(`(${qualified})?`, text)
    ? []
    : [
        regexText(
          "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
          `(${qualified})?`,
          "MyValue",
          "my_value",
          "12345",
        ),
      ]),
];

export const configMapKey: NameRule = (text) => {
  const form = matches(configKey, text)
    ? []
    : [
        regexText(
          "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
          configKey,
          "key.name",
          "KEY_NAME",
          "key-name",
        ),
      ];
  return [...tooManyCharacters(text, maxSubdomain), ...form, ...backsteps(text)];
};

function backsteps(text: string): readonly string[] {
  if (text === ".") return ["must not be '.'"];
  if (text === "..") return ["must not be '..'"];
  return text.startsWith("..") ? ["must not start with '..'"] : [];
}

/** A name that is only part of a URL path: RBAC objects and what custom resources check first. */
export const pathSegmentName: NameRule = (text) => {
  if (text === "." || text === "..") return [`may not be '${text}'`];
  return ["/", "%"].filter((part) => text.includes(part)).map((part) => `may not contain '${part}'`);
};

export const portName: NameRule = (text) => [
  ...tooManyCharacters(text, 15),
  ...(/^[-a-z0-9]+$/.test(text) ? [] : ["must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"]),
  ...(/[a-z]/.test(text) ? [] : ["must contain at least one letter (a-z)"]),
  ...(text.includes("--") ? ["must not contain consecutive hyphens"] : []),
  ...(/^-|-$/.test(text) ? ["must not begin or end with a hyphen"] : []),
];

export const environmentName: NameRule = (text) =>
  /^[\x20-\x3c\x3e-\x7e]*$/.test(text)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];

export const ipAddress: NameRule = (text) =>
  isIPv4(withoutLeadingZeros(text)) || isIPv6(text)
    ? []
    : ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"];

/** Parts of an IPv4 address may have leading zeros, with which they are decimal numbers all the same. */
export function withoutLeadingZeros(address: string): string {
  return /^[\d.]+$/.test(address) ? address.replaceAll(/\b0+(?=\d)/g, "") : address;
}

export const cidr: NameRule = (text) => {
  const [address = "", length = ""] = text.split("/");
  const max = isIPv4(address) ? 32 : 128;
  const isValid = ipAddress(address).length === 0 && /^\d{1,3}$/.test(length) && Number(length) <= max;
  return isValid ? [] : ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"];
};

export function portNumber(port: number): readonly string[] {
  return port >= 1 && port <= 65_535 ? [] : ["must be between 1 and 65535, inclusive"];
}
