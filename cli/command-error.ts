/** Ends a command that failed. The message is printed without a stack trace. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly exitCode: number;

  /** Exit codes are listed in docs/cli.md. */
  constructor(message: string, { exitCode = 1, cause }: { exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}
