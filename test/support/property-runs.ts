const percent = Number(process.env['PROPERTY_RUNS'] ?? 100);

/** Returns the number of runs of a property; `PROPERTY_RUNS` is a percentage of the full number. */
export function propertyRuns(full: number): number {
  return Math.max(1, Math.ceil((full * percent) / 100));
}
