/** The distribution specification's error codes that this registry answers. */
export type RegistryErrorCode =
  | "BLOB_UNKNOWN"
  | "BLOB_UPLOAD_INVALID"
  | "BLOB_UPLOAD_UNKNOWN"
  | "DENIED"
  | "DIGEST_INVALID"
  | "MANIFEST_BLOB_UNKNOWN"
  | "MANIFEST_INVALID"
  | "MANIFEST_UNKNOWN"
  | "NAME_INVALID"
  | "NAME_UNKNOWN"
  | "PAGINATION_NUMBER_INVALID"
  | "RANGE_INVALID"
  | "SIZE_INVALID"
  | "TAG_INVALID"
  | "UNSUPPORTED";

/** An answer other than success. `detail` is shaped as the CNCF registry shapes it, since clients print it. */
export class RegistryError extends Error {
  override readonly name = "RegistryError";
  readonly status: number;
  readonly code: RegistryErrorCode;
  readonly detail: unknown;

  constructor(status: number, code: RegistryErrorCode, message: string, detail?: unknown) {
    super(message);
    this.status = status;
    this.code = code;
    this.detail = detail;
  }
}
