import { shellWord } from '../../lib/shell-word.ts';
import type { PreparedEnvironment } from '../environment/prepared-environment.ts';

/** File in the sandbox with what the script and its services print. */
export const startLog = '/tmp/start.log';
/** Longest time of the script, which may take no more than half of its command's. */
const maxSeconds = 60;
/** File in HOME that says that the script of another product's file has failed. */
const failedBefore = '~/.docket-start-failed';

interface Call {
  command: string;
  timeoutMs: number;
}

/** Returns a command with what its environment runs before it. */
export function commandIn({ profile, start }: Pick<PreparedEnvironment, 'profile' | 'start'>, call: Call): string {
  const command = start === null ? call.command : startedCommand(start, call);
  return profile === null ? command : `${profile}\n${command}`;
}

/**
 * Returns a command that runs after the script, with the script's services beside it. If the script fails, the command
 * does not run; if another product's file has it, this command and later ones run without it. Services hold no output
 * of the command open.
 */
export function startedCommand(
  { script, isOwn }: NonNullable<PreparedEnvironment['start']>,
  { command, timeoutMs }: Call,
): string {
  const seconds = Math.min(maxSeconds, Math.ceil(timeoutMs / 2_000));
  const skip = isOwn ? '' : `[ -e ${failedBefore} ] || `;
  const [consequence, then] = isOwn
    ? ['this command did not run', 'exit 1']
    : ['the commands of this job run without it', `touch ${failedBefore}`];
  // in the shell of the command: bash has its own path in a variable, no other shell may set it
  return `${skip}timeout ${seconds} "\${BASH:-sh}" -ec ${shellWord(script)} > ${startLog} 2>&1 || {
  (
    reason="failed with exit code $?"
    [ "$reason" != "failed with exit code 124" ] || reason="did not end within ${seconds} s (a service needs & at the end of its line)"
    echo "The start script of the environment $reason, so ${consequence}. Its last lines:"
    tail -n 20 ${startLog}
    echo
  )
  ${then}
}
${command}`;
}
