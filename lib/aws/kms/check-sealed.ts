import { DataKeyError, type SealedDataKey } from "../../core/ports/data-keys.ts";

/** KMS' own limits. */
const maxArnChars = 2048;
const maxCiphertextBytes = 6144;
/** Ours: a context is a few names, and comes from a file that anybody may have written. */
const maxContextPairs = 32;
const maxContextChars = 8192;

/** As the reference has it (kustomization 3.10), but stricter: the region becomes part of a host's name. */
const arnPattern = /^arn:aws[\w-]*:kms:([a-z0-9-]{1,32}):([0-9]{12}):(?:key|alias)\/[\w/-]+$/;

/** Whose and where the key is. Throws a {@link DataKeyError} `malformed` for what KMS need not be asked about. */
export function checkSealed({ sealedBy, ciphertext, context }: SealedDataKey): {
  readonly region: string;
  readonly account: string;
} {
  const [, region, account] = sealedBy.length > maxArnChars ? [] : (arnPattern.exec(sealedBy) ?? []);
  if (region === undefined || account === undefined) {
    const form = "write arn:aws:kms:<region>:<account>:key/<id> or …:alias/<name>";
    throw new DataKeyError("malformed", `${JSON.stringify(sealedBy.slice(0, 200))} is no key of KMS: ${form}`);
  }
  const malformed = (why: string): DataKeyError =>
    new DataKeyError("malformed", `the data key that ${sealedBy} sealed ${why}`);
  if (ciphertext.length === 0) throw malformed("is empty");
  if (ciphertext.length > maxCiphertextBytes) {
    throw malformed(`has ${ciphertext.length} bytes, KMS opens ${maxCiphertextBytes} at most`);
  }
  const pairs = Object.entries(context);
  if (pairs.length > maxContextPairs) {
    throw malformed(`is bound to a context of ${pairs.length} names, more than ${maxContextPairs}`);
  }
  if (pairs.flat().join("").length > maxContextChars) {
    throw malformed(`is bound to a context of more than ${maxContextChars} letters`);
  }
  return { region, account };
}
