import fc from 'fast-check';

const percent = Number(process.env['PROPERTY_RUNS'] ?? 100);

// the same cases in every run, so that a run that fails says something about the change
fc.configureGlobal({ seed: Number(process.env['PROPERTY_SEED'] ?? 1) });

export { fc };

/** Returns the number of runs of a property; `PROPERTY_RUNS` is a percentage of the full number. */
export function propertyRuns(full: number): number {
  return Math.max(1, Math.ceil((full * percent) / 100));
}
