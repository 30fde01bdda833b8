import { readTool, wholeNumber } from '../../../lib/inputs/tool-arguments.ts';
import { checkLeaks } from './run.ts';

const { options } = readTool({
  command: 'npm run leaks --',
  about: 'Sends canary secrets through a running service and searches everything that leaves it for them.',
  options: { secrets: wholeNumber().default(1_000).describe('secrets to send') },
});
process.exitCode = (await checkLeaks(options.secrets)) === 0 ? 0 : 1;
