import { request } from "node:http";
import type { ClusterConfig } from "../../lib/kube/cluster-config.ts";
import { fakeApi } from "../unit/kube/fake-api.ts";
import { faultyWire, type WireFault } from "./faulty-wire.ts";
import { pem } from "./pem.ts";

/** EKS and STS as they answer for one cluster, and the way to its API server. */
export interface EksStandIn extends AsyncDisposable {
  /** Of AWS. */
  readonly endpoint: string;
  /** The address of the API server: https. */
  readonly server: URL;
  /** PEM. */
  readonly ca: string;
  /** What AWS was asked for, in order: `GET /clusters/<name>`, or the STS action with its role and the token. */
  readonly asked: readonly string[];
  /** The access keys that signed the tokens which the API server was shown, each once for a connection's use. */
  readonly shown: () => readonly string[];
  /** What EKS answers, in place of the description. */
  fault: WireFault | undefined;
  /** What STS answers, in place of credentials. */
  stsFault: WireFault | undefined;
  /** What else EKS says of the cluster, in place of what it is. */
  told: Readonly<Record<string, unknown>>;
}

/**
 * A cluster of EKS in front of an API server of plain HTTP, on which everybody may do everything: it takes tokens of EKS alone, and notes
 * whose they are. A web identity's key is `ACCOUNT-KEY`, that of an assumed role `ROLE-KEY`.
 */
export async function eksStandIn(behind: Pick<ClusterConfig, "server">): Promise<EksStandIn> {
  const [cert, key] = await Promise.all([pem("server.crt"), pem("server.key")]);
  const asked: string[] = [];
  const shown: string[] = [];
  const api = await fakeApi(
    (incoming, outgoing) => {
      const { url = "", method, headers } = incoming;
      const [, signed = ""] = /^Bearer k8s-aws-v1\.(.+)$/.exec(headers.authorization ?? "") ?? [];
      const token = URL.parse(Buffer.from(signed, "base64url").toString());
      const signer = token?.searchParams.get("X-Amz-Credential")?.split("/")[0];
      if (signer === undefined) {
        outgoing.writeHead(401, { "content-type": "application/json" });
        outgoing.end(JSON.stringify({ kind: "Status", code: 401, reason: "Unauthorized", message: "Unauthorized" }));
        return;
      }
      shown.push(signer);
      const onward = request({
        ...{ host: behind.server.hostname, port: behind.server.port, method, path: `${behind.server.pathname}${url}` },
        headers: { ...headers, authorization: "", host: behind.server.host },
      });
      onward.on("response", (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on("error", () => outgoing.destroy());
      incoming.pipe(onward);
    },
    { cert, key },
  );
  const aws = await faultyWire(undefined, ({ method, url = "" }, _, body) => {
    const form = new URLSearchParams(body.toString());
    const action = form.get("Action");
    if (action === null) {
      asked.push(`${method} ${url}`);
      const certificateAuthority = { data: Buffer.from(cert).toString("base64") };
      const cluster = { status: "ACTIVE", endpoint: api.url.href, certificateAuthority, ...self.told };
      const headers = { "content-type": "application/json" };
      return self.fault ?? { status: 200, headers, body: JSON.stringify({ cluster }) };
    }
    asked.push([action, form.get("RoleArn"), form.get("WebIdentityToken")].filter((part) => part !== null).join(" "));
    if (self.stsFault !== undefined) return self.stsFault;
    const keyId = action === "AssumeRole" ? "ROLE-KEY" : "ACCOUNT-KEY";
    const end = new Date(Date.now() + 3_600_000).toISOString();
    const given = `<AccessKeyId>${keyId}</AccessKeyId><SecretAccessKey>x</SecretAccessKey><SessionToken>x</SessionToken><Expiration>${end}</Expiration>`;
    const answer = `<${action}Response><${action}Result><Credentials>${given}</Credentials></${action}Result></${action}Response>`;
    return { status: 200, headers: { "content-type": "text/xml" }, body: answer };
  });
  const self: EksStandIn = {
    endpoint: aws.url,
    server: api.url,
    ca: cert,
    asked,
    shown: () => [...new Set(shown)],
    fault: undefined,
    stsFault: undefined,
    told: {},
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await aws[Symbol.asyncDispose]();
    },
  };
  return self;
}
