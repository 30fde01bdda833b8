import { base64Cores } from '../../lib/redaction/known-forms.ts';
import type { FoundCanary, Trace } from './canary-secrets.ts';

/** Length of a part of a key that must not appear anywhere. */
const pieceLength = 40;
const runs = new RegExp(`[A-Za-z0-9+/=_%-]{${pieceLength},}`, 'g');
/** OpenSSH's format begins with names and the public key: this many characters of an ed25519 key, and more of others. */
const publicLength = 128;

/** Returns the lines of a private key that reveal part of it. */
export function secretLinesOf(key: string): string[] {
  const isOpenSsh = key.includes('OPENSSH');
  const lines = key.split('\n').filter((line) => !line.startsWith('-'));
  const known = lines.map((_line, at) => lines.slice(0, at).join('').length >= (isOpenSsh ? publicLength : 1));
  return lines.filter((line, at) => known[at] === true && line.length >= pieceLength);
}

/** Returns where a line of one of these private keys is, or either end of one, plain, reversed, in hex or base64. */
export function findKeys(traces: Iterable<Trace>, keys: Readonly<Record<string, string>>): FoundCanary[] {
  const needles = new Map(
    Object.entries(keys).flatMap(([name, key]) =>
      secretLinesOf(key)
        .flatMap((line) => [line.slice(0, pieceLength), line.slice(-pieceLength)])
        .flatMap(formsOf)
        .map((needle): [string, string] => [needle, name]),
    ),
  );
  const found: FoundCanary[] = [];
  for (const { place, text } of traces) {
    const names = new Map<string, number>();
    for (const { 0: run, index } of text.matchAll(runs)) {
      for (let at = 0; at + pieceLength <= run.length; at += 1) {
        const name = needles.get(run.slice(at, at + pieceLength));
        if (name !== undefined && !names.has(name)) names.set(name, index + at);
      }
    }
    for (const [name, at] of names)
      found.push({ place, kind: 'known', excerpt: `ssh key "${name}": ${text.slice(Math.max(0, at - 80), at + 60)}` });
  }
  return found;
}

function formsOf(piece: string): string[] {
  const hex = Buffer.from(piece).toString('hex');
  return [piece, Array.from(piece).toReversed().join(''), hex, hex.toUpperCase(), ...base64Cores(piece)].map((form) =>
    form.slice(0, pieceLength),
  );
}
