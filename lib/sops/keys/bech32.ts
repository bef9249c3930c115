const alphabet = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";
const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

/** The bytes of a text in Bech32 (BIP 173) in capitals, which begins with the prefix; undefined if it is not one. */
export function bech32(text: string, prefix: string): Buffer | undefined {
  if (!text.startsWith(`${prefix}1`)) return undefined;
  const words = Array.from(text.slice(prefix.length + 1), (character) => alphabet.indexOf(character));
  if (words.length < 6 || words.includes(-1) || checksum([...expanded(prefix.toLowerCase()), ...words]) !== 1) {
    return undefined;
  }
  return bytesOf(words.slice(0, -6));
}

function expanded(prefix: string): number[] {
  const codes = Array.from(prefix, (character) => character.charCodeAt(0));
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
}

function checksum(words: readonly number[]): number {
  let sum = 1;
  for (const word of words) {
    const top = sum >> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ word;
    for (const [bit, generator] of generators.entries()) {
      if ((top >> bit) & 1) sum ^= generator;
    }
  }
  return sum;
}

/** Words of five bits as bytes; the bits that are left over have to be zero. */
function bytesOf(words: readonly number[]): Buffer | undefined {
  const bytes: number[] = [];
  let [buffer, bits] = [0, 0];
  for (const word of words) {
    buffer = ((buffer << 5) | word) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((buffer >> bits) & 0xff);
    }
  }
  return bits < 5 && (buffer & ((1 << bits) - 1)) === 0 ? Buffer.from(bytes) : undefined;
}
