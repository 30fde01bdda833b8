import { randomBytes } from 'node:crypto';
import { createRedactor } from '../../../lib/redaction/redactor.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, printNote, printTable, quantile } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';

const secretCount = 20;
const sizes = [400, 4_000, 400_000];

/** The cost of the redactor on texts without a secret, compared with writing the same text as JSON. */
export function benchRedact(_servers: BenchServers, { rounds, seconds }: BenchOptions): Promise<void> {
  const secrets = Array.from({ length: secretCount }, () => randomBytes(24).toString('base64url'));
  const redact = createRedactor(secrets);
  const page =
    'The widget reads settings.json (line 42) and retries 3 times; see https://docs.example.com/guides#retry.\n';
  const rows = sizes.map((size) => {
    const text = page.repeat(Math.ceil(size / page.length)).slice(0, size);
    const ratios: number[] = [];
    const costs: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const perCall = microsOf(() => redact(text), seconds / rounds);
      costs.push(perCall);
      ratios.push(perCall / microsOf(() => JSON.stringify(text), seconds / rounds));
    }
    return [`${size} characters`, figure(quantile(costs, 0.5)), figure(quantile(ratios, 0.5)), String(rounds)];
  });
  printTable(
    `redact: ${secretCount} known secrets in all their forms, and the shapes`,
    ['', 'µs', 'to JSON', 'n'],
    rows,
  );
  printNote('A secret that is found costs more, which is rare.');
  return Promise.resolve();
}

function microsOf(call: () => unknown, seconds: number): number {
  const until = performance.now() + seconds * 1000;
  const from = performance.now();
  let calls = 0;
  while (performance.now() < until) {
    call();
    calls += 1;
  }
  return ((performance.now() - from) * 1000) / calls;
}
