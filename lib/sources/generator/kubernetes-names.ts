// Why a text is not a name, in the words of Kubernetes.

const subdomain = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const qualified = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const isSubdomain = (name: string): boolean =>
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name);
const isQualified = (name: string): boolean => /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/.test(name);

export function dnsSubdomainFaults(name: string): readonly string[] {
  return [
    ...tooLong(name, 253),
    ...(isSubdomain(name)
      ? []
      : [
          `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${subdomain}')`,
        ]),
  ];
}

/** The faults of a key without a prefix. */
export function labelKeyFaults(name: string): readonly string[] {
  return [
    ...tooLong(name, 63).map((fault) => `name part ${fault}`),
    ...(isQualified(name)
      ? []
      : [
          `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${qualified}')`,
        ]),
  ];
}

export function labelValueFaults(value: string): readonly string[] {
  return [
    ...tooLong(value, 63),
    ...(value === "" || isQualified(value)
      ? []
      : [
          `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${qualified})?')`,
        ]),
  ];
}

function tooLong(text: string, max: number): readonly string[] {
  return Buffer.byteLength(text) > max ? [`must be no more than ${max} bytes`] : [];
}
