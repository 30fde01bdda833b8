import { execFile } from 'node:child_process';
import { z } from 'zod';
import { readTool } from '../../lib/inputs/tool-arguments.ts';

/**
 * `npm run audit`: asks the registry for known vulnerabilities of the image's packages. Exits with 0 when there are none, 1
 * when there are some, and 75 when the registry did not answer, which is not a pass.
 */

const reportSchema = z.object({
  metadata: z.object({ vulnerabilities: z.record(z.string(), z.number()) }),
  vulnerabilities: z.record(z.string(), z.object({ severity: z.string() })),
});

export interface AuditVerdict {
  exitCode: 0 | 1 | 75;
  said: string;
}

/** Returns the verdict of the JSON that `npm audit` prints; without a valid report, that nothing is known. */
export function verdictOfAudit(output: string): AuditVerdict {
  const report = reportSchema.safeParse(parsed(output));
  if (!report.success) {
    const said = 'SKIPPED: the registry gave no report of known weaknesses. Run "npm run audit" where it does.';
    return { exitCode: 75, said };
  }
  const found = Object.entries(report.data.vulnerabilities);
  if (found.length === 0) return { exitCode: 0, said: 'No known weakness in what the image contains.' };
  const names = found.map(([name, { severity }]) => `${name} (${severity})`);
  return { exitCode: 1, said: `Known weaknesses in ${names.join(', ')}: "npm audit --omit=dev" tells more.` };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

if (import.meta.main) {
  readTool({
    command: 'npm run audit --',
    about:
      "Asks the registry for known vulnerabilities of the image's packages. Exits with 75 when it gives no report.",
  });
  execFile('npm', ['audit', '--json', '--omit=dev', '--audit=true'], { maxBuffer: 1 << 26 }, (_error, stdout) => {
    const { exitCode, said } = verdictOfAudit(stdout);
    console.log(said);
    process.exitCode = exitCode;
  });
}
