import { secretLinesOf } from '../../support/planted-keys.ts';
import { plantedSecret, secretShapes, shapelessSecret, type SecretShape } from '../../support/planted-secrets.ts';

/** Ways to write a secret that a redactor has to see through. */
const plain = (secret: string) => secret;
const base64 = (secret: string) => Buffer.from(secret).toString('base64');
const hex = (secret: string) => Buffer.from(secret).toString('hex');
const reversed = (secret: string) => Array.from(secret).toReversed().join('');
const split = (secret: string) => secret.replaceAll(/.{11}(?!$)/g, '$&\n');
const percent = (secret: string) => hex(secret).replaceAll(/../g, '%$&');
const inBasic = (secret: string) => `Basic ${base64(`x-access-token:${secret}`)}`;
const inAddress = (secret: string) => `https://x-access-token:${secret}@github.com/acme/docs.git`;

const escaped = (secret: string) => JSON.stringify(secret).slice(1, -1);
const inOneLine = (key: string) => key.replaceAll(/-----[^-]*-----|\n/g, '');
/** The longest line of it that stands alone. */
const lineOf = (key: string) => secretLinesOf(key)[0]!;

const formsOfKey = [
  plain,
  lineOf,
  base64,
  reversed,
  inOneLine,
  escaped,
  encodeURIComponent,
  (key: string) => hex(lineOf(key)),
];
const formsOfShaped = [plain, base64, hex, reversed, inBasic, inAddress];
const formsOfKnown = [...formsOfShaped, split, percent];
const isSplittable = (shape: SecretShape) => shape !== 'sk-proj-';

/** Counts what is planted, so that each secret, form and shape comes in turn. */
export interface Planter {
  /** A secret that only its shape gives away, in the next form. */
  shaped(): string;
  /** One without a form around it. */
  plain(): string;
  /** One of the secrets that the processes were given, in the next form. */
  known(): string;
  /** One of the private keys that projects have, or a line of it, in the next form. */
  key(): string;
  /** So many of all kinds in one text, each in a line. */
  some(count: number): string;
  count(): number;
}

export function createPlanter(knownSecrets: readonly string[], keys: readonly string[]): Planter {
  let count = 0;
  const shapeOf = (number: number) => secretShapes[number % secretShapes.length]!;
  const planter: Planter = {
    shaped() {
      count += 1;
      const shape = shapeOf(count);
      const forms = isSplittable(shape) ? [...formsOfShaped, split] : formsOfShaped;
      return forms[Math.floor(count / secretShapes.length) % forms.length]!(plantedSecret(count, shape));
    },
    plain() {
      count += 1;
      return plantedSecret(count, shapeOf(count));
    },
    known() {
      count += 1;
      const secret = knownSecrets[count % knownSecrets.length]!;
      return formsOfKnown[Math.floor(count / knownSecrets.length) % formsOfKnown.length]!(secret);
    },
    key() {
      count += 1;
      const key = keys[count % keys.length]!;
      return formsOfKey[Math.floor(count / keys.length) % formsOfKey.length]!(key);
    },
    some(wanted) {
      const kinds = [planter.shaped, planter.known, ...(keys.length === 0 ? [] : [planter.key])];
      const lines = Array.from({ length: wanted }, (_, index) => kinds[index % kinds.length]!());
      return lines.map((line, index) => `secret ${index}: ${line}\n`).join('');
    },
    count: () => count,
  };
  return planter;
}

/** The secrets that the processes and the project are given. */
export const configured = {
  modelKey: shapelessSecret(1),
  githubToken: shapelessSecret(2),
  projectToken: shapelessSecret(3),
  gitlabToken: shapelessSecret(4),
};
