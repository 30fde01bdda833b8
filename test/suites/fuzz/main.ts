import { readTool, seedOption, wholeNumber } from '../../../lib/inputs/tool-arguments.ts';
import { runLinkFuzz } from './links/run-links.ts';
import { runFuzz } from './run.ts';

const { options } = readTool({
  command: 'npm run fuzz --',
  about:
    'Sends generated requests to all routes of a live service; no answer may be a 5xx or contradict the description.',
  options: {
    requests: wholeNumber().default(100_000).describe('requests to send'),
    links: wholeNumber().optional().describe('parses that many generated answers of the assistant instead'),
    seed: seedOption(),
  },
});
const { requests, links, seed } = options;
const problems = links === undefined ? await runFuzz({ requests, seed }) : await runLinkFuzz({ count: links, seed });
process.exitCode = problems === 0 ? 0 : 1;
