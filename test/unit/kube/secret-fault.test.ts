import { describe, expect, test } from "vitest";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { withoutSecretValues } from "../../../lib/kube/secret-fault.ts";

const cut = "(the rest is not shown, as it may quote the Secret)";

function shown(message: string): string {
  return withoutSecretValues(new ApiError({ code: 422, reason: "Invalid", message })).message;
}

describe("an API server's message about a Secret", () => {
  test.each([
    'Secret "s" is invalid: data: Forbidden: field is immutable when `immutable` is set',
    'Secret "s" is invalid: [type: Required value, data[.dockerconfigjson]: Required value]',
    'Secret "s" is invalid: data: Too long: may not be more than 1048576 bytes',
    "Secret \"A_b\" is invalid: metadata.name: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    'Secret "s" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/hold"}',
    'Secret "s" is invalid: data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": unexpected end of JSON input',
    "failed to convert new object (golden-secrets/bad; /v1, Kind=Secret) to proper version: unable to convert unstructured object to /v1, Kind=Secret: error decoding from json: illegal base64 data at input byte 3",
    "failed to create typed patch object (n/a; /v1, Kind=Secret): .stringDatas: field not declared in schema",
    'secrets "s" not found',
    'namespaces "n" not found',
    'secrets is forbidden: User "system:serviceaccount:a:b" cannot list resource "secrets" in API group "" in the namespace "n"',
    'secrets "s" is forbidden: User "arn:aws:iam::123456789012:role/x" cannot patch resource "secrets" in API group "" in the namespace "n"',
    'secrets "s" is forbidden: unable to create new content in namespace n because it is being terminated',
    'secrets "s" is forbidden: exceeded quota: q, requested: count/secrets=1, used: count/secrets=2, limited: count/secrets=2',
    'Operation cannot be fulfilled on secrets "s": the object has been modified; please apply your changes to the latest version and try again',
    "Request entity too large: limit is 3145728",
    "etcdserver: request timed out",
  ])("is shown if it quotes no value: %s", (message) => {
    expect(shown(message)).toBe(message);
  });

  test.each([
    {
      said: 'admission webhook "policy.example.com" denied the request: password hunter2 is too short',
      says: `admission webhook "policy.example.com" denied the request: ${cut}`,
    },
    {
      said: "secrets \"s\" is forbidden: ValidatingAdmissionPolicy 'p.example.com' with binding 'b' denied request: hunter2 is no good",
      says: `secrets "s" is forbidden: ValidatingAdmissionPolicy 'p.example.com' with binding 'b' denied request: ${cut}`,
    },
    {
      said: 'Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: an error on the server ("hunter2")',
      says: `Internal error occurred: failed calling webhook "w.example.com": ${cut}`,
    },
    {
      said: 'Secret "s" is invalid: data[a]: Invalid value: "hunter2": field is immutable',
      says: 'Secret "s" is invalid: data[a]: Invalid value: "*****": field is immutable',
    },
    {
      said: 'Secret "s" is invalid: type: Invalid value: "hunter2": something of the server',
      says: `Secret "s" is invalid: type: Invalid value: "*****": ${cut}`,
    },
    {
      said: 'Secret in version "v1" cannot be handled as a Secret: json: cannot unmarshal number hunter2 into Go value',
      says: `Secret in version "v1" cannot be handled as a Secret: ${cut}`,
    },
    { said: "<html>hunter2 was not expected here</html>", says: cut },
  ])("is cut if it may quote a value: $said", ({ said, says }) => {
    expect(shown(said)).toBe(says);
  });

  test("keeps its reason, code, causes and retry delay", () => {
    const causes = [
      { reason: "FieldValueInvalid", field: "data[a]", message: 'Invalid value: "hunter2": field is immutable' },
    ];
    const error = new ApiError({ code: 422, reason: "Invalid", message: "hunter2", causes, retryAfterMs: 5 });
    expect(withoutSecretValues(error)).toMatchObject({
      code: 422,
      reason: "Invalid",
      retryAfterMs: 5,
      causes: [{ ...causes[0], message: 'Invalid value: "*****": field is immutable' }],
    });
  });
});
