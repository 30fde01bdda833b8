/** No connection to PostgreSQL could be opened for any reason, including a rotated password or an expired certificate. */
export class ConnectionError extends Error {
  override name = 'ConnectionError';
}

const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
]);

/**
 * Connection failures (08), no resources left (53), shutdown and startup (57P), timeouts (57014, 25P03), a replica
 * (25006), a failing disk (58030).
 */
const serverStates = /^(?:08...|53...|57P0.|57014|25P03|25006|58030)$/;

// pg throws plain errors without a code for these
const driverMessages = new Set([
  'timeout expired',
  'Query read timeout',
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Client was closed and is not queryable',
  'Client has encountered a connection error and is not queryable',
]);

/** Reports whether an error means that PostgreSQL cannot be used now, not that the request was wrong. */
export function isStoreDown(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof ConnectionError) return true;
  if (driverMessages.has(error.message)) return true;
  const code = 'code' in error ? error.code : undefined;
  if (typeof code === 'string' && (isNetworkFailure(code, error) || serverStates.test(code))) return true;
  if (error instanceof AggregateError && error.errors.some(isStoreDown)) return true;
  return error.cause !== undefined && isStoreDown(error.cause);
}

/** Only a failed system call of a socket counts: a missing file is also an ENOENT. */
function isNetworkFailure(code: string, error: Error): boolean {
  if (!networkCodes.has(code)) return false;
  if (error instanceof AggregateError) return true;
  const call = 'syscall' in error ? error.syscall : undefined;
  return typeof call !== 'string' || ['connect', 'read', 'write', 'getaddrinfo'].includes(call);
}
