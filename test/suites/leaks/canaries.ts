import { secretLinesOf } from '../../support/canary-keys.ts';
import { canarySecret, secretShapes, shapelessSecret, type SecretShape } from '../../support/canary-secrets.ts';

/** Forms of a secret that a redactor has to recognize. */
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
/** Returns a line of a key that is secret on its own. */
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

/** Makes canary secrets and counts them, so that each secret, form and shape comes in turn. */
export interface Canaries {
  /** Returns a secret that only its shape identifies, in the next form. */
  shaped(): string;
  /** Returns one in its plain form. */
  plain(): string;
  /** Returns a secret from the configuration of the processes, in the next form. */
  known(): string;
  /** Returns a private key of a project, or a line of it, in the next form. */
  key(): string;
  /** Returns a text with this many secrets of all kinds, one per line. */
  some(count: number): string;
  count(): number;
}

export function createCanaries(knownSecrets: readonly string[], keys: readonly string[]): Canaries {
  let count = 0;
  const shapeOf = (number: number) => secretShapes[number % secretShapes.length]!;
  const canaries: Canaries = {
    shaped() {
      count += 1;
      const shape = shapeOf(count);
      const forms = isSplittable(shape) ? [...formsOfShaped, split] : formsOfShaped;
      return forms[Math.floor(count / secretShapes.length) % forms.length]!(canarySecret(count, shape));
    },
    plain() {
      count += 1;
      return canarySecret(count, shapeOf(count));
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
      const kinds = [canaries.shaped, canaries.known, ...(keys.length === 0 ? [] : [canaries.key])];
      const lines = Array.from({ length: wanted }, (_, index) => kinds[index % kinds.length]!());
      return lines.map((line, index) => `secret ${index}: ${line}\n`).join('');
    },
    count: () => count,
  };
  return canaries;
}

/** The secrets in the configuration of the processes and the project. */
export const configured = {
  modelKey: shapelessSecret(1),
  githubToken: shapelessSecret(2),
  projectToken: shapelessSecret(3),
  gitlabToken: shapelessSecret(4),
  serverToken: shapelessSecret(5),
  commandToken: shapelessSecret(6),
  setupToken: shapelessSecret(7),
};
