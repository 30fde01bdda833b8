import { base64Cores } from '../../lib/redaction/known-forms.ts';
import type { PlantedFind, Trace } from './planted-secrets.ts';

/** As much of a line of a key as must stand nowhere. */
const pieceLength = 40;
const runs = new RegExp(`[A-Za-z0-9+/=_%-]{${pieceLength},}`, 'g');
/** The format of OpenSSH begins with words and the public key, which takes so many characters of a key of ed25519, and more of others. */
const publicLength = 128;

/** The lines of a private key that tell something of it. */
export function secretLinesOf(key: string): string[] {
  const isOpenSsh = key.includes('OPENSSH');
  const lines = key.split('\n').filter((line) => !line.startsWith('-'));
  const known = lines.map((_line, at) => lines.slice(0, at).join('').length >= (isOpenSsh ? publicLength : 1));
  return lines.filter((line, at) => known[at] === true && line.length >= pieceLength);
}

/** Which places hold a line of one of these private keys, or either end of one, plain, reversed, in hex or base64. */
export function findKeys(traces: Iterable<Trace>, keys: Readonly<Record<string, string>>): PlantedFind[] {
  const needles = new Map(
    Object.entries(keys).flatMap(([name, key]) =>
      secretLinesOf(key)
        .flatMap((line) => [line.slice(0, pieceLength), line.slice(-pieceLength)])
        .flatMap(formsOf)
        .map((needle): [string, string] => [needle, name]),
    ),
  );
  const found: PlantedFind[] = [];
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
