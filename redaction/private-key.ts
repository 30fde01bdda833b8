/** As many characters as the beginnings of keys of one kind have in common, in PEM and in OpenSSH's own format. */
const sharedLength = 128;

/**
 * What tells a private key from every other one, without line breaks, for the list of known secrets. The first characters say
 * only of which kind it is; taken for a secret, they would be taken out of keys that are none of ours.
 */
export function secretPartOf(privateKey: string): string {
  const body = privateKey.replaceAll(/-----[^-\n]*-----|\s/g, '');
  return body.length > 2 * sharedLength ? body.slice(sharedLength) : body.slice(body.length >> 1);
}
