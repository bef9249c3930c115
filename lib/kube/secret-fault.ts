import { asItIs, knownWords } from "../core/known-words.ts";
import { ApiError } from "../core/ports/cluster.ts";

/**
 * The texts of API servers about a Secret that may be shown. Quotes of a Secret's fields, and texts of webhooks and policies, may
 * contain a value and are hidden (lib/core/known-words.ts).
 */
const secretWords: readonly string[] = [
  // Validation, one fault or a list of them.
  'Secret "<name>" is invalid: ',
  "<shownField>: Invalid value: <string>: ",
  '<field>: Invalid value: "<secret contents redacted>": ',
  '<field>: Invalid value: "<cut>": ',
  "<field>: Invalid value: <cut>: ",
  '<field>: Duplicate value: "<cut>"',
  "<field>: Required value",
  "<field>: Forbidden: ",
  "<field>: Too long: ",
  '<field>: Unsupported value: "<cut>": supported values: ',
  // The same without the field, as a cause has it.
  'Invalid value: "<cut>": ',
  "Required value",
  "Forbidden: ",
  "Too long: ",
  "field is immutable when `immutable` is set",
  "field is immutable",
  "may not be more than <number> bytes",
  "must have at most <number> bytes",
  "must be no more than <number> characters",
  "must be no more than <number> bytes",
  "must be specified for an update",
  "must be unset",
  "no new finalizers can be added if the object is being deleted, found new finalizers []string{<strings>}",
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  "unexpected end of JSON input",
  "invalid character <cut> looking for beginning of value",

  // Fields of a wrong type or an unknown name.
  "failed to create typed patch object (<name>/<name>; /v1, Kind=Secret): ",
  "failed to convert new object (<name>/<name>; /v1, Kind=Secret) to proper version: ",
  "unable to convert unstructured object to /v1, Kind=Secret: ",
  "failed to create manager for existing fields: ",
  'Secret in version "v1" cannot be handled as a Secret: ',
  "error decoding from json: ",
  "illegal base64 data at input byte <number>",
  "strict decoding error: ",
  'unknown field "<field>"',
  'duplicate field "<field>"',
  "json: cannot unmarshal <jsontype> into Go struct field <field> of type <gotype>",
  "json: cannot unmarshal <jsontype> into Go value of type <gotype>",
  "cannot restore <word> from: <word>",
  "unrecognized type: <word>",
  "errors:\n  ",
  "<field>: field not declared in schema",
  "<field>: expected <types>, got <cuts>",

  // Whether it is there, and who may do what.
  'secrets "<name>" not found',
  'namespaces "<name>" not found',
  'secrets "<name>" already exists',
  'secrets "<name>" is forbidden',
  "secrets is forbidden",
  'User "<user>" cannot <word> resource "secrets" in API group ""',
  ' in the namespace "<name>"',
  " at the cluster scope",
  "unable to create new content in namespace <name> because it is being terminated",
  "exceeded quota: <name>, requested: <amounts>, used: <amounts>, limited: <amounts>",
  'Operation cannot be fulfilled on secrets "<name>": ',
  "the object has been modified; please apply your changes to the latest version and try again",
  "Precondition failed: UID in precondition: <name>, UID in object meta: <name>",
  "Apply failed with <number> conflicts",
  "Apply failed with <number> conflict",
  'conflict with "<user>" using v1',
  'conflicts with "<user>" using v1',

  // Webhooks and policies.
  'admission webhook "<name>" denied the request without explanation',
  'admission webhook "<name>" denied the request: <rest>',
  "ValidatingAdmissionPolicy '<name>' with binding '<name>' denied request: <rest>",
  'failed calling webhook "<name>": <rest>',

  // The server itself.
  "Internal error occurred: ",
  "Request entity too large: limit is <number>",
  "Request entity too large",
  "etcdserver: <server>",
  "context deadline exceeded",
  "the server could not find the requested resource",
  "Timeout: request did not complete within the requested timeout",
  "the server is currently unable to handle the request",
  "Too many requests, please try again later.",
  "too many requests",
  "Unauthorized",
  "404 page not found",
  "the cluster answered with status <number> and nothing else",

  // What joins them. Longer forms come first.
  ": ",
  ", ",
  "[",
  "]",
  "\n",
];

const string = String.raw`"(?:[^"\\]|\\[^])*"`;

const shown = knownWords({
  words: secretWords,
  holes: {
    name: asItIs(String.raw`[\w.:-]{0,253}`),
    user: asItIs(String.raw`[\w.:@/-]{1,512}`),
    types: asItIs("[a-z ()]{1,60}"),
    word: asItIs(String.raw`[\w-]{1,63}`),
    number: asItIs(String.raw`\d{1,12}`),
    field: asItIs(String.raw`\.?[\w-]+(?:\.[\w-]+|\[[\w./-]{1,253}\]){0,20}`),
    // The values of these fields are not secret, and the message is about them.
    shownField: asItIs(String.raw`metadata\.(?:name|namespace|generateName|labels|finalizers)(?:\[[\w./-]{1,253}\])?`),
    string: asItIs(string),
    strings: asItIs(`(?:${string}(?:, )?)*`),
    amounts: asItIs(String.raw`[\w./]+=[\w.]+(?:,[\w./]+=[\w.]+)*`),
    gotype: asItIs(String.raw`[\w.[\]*{}]{1,253}`),
    jsontype: asItIs("array|bool|number|object|string"),
    server: asItIs("[a-z ,]{1,80}"),
  },
  restHidden: "(the rest is not shown, as it may quote the Secret)",
});

/** An API server's error about a Secret, without the values that it quotes: an admission webhook may quote anything. */
export function withoutSecretValues({ code, reason, message, causes, retryAfterMs }: ApiError): ApiError {
  return new ApiError({
    code,
    reason,
    message: shown(message),
    causes: causes.map((cause) => ({
      ...cause,
      ...(cause.message === undefined ? {} : { message: shown(cause.message) }),
    })),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
