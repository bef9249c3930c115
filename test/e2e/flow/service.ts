/** A Service named `s` with one port. */
export const service = (port: number) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "s" },
  spec: { selector: { app: "x" }, ports: [{ port }] },
});
