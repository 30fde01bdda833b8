/** How long a test waits for what must come: a machine may stand still for a minute. A test that passes waits for less. */
export const patienceMs = 120_000;
