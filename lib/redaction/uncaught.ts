/**
 * Reports uncaught errors and unhandled rejections through `say` instead of Node's own message, which is not redacted.
 * The process exits with 1, as it would have.
 */
export function onUncaught(say: (error: unknown) => void): void {
  process.on('uncaughtException', (error: unknown) => {
    try {
      say(error);
    } finally {
      // after an uncaught error the state of the process is unknown
      process.exit(1);
    }
  });
}
