import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { attackClasses } from '../classes.ts';
import { createScene, type Scene } from './scene.ts';

/** One attack; both variants return whether the canary was reached. */
export interface Attack {
  /** Its number among `attackClasses`. */
  class: number;
  name: string;
  /** The attack on a careless program: the canary must be reached, or the attack proves nothing. */
  unprotected(scene: Scene): Promise<boolean>;
  /** The same attack on Docket's own code: the canary must not be reached. */
  product(scene: Scene): Promise<boolean>;
  /** The defense that contains it, for the report. */
  contained: string;
  /** Why it cannot run on this machine, or null. */
  needs?: string | null;
  /** Whether Docket takes more than five seconds to withstand it. */
  isSlow?: boolean;
}

/** Runs each attack twice, each time in its own scene: against Docket, and without a defense as a control. */
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
