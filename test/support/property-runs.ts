const percent = Number(process.env['PROPERTY_RUNS'] ?? 100);

/** How many runs a property gets of those that it has by default; `PROPERTY_RUNS` is the percentage. */
export function propertyRuns(full: number): number {
  return Math.max(1, Math.ceil((full * percent) / 100));
}
