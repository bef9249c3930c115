import { X509Certificate } from "node:crypto";

/** Whether a text begins with a certificate in PEM that can be read; of several only the first is looked at. */
export function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem).toString();
    return true;
  } catch {
    return false;
  }
}
