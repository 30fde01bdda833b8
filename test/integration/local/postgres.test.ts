import { expect, inject, it, onTestFinished, vi } from 'vitest';
import { createPool } from '../../../db/pool.ts';

it('connects to the embedded PostgreSQL without TLS, although the environment asks for it', async () => {
  vi.stubEnv('PGSSLMODE', 'require');
  onTestFinished(() => void vi.unstubAllEnvs());
  const pool = createPool({ url: inject('databaseUrl'), maxConnections: 1, applicationName: 'test' });
  onTestFinished(() => pool.end());
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});
