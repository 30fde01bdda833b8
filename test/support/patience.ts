/** How long a test waits for what must come, on a machine that may stand still for a minute; one that passes does not. */
export const patienceMs = 120_000;
