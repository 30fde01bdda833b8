/**
 * Returns the part of a private key that is unique to it, without line breaks, for the list of known secrets. The first
 * characters depend only on the kind of key. As a secret they would also be redacted from keys that are not ours.
 */
export function secretPartOf(privateKey: string): string {
  const [, label = ''] = /-----BEGIN ([A-Z0-9 ]*)-----/.exec(privateKey) ?? [];
  const body = privateKey.replaceAll(/-----[^-\n]*-----|\s/g, '');
  return body.slice(sharedLength(label, body.length));
}

/** Returns the length of the prefix that keys of one kind share. It leaves enough of the shortest such key secret. */
function sharedLength(label: string, length: number): number {
  // OpenSSH's own format begins with the public key
  if (label.startsWith('OPENSSH')) return 128;
  if (label !== 'PRIVATE KEY') return label.startsWith('EC') ? 12 : 16;
  return length > 100 ? 48 : 20;
}
