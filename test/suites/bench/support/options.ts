export interface BenchOptions {
  /** Of one measurement. */
  seconds: number;
  /** Measurements of each variant. */
  rounds: number;
  isQuick: boolean;
  /** Node's, for the server under test: `--cpu-prof`. */
  serverFlags: string[];
}
