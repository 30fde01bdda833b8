import { checkSync, type Diagnostics } from 'recheck';
import type { Pattern } from './collect.ts';

/** Without limits of time, so that each run has the same result; in their place, few and short attacks. */
const parameters = {
  timeout: null,
  seedingTimeout: null,
  incubationTimeout: null,
  attackTimeout: null,
  maxRepeatCount: 20,
  maxNFASize: 3_000,
  incubationLimit: 1,
  maxInitialGenerationSize: 1,
  maxGenerationSize: 1,
  maxIteration: 0,
  maxDegree: 2,
  attackLimit: 10_000_000,
};
/**
 * Automata cannot express look-arounds and references, so that everything depends on the attacks. Beside long bounded
 * repetitions, more of them would take minutes.
 */
const isBeyondAutomata = /^(?!.*,\d*\}).*(?:\(\?<?[=!]|\\(?:\d|k<))/s;
const moreAttacks = { incubationLimit: 1_000, maxInitialGenerationSize: 500, maxGenerationSize: 10 };

export interface Exception {
  pattern: RegExp;
  /** Why it cannot be slow where it is used. */
  reason: string;
}

const written = ({ source, flags }: Pick<Pattern, 'source' | 'flags'>) => `/${source}/${flags}`;

/** Returns the patterns that are not known to take linear time, and the exceptions that are not needed. */
export function problemsOf(patterns: readonly Pattern[], exceptions: readonly Exception[]): string[] {
  const byText = Map.groupBy(patterns, written);
  const excepted = new Set(exceptions.map(({ pattern }) => written(pattern)));
  const problems: string[] = [];
  for (const [text, places] of byText) {
    const { source, flags } = places[0]!;
    const found = checkSync(source, flags, {
      ...parameters,
      ...(isBeyondAutomata.test(source) ? moreAttacks : {}),
    });
    if (found.status === 'safe' || excepted.delete(text)) continue;
    problems.push(`${places.map(({ at }) => at).join(' ')} ${text}\n  ${reasonOf(found)}`);
  }
  return [...problems, ...[...excepted].map((text) => `exceptions.ts ${text}\n  is not needed any more`)];
}

function reasonOf(found: Exclude<Diagnostics, { status: 'safe' }>): string {
  if (found.status === 'unknown') return `cannot be checked: ${found.error.kind}`;
  return `${found.complexity.summary}, as on ${found.attack.pattern}`;
}
