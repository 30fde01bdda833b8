/** Ends a command that failed: its sentence is printed, without a stack. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly exitCode: number;

  /** Exit codes: docs/cli.md. */
  constructor(message: string, { exitCode = 1, cause }: { exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}
