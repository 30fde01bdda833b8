import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Load next to an attack: every processor is busy, and a process endlessly writes and deletes files on the disk of the trees. */
export interface Beside {
  load: boolean;
  writer: boolean;
}

// each ends with the process that started it, however that one ends
const spin = 'while kill -0 "$PPID"; do :; done';
const writeAndDelete = `while kill -0 "$PPID"; do
  for i in 1 2 3 4 5 6; do fallocate -l 50M "$0/big-$i"; sleep 0.02; done; rm "$0"/big-*
  perl -e 'for (1 .. 20_000) { open my $f, ">", "$ARGV[0]/$_"; push @made, "$ARGV[0]/$_" } unlink @made' "$0"
done
rm -rf "$0"`;

/** Starts that load and stops it when it is disposed of. */
export function startBeside({ load, writer }: Beside): Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'docket-attack-beside-'));
  const scripts = [
    ...(load ? Array.from({ length: availableParallelism() }, () => spin) : []),
    ...(writer ? [writeAndDelete] : []),
  ];
  const children = scripts.map((script) =>
    spawn('sh', ['-c', script, folder], { stdio: 'ignore', detached: true, env: { PATH: '/usr/bin:/bin' } }),
  );
  return {
    [Symbol.dispose]() {
      for (const { pid } of children) if (pid !== undefined) process.kill(-pid, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
