import type { Pool } from 'pg';
import { createGrantAdministration } from '../../db/for-operator/grants.ts';
import { createOrganizationDirectory } from '../../db/for-operator/organizations.ts';
import { createSiteIndexing } from '../../db/for-worker/site-indexing.ts';
import { createErasure } from '../../db/organizations/erasure.ts';
import { createGrantStore } from '../../db/organizations/grants.ts';
import { createKeyStore } from '../../db/organizations/keys.ts';
import { createOrganizationStore } from '../../db/organizations/organizations.ts';
import { createSealedValueStore } from '../../db/organizations/sealed-values.ts';
import type { EncryptionKey } from '../../lib/encryption/keys.ts';
import { createSecretBox } from '../../lib/encryption/secret-box.ts';

export interface StoreSettings {
  pool: Pool;
  /** Secret that key digests are made with. */
  keyPepper: string;
  /** Keys that seal stored secrets. */
  encryptionKeys: EncryptionKey[];
}

export type OperatorStores = ReturnType<typeof createOperatorStores>;

/** Creates the stores of the operator's commands. Loaded on demand: most commands use HTTP only. */
export function createOperatorStores({ pool, keyPepper, encryptionKeys }: StoreSettings) {
  return {
    directory: createOrganizationDirectory(pool),
    erasure: createErasure(pool),
    grantAdministration: createGrantAdministration(pool),
    grants: createGrantStore(pool),
    keys: createKeyStore(pool, keyPepper),
    organizations: createOrganizationStore(pool),
    sealedValues: createSealedValueStore(pool, createSecretBox(encryptionKeys)),
    sites: createSiteIndexing(pool),
  };
}
