/** Whose work it is: the objects of one namespace of one cluster. */
export interface Tenant {
  readonly cluster: string;
  readonly namespace: string;
}

/** The tenant of requests that no object makes. */
export const noTenant: Tenant = { cluster: "", namespace: "" };
