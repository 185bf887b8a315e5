import type { Diagnostics } from '../../../src/backend/diagnostics.ts';

/** SQLite findings of `svc doctor`. */
export const diagnostics: Diagnostics = {
  async inspect({ name, query }) {
    const loose = await query(
      "select name from pragma_table_list where schema = 'main' and type = 'table' and not strict and name not like 'sqlite\\_%' escape '\\' order by name",
    );
    return loose.map(([table = '']) => ({
      id: 'table-not-strict',
      severity: 'warning',
      cause: `${name}: the table ${table} is not strict, so that its columns have no fixed types and it cannot be tracked`,
      remedy: `create ${table} again as a strict table`,
    }));
  },
};
