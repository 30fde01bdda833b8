/**
 * Has an error that nothing caught, or a rejection, said by `say`, in place of Node's own words, which know no redactor. The
 * process ends with 1, as it would have.
 */
export function onUncaught(say: (error: unknown) => void): void {
  process.on('uncaughtException', (error: unknown) => {
    try {
      say(error);
    } finally {
      // what has failed in one place is in a state that nobody knows
      process.exit(1);
    }
  });
}
