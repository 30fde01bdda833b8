import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { attackClasses } from './classes.ts';
import { createScene, type Scene } from './scene.ts';

/** One attack; both sides answer whether the canary was reached. */
export interface Attack {
  /** Its number among `attackClasses`. */
  class: number;
  name: string;
  /** What a program does that takes no care: the canary must be reached, or the attack proves nothing. */
  unprotected(scene: Scene): Promise<boolean>;
  /** The same against Docket's own code: the canary must not be reached. */
  product(scene: Scene): Promise<boolean>;
  /** By what it is contained, for the report. */
  contained: string;
  /** Why it cannot be played on this machine; null when it can. */
  needs?: string | null;
  /** Docket takes over five seconds to withstand it. */
  isSlow?: boolean;
}

/** Plays each attack twice, each time in a scene of its own: against Docket, and without a defense as a control. */
export function playAttacks(attacks: readonly Attack[]): void {
  const byClass = Map.groupBy(attacks, (attack) => attack.class);
  for (const [number, members] of byClass) {
    describe(`${number}. ${attackClasses[number]}`, () => {
      for (const attack of members) {
        const { name, isSlow = false } = attack;
        const timeout = 240_000;
        it.skipIf(attack.needs)(name, { timeout, tags: isSlow ? 'slow' : [] }, async () => {
          await using scene = await createScene();
          expect(await attack.product(scene), 'the canary was reached').toBe(false);
          report(attack);
        });
        it.skipIf(attack.needs)(`${name}: without a defense`, { timeout, tags: 'control' }, async () => {
          await using bait = await createScene();
          expect(await attack.unprotected(bait), 'the attack reaches nothing, even without a defense').toBe(true);
        });
      }
    });
  }
}

const reportFile = process.env['DOCKET_ATTACK_RECORDS'];

function report({ class: number, name, contained }: Attack): void {
  if (reportFile === undefined) return;
  appendFileSync(reportFile, `${JSON.stringify({ id: randomUUID(), class: number, name, contained })}\n`);
}
