/**
 * What tells a private key from every other one, without line breaks, for the list of known secrets. The first characters say
 * only of which kind it is; taken for a secret, they would be taken out of keys that are none of ours.
 */
export function secretPartOf(privateKey: string): string {
  const [, label = ''] = /-----BEGIN ([A-Z0-9 ]*)-----/.exec(privateKey) ?? [];
  const body = privateKey.replaceAll(/-----[^-\n]*-----|\s/g, '');
  return body.slice(sharedLength(label, body.length));
}

/** As many characters as the beginnings of keys of one kind have in common, and no more than may be told of the shortest key. */
function sharedLength(label: string, length: number): number {
  // OpenSSH's own format begins with the public key
  if (label.startsWith('OPENSSH')) return 128;
  if (label !== 'PRIVATE KEY') return label.startsWith('EC') ? 12 : 16;
  return length > 100 ? 48 : 20;
}
