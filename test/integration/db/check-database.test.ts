import { describe, expect, it } from 'vitest';
import { checkDatabase, OldSchemaError } from '../../../db/check-database.ts';
import { serveApi } from '../api/serve.ts';
import { createTestDatabase } from '../../support/database/database.ts';

describe('readiness', () => {
  it('needs the newest migration of this version, and accepts later ones', async () => {
    await using database = await createTestDatabase();
    const { pool } = database;
    await using api = await serveApi(pool);
    await pool.query(`insert into schema_migrations (name, run_on) values ('9999-later', now())`);
    await checkDatabase(pool);
    expect((await api.ask('/readyz')).status).toBe(200);

    await pool.query(
      `delete from schema_migrations where name = (select max(name) from schema_migrations where name < '9999')`,
    );
    await expect(checkDatabase(pool)).rejects.toBeInstanceOf(OldSchemaError);
    const refused = await api.ask('/readyz');
    expect([refused.status, refused.body.error]).toEqual([503, expect.stringContaining('older schema')]);

    await pool.query('drop table schema_migrations');
    await expect(checkDatabase(pool)).rejects.toBeInstanceOf(OldSchemaError);
  });
});
