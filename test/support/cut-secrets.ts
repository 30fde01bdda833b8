import { expect } from 'vitest';

/** Shorter than what is recognized by its beginning or end. */
const secret = 'k7Qp2Xv9Lm4';
const distance = 32;

/**
 * Expects that no part of a secret is shown, wherever a text is cut: together, the texts have it in every place.
 */
export async function expectNoPart(show: (text: string, secret: string) => Promise<string>): Promise<void> {
  for (let shift = 0; shift < distance; shift += 1) {
    const text = '.'.repeat(shift) + secret.padEnd(distance, '.').repeat(2_000);
    const parts = (await show(text, secret)).match(/[A-Za-z0-9]*k7Q|Lm4[A-Za-z0-9]*/g);
    expect([shift, parts]).toEqual([shift, null]);
  }
}
