import { parseArgs } from 'node:util';
import { runLinkFuzz } from './links/run-links.ts';
import { runFuzz } from './run.ts';

const option = { type: 'string' } as const;

/** `npm run fuzz -- [--requests n] [--seed n]`, or `npm run fuzz -- --links n [--seed n]` */
const { values } = parseArgs({ options: { requests: option, links: option, seed: option } });
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
const problems =
  values.links === undefined
    ? await runFuzz(process.argv.slice(2))
    : await runLinkFuzz({ count: Number(values.links), seed });
process.exitCode = problems === 0 ? 0 : 1;
