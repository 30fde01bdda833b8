import { createDataStreamClient } from './sdk-client-data-stream.ts';
import type { SdkClient, SdkClientOptions } from './sdk-client-interface.ts';
import { createUiMessageClient } from './sdk-client-ui-messages.ts';

/** A client that runs the code of the named release, not an imitation of it. */
export function createSdkClient(options: SdkClientOptions): Promise<SdkClient> {
  return options.version.startsWith('4.') ? createDataStreamClient(options) : createUiMessageClient(options);
}
