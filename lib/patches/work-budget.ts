/**
 * What comparing two trees may cost, in steps of about a tenth of a microsecond. It is counted and not timed, so that the same
 * trees give the same answer on every machine.
 */
export interface WorkBudget {
  readonly left: number;
  spend(steps: number): void;
}

/** About half a second. */
const mostSteps = 4_000_000;

export function createWorkBudget(steps = mostSteps): WorkBudget {
  let left = steps;
  return {
    get left() {
      return left;
    },
    spend(steps) {
      left = Math.max(0, left - steps);
    },
  };
}
