import { z } from 'zod';
import { EncryptionKeysError, parseEncryptionKeys } from './keys.ts';

/** The `DOCKET_ENCRYPTION_KEYS` variable in a process's configuration. */
export const encryptionKeysVariable = z
  .string()
  .default('')
  .transform((text, context) => {
    try {
      return parseEncryptionKeys(text);
    } catch (error) {
      if (!(error instanceof EncryptionKeysError)) throw error;
      context.addIssue(error.message);
      return z.NEVER;
    }
  });
