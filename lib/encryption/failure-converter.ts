import { DefaultFailureConverter } from '@temporalio/common';

/** Loaded by Temporal's SDK, by the export name that it requires. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
