export interface BenchOptions {
  /** Duration of one measurement. */
  seconds: number;
  /** Measurements per variant. */
  rounds: number;
  isQuick: boolean;
  /** Options of Node for the server under test, such as `--cpu-prof`. */
  serverFlags: string[];
}
