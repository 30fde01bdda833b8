/** Limits of one fetch or push. */
export interface TransferLimits {
  bytes: number;
  timeoutMs: number;
}

/** Limits where the operator has set none. */
export const defaultTransferLimits: TransferLimits = { bytes: 2e9, timeoutMs: 15 * 60_000 };
