import { createHash } from 'node:crypto';

/** The shapes of the tokens, with the length of what follows the prefix. */
const lengths = { svc_: 61, svc_dsc_: 61, ghp_: 36, ghs_: 36, 'glpat-': 20, 'sk-proj-': 40 };
export type SecretShape = keyof typeof lengths;
export const secretShapes = ['svc_', 'svc_dsc_', 'ghp_', 'ghs_', 'glpat-', 'sk-proj-'] as const satisfies SecretShape[];

/** A text that every canary secret of its kind contains, and nothing else does. */
const markers = { shaped: 'zQ7kXw9LpT', known: 'vH3mBq8RyK' };
export type SecretKind = keyof typeof markers;

/** Returns a made-up secret in the shape of a token, a different one for each number. No process is configured with it. */
export function canarySecret(number: number, shape: SecretShape = 'svc_'): string {
  return shape + bodyOf(number, markers.shaped).slice(0, lengths[shape]);
}

/** Returns a secret without a recognizable shape, which only a process that knows it can redact. */
export function shapelessSecret(number: number): string {
  return bodyOf(number, markers.known).slice(0, 32);
}

function bodyOf(number: number, marker: string): string {
  const digest = createHash('sha512').update(`${marker} ${number}`).digest('base64');
  return `${marker}${String(number).padStart(5, '0')}${digest.replaceAll(/[^0-9A-Za-z]/g, '')}`;
}

/** A text that the service wrote, and where. */
export interface Trace {
  /** Such as `database: jobs.title`. */
  place: string;
  text: string;
}

export interface FoundCanary {
  place: string;
  kind: SecretKind;
  excerpt: string;
}

const encodings = (Object.keys(markers) as SecretKind[]).flatMap((kind) =>
  Object.entries(encodingsOf(markers[kind])).map(([encoding, pattern]) => ({ kind, encoding, pattern })),
);

/** Returns where a canary secret or a part of one is, in any form, even when it is split over lines. */
export function findCanaries(traces: Iterable<Trace>): FoundCanary[] {
  const found: FoundCanary[] = [];
  for (const { place, text } of traces) {
    const tight = text.replaceAll(/\s|\\[nrt]/g, '');
    for (const { kind, encoding, pattern } of encodings) {
      const holder = [text, tight].find((candidate) => pattern.test(candidate));
      if (holder === undefined) continue;
      const at = holder.search(pattern);
      found.push({ place, kind, excerpt: `${encoding}: ${holder.slice(Math.max(0, at - 80), at + 120)}` });
    }
  }
  return found;
}

function encodingsOf(text: string): Record<string, RegExp> {
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '')
      .slice(Math.ceil((offset * 8) / 6), -1),
  );
  return {
    plain: new RegExp(text, 'i'),
    reversed: new RegExp(Array.from(text).toReversed().join(''), 'i'),
    hex: new RegExp(hex, 'i'),
    percent: new RegExp(hex.replaceAll(/../g, '%$&'), 'i'),
    base64: new RegExp(base64.join('|')),
  };
}
