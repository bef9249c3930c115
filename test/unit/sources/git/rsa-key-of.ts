/** A private key of RSA in PKCS#1 with a modulus of so many bits. Its numbers make no sense: nothing can be signed with it. */
export function rsaKeyOf(bits: number): string {
  const modulus = Buffer.concat([Buffer.from([0]), Buffer.alloc(bits / 8, 0xff)]);
  const others = Array.from({ length: 7 }, () => Buffer.from([3]));
  const numbers = [Buffer.from([0]), modulus, ...others].map((number) => part(0x02, number));
  const der = part(0x30, Buffer.concat(numbers));
  return `-----BEGIN RSA PRIVATE KEY-----\n${der.toString("base64")}\n-----END RSA PRIVATE KEY-----\n`;
}

function part(tag: number, bytes: Buffer): Buffer {
  const { length } = bytes;
  const head = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), bytes]);
}
