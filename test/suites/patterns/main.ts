import { readTool } from '../../../lib/inputs/tool-arguments.ts';
import { problemsOf } from './check.ts';
import { collectPatterns } from './collect.ts';
import { exceptions } from './exceptions.ts';

readTool({
  command: 'npm run patterns --',
  about: 'Checks that no regular expression of the product takes more than linear time, whatever the text.',
});
const patterns = await collectPatterns();
const problems = problemsOf(patterns, exceptions);
for (const problem of problems) console.log(problem);
console.log(`${patterns.length} regular expressions, ${exceptions.length} exceptions, ${problems.length} problems`);
// the modules that were loaded may keep the process running
process.exit(problems.length === 0 ? 0 : 1);
