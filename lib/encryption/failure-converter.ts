import { DefaultFailureConverter } from '@temporalio/common';

/** Loaded by Temporal's SDK, by the name that it asks for. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
