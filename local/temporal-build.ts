import { join } from 'node:path';
import { buildGoProgram, type BuildContext } from './go-program.ts';

/** The Temporal CLI built from the pinned module; rejects with a sentence when that is not possible here. */
export function buildTemporal(context: BuildContext): Promise<string> {
  const program = {
    moduleDirectory: join(import.meta.dirname, 'temporal-cli'),
    source: 'github.com/temporalio/cli/cmd/temporal',
    name: 'temporal',
    title: 'the Temporal server',
    duration: 'about 4 minutes on two cores',
  };
  return buildGoProgram(program, context);
}
